/* Where separate debug files are installed. */
#include "collect/debug_files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/plain_file.h"
#include "collect/process_look.h"

#define DEBUG_DIR "/usr/lib/debug"

static int open_taken(int process_fd, int root_fd, char *path)
{
	struct stat st;
	int fd = plain_file_open(process_fd, root_fd, path, 0, NULL, NULL, &st);

	free(path);
	return fd;
}

/* The first two digits are a directory. */
static int open_by_id(int process_fd, int root_fd, const char *id)
{
	if (strlen(id) < 3 || id[strspn(id, "0123456789abcdefABCDEF")])
		return -1;
	return open_taken(process_fd, root_fd, mem_printf(DEBUG_DIR "/.build-id/%.2s/%s.debug", id, id + 2));
}

/* Beside the file, in a directory .debug there, or in the same place below /usr/lib/debug. */
static int open_by_link(int process_fd, int root_fd, const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	int n = slash ? (int)(slash - file) : 0, fd;

	if (!name[0] || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return -1;
	fd = open_taken(process_fd, root_fd, mem_printf("%.*s/%s", n, file, name));
	if (fd < 0)
		fd = open_taken(process_fd, root_fd, mem_printf("%.*s/.debug/%s", n, file, name));
	if (fd < 0)
		fd = open_taken(process_fd, root_fd, mem_printf(DEBUG_DIR "%.*s/%s", n, file, name));
	return fd;
}

/* process_fd -1: in our own root. */
static int open_in(int process_fd, const struct debug_files *of, const char *build_id,
		   const char *link_name)
{
	int root_fd = openat(process_fd < 0 ? AT_FDCWD : process_fd, process_fd < 0 ? "/" : "root",
			     O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root_fd < 0)
		return -1;
	fd = build_id[0] ? open_by_id(process_fd, root_fd, build_id)
			 : open_by_link(process_fd, root_fd, of->path, link_name);
	close(root_fd);
	return fd < 0 ? -1 : fd;
}

int debug_files_open(void *context, const char *build_id, const char *link_name)
{
	const struct debug_files *of = context;
	int fd = open_in(-1, of, build_id, link_name), process_fd;

	if (fd >= 0 || of->pid <= 0)
		return fd;
	process_fd = process_open(of->pid, UINT64_MAX);
	if (process_fd < 0)
		return -1;
	fd = open_in(process_fd, of, build_id, link_name);
	close(process_fd);
	return fd;
}
