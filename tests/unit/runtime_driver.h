/* For tests of what remains when wakewhy is killed: a process that does as wakewhy does, and dies.
 */
#ifndef WAKEWHY_TESTS_RUNTIME_DRIVER_H
#define WAKEWHY_TESTS_RUNTIME_DRIVER_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define END_TIMEOUT_MS 20000

/* Processes of the driver, opened before it is killed and awaited after that. */
struct watch {
	int fds[8];
	size_t n;
};

static inline void watch_add(struct watch *watch, pid_t pid)
{
	int fd = pidfd_open(pid, 0);

	assert_true(fd >= 0);
	assert_true(watch->n < 8);
	watch->fds[watch->n++] = fd;
}

static inline void watch_await_ends(struct watch *watch)
{
	for (size_t i = 0; i < watch->n; i++) {
		struct pollfd end = {.fd = watch->fds[i], .events = POLLIN};

		assert_int_equal(poll(&end, 1, END_TIMEOUT_MS), 1);
		close(end.fd);
	}
	watch->n = 0;
}

/* Runs drive(fd) in a process of its own, which writes bytes to fd when all that is to be left
 * behind is there; then look(said, watch), then kill -9, then waits for the end of all that look
 * added. */
static inline void drive_and_kill(void (*drive)(int fd), void *ret_said, size_t bytes,
				  void (*look)(const void *said, struct watch *watch))
{
	struct watch watch = {0};
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		drive(ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], ret_said, bytes), bytes);
	close(ends[0]);
	look(ret_said, &watch);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	watch_await_ends(&watch);
}

/* Waits until a script has written a number and a newline to DIRECTORY/name, and returns it. */
static inline pid_t await_number(const char *directory, const char *name)
{
	char *path = mem_printf("%s/%s", directory, name);
	int pid = 0;

	for (int i = 0; i < END_TIMEOUT_MS && !pid; i++) {
		FILE *file = fopen(path, "r");
		char line[32];

		if (file && fgets(line, sizeof(line), file) && strchr(line, '\n'))
			pid = atoi(line);
		if (file)
			fclose(file);
		if (!pid)
			poll(NULL, 0, 1);
	}
	free(path);
	assert_true(pid > 0);
	return pid;
}

/* The only child of a process with one thread. */
static inline pid_t only_child(pid_t pid)
{
	char *path = mem_printf("/proc/%d/task/%d/children", pid, pid);
	FILE *file = fopen(path, "r");
	int child = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &child), 1);
	fclose(file);
	free(path);
	return child;
}

#endif
