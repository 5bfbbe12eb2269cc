/* cancel COUNT: asks COUNT times for a sleep of 1 ns with a timer slack of 1 ns: the timer often
 * fires when the thread has said that it will sleep but has not left the CPU yet.
 *
 * Known answer: COUNT clock_nanosleep calls; those that left the CPU are wakeups, as many as the
 * kernel's voluntary switches; wakeups and cancelled sleeps are at most COUNT together, edges
 * aside. */
#include "truth.h"

#include <sys/prctl.h>

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t count = truth_number(argc, argv, 1, 20000);
	struct timespec one_ns = {0, 1};

	if (prctl(PR_SET_TIMERSLACK, 1))
		truth_die("PR_SET_TIMERSLACK");
	truth_pin(1);
	truth_ready(truth);
	for (uint64_t i = 0; i < count; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &one_ns, NULL);
	truth_thread(truth, "main", count);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
