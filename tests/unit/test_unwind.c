/* Unwinding of real stacks: programs that tell their own chain of calls, compiled in every way, and programs of
 * others, whose chains eu-stack tells. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/unwind.h"
#include "tests/unit/folder.h"
#include "tests/unit/stack_copy.h"

#define COPY_BYTES 16384
#define KNOWN_MAX  16

/* ---- programs ---------------------------------------------------------------------------------- */

/* A program that has told what it is going to sleep in. */
struct sleeper {
	pid_t child, pid, tid;
	FILE *out;
	struct {
		bool exact;
		uint64_t address;
	} known[KNOWN_MAX];
	size_t n;
	uint64_t code; /* made at run time: where its call returns to */
};

static void sleeper_start(struct sleeper *ret_sleeper, const char *const argv[])
{
	int ends[2];

	*ret_sleeper = (struct sleeper){};
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	ret_sleeper->child = fork();
	if (!ret_sleeper->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[1]);
	ret_sleeper->pid = ret_sleeper->tid = ret_sleeper->child;
	ret_sleeper->out = fdopen(ends[0], "r");
}

static void sleeper_read(struct sleeper *sleeper)
{
	char line[128], how[16];
	unsigned long address;

	while (fgets(line, sizeof(line), sleeper->out) && strcmp(line, "ready\n") != 0) {
		if (sscanf(line, "code %lx", &address) == 1) {
			sleeper->code = address;
		} else if (sscanf(line, "%15[a-z] %lx", how, &address) == 2) {
			assert_true(sleeper->n < KNOWN_MAX);
			sleeper->known[sleeper->n].exact = !strcmp(how, "exact");
			sleeper->known[sleeper->n++].address = address;
		} else {
			assert_int_equal(sscanf(line, "%d %d", &sleeper->pid, &sleeper->tid), 2);
		}
	}
	assert_string_equal(line, "ready\n");
}

static void sleeper_end(struct sleeper *sleeper)
{
	int status;

	kill(sleeper->child, SIGKILL);
	waitpid(sleeper->child, &status, 0);
	fclose(sleeper->out);
}

/* ---- chains that programs tell ----------------------------------------------------------------- */

/* Where in the chain the known frame is; fails where it is not. */
static size_t place_of(const uint64_t *frames, size_t n, uint64_t address, bool exact)
{
	for (size_t i = 0; i < n; i++) {
		if (frames[i] == address - !exact)
			return i;
	}
	for (size_t i = 0; i < n; i++)
		print_error("frame %zu: %lx\n", i, frames[i]);
	fail_msg("no frame is at %lx", address);
	return 0;
}

/* The known frames in their order, with so many others between the innermost two. */
static void check_known(const struct sleeper *sleeper, const uint64_t *frames, size_t n,
			size_t between)
{
	size_t before = 0;

	for (size_t i = 0; i < sleeper->n; i++) {
		size_t place = place_of(frames, n, sleeper->known[i].address,
					sleeper->known[i].exact);

		/* Innermost: what libc does below inner. */
		assert_true(i ? place > before : place < 6);
		/* Only a handler has frames above it that are not told: the trampoline's. */
		if (i && !sleeper->known[i].exact && !sleeper->code)
			assert_int_equal(place, before + 1 + (i == 1 ? between : 0));
		before = place;
	}
	if (sleeper->code)
		assert_int_equal(place_of(frames, n, sleeper->code, false),
				 place_of(frames, n, sleeper->known[0].address, false) +
					 (sleeper->known[0].address != sleeper->code));
}

static const char *const ways[][8] = {
	{"-O2"},
	{"-O2", "-fomit-frame-pointer", "-static"},
	{"-O2", "-fno-pie", "-no-pie"},
	{"-O0", "-fno-omit-frame-pointer", "-s"},
	{"-O2", "-static-pie", "-s"},
	/* Frame pointers alone, as bun. */
	{"-O2", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables",
	 "-fno-unwind-tables"},
	/* .debug_frame alone. */
	{"-O2", "-g", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
	 "-fno-unwind-tables"},
	/* No table to search. */
	{"-O2", "-Wl,--no-eh-frame-hdr"},
};

