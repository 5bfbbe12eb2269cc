/* forks PARENTS RATE COUNT LOG SECONDS: PARENTS processes that together fork RATE children in each second,
 * evenly (0: as fast as they can), COUNT in all, or as many as SECONDS have room for (0: no limit). The k-th
 * child of a parent calls getppid k % 8 times and ends with status k % 200; every fourth one starts a thread
 * before, which calls it k % 8 times too. Each parent waits for a child before it forks the next. LOG, if
 * it is not "-", gets a line "PID CALLS STATUS" for each child.
 *
 * Known answer: "forked" children, "threads" threads besides, "getppid" calls. */
#include "truth.h"

#include <sys/mman.h>
#include <sys/wait.h>

static struct forks_shared {
	atomic_ullong forked, threads, getppid;
} *shared;

static uint64_t parents, rate, count, seconds, begin_ns;
static int log_fd = -1, start[2];

static void forks_call(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getppid);
}

static void *forks_thread(void *calls)
{
	forks_call((uintptr_t)calls);
	return NULL;
}

static _Noreturn void forks_child(uint64_t k)
{
	if (k % 4 == 0)
		pthread_join(truth_start(forks_thread, (void *)(uintptr_t)(k % 8)), NULL);
	forks_call(k % 8);
	_exit((int)(k % 200));
}

/* The next child: forked, waited for, written down. */
static void forks_next(uint64_t k)
{
	uint64_t calls = k % 4 ? k % 8 : 2 * (k % 8);
	char line[64];
	pid_t pid = fork();
	int status, n;

	if (pid == 0)
		forks_child(k);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != (int)(k % 200))
		truth_die("fork");
	shared->forked++;
	shared->threads += k % 4 == 0;
	shared->getppid += calls;
	if (log_fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%d %d %d\n", (int)pid, (int)calls, (int)(k % 200));
	if (write(log_fd, line, (size_t)n) != n)
		truth_die("log");
}

static void forks_await(uint64_t due_ns)
{
	struct timespec due = {(time_t)(due_ns / 1000000000ULL), (long)(due_ns % 1000000000ULL)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL))
		;
}

static _Noreturn void forks_parent(uint64_t number)
{
	uint64_t end_ns = begin_ns + seconds * 1000000000ULL;
	char byte;

	close(start[1]);
	if (read(start[0], &byte, 1) != 0) /* all parents are alive before one begins */
		truth_die("start");
	for (uint64_t k = 0; number + k * parents < count; k++) {
		if (seconds && truth_clock_ns(CLOCK_MONOTONIC) >= end_ns)
			break;
		if (rate)
			forks_await(begin_ns + (number + k * parents) * 1000000000ULL / rate);
		forks_next(k);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	pid_t pid;

	parents = truth_number(argc, argv, 1, 10);
	rate = truth_number(argc, argv, 2, 0);
	count = truth_number(argc, argv, 3, 1000);
	seconds = truth_number(argc, argv, 5, 0);
	if (argc > 4 && strcmp(argv[4], "-") != 0)
		log_fd = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		truth_die("memory");
	if (pipe2(start, O_CLOEXEC))
		truth_die("pipe");
	truth_ready(truth);
	begin_ns = truth_clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < parents; i++) {
		pid = fork();
		if (pid == 0)
			forks_parent(i);
		if (pid < 0)
			truth_die("fork");
	}
	close(start[1]);
	while (wait(&(int){0}) > 0)
		;
	truth_say(truth, "ns", (long long)(truth_clock_ns(CLOCK_MONOTONIC) - begin_ns));
	truth_say(truth, "forked", (long long)shared->forked);
	truth_say(truth, "threads", (long long)shared->threads);
	truth_say(truth, "getppid", (long long)shared->getppid);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
