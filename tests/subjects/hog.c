/* hog COUNT MICROSECONDS: a thread that never sleeps ("hog") and one that sleeps COUNT times
 * ("sleeper"), both on the same CPU.
 *
 * Known answer: the hog has no wakeups although it is preempted at nearly every wake of the
 * sleeper, which has COUNT. */
#include "truth.h"

#include <sys/prctl.h>

static struct truth *truth;
static uint64_t count, sleep_ns;
static atomic_bool done;

static void *hog_body(void *unused)
{
	prctl(PR_SET_NAME, "hog");
	truth_pin(1);
	while (!done)
		truth_work(1000);
	truth_thread(truth, "hog", 0);
	return unused;
}

static void *sleeper_body(void *unused)
{
	prctl(PR_SET_NAME, "sleeper");
	truth_pin(1);
	for (uint64_t i = 0; i < count; i++)
		truth_sleep_ns(sleep_ns);
	truth_thread(truth, "sleeper", count);
	done = true;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t hog, sleeper;

	truth = truth_new(&argc, argv);
	count = truth_number(argc, argv, 1, 200);
	sleep_ns = truth_number(argc, argv, 2, 2000) * 1000;
	truth_ready(truth);
	hog = truth_start(hog_body, NULL);
	sleeper = truth_start(sleeper_body, NULL);
	pthread_join(sleeper, NULL);
	pthread_join(hog, NULL);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	return 0;
}
