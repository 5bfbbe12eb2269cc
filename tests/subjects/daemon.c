/* daemon SLEEPS: leaves a daemon behind (fork, setsid, fork) and ends with status 0 at once; the
 * daemon sleeps SLEEPS times 1 ms and makes 1,000 gettid calls.
 *
 * Known answer: three processes; SLEEPS nanosleep calls and 1,000 gettid calls in the last one,
 * whose parent has ended long before. */
#include "truth.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static void daemon_serve(struct truth *truth, pid_t middle, uint64_t sleeps)
{
	prctl(PR_SET_NAME, "daemon");
	while (getppid() == middle)
		sched_yield();
	for (uint64_t i = 0; i < sleeps; i++)
		truth_sleep_ns(1000000);
	truth_say(truth, "sleeps", (long long)sleeps);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_gettid);
	truth_thread(truth, "daemon", sleeps);
	truth_write(truth);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t sleeps = truth_number(argc, argv, 1, 200);
	pid_t child;

	truth_ready(truth);
	child = fork();
	if (child < 0)
		truth_die("fork");
	if (child == 0) {
		pid_t middle = getpid();

		setsid();
		if (fork() == 0)
			daemon_serve(truth, middle, sleeps);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
