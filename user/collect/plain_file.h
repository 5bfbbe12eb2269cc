/* Opening a file that somebody else has named: a plain file below a given root, or nothing. */
#ifndef WAKEWHY_COLLECT_PLAIN_FILE_H
#define WAKEWHY_COLLECT_PLAIN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Looked at before it is opened for reading: opening a device can do something, opening a pipe can
 * wait. Returns false for what is not wanted. */
typedef bool plain_file_check(void *context, const struct stat *st);

enum plain_file_flags {
	PLAIN_FILE_NO_LINK = 1 << 0, /* the last part of the path may be no symbolic link */
	PLAIN_FILE_MAGIC = 1 << 1,   /* path is a link of /proc that leads to the file itself */
};

/* Opens `path` with dir_fd as the root directory: neither ".." nor a link leads out of it. process_fd is the
 * /proc/PID of whose root or link that is; -1: ours. Returns a descriptor that the caller closes, or -errno;
 * -EINVAL where it is no regular file, or one that the kernel makes up (/proc, /sys); -EPERM where check said
 * no, or where a file system in user space that is neither root's nor ours would be asked: it need not ever
 * answer. check may be NULL. */
int plain_file_open(int process_fd, int dir_fd, const char *path, unsigned flags, plain_file_check *check,
		    void *context, struct stat *ret_st);

#endif
