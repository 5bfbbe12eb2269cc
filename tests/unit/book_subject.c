/* Processes for tests of the stackbook. */
#include "tests/unit/book_subject.h"

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define FLAG "--book-subject"

/* ---- in the subject ---------------------------------------------------------------------------- */

void book_here(void);
int book_outer(void);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void say(uint64_t address)
{
	struct book_spot spot = {.pid = (uint32_t)getpid(), .time_ns = now_ns(), .address = address};

	if (write(STDOUT_FILENO, &spot, sizeof(spot)) != sizeof(spot))
		_exit(9);
}

static void wait_for_end(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

__attribute__((noinline)) void book_here(void)
{
	say((uint64_t)(uintptr_t)book_here + 1);
}

static int load(void)
{
	void *library = dlopen(BOOK_LIBRARY, RTLD_NOW);
	void *function = library ? dlsym(library, BOOK_FUNCTION) : NULL;

	if (!function)
		return 8;
	say((uint64_t)(uintptr_t)function);
	wait_for_end();
	return 0;
}

static int fork_one(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		book_here();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 8;
	wait_for_end();
	return status;
}

/* volatile, so that none of the calls is the last thing its function does. */
static volatile int calls;

__attribute__((noinline)) static int book_inner(void)
{
	calls += pause();
	return calls;
}

__attribute__((noinline)) static int book_middle(void)
{
	calls += book_inner();
	return calls;
}

__attribute__((noinline)) int book_outer(void)
{
	calls += book_middle();
	return calls;
}

static bool write_map(const char *path, uint64_t start, const char *how)
{
	char *target = mem_printf("%s.target", path);
	FILE *out = fopen(!strcmp(how, JIT_LINK) ? target : path, "w");
	bool good = out && fprintf(out, "%lx 40 " BOOK_JIT_NAME "\n", (unsigned long)start) > 0;

	good = out && !fclose(out) && good && !chmod(!strcmp(how, JIT_LINK) ? target : path, 0644);
	if (good && !strcmp(how, JIT_LINK))
		good = !symlink(target, path);
	if (good && !strcmp(how, JIT_OTHERS))
		good = !chown(path, 12345, 12345);
	if (good && !strcmp(how, JIT_HARD))
		good = !link(path, target);
	if (good && !strcmp(how, JIT_STALE))
		good = !utimensat(AT_FDCWD, path, (struct timespec[2]){{.tv_sec = time(NULL) - 60},
								       {.tv_sec = time(NULL) - 60}}, 0);
	if (good && !strcmp(how, JIT_OPEN))
		good = !chmod(path, 0666);
	free(target);
	return good;
}

static int make_code(const char *how)
{
	char *path = mem_printf("/tmp/perf-%d.map", getpid());
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);

	if (code == MAP_FAILED ||
	    (strcmp(how, JIT_NONE) && !write_map(path, (uint64_t)(uintptr_t)code, how)))
		return 8;
	say((uint64_t)(uintptr_t)code + 0x10);
	wait_for_end();
	unlink(path);
	free(path);
	path = mem_printf("/tmp/perf-%d.map.target", getpid());
	unlink(path);
	free(path);
	return 0;
}

/* The child is 1 to itself; its spot is passed on with the id that others know it by. */
static int make_box(const char *how)
{
	struct book_spot spot;
	int out[2], status = 8;
	pid_t child;

	if (pipe(out) || unshare(CLONE_NEWNS | CLONE_NEWPID) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL))
		return 7;
	child = fork();
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		_exit(make_code(how));
	}
	if (child > 0 && read(out[0], &spot, sizeof(spot)) == sizeof(spot)) {
		spot.pid = (uint32_t)child;
		if (write(STDOUT_FILENO, &spot, sizeof(spot)) == sizeof(spot))
			waitpid(child, &status, 0);
	}
	return status;
}

static int run(const char *what, char *argument)
{
	char *next[] = {argument, (char *)FLAG, (char *)BOOK_HERE, NULL};

	if (!strcmp(what, BOOK_HERE) || !strcmp(what, BOOK_WAIT) || !strcmp(what, BOOK_CHAIN) ||
	    !strcmp(what, BOOK_SLEEP))
		book_here();
	if (!strcmp(what, BOOK_WAIT))
		wait_for_end();
	if (!strcmp(what, BOOK_CHAIN))
		execv(argument, next);
	if (!strcmp(what, BOOK_SLEEP))
		return book_outer();
	if (!strcmp(what, BOOK_DLOPEN))
		return load();
	if (!strcmp(what, BOOK_FORK))
		return fork_one();
	if (!strcmp(what, BOOK_JIT))
		return make_code(argument);
	if (!strcmp(what, BOOK_BOX))
		return make_box(argument);
	return 0;
}

void book_subject_main(int argc, char **argv)
{
	/* Without a look for leaks, which a process that has moved to a new pid namespace cannot do. */
	if (argc >= 3 && !strcmp(argv[1], FLAG))
		_exit(run(argv[2], argc > 3 ? argv[3] : (char *)""));
}

/* ---- in the test --------------------------------------------------------------------------------- */

void book_subject_start(struct book_subject *ret_subject, const char *program, const char *what,
			const char *argument)
{
	char *argv[] = {(char *)program, (char *)FLAG, (char *)what, (char *)argument, NULL};
	int in[2], out[2];
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execv(program, argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	*ret_subject = (struct book_subject){.pid = pid, .in = in[1], .out = out[0]};
}

struct book_spot book_subject_spot(const struct book_subject *subject)
{
	struct book_spot spot;

	assert_int_equal(read(subject->out, &spot, sizeof(spot)), sizeof(spot));
	return spot;
}

void book_subject_end(struct book_subject *subject)
{
	int status;

	close(subject->in);
	assert_int_equal(waitpid(subject->pid, &status, 0), subject->pid);
	close(subject->out);
	assert_int_equal(status, 0);
}

char *book_program(void)
{
	char *path = realpath("/proc/self/exe", NULL);

	assert_non_null(path);
	return path;
}

char *book_program_copy(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name), *own = book_program(), block[65536];
	int in = open(own, O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, block, sizeof(block))) > 0)
		assert_int_equal(write(out, block, (size_t)n), n);
	assert_int_equal(n, 0);
	close(in);
	close(out);
	free(own);
	return path;
}
