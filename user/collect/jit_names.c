/* Names of code that a program made at run time. */
#include "collect/jit_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/plain_file.h"

/* The start of a process is cut to a tick, and times of files are as coarse. */
#define TIME_ROOM_NS 20000000

struct owner {
	uint32_t euid;
	int64_t since_ns; /* of CLOCK_REALTIME, as times of files are */
	size_t max_bytes;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_since(const struct owner *owner, const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + TIME_ROOM_NS >= owner->since_ns;
}

/* Anybody may put a file of any name into /tmp, or another name of one that he does not own: names in it are
 * shown as the program's. A process that had the id before may have left it, and the code that it names is
 * gone: how it changed cannot be set back, when it was written can. */
static bool is_its_own(void *context, const struct stat *st)
{
	const struct owner *owner = context;

	return (st->st_uid == owner->euid || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_nlink == 1 && st->st_size >= 0 &&
	       (uint64_t)st->st_size <= owner->max_bytes && is_since(owner, &st->st_mtim) &&
	       is_since(owner, &st->st_ctim);
}

/* The later of its start and its exec. */
static int64_t begun_ns(const struct process_look *who, uint64_t since_ns)
{
	int64_t forked_ns = who->start_ns ? (int64_t)who->start_ns - clock_ns(CLOCK_BOOTTIME) : INT64_MIN;
	int64_t execed_ns = since_ns ? (int64_t)since_ns - clock_ns(CLOCK_MONOTONIC) : INT64_MIN;
	int64_t later_ns = forked_ns > execed_ns ? forked_ns : execed_ns;

	return later_ns == INT64_MIN ? 0 : later_ns + clock_ns(CLOCK_REALTIME);
}

static struct perf_map *read_below(int process_fd, int root_fd, const struct process_look *who, uint64_t since_ns,
				   size_t max_bytes, size_t *ret_bytes)
{
	struct owner owner = {who->euid, begun_ns(who, since_ns), max_bytes};
	struct perf_map *map;
	struct stat st;
	char path[64];
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", who->inner_pid);
	fd = plain_file_open(process_fd, root_fd, path, PLAIN_FILE_NO_LINK, is_its_own, &owner, &st);
	in = fd >= 0 ? fdopen(fd, "re") : NULL;
	if (!in) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	map = perf_map_read(in, max_bytes);
	fclose(in);
	*ret_bytes = perf_map_bytes(map);
	return map;
}

static bool id_is_taken(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return !access(path, F_OK);
}

static int open_root(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* One that has ended has no root of its own any more, waited for or not: ours does where it was the same. But
 * where somebody else has the id by now the map may be his. */
static int open_root_of(int process_fd, uint32_t pid, const struct process_look *who)
{
	int root_fd = process_fd >= 0 ? open_root(process_fd, "root") : -1;

	if (root_fd < 0 && who->known && who->root_is_ours && (process_fd >= 0 || !id_is_taken(pid)))
		root_fd = open_root(AT_FDCWD, "/");
	return root_fd;
}

struct perf_map *jit_names_read(uint32_t pid, uint64_t time_ns, uint64_t since_ns,
				const struct process_look *who, size_t max_bytes, size_t *ret_bytes)
{
	int process_fd = process_open((pid_t)pid, time_ns), root_fd;
	struct process_look now = *who;
	struct perf_map *map = NULL;

	if (process_fd >= 0)
		process_look(process_fd, &now);
	root_fd = open_root_of(process_fd, pid, who);
	if (root_fd >= 0 && now.known && now.inner_pid)
		map = read_below(process_fd, root_fd, &now, since_ns, max_bytes, ret_bytes);
	if (root_fd >= 0)
		close(root_fd);
	if (process_fd >= 0)
		close(process_fd);
	return map;
}
