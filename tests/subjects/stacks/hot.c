/* hot MILLISECONDS: uses that much CPU time or a little more, three quarters of it in main → hot_one → burn and a quarter in
 * main → hot_two → burn. Both take turns many times in a tick, at lengths that change, so that no clock keeps
 * step with them. The truth says the CPU time. */
#include "../truth.h"
#include "known.h"

#define UNIT  1000 /* rounds of burn's loop */
#define TURNS 100  /* between looks at the clock, whose time is not burn's */

void burn(uint64_t n), hot_one(uint64_t n), hot_two(uint64_t n);

KNOWN void burn(uint64_t n)
{
	truth_work(n);
	KNOWN_END();
}

KNOWN void hot_one(uint64_t n)
{
	burn(3 * n);
	KNOWN_END();
}

KNOWN void hot_two(uint64_t n)
{
	burn(n);
	KNOWN_END();
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t end_ns, n = 1, ns = truth_number(argc, argv, 1, 1000) * 1000000;

	truth_ready(truth);
	end_ns = truth_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (truth_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
		for (int i = 0; i < TURNS; i++) {
			n = n * 1103515245 + 12345;
			hot_one(UNIT * (8 + (n >> 16) % 16));
			hot_two(UNIT * (8 + (n >> 16) % 16));
		}
	}
	truth_thread(truth, "hot", 0);
	truth_write(truth);
	return 0;
}
