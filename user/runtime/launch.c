/* Starts a program stopped at a gate, as the right user, on the right CPUs, and never leaves it
 * behind: the parent's side. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/launch.h"
#include "runtime/launch_plan.h"
#include "runtime/lean_fork.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- fork and gate ----------------------------------------------------------------------------
 */

/* Above 2, whatever of our own three may be closed: the child puts its own there. */
static int raise_fd(int *fd)
{
	int higher;

	if (*fd > 2)
		return 0;
	higher = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	if (higher < 0)
		return -errno;
	close(*fd);
	*fd = higher;
	return 0;
}

/* gate[0], error[0] are ours. The gate is a socket so that opening it for a dead child is an error
 * and not a SIGPIPE. */
static int make_channels(int gate[2], int error[2], struct diag *diag)
{
	int err = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) || pipe2(error, O_CLOEXEC))
		err = -errno;
	for (int i = 0; !err && i < 2; i++) {
		err = raise_fd(&gate[i]);
		if (!err)
			err = raise_fd(&error[i]);
	}
	return err ? diag_set(diag, err, "cannot make a pipe: %s", strerror(-err)) : 0;
}

static pid_t start_child(struct launch_plan *plan)
{
	sigset_t all, old;
	pid_t pid;
	int err;

	/* Until the child has reset them, no handler of ours may run in it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = lean_fork();
	if (pid == 0)
		launch_child(plan);
	err = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return pid;
}

static void reap(struct launched *launched, int *ret_status, struct rusage *ret_rusage)
{
	pid_t pid;

	do
		pid = wait4(launched->pid, ret_status, 0, ret_rusage);
	while (pid < 0 && errno == EINTR);
	launched->reaped = true;
}

/* Returns 1 with a message, 0 at the end of file (exec has closed it, or the child died). */
static int read_message(int fd, struct launch_message *ret_message)
{
	ssize_t n;

	do
		n = read(fd, ret_message, sizeof(*ret_message));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret_message);
}

static int explain(const struct launch_plan *plan, const struct launch_message *message,
		   struct diag *diag)
{
	const char *why = strerror(message->error);
	char *cpus;

	switch ((enum launch_stage)message->stage) {
	case LAUNCH_CPUS:
		cpus = cpulist_format(&plan->cpus);
		diag_set(diag, -message->error, "cannot run on CPUs %s: %s", cpus, why);
		diag_hint(diag, -message->error,
			  "not all of them are there and allowed; "
			  "grep Cpus_allowed_list /proc/self/status shows which are");
		free(cpus);
		break;
	case LAUNCH_USER:
		diag_set(diag, -message->error, "cannot become user %u: %s", plan->identity.uid,
			 why);
		break;
	case LAUNCH_DIRECTORY:
		diag_set(diag, -message->error, "cannot change to '%s': %s", plan->directory, why);
		break;
	case LAUNCH_EXEC:
		diag_set(diag, -message->error, "cannot run '%s': %s", plan->path, why);
		if (message->error == ENOENT)
			diag_hint(diag, -ENOENT,
				  "the interpreter or loader that it names is missing");
		else if (message->error == EACCES)
			diag_hint(diag, -EACCES,
				  "user %u may not execute it, or its file system is "
				  "mounted noexec",
				  plan->identity.uid);
		break;
	default:
		diag_set(diag, -message->error, "cannot set up '%s': %s", plan->path, why);
		break;
	}
	return -message->error;
}

/* Waits until the child stands at the gate. */
static int await_gate(struct launched *launched, struct diag *diag)
{
	struct launch_message message;

	if (!read_message(launched->error_fd, &message))
		return diag_set(diag, -ECHILD, "'%s' was killed before it was started",
				launched->plan->path);
	if (message.stage != LAUNCH_GATE)
		return explain(launched->plan, &message, diag);
	return 0;
}

int launch_prepare(struct launched *ret_launched, const struct launch_options *options,
		   struct diag *diag)
{
	int gate[2] = {-1, -1}, error[2] = {-1, -1};
	struct launched launched = {.pidfd = -1, .own_group = options->own_group};
	int err = launch_plan_make(&launched.plan, options, diag);