static char *compile(const struct folder *folder, size_t way)
{
	char *path = mem_printf("%s/unwound-%zu", folder->root, way);
	char *command = mem_printf("%s -std=gnu11 -D_GNU_SOURCE -pthread -o %s "
				   "tests/subjects/unwound.c", getenv("CC") ?: "cc", path);

	for (size_t i = 0; i < 8 && ways[way][i]; i++) {
		char *longer = mem_printf("%s %s", command, ways[way][i]);

		free(command);
		command = longer;
	}
	assert_int_equal(system(command), 0);
	free(command);
	return path;
}

static void check_mode(const char *path, const char *mode, const char *depth, long call,
		       bool truncated)
{
	const char *argv[] = {path, mode, depth, NULL};
	struct unwinder *unwinder = unwinder_new();
	uint64_t frames[UNWIND_FRAMES];
	struct sleeper sleeper;
	struct stack_copy copy;
	bool ended_early;
	size_t n;

	sleeper_start(&sleeper, argv);
	sleeper_read(&sleeper);
	stack_copy_await(sleeper.pid, sleeper.tid, call);
	stack_copy_take(&copy, sleeper.pid, sleeper.tid, COPY_BYTES);
	stack_copy_add_mappings(unwinder, sleeper.pid);
	n = stack_copy_unwind(unwinder, &copy, frames, &ended_early);
	assert_int_equal(ended_early, truncated);
	if (!truncated)
		check_known(&sleeper, frames, n, depth ? strtoul(depth, NULL, 10) + 1 : 0);
	else
		assert_true(n > 10);
	stack_copy_free_members(&copy);
	unwinder_free(unwinder);
	sleeper_end(&sleeper);
}

static void test_told_chains(void **state)
{
	struct folder folder;

	(void)state;
	folder_make(&folder);
	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		char *path = compile(&folder, way);

		check_mode(path, "sleep", NULL, SYS_clock_nanosleep, false);
		check_mode(path, "cond", NULL, SYS_futex, false);
		check_mode(path, "signal", NULL, SYS_clock_nanosleep, false);
		check_mode(path, "jit", NULL, SYS_clock_nanosleep, false);
		check_mode(path, "deep", "8", SYS_clock_nanosleep, false);
		check_mode(path, "deep", "20", SYS_clock_nanosleep, true);
		free(path);
	}
	folder_remove(&folder);
}

/* ---- words that change ------------------------------------------------------------------------- */

static size_t word_place(const struct stack_copy *copy, uint64_t word)
{
	for (size_t at = 0; at + 8 <= copy->bytes; at += 8) {
		if (!memcmp(copy->memory + at, &word, 8))
			return at;
	}
	fail_msg("%lx is not on the stack", word);
	return 0;
}

static void test_changed_words(void **state)
{
	const char *argv[] = {NULL, "sleep", NULL};
	uint64_t frames[UNWIND_FRAMES], changed[UNWIND_FRAMES];
	struct unwinder *unwinder = unwinder_new();
	struct sleeper sleeper;
	struct stack_copy copy;
	struct folder folder;
	bool truncated;
	size_t n, at;
	char *path;

	(void)state;
	folder_make(&folder);
	argv[0] = path = compile(&folder, 0);
	sleeper_start(&sleeper, argv);
	sleeper_read(&sleeper);
	stack_copy_await(sleeper.pid, sleeper.tid, SYS_clock_nanosleep);
	stack_copy_take(&copy, sleeper.pid, sleeper.tid, COPY_BYTES);
	stack_copy_add_mappings(unwinder, sleeper.pid);
	n = stack_copy_unwind(unwinder, &copy, frames, &truncated);
	assert_false(truncated);
	/* inner seems to have been called by outer. */
	at = word_place(&copy, sleeper.known[0].address);
	memcpy(copy.memory + at, &sleeper.known[1].address, 8);
	assert_true(stack_copy_unwind(unwinder, &copy, changed, &truncated) > 0);
	assert_int_equal(changed[place_of(frames, n, sleeper.known[0].address, false)],
			 sleeper.known[1].address - 1);
	/* As it was, and nothing that could be returned to. */
	memcpy(copy.memory + at, &sleeper.known[0].address, 8);
	assert_int_equal(stack_copy_unwind(unwinder, &copy, changed, &truncated), n);
	assert_memory_equal(changed, frames, n * sizeof(frames[0]));
	memset(copy.memory + at, 0x55, 8);
	assert_true(stack_copy_unwind(unwinder, &copy, changed, &truncated) < n);
	assert_true(truncated);
	/* No mapping, no frame. */
	copy.regs[16] = copy.regs[32] = 1;
	assert_int_equal(stack_copy_unwind(unwinder, &copy, changed, &truncated), 0);
	stack_copy_free_members(&copy);
	unwinder_free(unwinder);
	sleeper_end(&sleeper);
	free(path);
	folder_remove(&folder);
}

