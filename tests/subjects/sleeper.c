/* sleeper COUNT MICROSECONDS: one thread that sleeps COUNT times, by nanosleep.
 *
 * Known answer: COUNT wakeups, 1 start, COUNT nanosleep calls. */
#include "truth.h"

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t count = truth_number(argc, argv, 1, 500);
	uint64_t ns = truth_number(argc, argv, 2, 2000) * 1000;

	truth_ready(truth);
	for (uint64_t i = 0; i < count; i++)
		truth_sleep_ns(ns);
	truth_thread(truth, "sleeper", count);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
