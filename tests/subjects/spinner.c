/* spinner MILLISECONDS [CPU]: one thread that computes until it has used so much CPU time; 0: until
 * SIGTERM. With CPU it is pinned, to the CPU at that place among those it may use.
 *
 * Known answer: no wakeups, on-CPU time as its own rusage. */
#include "truth.h"

#include <signal.h>

static volatile sig_atomic_t stopped;

static void on_term(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t limit_ns = truth_number(argc, argv, 1, 2000) * 1000000;

	signal(SIGTERM, on_term);
	if (argc > 2)
		truth_pin((unsigned int)truth_number(argc, argv, 2, 0));
	truth_ready(truth);
	while (!stopped && (!limit_ns || truth_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < limit_ns))
		truth_work(1000000); /* beside it, looking at the clock is little */
	truth_thread(truth, "spinner", 0);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
