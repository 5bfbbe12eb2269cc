/* What this machine is and how busy it is: /proc and /sys, read and checked. */
#include "collect/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

#define SECOND_NS 1000000000ULL
#define CPU_DIR	  "/sys/devices/system/cpu"

char *machine_read_file(const char *path, size_t max_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char *text;
	size_t n = 0;

	if (fd < 0)
		return NULL;
	text = mem_zalloc(max_bytes + 1);
	while (n < max_bytes) {
		ssize_t got = read(fd, text + n, max_bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			err = got < 0 ? errno : 0;
			break;
		}
		n += (size_t)got;
	}
	close(fd);
	if (err) {
		free(text);
		errno = err;
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* The same with the newline at the end taken off; "" where it cannot be read. */
static char *read_word(const char *path)
{
	char *text = machine_read_file(path, 4096);

	if (!text)
		return mem_strdup("");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static int no_file(struct diag *diag, const char *path)
{
	int err = errno ? -errno : -EIO;

	diag_set(diag, err, "cannot read %s: %s", path, strerror(-err));
	return diag_hint(diag, err, "mount -t proc proc /proc");
}

/* ---- time of the CPUs --------------------------------------------------------------------------
 */

static int tick_length_ns(long ticks_per_s, uint64_t *ret_ns)
{
	if (ticks_per_s <= 0 || ticks_per_s > 1000000)
		return -EINVAL;
	*ret_ns = SECOND_NS / (uint64_t)ticks_per_s;
	return 0;
}

/* "user nice system idle iowait irq softirq steal guest guest_nice": proc(5). Guest time is contained
 * in user and nice already. Old kernels end earlier, newer ones may go on. */
static int parse_times(const char *text, uint64_t tick_ns, struct machine_cpu_times *ret_times)
{
	uint64_t v[8] = {0};
	char *end;

	for (size_t i = 0; i < 8; i++, text = end) {
		text += strspn(text, " ");
		if (*text < '0' || *text > '9') {
			if (i < 4)
				return -EINVAL;
			break;
		}
		errno = 0;
		v[i] = strtoull(text, &end, 10);
		/* Far beyond what any machine can have been up for: keeps sums over all CPUs from
		 * running over. */
		if (errno || v[i] > UINT64_MAX / 4 / CPULIST_MAX / tick_ns)
			return -ERANGE;
	}
	ret_times->busy_ns = (v[0] + v[1] + v[2]) * tick_ns;
	ret_times->idle_ns = (v[3] + v[4]) * tick_ns;
	ret_times->irq_ns = (v[5] + v[6]) * tick_ns;
	ret_times->steal_ns = v[7] * tick_ns;
	return 0;
}

int machine_parse_stat(const char *text, long ticks_per_s, struct machine_cpu_times *ret_times)
{
	uint64_t tick_ns;

	if (strncmp(text, "cpu ", 4) || tick_length_ns(ticks_per_s, &tick_ns))
		return -EINVAL;
	return parse_times(text + 4, tick_ns, ret_times);
}

int machine_parse_stat_of(const char *text, long ticks_per_s, const struct cpulist *cpus,
			  struct machine_cpu_times *ret_times)
{
	struct machine_cpu_times sum = {0}, one;
	uint64_t tick_ns;
	int err = tick_length_ns(ticks_per_s, &tick_ns), found = 0;

	for (const char *line = text; !err && line; line = strchr(line, '\n')) {
		unsigned long cpu;
		char *end;

		line += *line == '\n';
		if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
			continue;
		cpu = strtoul(line + 3, &end, 10);
		if (*end != ' ' || cpu >= CPULIST_MAX || !cpulist_has(cpus, (unsigned)cpu))
			continue;
		err = parse_times(end, tick_ns, &one);
		sum.busy_ns += one.busy_ns;
		sum.idle_ns += one.idle_ns;
		sum.irq_ns += one.irq_ns;
		sum.steal_ns += one.steal_ns;
		found++;
	}
	if (err || !found)
		return err ? err : -ENOENT;
	*ret_times = sum;
	return 0;
}

char *machine_read_stat(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	/* A line has ten numbers of twenty digits at most. The lines of CPUs are the first. */
	return machine_read_file("/proc/stat", 4096 + 256 * (n > 0 ? (size_t)n : CPULIST_MAX));
}

int machine_cpu_times(struct machine_cpu_times *ret_times, struct diag *diag)
{
	char *text = machine_read_stat();
	int err;

	if (!text)
		return no_file(diag, "/proc/stat");
	err = machine_parse_stat(text, sysconf(_SC_CLK_TCK), ret_times);
	free(text);
	return err ? diag_set(diag, -EIO, "cannot make sense of /proc/stat") : 0;
}

/* "812 (name) S …": the name may hold anything. utime, stime, cutime and cstime are fields 14 to 17. */
int machine_parse_process_stat(const char *text, long ticks_per_s, uint64_t *ret_ns)
{
	const char *after = strrchr(text, ')');
	unsigned long long utime, stime, cutime, cstime, max;
	uint64_t tick_ns;

	if (!after || tick_length_ns(ticks_per_s, &tick_ns) ||
	    sscanf(after + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
		   &utime, &stime, &cutime, &cstime) != 4)
		return -EINVAL;
	/* Nothing has run for that long: such figures would run over. */
	max = UINT64_MAX / 4 / tick_ns;
	if (utime > max || stime > max || cutime > max || cstime > max)
		return -ERANGE;
	*ret_ns = (utime + stime + cutime + cstime) * tick_ns;
	return 0;
}

int machine_process_ns(pid_t pid, uint64_t *ret_ns)
{
	char path[64], *text;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = machine_read_file(path, 4096);
	if (!text)
		return -errno;
	err = machine_parse_process_stat(text, sysconf(_SC_CLK_TCK), ret_ns);
	free(text);
	return err;
}

static uint64_t forward(uint64_t earlier, uint64_t later)
{
	return later > earlier ? later - earlier : 0;
}

struct machine_cpu_times machine_cpu_times_between(const struct machine_cpu_times *earlier,
						   const struct machine_cpu_times *later)
{
	return (struct machine_cpu_times){
		.busy_ns = forward(earlier->busy_ns, later->busy_ns),
		.irq_ns = forward(earlier->irq_ns, later->irq_ns),
		.steal_ns = forward(earlier->steal_ns, later->steal_ns),
		.idle_ns = forward(earlier->idle_ns, later->idle_ns),
	};
}

int machine_load(double *ret_load, struct diag *diag)
{
	char *text = machine_read_file("/proc/loadavg", 256), *end;
	double load;

	if (!text)
		return no_file(diag, "/proc/loadavg");
	load = strtod(text, &end);
	if (end == text || !(load >= 0 && load < 1e9)) {
		free(text);
		return diag_set(diag, -EIO, "cannot make sense of /proc/loadavg");
	}
	free(text);
	*ret_load = load;
	return 0;
}

/* ---- which CPUs, and what they share -----------------------------------------------------------
 */

int machine_read_cpus(const char *path, struct cpulist *ret_cpus, struct diag *diag)
{
	char *text = machine_read_file(path, 65536);
	int err;

	if (!text)
		return no_file(diag, path);
	err = cpulist_parse(ret_cpus, text, diag);
	free(text);
	return err;
}

int machine_online_cpus(struct cpulist *ret_cpus, struct diag *diag)
{
	long n;

	if (!machine_read_cpus(CPU_DIR "/online", ret_cpus, NULL))
		return 0;
	/* No /sys: the C library may know how many, and they are numbered from 0 then. */
	n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1)
		return diag_set(diag, -EIO, "cannot tell how many CPUs are online");
	*ret_cpus = (struct cpulist){0};
	for (long cpu = 0; cpu < n; cpu++)
		cpulist_add(ret_cpus, (unsigned)cpu);
	return 0;
}

/* By the system call, a hundredth of what the text of a thread's status costs: a process may have ten
 * thousand threads. The set is as large as any kernel's, so its size need not be guessed. Offline CPUs,
 * which status may name, are not in it. */
int machine_thread_cpus(pid_t tid, struct cpulist *ret_cpus, struct diag *diag)
{
	struct cpulist cpus = {0};

	if (tid <= 0 || syscall(SYS_sched_getaffinity, tid, sizeof(cpus.bits), cpus.bits) < 0)
		return diag_set(diag, tid <= 0 ? -ESRCH : -errno,
				"cannot tell on which CPUs thread %d may run: %s", (int)tid,
				strerror(tid <= 0 ? ESRCH : errno));
	*ret_cpus = cpus;
	return 0;
}

int machine_allowed_cpus(struct cpulist *ret_cpus, struct diag *diag)
{
	return machine_thread_cpus((pid_t)syscall(SYS_gettid), ret_cpus, diag);
}

/* intel_pstate's switch says what is forbidden, the others' what is allowed. */
int machine_turbo(const char *sys)
{
	static const struct {
		const char *name;
		char on;
	} files[] = {{"intel_pstate/no_turbo", '0'}, {"cpufreq/boost", '1'}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = mem_printf("%s/devices/system/cpu/%s", sys, files[i].name);
		char *word = read_word(path);
		bool told = (word[0] == '0' || word[0] == '1') && !word[1], on = word[0] == files[i].on;

		free(word);
		free(path);
		if (told)
			return on ? 1 : -1;
	}
	return 0;
}

/* Is name one of the words of list, which has ", " between them? */
static bool listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; *at;) {
		size_t word = strcspn(at, ",");

		if (word == n && !strncmp(at, name, n))
			return true;
		at += word;
		at += strspn(at, ", ");
	}
	return false;
}

char *machine_governor(const struct cpulist *cpus)
{
	struct strbuf names = {0};

	for (unsigned cpu = cpulist_next(cpus, 0); cpu < CPULIST_MAX;
	     cpu = cpulist_next(cpus, cpu + 1)) {
		char path[128], *name;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_governor", cpu);
		name = read_word(path);
		if (*name && !listed(strbuf_text(&names), name))
			strbuf_printf(&names, "%s%s", names.n ? ", " : "", name);
		free(name);
	}
	return strbuf_take(&names);
}

char *machine_cgroup(void)
{
	char *text = machine_read_file("/proc/self/cgroup", 65536), *path = NULL;

	for (char *line = text; line && *line;) {
		size_t n = strcspn(line, "\n");

		if (!strncmp(line, "0::", 3)) {
			path = mem_strndup(line + 3, n - 3);
			break;
		}
		line += n + (line[n] == '\n');
	}
	free(text);
	return path ? path : mem_strdup("");
}
