/* The known subjects as processes: forking, the gate, what they say, their end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/selftest.h"

struct selftest_child {
	pid_t pid;
	int fd; /* our end of the socket */
	struct selftest_told *told;
};

static const char *const names[SELFTEST_MAX] = {
	[SELFTEST_SLEEPER] = "sleeper",	  [SELFTEST_PING] = "ping-pong",
	[SELFTEST_HAND_OFF] = "hand-off", [SELFTEST_TIMERFD] = "timerfd",
	[SELFTEST_ALARM] = "alarm",	  [SELFTEST_SPAWNER] = "spawner",
	[SELFTEST_CANCEL] = "canceller",  [SELFTEST_YIELDER] = "yielder",
	[SELFTEST_SPINNER] = "spinner",	  [SELFTEST_CROWD] = "crowd",
	[SELFTEST_CALLER] = "caller",
};

const char *selftest_name(enum selftest_id id)
{
	return names[id];
}

/* ---- the child's side -------------------------------------------------------------------------- */

/* Signals as a fresh program has them: ours are handled, and may be blocked. */
static void signals_default(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int signo = 1; signo < SIGRTMAX; signo++)
		signal(signo, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Says its byte, and sleeps until there is one to read. send() and recv() are calls that no subject counts. */
static void say_and_wait(int fd)
{
	char byte = 'x';

	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
		_exit(0);
}

static _Noreturn void child_main(struct selftest_told *told, int fd, enum selftest_id id, pid_t parent)
{
	struct selftest_self self = {.told = told, .gate = fd};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, names[id]);
	signals_default();
	if (getppid() != parent || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, self.pair))
		_exit(1);
	told->threads[0].pid = told->threads[0].tid = getpid();
	told->threads[0].born = selftest_figures();
	say_and_wait(fd);
	told->threads[0].before = selftest_figures();
	selftest_work(&self, id);
	say_and_wait(fd);
	_exit(0);
}

/* ---- our side ---------------------------------------------------------------------------------- */

/* Waits for its byte: true once it came, false when the child has ended. */
static bool byte_comes(int fd)
{
	char byte;
	ssize_t n;

	do
		n = recv(fd, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int child_fork(struct selftest_child *child, enum selftest_id id, struct diag *diag)
{
	int pair[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return diag_set(diag, -errno, "cannot make a socket: %s", strerror(errno));
	child->fd = pair[0];
	child->pid = fork();
	if (!child->pid) {
		close(pair[0]);
		child_main(child->told, pair[1], id, parent);
	}
	close(pair[1]);
	if (child->pid < 0)
		return diag_set(diag, -errno, "cannot fork: %s", strerror(errno));
	if (!byte_comes(child->fd))
		return diag_set(diag, -EIO, "the %s could not be started", names[id]);
	return 0;
}

int selftest_start(struct selftest_child **ret_child, enum selftest_id id, struct diag *diag)
{
	struct selftest_child *child = mem_zalloc(sizeof(*child));
	int err = 0;

	child->fd = child->pid = -1;
	child->told = mmap(NULL, sizeof(*child->told), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->told == MAP_FAILED) {
		child->told = NULL;
		err = diag_set(diag, -errno, "cannot share memory: %s", strerror(errno));
	}
	if (!err)
		err = child_fork(child, id, diag);
	if (err)
		selftest_free(child);
	else
		*ret_child = child;
	return err;
}

pid_t selftest_pid(const struct selftest_child *child)
{
	return child->pid;
}

bool selftest_go(struct selftest_child *child)
{
	return send(child->fd, "g", 1, MSG_NOSIGNAL) == 1;
}

int selftest_fd(const struct selftest_child *child)
{
	return child->fd;
}

bool selftest_done(struct selftest_child *child)
{
	return byte_comes(child->fd);
}

const struct selftest_told *selftest_told(const struct selftest_child *child)
{
	return child->told;
}

void selftest_free(struct selftest_child *child)
{
	if (!child)
		return;
	if (child->pid > 0) {
		/* What it forked has its end for a signal, too. */
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (child->fd >= 0)
		close(child->fd);
	if (child->told)
		munmap(child->told, sizeof(*child->told));
	free(child);
}
