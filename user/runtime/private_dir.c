/* A private directory for scripts, owned by the user the workload runs as, gone when wakewhy is:
 * our side of it; janitor.c is the other. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/janitor.h"
#include "runtime/launch.h"

struct private_dir {
	struct identity identity;
	char *path;
	int fd;		/* of the directory */
	int janitor_fd; /* closing it sets the janitor to work */
	pid_t janitor;
};

/* ---- the janitor ------------------------------------------------------------------------------
 */

static int start_janitor(struct private_dir *dir, struct diag *diag)
{
	int ends[2];
	sigset_t all, old;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return diag_set(diag, -errno, "cannot make a socket: %s", strerror(errno));
	/* No handler of ours may run in it before it has set its own. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	dir->janitor = fork();
	if (dir->janitor == 0) {
		/* Out of the way of the three that it opens anew. */
		int fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);

		close(ends[0]);
		if (fd < 0)
			_exit(1);
		janitor_main(fd, &dir->identity);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(ends[1]);
	dir->janitor_fd = ends[0];
	if (dir->janitor < 0)
		return diag_set(diag, -errno, "cannot fork: %s", strerror(errno));
	return 0;
}

static int await_answer(struct private_dir *dir, struct diag *diag)
{
	struct janitor_answer *answer = mem_zalloc(sizeof(*answer));
	ssize_t n;
	int err = 0;

	do
		n = recv(dir->janitor_fd, answer, sizeof(*answer), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*answer))
		err = diag_set(diag, -ECHILD, "the helper that removes our files ended at once");
	else if (answer->error) {
		err = diag_set(diag, -answer->error,
			       "user '%s' cannot have a directory in $TMPDIR, /tmp or /var/tmp: %s",
			       dir->identity.name, strerror(answer->error));
		diag_hint(diag, err,
			  "set TMPDIR to a directory that this user can write to and "
			  "run programs in, and in which nobody else can rename his");
	} else
		dir->path = mem_strndup(answer->path, sizeof(answer->path) - 1);
	free(answer);
	return err;
}

/* Blocks until the janitor has done its work. False: somebody killed it, or it failed. */
static bool reap(pid_t pid)
{
	int status;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void substitute(struct private_dir *dir)
{
	pid_t pid = fork();

	if (pid == 0)
		janitor_substitute(dir->path, &dir->identity);
	if (pid > 0)
		reap(pid);
}

/* ---- the directory ----------------------------------------------------------------------------
 */

/* What was made a moment ago, and not something that was put in its place. */
static int open_directory(struct private_dir *dir, struct diag *diag)
{
	struct stat st;

	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir->fd < 0 || fstat(dir->fd, &st))
		return diag_set(diag, -errno, "cannot open '%s': %s", dir->path, strerror(errno));
	if (st.st_uid != dir->identity.uid || (st.st_mode & 07777) != 0700)
		return diag_set(diag, -EPERM, "'%s' was replaced by somebody else's directory",
				dir->path);
	return 0;
}

int private_dir_create(struct private_dir **ret_dir, const char *user, struct diag *diag)
{
	struct private_dir *dir = mem_zalloc(sizeof(*dir));
	int err;

	dir->fd = dir->janitor_fd = -1;
	err = identity_resolve(&dir->identity, user, diag);
	if (!err)
		err = start_janitor(dir, diag);
	if (!err)
		err = await_answer(dir, diag);
	if (!err)
		err = open_directory(dir, diag);
	if (err) {
		private_dir_remove(dir);
		return err;
	}
	*ret_dir = dir;
	return 0;
}

const char *private_dir_path(const struct private_dir *dir)
{
	return dir->path;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int private_dir_write(struct private_dir *dir, const char *name, const void *data, size_t bytes,
		      bool executable, struct diag *diag)
{
	int fd, err = 0;

	if (!*name || strchr(name, '/'))
		return diag_set(diag, -EINVAL, "'%s' is no name for a file", name);
	/* New or nothing: the user could have put a link there. */
	fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		err = -errno;
	if (!err)
		err = write_all(fd, data, bytes);
	if (!err && fchmod(fd, executable ? 0755 : 0644)) /* whatever the umask is */
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (err)
		return diag_set(diag, err, "cannot write '%s/%s': %s", dir->path, name,
				strerror(-err));
	return 0;
}

int private_dir_make_directory(struct private_dir *dir, const char *name, struct diag *diag)
{
	int fd = -1, err = 0;

	if (!*name || strchr(name, '/'))
		return diag_set(diag, -EINVAL, "'%s' is no name for a directory", name);
	if (mkdirat(dir->fd, name, 0700))
		err = -errno;
	if (!err && dir->identity.change) {
		fd = openat(dir->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fchown(fd, dir->identity.uid, dir->identity.gid))
			err = -errno;
		if (fd >= 0)
			close(fd);
	}
	if (err)
		return diag_set(diag, err, "cannot make '%s/%s': %s", dir->path, name,
				strerror(-err));
	return 0;
}

void private_dir_guard(struct private_dir *dir, pid_t group)
{
	const struct janitor_message message = {.group = group};

	send(dir->janitor_fd, &message, sizeof(message), MSG_NOSIGNAL);
}

void private_dir_remove(struct private_dir *dir)
{
	if (!dir)
		return;
	if (dir->fd >= 0)
		close(dir->fd);
	if (dir->janitor_fd >= 0)
		close(dir->janitor_fd);
	if (dir->janitor > 0 && !reap(dir->janitor) && dir->path)
		substitute(dir);
	identity_free_members(&dir->identity);
	free(dir->path);
	free(dir);
}
