/* whyherd THREADS COUNT MICROSECONDS WORK: a thread "shepherd" that sleeps COUNT times and after
 * each sleep wakes THREADS parked threads ("sheep") at once by one futex call. Each of them looks,
 * does WORK (nothing: 0; so many writes of a byte to /dev/null otherwise) and parks again.
 *
 * Known answer: COUNT herds of THREADS each; COUNT wakeups of each sheep by the shepherd's futex,
 * all of them futile when WORK is 0, none otherwise. */
#include "truth.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/prctl.h>

static struct truth *truth;
static uint64_t n_sheep, count, sleep_ns, work;
static _Atomic uint32_t round_number, parked;
static int null_fd;

static void futex_await(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void *sheep_body(void *unused)
{
	prctl(PR_SET_NAME, "sheep");
	parked++;
	for (uint32_t seen = 0; seen < count; seen++) {
		while (round_number == seen)
			futex_await(&round_number, seen);
		for (uint64_t i = 0; i < work; i++)
			if (write(null_fd, "x", 1) != 1)
				truth_die("write");
	}
	truth_thread(truth, "sheep", count);
	return unused;
}

static void *shepherd_body(void *unused)
{
	prctl(PR_SET_NAME, "shepherd");
	for (uint64_t i = 0; i < count; i++) {
		truth_sleep_ns(sleep_ns);
		round_number++;
		syscall(SYS_futex, &round_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	}
	truth_thread(truth, "shepherd", count);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t *threads, shepherd;

	truth = truth_new(&argc, argv);
	n_sheep = truth_number(argc, argv, 1, 8);
	count = truth_number(argc, argv, 2, 50);
	sleep_ns = truth_number(argc, argv, 3, 20000) * 1000;
	work = truth_number(argc, argv, 4, 0);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	threads = calloc(n_sheep, sizeof(*threads));
	if (!threads || null_fd < 0)
		truth_die("start");
	truth_ready(truth);
	for (uint64_t i = 0; i < n_sheep; i++)
		threads[i] = truth_start(sheep_body, NULL);
	while (parked < n_sheep)
		sched_yield();
	shepherd = truth_start(shepherd_body, NULL);
	pthread_join(shepherd, NULL);
	for (uint64_t i = 0; i < n_sheep; i++)
		pthread_join(threads[i], NULL);
	truth_write(truth);
	free(threads);
	return 0;
}
