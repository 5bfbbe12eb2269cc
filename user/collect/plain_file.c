/* Opening a file that somebody else has named. */
#include "collect/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_PATH opens nothing: it only finds. */
static int find(int dir_fd, const char *path, unsigned flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & PLAIN_FILE_NO_LINK ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (flags & PLAIN_FILE_MAGIC)
		fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);
	else
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

int plain_file_open(int dir_fd, const char *path, unsigned flags, plain_file_check *check,
		    void *context, struct stat *ret_st)
{
	int found = find(dir_fd, path, flags), fd, err = 0;
	struct stat st;
	char self[64];

	if (found < 0)
		return found;
	if (fstat(found, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (check && !check(context, &st))
		err = -EPERM;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
	fd = err ? err : open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (!err && fd < 0)
		fd = -errno;
	close(found);
	if (fd >= 0)
		*ret_st = st;
	return fd;
}
