/* A process as /proc shows it. */
#include "collect/process_look.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/clock.h"
#include "collect/proc_text.h"

#define SECOND_NS 1000000000ULL

static bool read_text(int process_fd, const char *name, char *ret_text, size_t bytes)
{
	int fd = openat(process_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, ret_text, bytes - 1);
	close(fd);
	if (n < 0)
		return false;
	ret_text[n] = '\0';
	return true;
}

static bool read_start(int process_fd, uint64_t *ret_boottime_ns)
{
	uint64_t per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	struct proc_stat stat;
	char text[2048];

	if (!read_text(process_fd, "stat", text, sizeof(text)) || proc_parse_stat(text, &stat) ||
	    !per_s || stat.start_ticks > UINT64_MAX / SECOND_NS)
		return false;
	*ret_boottime_ns = stat.start_ticks * SECOND_NS / per_s;
	return true;
}

/* One that took over the id began later. The start is cut to a tick, so it may seem up to one
 * earlier: an id is not given out again that soon. */
static bool lived_at(int process_fd, uint64_t time_ns)
{
	uint64_t start_ns, boottime_ns;

	if (!read_start(process_fd, &start_ns))
		return false;
	if (time_ns == UINT64_MAX)
		return true;
	boottime_ns = time_ns + (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
	return start_ns <= boottime_ns;
}

int process_open(pid_t pid, uint64_t time_ns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !lived_at(fd, time_ns)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool same_file(int a_fd, const char *a, int b_fd, const char *b)
{
	const int flags = AT_STATX_DONT_SYNC; /* its root may be on a file system that never answers */
	struct statx x, y;

	return !statx(a_fd, a, flags, STATX_INO, &x) && !statx(b_fd, b, flags, STATX_INO, &y) &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor && x.stx_ino == y.stx_ino;
}

/* The last word of a line of /proc/PID/status, or the one of this number (from 1). */
static bool status_word(const char *text, const char *key, int which, uint32_t *ret_value)
{
	const char *line = strstr(text, key), *end;
	uint32_t value = 0;
	int n = 0;

	if (!line)
		return false;
	line += strlen(key);
	end = line + strcspn(line, "\n");
	while (line < end && (!which || n < which)) {
		char *next;
		unsigned long word = strtoul(line, &next, 10);

		if (next == line || next > end)
			break;
		value = (uint32_t)word;
		line = next;
		n++;
	}
	*ret_value = value;
	return n > 0 && (!which || n == which);
}

void process_look(int process_fd, struct process_look *ret_look)
{
	struct process_look look = {0};
	char text[8192];

	*ret_look = look;
	if (!read_text(process_fd, "status", text, sizeof(text)) ||
	    !status_word(text, "\nUid:", 2, &look.euid))
		return;
	if (!status_word(text, "\nNSpid:", 0, &look.inner_pid))
		look.inner_pid = 0;
	look.root_is_ours = same_file(process_fd, "ns/mnt", AT_FDCWD, "/proc/self/ns/mnt") &&
			    same_file(process_fd, "root", AT_FDCWD, "/");
	if (!read_start(process_fd, &look.start_ns))
		look.start_ns = 0;
	look.known = true;
	*ret_look = look;
}