	if (err)
		return err;
	err = make_channels(gate, error, diag);
	if (err)
		goto out;
	launched.plan->gate_far_fd = gate[0];
	launched.plan->gate_fd = gate[1];
	launched.plan->error_fd = error[1];
	launched.pid = start_child(launched.plan);
	if (launched.pid < 0) {
		err = diag_set(diag, -errno, "cannot fork: %s", strerror(errno));
		goto out;
	}
	close_fd(&gate[1]);
	close_fd(&error[1]);
	launched.gate_fd = gate[0];
	launched.error_fd = error[0];
	launched.pidfd = pidfd_open(launched.pid, 0);
	err = launched.pidfd < 0 ? diag_set(diag, -errno, "cannot watch '%s': %s",
					    launched.plan->path, strerror(errno))
				 : await_gate(&launched, diag);
	if (err) {
		launch_kill(&launched);
		return err;
	}
	*ret_launched = launched;
	return 0;
out:
	for (int i = 0; i < 2; i++) {
		close_fd(&gate[i]);
		close_fd(&error[i]);
	}
	launch_plan_free(launched.plan);
	return err;
}

/* ---- release, wait, kill ----------------------------------------------------------------------
 */

int launch_open(struct launched *launched, struct diag *diag)
{
	ssize_t n;

	do
		n = send(launched->gate_fd, "", 1, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return diag_set(diag, -ECHILD, "'%s' was killed before it was started",
				launched->plan->path);
	close_fd(&launched->gate_fd);
	return 0;
}

int launch_confirm(struct launched *launched, struct diag *diag)
{
	struct launch_message message;
	int status;
	int err;

	if (launched->error_fd < 0)
		return 0;
	if (!read_message(launched->error_fd, &message)) {
		close_fd(&launched->error_fd);
		return 0;
	}
	err = explain(launched->plan, &message, diag);
	close_fd(&launched->error_fd);
	reap(launched, &status, NULL);
	return err;
}

int launch_release(struct launched *launched, struct diag *diag)
{
	int err = launch_open(launched, diag);

	return err ? err : launch_confirm(launched, diag);
}

static void subtract_time(struct timeval *from, const struct timeval *what)
{
	struct timeval difference = {0};

	if (timercmp(from, what, >))
		timersub(from, what, &difference);
	*from = difference;
}

/* What the child used before exec was our doing. */
static void subtract_rusage(struct rusage *from, const struct rusage *what)
{
	subtract_time(&from->ru_utime, &what->ru_utime);
	subtract_time(&from->ru_stime, &what->ru_stime);
	from->ru_minflt -= what->ru_minflt;
	from->ru_majflt -= what->ru_majflt;
	from->ru_inblock -= what->ru_inblock;
	from->ru_oublock -= what->ru_oublock;
	from->ru_nvcsw -= what->ru_nvcsw;
	from->ru_nivcsw -= what->ru_nivcsw;
}

uint64_t launch_cpu_ns(const struct rusage *rusage)
{
	return (uint64_t)(rusage->ru_utime.tv_sec + rusage->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(rusage->ru_utime.tv_usec + rusage->ru_stime.tv_usec) * 1000;
}

int launch_wait(struct launched *launched, int *ret_status, struct rusage *ret_rusage)
{
	struct rusage rusage = {0};
	siginfo_t info;
	int status = 0;
	int result;

	if (launched->pid <= 0 || launched->reaped)
		return -ECHILD;
	do
		result = waitid(P_PID, (id_t)launched->pid, &info, WEXITED | WNOWAIT);
	while (result < 0 && errno == EINTR);
	/* While the leader is not reaped its number is not given to another group. */
	if (launched->own_group)
		kill(-launched->pid, SIGKILL);
	reap(launched, &status, &rusage);
	subtract_rusage(&rusage, &launched->plan->before);
	*ret_status = status;
	*ret_rusage = rusage;
	return 0;
}

void launch_kill(struct launched *launched)
{
	int status;

	if (launched->pid <= 0)
		return;
	if (!launched->reaped) {
		bool hopeless;

		if (launched->own_group)
			kill(-launched->pid, SIGKILL);
		/* A program with set-user-ID may be beyond our reach: do not wait for it then. */
		hopeless = kill(launched->pid, SIGKILL) && errno == EPERM;
		if (!hopeless)
			reap(launched, &status, NULL);
	}
	close_fd(&launched->pidfd);
	close_fd(&launched->gate_fd);
	close_fd(&launched->error_fd);
	launch_plan_free(launched->plan);
	*launched = (struct launched){.pidfd = -1, .gate_fd = -1, .error_fd = -1};
}
