/* whychild COUNT MICROSECONDS END: COUNT children one after the other, each of which sleeps once and
 * ends: by _exit or, where END is "killed", by a SIGKILL to itself. The parent waits by waitpid.
 *
 * Known answer: COUNT wakeups of the parent by the exit of a child, and one of each child by its
 * own sleep. */
#include "truth.h"

#include <signal.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t count = truth_number(argc, argv, 1, 20);
	uint64_t sleep_ns = truth_number(argc, argv, 2, 20000) * 1000;
	bool is_killed = argc > 3 && !strcmp(argv[3], "killed");

	truth_ready(truth);
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			truth_sleep_ns(sleep_ns);
			if (is_killed)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			truth_die("waitpid");
	}
	truth_thread(truth, "parent", count);
	truth_write(truth);
	return 0;
}
