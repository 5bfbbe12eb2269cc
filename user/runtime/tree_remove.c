/* Removes a directory and all in it, by descriptors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/tree_remove.h"

/* Each level holds a descriptor; no runtime nests deeper, and who does it on purpose keeps the
 * rest. */
#define DEPTH_MAX 200

static int empty_directory(int fd, int depth);

/* The mode of a directory of ours may keep us out; only we can have set it. */
static int open_directory(int parent_fd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent_fd, name, flags);
	char path[64];
	int pinned;

	if (fd >= 0 || errno != EACCES)
		return fd < 0 ? -errno : fd;
	/* By way of a pinned descriptor: chmod by name would follow a link put there meanwhile. */
	pinned = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (pinned < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pinned);
	fd = chmod(path, 0700) ? -errno : openat(parent_fd, name, flags);
	if (fd == -1)
		fd = -errno;
	close(pinned);
	return fd;
}

static bool is_mount(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx))
		return true; /* better left than emptied */
	return stx.stx_attributes_mask & stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static int remove_directory(int parent_fd, const char *name, int depth)
{
	int fd = open_directory(parent_fd, name);
	int err;

	if (fd < 0)
		return fd;
	if (is_mount(fd)) {
		close(fd);
		return -EBUSY;
	}
	err = empty_directory(fd, depth); /* closes fd */
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) && !err)
		err = -errno;
	return err;
}

static int remove_entry(int fd, const char *name, int depth)
{
	if (!unlinkat(fd, name, 0))
		return 0;
	/* EPERM is what POSIX wants for a directory, EISDIR what Linux says. */
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	return depth < DEPTH_MAX ? remove_directory(fd, name, depth + 1) : -ELOOP;
}

static int empty_directory(int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int first = 0;

	if (!dir) {
		first = -errno;
		close(fd);
		return first;
	}
	while ((entry = readdir(dir))) {
		int err;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		err = remove_entry(fd, entry->d_name, depth);
		if (err && err != -ENOENT && !first)
			first = err;
	}
	closedir(dir);
	return first;
}

int tree_remove(int parent_fd, const char *name)
{
	return remove_directory(parent_fd, name, 0);
}
