/* wrapper CMD [ARG…]: runs CMD as a child, waits for it, and notes what the kernel says of the
 * whole process at its end (wait4's rusage): with all its threads, and nothing of the wrapper.
 *
 * Known answer: the child's voluntary and preempted switches. The kernel adds up a thread before
 * its very last switch: that one is in no figure of rusage, for any thread that ended. */
#include "truth.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	struct rusage usage = {};
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	truth_ready(truth);
	pid = fork();
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		truth_die("fork");
	truth_say(truth, "child", pid);
	truth_say(truth, "status", status);
	truth_say(truth, "nvcsw", usage.ru_nvcsw);
	truth_say(truth, "nivcsw", usage.ru_nivcsw);
	truth_say(truth, "cpu_ns",
		  (long long)(truth_timeval_ns(usage.ru_utime) + truth_timeval_ns(usage.ru_stime)));
	truth_say(truth, "minor_faults", usage.ru_minflt);
	truth_write(truth);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
