/* Texts of /proc about CPUs, processes and threads. The first byte says which. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/proc_text.h"
#include "tests/fuzz/fuzz.h"

/* What reads them is their own files' alone. */
#include "user/collect/machine.c"
#include "user/runtime/process_tree.c"
#include "user/runtime/strays.c"

static void read_stat(const char *text)
{
	struct machine_cpu_times all, some;
	struct cpulist cpus = {};
	uint64_t ns;

	for (unsigned cpu = 0; cpu < 4; cpu++)
		cpulist_add(&cpus, cpu);
	if (!machine_parse_stat(text, 100, &all))
		FUZZ_CHECK(all.busy_ns % 10000000 == 0);
	if (!machine_parse_stat_of(text, 100, &cpus, &some)) {
		struct machine_cpu_times none = machine_cpu_times_between(&some, &some);

		FUZZ_CHECK(!none.busy_ns && !none.idle_ns && !none.irq_ns && !none.steal_ns);
	}
	if (!machine_parse_process_stat(text, 100, &ns))
		FUZZ_CHECK(ns % 10000000 == 0);
}

/* A file in memory with the text in it, by its path. */
static int with_file(const uint8_t *bytes, size_t n, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	fuzz_put(path, bytes, n);
	return fd;
}

static void read_status(const uint8_t *bytes, size_t n)
{
	struct cpulist cpus;
	struct diag diag = {};
	char path[64], *word;
	int fd = with_file(bytes, n, path);

	if (machine_read_cpus(path, &cpus, &diag))
		FUZZ_CHECK(*diag.what);
	word = read_word(path);
	FUZZ_CHECK(!strchr(word, '\n'));
	listed(word, "performance");
	free(word);
	close(fd);
}

static void read_smaps(const uint8_t *bytes, size_t n)
{
	uint64_t rss_bytes = 0, pss_bytes = 0;
	FILE *in = fuzz_stream(bytes, n);

	FUZZ_CHECK(!read_memory(in, &rss_bytes, &pss_bytes));
	FUZZ_CHECK(rss_bytes % 1024 == 0 && pss_bytes % 1024 == 0);
	fclose(in);
}

/* What is read of each thread once a second: one text in the place of all of them. */
static void read_thread(const char *text)
{
	struct proc_figures figures = {};
	struct proc_stat stat;
	pid_t id = 0;

	if (!proc_parse_stat(text, &stat))
		FUZZ_CHECK(memchr(stat.comm, '\0', sizeof(stat.comm)) && stat.ppid >= 0 && stat.state);
	proc_parse_schedstat(text, &figures);
	proc_parse_status(text, &figures);
	FUZZ_CHECK(proc_id_of_name(text) >= 0);
	while ((text = proc_next_id(text, &id)))
		FUZZ_CHECK(id > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text;

	if (!n)
		return 0;
	text = fuzz_text(bytes + 1, n - 1);
	switch (*bytes) {
	case 's':
		read_stat(text);
		break;
	case 'c':
		read_status(bytes + 1, n - 1);
		break;
	case 'm':
		read_smaps(bytes + 1, n - 1);
		break;
	case 't':
		read_thread(text);
		break;
	case 'e':
		has_mark(text, n - 1, "MARK=/tmp/x");
		break;
	}
	free(text);
	return 0;
}
