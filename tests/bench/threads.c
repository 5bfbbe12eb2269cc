/* threads CPU N [NAP_MS]: N threads whose events are known.
 *
 * Without NAP_MS they stand in a ring on one CPU and hand a token on by futexes. Each line of standard
 * input is a number of steps; the answer is how many ns of CLOCK_MONOTONIC a step took, as the median over
 * batches (loops.c says why). A step is one switch, one waking and two system calls, each time of
 * another thread: what a tool does for one event is seen for few threads and for many.
 *
 * With NAP_MS each sleeps so long, over and over, until standard input ends: each thread has a timer and
 * a cause of its own.
 *
 * Prints "ready" when all threads are there.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024)
#define BATCH	    1000 /* steps of one look at the clock */

/* A word on a cache line of its own: threads must not meet in the cache for the ring's sake. */
struct place {
	_Atomic uint32_t token;
	uint32_t number;
} __attribute__((aligned(64)));

static struct ring {
	struct place *places;
	uint32_t n;
	uint64_t left; /* steps; whoever has the token writes it */
	uint64_t begin_ns, *times_ns, n_times;
	_Atomic uint32_t done;
} ring;

static uint64_t nap_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "threads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void word_await(_Atomic uint32_t *word)
{
	while (!atomic_load(word))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(word, 0);
}

static void word_wake(_Atomic uint32_t *word)
{
	atomic_store(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Counts a step; false after the last one. */
static int step(void)
{
	uint64_t now;

	if (--ring.left % BATCH == 0) {
		now = now_ns();
		ring.times_ns[ring.n_times++] = now - ring.begin_ns;
		ring.begin_ns = now;
	}
	return ring.left != 0;
}

static void *member(void *argument)
{
	struct place *place = argument;

	for (;;) {
		word_await(&place->token);
		word_wake(step() ? &ring.places[(place->number + 1) % ring.n].token : &ring.done);
	}
	return NULL;
}

static void *napper(void *unused)
{
	struct timespec nap = {(time_t)(nap_ns / 1000000000), (long)(nap_ns % 1000000000)};

	for (;;)
		nanosleep(&nap, NULL);
	return unused;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Goes on behind the thread where the last one ended: no thread is left out. */
static void ring_run(uint64_t steps)
{
	static uint32_t first;
	uint64_t batches = steps / BATCH;

	ring.times_ns = batches ? calloc(batches, sizeof(*ring.times_ns)) : NULL;
	if (!ring.times_ns) {
		errno = EINVAL;
		die("steps");
	}
	ring.n_times = 0;
	ring.left = batches * BATCH;
	ring.begin_ns = now_ns();
	word_wake(&ring.places[first].token);
	word_await(&ring.done);
	first = (uint32_t)((first + batches * BATCH) % ring.n);
	qsort(ring.times_ns, ring.n_times, sizeof(*ring.times_ns), compare_times);
	printf("%.3f\n", (double)ring.times_ns[ring.n_times / 2] / BATCH);
	fflush(stdout);
	free(ring.times_ns);
}

static void threads_start(void)
{
	pthread_attr_t small;
	pthread_t thread;

	ring.places = aligned_alloc(64, ring.n * sizeof(*ring.places));
	if (!ring.places || pthread_attr_init(&small) || pthread_attr_setstacksize(&small, STACK_BYTES))
		die("memory");
	memset(ring.places, 0, ring.n * sizeof(*ring.places));
	for (uint32_t i = 0; i < ring.n; i++) {
		ring.places[i].number = i;
		errno = pthread_create(&thread, &small, nap_ns ? napper : member, &ring.places[i]);
		if (errno)
			die("pthread_create");
	}
}

int main(int argc, char **argv)
{
	cpu_set_t cpus;
	char line[64];

	if (argc < 3 || argc > 4 || atoi(argv[2]) < 1) {
		fprintf(stderr, "usage: threads CPU N [NAP_MS]\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET((size_t)atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	ring.n = (uint32_t)atoi(argv[2]);
	nap_ns = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000000 : 0;
	threads_start();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (!nap_ns)
			ring_run(strtoull(line, NULL, 10));
	return 0;
}
