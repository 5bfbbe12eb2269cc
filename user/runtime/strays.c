/* Processes that left their group, but still carry the mark of what started them. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/environment.h"
#include "runtime/strays.h"

#define ENVIRONMENT_MAX_BYTES (64U << 10)
#define ROUNDS_MAX	      16 /* a round finds what was forked during the one before */
#define END_TIMEOUT_MS	      500

/* buffer ends with NUL; so does each variable in it. */
static bool has_mark(const char *buffer, size_t bytes, const char *variable)
{
	size_t n = strlen(variable);

	for (size_t at = 0; at < bytes; at += strlen(buffer + at) + 1)
		if (!strncmp(buffer + at, variable, n) &&
		    (buffer[at + n] == '\0' || buffer[at + n] == '/'))
			return true;
	return false;
}

static bool is_marked(pid_t pid, const char *variable, char *buffer)
{
	char path[64];
	size_t bytes = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (bytes < ENVIRONMENT_MAX_BYTES) {
		ssize_t n = read(fd, buffer + bytes, ENVIRONMENT_MAX_BYTES - bytes);

		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	close(fd);
	buffer[bytes] = '\0';
	return has_mark(buffer, bytes, variable);
}

/* The descriptor is taken before the look at the environment, so that what is killed is what was
 * looked at. */
static bool kill_if_marked(pid_t pid, const char *variable, char *buffer)
{
	struct pollfd end = {.events = POLLIN};
	bool killed = false;

	end.fd = pidfd_open(pid, 0);
	if (end.fd < 0)
		return false;
	if (is_marked(pid, variable, buffer) && !pidfd_send_signal(end.fd, SIGKILL, NULL, 0)) {
		killed = true;
		poll(&end, 1, END_TIMEOUT_MS);
	}
	close(end.fd);
	return killed;
}

static size_t kill_round(const char *variable, char *buffer)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t killed = 0;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			killed += kill_if_marked((pid_t)atoi(entry->d_name), variable, buffer);
	if (proc)
		closedir(proc);
	return killed;
}

size_t strays_kill(const char *mark)
{
	char *variable = mem_printf("%s=%s", ENVIRONMENT_MARK, mark);
	char *buffer = mem_zalloc(ENVIRONMENT_MAX_BYTES + 1);
	size_t killed = 0;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t n = kill_round(variable, buffer);

		killed += n;
		if (!n)
			break;
	}
	free(buffer);
	free(variable);
	return killed;
}
