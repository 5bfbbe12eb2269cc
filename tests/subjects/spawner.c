/* spawner RATE SECONDS: starts RATE threads in each second, evenly, each of which ends at once; one
 * of them in eight calls getppid a thousand times before.
 *
 * Known answer: "started" starts by threads other than the main one. */
#include "truth.h"

static void *spawner_thread(void *number)
{
	if ((uintptr_t)number % 8 == 0) {
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t rate = truth_number(argc, argv, 1, 300);
	uint64_t seconds = truth_number(argc, argv, 2, 5);
	uint64_t begin_ns, due_ns, n = rate * seconds;

	truth_ready(truth);
	begin_ns = truth_clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread = truth_start(spawner_thread, (void *)(uintptr_t)i);
		struct timespec due;

		pthread_join(thread, NULL);
		due_ns = begin_ns + (i + 1) * 1000000000ULL / rate;
		due.tv_sec = (time_t)(due_ns / 1000000000ULL);
		due.tv_nsec = (long)(due_ns % 1000000000ULL);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	truth_say(truth, "started", (long long)n);
	truth_say(truth, "getppid", (long long)((n + 7) / 8 * 1000));
	truth_thread(truth, "main", n);
	truth_write(truth);
	return 0;
}
