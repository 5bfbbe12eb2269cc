/* A file that appears under its name only when it is complete. */
#include "cmd/output_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/checked.h"

struct output_file {
	char *path;	 /* as the user gave it */
	const char *name; /* last component, within path */
	int directory_fd;
	int fd;
	bool nameless;
	char temporary[48]; /* its name in the directory until it is complete; "": none */
	FILE *stream; /* NULL once closed */
	int error;    /* the first errno of stream */
};

static int failed(const struct output_file *file, int err, struct diag *diag)
{
	return diag_set(diag, err, "cannot write '%s': %s", file->path, strerror(-err));
}

static int open_directory(struct output_file *file, struct diag *diag)
{
	char *slash = strrchr(file->path, '/');
	char *directory;

	file->name = slash ? slash + 1 : file->path;
	if (!*file->name || !strcmp(file->name, ".") || !strcmp(file->name, ".."))
		return failed(file, -EISDIR, diag);
	if (slash)
		directory = mem_strndup(file->path, slash == file->path ? 1 : (size_t)(slash - file->path));
	else
		directory = mem_strdup(".");
	file->directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return file->directory_fd < 0 ? failed(file, -errno, diag) : 0;
}

/* What has the name now: a file will be replaced and so will a link (never what it points to: under
 * sudo that would be somebody's way to any file); anything else is refused. */
static int check_existing(const struct output_file *file, struct diag *diag)
{
	struct stat st;

	if (fstatat(file->directory_fd, file->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : failed(file, -errno, diag);
	if (S_ISDIR(st.st_mode))
		return failed(file, -EISDIR, diag);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return diag_set(diag, -EEXIST, "cannot write '%s': it is there and not a file", file->path);
	return 0;
}

static int random_name(struct output_file *file)
{
	unsigned char bytes[12];
	char *end = stpcpy(file->temporary, ".wakewhy-");

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		end += sprintf(end, "%02x", bytes[i]);
	return 0;
}

static int open_temporary(struct output_file *file)
{
	int err;

	file->fd = openat(file->directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	file->nameless = file->fd >= 0;
	if (file->nameless)
		return 0;
	/* File systems without nameless files say one of the two. */
	if (errno != EOPNOTSUPP && errno != EISDIR)
		return -errno;
	err = random_name(file);
	if (!err) {
		file->fd = openat(file->directory_fd, file->temporary,
				  O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0644);
		err = file->fd < 0 ? -errno : 0;
	}
	if (err)
		file->temporary[0] = '\0';
	return err;
}

static bool id_from_environment(const char *variable, unsigned *ret_id)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long id;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	id = strtoul(text, &end, 10);
	if (errno || *end || id >= 0xffffffffUL)
		return false;
	*ret_id = (unsigned)id;
	return true;
}

/* A result belongs to the person who asked for it. A file system that knows no owners is no reason
 * to fail. */
static void give_to_invoking_user(int fd)
{
	unsigned uid, gid;

	if (geteuid() == 0 && id_from_environment("SUDO_UID", &uid) &&
	    id_from_environment("SUDO_GID", &gid) && fchown(fd, uid, gid))
		return;
}

int output_file_begin(struct output_file **ret_file, const char *path, struct diag *diag)
{
	struct output_file *file = mem_zalloc(sizeof(*file));
	int err;

	file->path = mem_strdup(path);
	file->directory_fd = file->fd = -1;
	err = open_directory(file, diag);
	if (!err)
		err = check_existing(file, diag);
	if (err)
		goto fail;
	err = open_temporary(file);
	if (!err) {
		give_to_invoking_user(file->fd);
		file->stream = checked_open(file->fd, &file->error);
		err = file->stream ? 0 : -errno;
	}
	if (err) {
		failed(file, err, diag);
		goto fail;
	}
	*ret_file = file;
	return 0;
fail:
	output_file_free(file);
	return err;
}

FILE *output_file_stream(const struct output_file *file)
{
	return file->stream;
}

/* Names a nameless file: at once where nothing has the name, else by way of a temporary name that
 * can be moved over it. */
static int link_file(struct output_file *file)
{
	char self[64];
	int err;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	if (!linkat(AT_FDCWD, self, file->directory_fd, file->name, AT_SYMLINK_FOLLOW))
		return 0;
	if (errno != EEXIST)
		return -errno;
	err = random_name(file);
	if (!err && linkat(AT_FDCWD, self, file->directory_fd, file->temporary, AT_SYMLINK_FOLLOW))
		err = -errno;
	if (err)
		file->temporary[0] = '\0';
	return err;
}

int output_file_complete(struct output_file *file, struct diag *diag)
{
	int err, fd = file->fd;

	fclose(file->stream);
	file->stream = NULL;
	err = -file->error;
	if (!err && file->nameless)
		err = link_file(file);
	/* Some file systems (NFS) tell of a full disk only now. */
	file->fd = -1;
	if (close(fd) && !err)
		err = -errno;
	if (!err && file->temporary[0]) {
		if (renameat(file->directory_fd, file->temporary, file->directory_fd, file->name))
			err = -errno;
		else
			file->temporary[0] = '\0';
	}
	return err ? failed(file, err, diag) : 0;
}

void output_file_free(struct output_file *file)
{
	if (!file)
		return;
	if (file->stream)
		fclose(file->stream);
	if (file->temporary[0])
		unlinkat(file->directory_fd, file->temporary, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->directory_fd >= 0)
		close(file->directory_fd);
	free(file->path);
	free(file);
}
