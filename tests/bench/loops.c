/* loops CPU: loops of known content, run on demand on one CPU; prints how long a step took.
 *
 * Each line of standard input is "LOOP STEPS". The loop runs in short batches, and the answer is
 * the median over the batches of the time of a step, in ns of CLOCK_MONOTONIC: a batch in which
 * another process took the CPU does not count, and one is short enough for most to go through
 * undisturbed.
 *
 * pingpong: two threads hand a byte to and fro over two pipes. A step is one switch, one waking and
 * two system calls (a read that sleeps, a write that wakes). getppid: a step is one call.
 *
 * loops stamp [CMD...]: prints the time of CLOCK_MONOTONIC in ns, then becomes CMD, if there is
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "loops: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *partner(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1) {
		if (write(back[1], &byte, 1) != 1)
			die("write");
	}
	return unused;
}

/* A round trip is two steps. */
static void pingpong(uint64_t steps)
{
	char byte = 'x';

	for (uint64_t i = 0; i < steps; i += 2) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("pipe");
	}
}

static void getppid_loop(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		syscall(SYS_getppid);
}

static const struct loop {
	const char *name;
	void (*run)(uint64_t steps);
	uint64_t batch; /* steps: some 0.2 ms */
} loops[] = {
	{"pingpong", pingpong, 100},
	{"getppid", getppid_loop, 1000},
	{NULL, NULL, 0},
};

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void answer(const char *name, uint64_t steps)
{
	const struct loop *loop = loops;
	uint64_t *times_ns, n, begin_ns;

	while (loop->name && strcmp(loop->name, name))
		loop++;
	n = loop->name ? steps / loop->batch : 0;
	times_ns = n ? calloc(n, sizeof(*times_ns)) : NULL;
	if (!times_ns) {
		errno = EINVAL;
		die(name);
	}
	for (uint64_t i = 0; i < n; i++) {
		begin_ns = now_ns();
		loop->run(loop->batch);
		times_ns[i] = now_ns() - begin_ns;
	}
	qsort(times_ns, n, sizeof(*times_ns), compare_times);
	printf("%.3f\n", (double)times_ns[n / 2] / (double)loop->batch);
	fflush(stdout);
	free(times_ns);
}

static int stamp(char **command)
{
	printf("%llu\n", (unsigned long long)now_ns());
	fflush(stdout);
	if (!*command)
		return 0;
	execvp(*command, command);
	die(*command);
}

int main(int argc, char **argv)
{
	unsigned long long steps;
	char line[128], name[32];
	pthread_t thread;
	cpu_set_t cpus;

	if (argc > 1 && !strcmp(argv[1], "stamp"))
		return stamp(argv + 2);
	CPU_ZERO(&cpus);
	CPU_SET((size_t)(argc > 1 ? atoi(argv[1]) : 0), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		die("pipe2");
	errno = pthread_create(&thread, NULL, partner, NULL);
	if (errno)
		die("pthread_create");
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%31s %llu", name, &steps) != 2)
			return 2;
		answer(name, steps);
	}
	return 0;
}
