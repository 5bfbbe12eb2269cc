/* stackpaths PATHS: one thread that sleeps once from each of PATHS different call paths.
 *
 * A path is a chain of 16 calls, each of one of two functions; its bits say which. Built with frame pointers.
 * Known answer: PATHS wakeups, with as many different stacks; fewer where 50 µs were over before it slept. */
#include <sys/prctl.h>

#include "truth.h"

#define LEVELS 16

static void zero(uint32_t path, int level);
static void one(uint32_t path, int level);

/* The call by which it sleeps: without a frame of its own in between. */
static void leaf(void)
{
	struct timespec shortly = {0, 50000};

	syscall(SYS_nanosleep, &shortly, NULL);
}

static void step(uint32_t path, int level)
{
	if (level == LEVELS)
		leaf();
	else if (path >> level & 1)
		one(path, level + 1);
	else
		zero(path, level + 1);
	__asm__ volatile("" ::: "memory"); /* no call is the last */
}

__attribute__((noinline)) static void zero(uint32_t path, int level)
{
	step(path, level);
	__asm__ volatile("# zero" ::: "memory");
}

__attribute__((noinline)) static void one(uint32_t path, int level)
{
	step(path, level);
	__asm__ volatile("# one" ::: "memory");
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint32_t paths = truth_number(argc, argv, 1, 1000);

	prctl(PR_SET_TIMERSLACK, 1);
	truth_ready(truth);
	for (uint32_t path = 0; path < paths; path++)
		step(path, 0);
	truth_thread(truth, "paths", paths);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
