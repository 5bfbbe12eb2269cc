/* Opening a file that somebody else has named. */
#include "collect/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
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

/* Files that the kernel makes up call themselves regular: to read one can take a message from somebody else
 * (/proc/kmsg, trace_pipe) or touch a device (a PCI rom), and a link may lead there. */
static bool is_made_up(int fd)
{
	static const uint32_t kinds[] = {PROC_SUPER_MAGIC,	SYSFS_MAGIC,	    DEBUGFS_MAGIC,
					 TRACEFS_MAGIC,		SECURITYFS_MAGIC,   PSTOREFS_MAGIC,
					 EFIVARFS_MAGIC,	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
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
	else if (!S_ISREG(st.st_mode) || is_made_up(found))
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
