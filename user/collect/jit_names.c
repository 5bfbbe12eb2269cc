/* Names of code that a program made at run time. */
#include "collect/jit_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/plain_file.h"

struct owner {
	uint32_t euid;
	size_t max_bytes;
};

/* Anybody may put a file of any name into /tmp: names in it are shown as the program's. */
static bool is_its_own(void *context, const struct stat *st)
{
	const struct owner *owner = context;

	return (st->st_uid == owner->euid || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_size >= 0 &&
	       (uint64_t)st->st_size <= owner->max_bytes;
}

static struct perf_map *read_below(int dir_fd, const char *root, const struct process_look *who,
				   size_t max_bytes, size_t *ret_bytes)
{
	struct owner owner = {who->euid, max_bytes};
	int root_fd = openat(dir_fd, root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct perf_map *map;
	struct stat st;
	char path[64];
	FILE *in;

	if (root_fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", who->inner_pid);
	fd = plain_file_open(root_fd, path, PLAIN_FILE_NO_LINK, is_its_own, &owner, &st);
	close(root_fd);
	in = fd >= 0 ? fdopen(fd, "re") : NULL;
	if (!in) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	map = perf_map_read(in, max_bytes);
	fclose(in);
	*ret_bytes = (size_t)st.st_size;
	return map;
}

struct perf_map *jit_names_read(uint32_t pid, uint64_t time_ns, const struct process_look *who,
				size_t max_bytes, size_t *ret_bytes)
{
	int process_fd = process_open((pid_t)pid, time_ns);
	struct process_look now = *who;
	struct perf_map *map;

	if (process_fd < 0)
		return who->known && who->root_is_ours && who->inner_pid
			       ? read_below(AT_FDCWD, "/", who, max_bytes, ret_bytes)
			       : NULL;
	process_look(process_fd, &now);
	map = now.known && now.inner_pid
		      ? read_below(process_fd, "root", &now, max_bytes, ret_bytes)
		      : NULL;
	close(process_fd);
	return map;
}
