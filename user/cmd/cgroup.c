/* The id of a cgroup, from its path. */
#include "cmd/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/cgroup.h"

/* An absolute path that exists is taken as it is, anything else below the mount. */
static int open_cgroup(const char *path, struct diag *diag)
{
	int fd = *path == '/' ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, err;
	char *mount, *full;

	if (fd >= 0)
		return fd;
	mount = cgroup_mount("/proc", NULL, NULL);
	if (!mount) {
		diag_set(diag, -EINVAL, "no cgroup v2 file system is mounted, so there is no cgroup '%s'",
			 path);
		return diag_hint(diag, -EINVAL, "mount -t cgroup2 none /sys/fs/cgroup");
	}
	full = mem_printf("%s/%s", mount, path + (*path == '/'));
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = -errno;
	if (fd < 0) {
		diag_set(diag, err, "no cgroup '%s': %s", path, strerror(-err));
		diag_hint(diag, err, "a path below %s", mount);
	}
	free(full);
	free(mount);
	return fd < 0 ? err : fd;
}

static int check_kind(int fd, const char *path, struct diag *diag)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return diag_set(diag, -errno, "cannot look at '%s': %s", path, strerror(errno));
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	if (fs.f_type == CGROUP_SUPER_MAGIC)
		diag_set(diag, -EINVAL, "'%s' is a cgroup of version 1", path);
	else
		diag_set(diag, -EINVAL, "'%s' is not a cgroup", path);
	return diag_hint(diag, -EINVAL, "give a directory of the cgroup v2 file system");
}

int cgroup_resolve(const char *path, uint64_t *ret_id, struct diag *diag)
{
	struct stat st;
	int err, fd = open_cgroup(path, diag);

	if (fd < 0)
		return fd;
	err = check_kind(fd, path, diag);
	if (!err && fstat(fd, &st))
		err = diag_set(diag, -errno, "cannot look at '%s': %s", path, strerror(errno));
	if (!err)
		*ret_id = st.st_ino;
	close(fd);
	return err;
}
