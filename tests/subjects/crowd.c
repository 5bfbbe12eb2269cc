/* crowd THREADS WAKES MICROSECONDS: THREADS threads that sleep WAKES times each, by nanosleep; all
 * of them are alive before the first one ends, because each waits for the last at the end.
 *
 * Known answer: THREADS × WAKES nanosleep calls and as many wakeups (and, for each thread that has
 * to wait for the last one, one more: the kernel's own count says which). */
#include "truth.h"

#include <linux/futex.h>
#include <limits.h>

static struct truth *truth;
static uint64_t wakes, sleep_ns;
static uint32_t awaited;
static _Atomic uint32_t arrived;

static void crowd_await_all(void)
{
	uint32_t seen = atomic_fetch_add(&arrived, 1) + 1;

	if (seen == awaited)
		syscall(SYS_futex, &arrived, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	while ((seen = arrived) < awaited)
		syscall(SYS_futex, &arrived, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void *crowd_body(void *unused)
{
	for (uint64_t i = 0; i < wakes; i++)
		truth_sleep_ns(sleep_ns);
	crowd_await_all();
	truth_thread(truth, "member", wakes);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	truth = truth_new(&argc, argv);
	awaited = (uint32_t)truth_number(argc, argv, 1, 1000);
	wakes = truth_number(argc, argv, 2, 100);
	sleep_ns = truth_number(argc, argv, 3, 20000) * 1000;
	if (awaited >= TRUTH_THREADS)
		awaited = TRUTH_THREADS - 1;
	threads = calloc(awaited, sizeof(*threads));
	if (!threads)
		truth_die("memory");
	truth_ready(truth);
	for (uint32_t i = 0; i < awaited; i++)
		threads[i] = truth_start(crowd_body, NULL);
	for (uint32_t i = 0; i < awaited; i++)
		pthread_join(threads[i], NULL);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	free(threads);
	return 0;
}
