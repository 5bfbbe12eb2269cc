/* yielder COUNT: two threads on one CPU that give it to each other by sched_yield, COUNT times
 * each.
 *
 * Known answer: COUNT sched_yield calls by each; they leave the CPU runnable, so no wakeups, and
 * the switches count as preempted, as in the kernel. */
#include "truth.h"

static struct truth *truth;
static uint64_t count;
static atomic_int standing;

static void *yielder(void *unused)
{
	truth_pin(0);
	atomic_fetch_add(&standing, 1);
	while (standing < 2)
		;
	for (uint64_t i = 0; i < count; i++)
		syscall(SYS_sched_yield);
	truth_thread(truth, "yielder", count);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	truth = truth_new(&argc, argv);
	count = truth_number(argc, argv, 1, 100000);
	truth_ready(truth);
	for (int i = 0; i < 2; i++)
		threads[i] = truth_start(yielder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	return 0;
}