/* ---- programs of others ------------------------------------------------------------------------ */

/* eu-stack's frames of one thread; 0: it has no such thread. */
static size_t told_by_eu_stack(pid_t pid, pid_t tid, uint64_t *ret_frames)
{
	char *command = mem_printf("eu-stack -n 250 -p %d 2>/dev/null", pid), line[4096];
	FILE *out = popen(command, "r");
	bool ours = false;
	size_t n = 0;
	int of;

	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		unsigned long address;

		if (sscanf(line, "TID %d:", &of) == 1)
			ours = of == tid;
		else if (ours && n < UNWIND_FRAMES && sscanf(line, "#%*d %lx", &address) == 1)
			ret_frames[n++] = address;
	}
	pclose(out);
	free(command);
	return n;
}

/* Awaits that the thread sleeps, and goes on sleeping in the same call. */
static bool is_asleep(pid_t pid, pid_t tid)
{
	char *path = mem_printf("/proc/%d/task/%d/stat", pid, tid), text[256] = "";
	FILE *file = fopen(path, "r");

	free(path);
	if (!file)
		return false;
	assert_true(fgets(text, sizeof(text), file) != NULL);
	fclose(file);
	return strstr(text, ") S ") != NULL;
}

/* How many frames both see; 0: not the same. */
static size_t compare_thread(struct unwinder *unwinder, pid_t pid, pid_t tid)
{
	uint64_t ours[UNWIND_FRAMES], theirs[UNWIND_FRAMES];
	struct stack_copy copy;
	size_t n, told;
	bool truncated;

	if (!is_asleep(pid, tid))
		return 0;
	stack_copy_take(&copy, pid, tid, 256 * 1024);
	n = stack_copy_unwind(unwinder, &copy, ours, &truncated);
	stack_copy_free_members(&copy);
	told = told_by_eu_stack(pid, tid, theirs);
	if (!told || theirs[0] != ours[0])
		return 0;
	/* Different where it woke between the two looks: then there is another. */
	for (size_t i = 1; i < told; i++) {
		if (i >= n || ours[i] != theirs[i] - 1)
			return 0;
	}
	return n;
}

static void compare_program(const char *const argv[], size_t threads)
{
	struct unwinder *unwinder;
	struct sleeper sleeper;
	size_t same = 0;

	sleeper_start(&sleeper, argv);
	for (int i = 0; i < 200 && same < threads; i++) {
		char *command = mem_printf("ls /proc/%d/task", sleeper.pid);
		FILE *tasks = popen(command, "r");
		char line[32];

		usleep(100000);
		same = 0;
		unwinder = unwinder_new();
		stack_copy_add_mappings(unwinder, sleeper.pid);
		while (fgets(line, sizeof(line), tasks))
			same += compare_thread(unwinder, sleeper.pid, atoi(line)) > 3;
		unwinder_free(unwinder);
		pclose(tasks);
		free(command);
	}
	sleeper_end(&sleeper);
	assert_true(same >= threads);
}

static void test_eu_stack(void **state)
{
	static const char server[] = "require('http').createServer(() => 0).listen(0)";
	struct folder folder;
	const char *const programs[][8] = {
		{"redis-server", "--port", "0", "--unixsocket", folder.root, "--save", "", NULL},
		{"python3", "-c", "import time; time.sleep(1000)", NULL},
		{"runtimes/node-22", "-e", server, NULL},
		{"runtimes/bun-1.3.14", "-e", server, NULL},
	};
	const size_t threads[] = {4, 1, 6, 2};

	(void)state;
	folder_make(&folder);
	strcat(folder.root, "/socket");
	for (size_t i = 0; i < 4; i++) {
		if (strchr(programs[i][0], '/') && access(programs[i][0], X_OK))
			print_message("%s is not here\n", programs[i][0]);
		else
			compare_program(programs[i], threads[i]);
	}
	*strrchr(folder.root, '/') = '\0';
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_chains),
		cmocka_unit_test(test_changed_words),
		cmocka_unit_test(test_eu_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
