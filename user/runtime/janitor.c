/* The process that clears up behind us, however we end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/janitor.h"
#include "runtime/strays.h"
#include "runtime/tree_remove.h"

#define NAME_TRIES	 100
#define GROUP_TIMEOUT_MS 2000
/* A process that is being killed may still make files: the directory is emptied again until it is
 * gone, with a pause between. */
#define REMOVE_TRIES	50
#define REMOVE_PAUSE_MS 20

struct group {
	pid_t pid;
	int pidfd; /* of its leader; -1: it was gone already */
};

struct janitor {
	VEC(struct group) groups;
	int base_fd;
	const char *name; /* of the directory in base_fd */
	const char *path;
};

/* ---- the directory ----------------------------------------------------------------------------
 */

static int random_name(char name[static 32])
{
	static const char digits[32] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	strcpy(name, "wakewhy-");
	for (size_t i = 0; i < sizeof(bytes); i++)
		name[8 + i] = digits[bytes[i] % 32];
	name[8 + sizeof(bytes)] = '\0';
	return 0;
}

/* Whoever may rename a directory here can put another in its place, and with it programs that run as this user:
 * its owner, and all who may write to it unless it is sticky. */
static bool others_may_rename_in(const char *path)
{
	struct stat st;

	return stat(path, &st) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	       (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX));
}

/* path and all that lead to it, but for the root: whose that is, his are all programs. path has no links in it,
 * and is cut down. */
static bool others_may_swap(char *path)
{
	for (char *slash = path; slash && *path && strcmp(path, "/"); *slash = '\0') {
		if (others_may_rename_in(path))
			return true;
		slash = strrchr(path, '/');
	}
	return false;
}

/* A fresh directory in base; mkdir never takes one that is there, nor follows a link. */
static int make_in(const char *given, char path[static PATH_MAX])
{
	char base[PATH_MAX], lead[PATH_MAX], name[32];
	struct statvfs fs;
	int err = -EEXIST;

	if (*given != '/')
		return -EINVAL;
	if (!realpath(given, base) || statvfs(base, &fs))
		return -errno;
	if (fs.f_flag & ST_NOEXEC) /* floor is a program that is put there */
		return -EACCES;
	if (others_may_swap(strcpy(lead, base)))
		return -EPERM;
	for (int i = 0; err == -EEXIST && i < NAME_TRIES; i++) {
		err = random_name(name);
		if (err)
			return err;
		if ((size_t)snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX)
			return -ENAMETOOLONG;
		err = mkdir(path, 0700) ? -errno : 0;
	}
	return err;
}

/* The first place that this user can write to and execute from. */
static int make_directory(char path[static PATH_MAX])
{
	const char *bases[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		if (!bases[i] || !*bases[i])
			continue;
		err = make_in(bases[i], path);
		if (!err)
			return 0;
	}
	return err;
}

static int open_base(const char *path)
{
	char *base = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(*base ? base : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	free(base);
	return fd;
}

/* ---- its life ---------------------------------------------------------------------------------
 */

/* Nothing that is typed at our terminal reaches it, and it holds nothing of ours open. */
static int detach(int fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	static const int ignored[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP,
				      SIGTTIN, SIGTTOU, SIGALRM, SIGUSR1, SIGUSR2};
	sigset_t none;
	int null;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_NAME, "wakewhy-janitor");
	umask(077);
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -errno;
	if ((fd > 3 && close_range(3, (unsigned)fd - 1, 0)) ||
	    close_range((unsigned)fd + 1, ~0U, 0) || chdir("/"))
		return -errno;
	return 0;
}

static void remember(struct janitor *janitor, pid_t pid)
{
	struct group *group = vec_push(&janitor->groups);

	group->pid = pid;
	group->pidfd = pidfd_open(pid, 0);
}

static void forget(struct janitor *janitor, pid_t pid)
{
	for (size_t i = 0; i < janitor->groups.n; i++) {
		struct group *group = &janitor->groups.items[i];

		if (group->pid != pid)
			continue;
		if (group->pidfd >= 0)
			close(group->pidfd);
		*group = janitor->groups.items[--janitor->groups.n];
		return;
	}
}

/* Until the other end is closed. */
static void listen_until_end(struct janitor *janitor, int fd)
{
	struct janitor_message message;

	for (;;) {
		ssize_t n = recv(fd, &message, sizeof(message), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(message))
			return;
		/* Never 1 or -1: kill takes those for everybody. */
		if (message.group > 1)
			remember(janitor, message.group);
		else if (message.group < -1)
			forget(janitor, -message.group);
	}
}

static void kill_groups(struct janitor *janitor)
{
	for (size_t i = 0; i < janitor->groups.n; i++)
		kill(-janitor->groups.items[i].pid, SIGKILL);
	for (size_t i = 0; i < janitor->groups.n; i++) {
		struct pollfd end = {.fd = janitor->groups.items[i].pidfd, .events = POLLIN};

		if (end.fd >= 0)
			poll(&end, 1, GROUP_TIMEOUT_MS);
	}
}

static int clear_up(struct janitor *janitor)
{
	int err = -EAGAIN;

	kill_groups(janitor);
	strays_kill(janitor->path);
	for (int i = 0; i < REMOVE_TRIES; i++) {
		err = tree_remove(janitor->base_fd, janitor->name);
		if (!err || err == -ENOENT)
			return 0;
		poll(NULL, 0, REMOVE_PAUSE_MS);
	}
	return err;
}

static int start(struct janitor *janitor, int fd, const struct identity *identity,
		 char path[static PATH_MAX])
{
	int err = detach(fd);

	if (!err)
		err = identity_assume(identity);
	if (!err)
		err = make_directory(path);
	if (err)
		return err;
	janitor->base_fd = open_base(path);
	if (janitor->base_fd < 0) {
		rmdir(path);
		return janitor->base_fd;
	}
	janitor->path = path;
	janitor->name = strrchr(path, '/') + 1;
	return 0;
}

void janitor_main(int fd, const struct identity *identity)
{
	struct janitor_answer answer = {0};
	struct janitor janitor = {.base_fd = -1};
	int err = start(&janitor, fd, identity, answer.path);

	answer.error = -err;
	send(fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	if (err)
		_exit(1);
	listen_until_end(&janitor, fd);
	_exit(clear_up(&janitor) ? 1 : 0);
}

void janitor_substitute(const char *path, const struct identity *identity)
{
	struct janitor janitor = {.path = path, .name = strrchr(path, '/') + 1};

	if (identity_assume(identity))
		_exit(1);
	janitor.base_fd = open_base(path);
	_exit(janitor.base_fd < 0 || clear_up(&janitor) ? 1 : 0);
}
