/* The child of a launch, between fork and exec: it becomes what the plan says, waits at the gate,
 * and executes. It has no heap: only async-signal-safe calls. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/launch_plan.h"

#define EXIT_NOT_EXECUTED 127

static void say(const struct launch_plan *plan, enum launch_stage stage, int error)
{
	const struct launch_message message = {.stage = (int32_t)stage, .error = error};
	ssize_t n;

	do
		n = write(plan->error_fd, &message, sizeof(message));
	while (n < 0 && errno == EINTR);
}

__attribute__((noreturn)) static void fail(const struct launch_plan *plan, enum launch_stage stage,
					   int error)
{
	say(plan, stage, error);
	_exit(EXIT_NOT_EXECUTED);
}

/* Handlers of ours must not run here; what we ignore, the program is not to ignore. The kernel is
 * asked itself, with zeros for SIG_DFL: the C library refuses to touch its own two signals, which
 * posix_spawn leaves ignored in all that make starts. */
static void reset_signals(const struct launch_plan *plan)
{
	static const unsigned char defaults[64];

	for (int signal = 1; signal < NSIG; signal++)
		if (!(signal == SIGHUP && plan->keep_hangup))
			/* Refused for KILL and STOP: fine. */
			syscall(SYS_rt_sigaction, signal, defaults, NULL, (NSIG - 1) / 8);
}

static int set_stdio(const struct launch_plan *plan)
{
	int copies[3] = {-1, -1, -1};

	/* Above the three first, for a descriptor that is given may itself be one of them. */
	for (int i = 0; i < 3; i++) {
		if (plan->stdio[i] < 0)
			continue;
		copies[i] = fcntl(plan->stdio[i], F_DUPFD_CLOEXEC, 3);
		if (copies[i] < 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++)
		if (copies[i] >= 0 && dup2(copies[i], i) < 0)
			return -errno;
	return 0;
}

static int close_others(const struct launch_plan *plan)
{
	unsigned low = (unsigned)plan->gate_fd, high = (unsigned)plan->error_fd;

	if (!plan->own_group) {
		close(plan->gate_far_fd);
		return 0;
	}
	if (low > high) {
		low = (unsigned)plan->error_fd;
		high = (unsigned)plan->gate_fd;
	}
	if ((low > 3 && close_range(3, low - 1, 0)) ||
	    (high > low + 1 && close_range(low + 1, high - 1, 0)) || close_range(high + 1, ~0U, 0))
		return -errno;
	return 0;
}

/* The kernel takes a list that names some CPUs that are not there, and drops those: that would be
 * another experiment than the one asked for. */
static int set_cpus(const struct launch_plan *plan)
{
	struct cpulist got = {0};

	if (sched_setaffinity(0, sizeof(plan->cpus), (const cpu_set_t *)&plan->cpus) ||
	    sched_getaffinity(0, sizeof(got), (cpu_set_t *)&got))
		return -errno;
	return memcmp(&got, &plan->cpus, sizeof(got)) ? -EINVAL : 0;
}

static int limit_files(const struct launch_plan *plan)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return -errno;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > plan->file_limit_bytes)
		limit.rlim_cur = plan->file_limit_bytes;
	return setrlimit(RLIMIT_FSIZE, &limit) ? -errno : 0;
}

static void set_up(const struct launch_plan *plan)
{
	sigset_t none;
	int err;

	reset_signals(plan);
	err = set_stdio(plan);
	if (!err)
		err = close_others(plan);
	if (err)
		fail(plan, LAUNCH_STDIO, -err);
	if (plan->own_group && setpgid(0, 0))
		fail(plan, LAUNCH_GROUP, errno);
	err = plan->pin ? set_cpus(plan) : 0;
	if (err)
		fail(plan, LAUNCH_CPUS, -err);
	err = plan->file_limit_bytes ? limit_files(plan) : 0;
	if (err)
		fail(plan, LAUNCH_LIMIT, -err);
	err = identity_assume(&plan->identity);
	if (err)
		fail(plan, LAUNCH_USER, -err);
	if (plan->directory && chdir(plan->directory))
		fail(plan, LAUNCH_DIRECTORY, errno);
	/* After the change of user, which clears it; we may have died before it was set. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != plan->parent)
		fail(plan, LAUNCH_PARENT, ECHILD);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Anything but the one byte is our death, which opens nothing. */
static void wait_at_gate(const struct launch_plan *plan)
{
	char byte;
	ssize_t n;

	do
		n = read(plan->gate_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_NOT_EXECUTED);
}

void launch_child(struct launch_plan *plan)
{
	set_up(plan);
	say(plan, LAUNCH_GATE, 0);
	wait_at_gate(plan);
	getrusage(RUSAGE_SELF, &plan->before);
	execve(plan->path, plan->argv, plan->environment);
	if (errno == ENOEXEC)
		execve("/bin/sh", plan->shell_argv, plan->environment);
	fail(plan, LAUNCH_EXEC, errno);
}
