/* Opening a file that somebody else has named. */
#include "collect/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collect/mounts.h"

/* O_PATH opens nothing: it only finds. But to find a name may ask whoever serves a file system, for ever; so
 * where such a one is mounted the way must not lead there. */
static int find(int dir_fd, const char *path, unsigned flags, const struct mounts *mounts)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & PLAIN_FILE_NO_LINK ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (flags & PLAIN_FILE_MAGIC) {
		fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);
		return fd < 0 ? -errno : (int)fd;
	}
	if (mounts_lead_into_foreign(mounts, path))
		return -EPERM;
	if (mounts_any_foreign(mounts))
		how.resolve |= RESOLVE_NO_SYMLINKS;
	fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

/* A look that asks nobody. */
static bool look(int fd, struct statx *ret_stx)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID, ret_stx);
}

/* Files in memory lie in a mount that nobody sees. */
static bool is_in_memory(const struct statx *stx)
{
	int fd = memfd_create("look", MFD_CLOEXEC);
	struct statx ours;
	bool same = fd >= 0 && look(fd, &ours) && ours.stx_dev_major == stx->stx_dev_major &&
		    ours.stx_dev_minor == stx->stx_dev_minor;

	if (fd >= 0)
		close(fd);
	return same;
}

/* Whether a file that was found may be asked for anything. One in a mount that is nowhere any more may be anybody's. */
static bool answers(int fd, const struct mounts *mounts)
{
	const struct mount *mount;
	struct mounts ours;
	struct statx stx;
	bool good;

	if (!look(fd, &stx))
		return false;
	if (!(stx.stx_mask & STATX_MNT_ID)) /* before 5.8 */
		return true;
	mount = mounts_find(mounts, stx.stx_mnt_id);
	if (mount)
		return !mount->foreign;
	mounts_read(&ours, -1, geteuid());
	mount = mounts_find(&ours, stx.stx_mnt_id);
	good = mount ? !mount->foreign : is_in_memory(&stx);
	mounts_free_members(&ours);
	return good;
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

static int find_answering(int process_fd, int dir_fd, const char *path, unsigned flags)
{
	struct mounts mounts;
	int found;

	mounts_read(&mounts, process_fd, geteuid());
	found = find(dir_fd, path, flags, &mounts);
	if (found >= 0 && !answers(found, &mounts)) {
		close(found);
		found = -EPERM;
	}
	mounts_free_members(&mounts);
	return found;
}

int plain_file_open(int process_fd, int dir_fd, const char *path, unsigned flags, plain_file_check *check,
		    void *context, struct stat *ret_st)
{
	int found = find_answering(process_fd, dir_fd, path, flags), fd, err = 0;
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
