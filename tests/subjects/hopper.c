/* hopper COUNT: a thread that sleeps on one CPU and wakes up on another, COUNT times. The mover
 * waits until it is asleep, changes its CPU, and writes to the pipe that it reads.
 *
 * Known answer: COUNT wakeups of the thread named "hopper" and COUNT migrations (where there are
 * two CPUs); its run-queue wait and on-CPU time as the kernel's schedstat has them. */
#include "truth.h"

#include <sys/prctl.h>

struct hopper {
	struct truth *truth;
	uint64_t count;
	int pipe[2];
	_Atomic pid_t tid;
	atomic_ullong received;
};

static void *hopper_body(void *argument)
{
	struct hopper *hopper = argument;
	char byte;

	prctl(PR_SET_NAME, "hopper");
	hopper->tid = (pid_t)syscall(SYS_gettid);
	for (uint64_t i = 0; i < hopper->count; i++) {
		if (read(hopper->pipe[0], &byte, 1) != 1)
			truth_die("read");
		hopper->received = i + 1;
		truth_work(20000);
	}
	truth_thread(hopper->truth, "hopper", hopper->count);
	return NULL;
}

/* Spins, by reading the kernel's state letter, until the thread has left the CPU asleep. */
static void hopper_await_sleep(const struct hopper *hopper, uint64_t received)
{
	char path[64], text[256], *end;
	ssize_t n;
	int fd;

	while (hopper->received < received)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)hopper->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		truth_die(path);
	do {
		n = pread(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		end = strrchr(text, ')');
	} while (!end || end[2] != 'S');
	close(fd);
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	struct hopper hopper = {.truth = truth, .count = truth_number(argc, argv, 1, 1000)};
	cpu_set_t allowed, one;
	pthread_t thread;
	int cpu = -1;

	if (pipe2(hopper.pipe, O_CLOEXEC) || sched_getaffinity(0, sizeof(allowed), &allowed))
		truth_die("set-up");
	truth_ready(truth);
	thread = truth_start(hopper_body, &hopper);
	while (!hopper.tid)
		sched_yield();
	for (uint64_t i = 0; i < hopper.count; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &allowed));
		hopper_await_sleep(&hopper, i);
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(hopper.tid, sizeof(one), &one))
			truth_die("sched_setaffinity");
		if (write(hopper.pipe[1], "x", 1) != 1)
			truth_die("write");
	}
	pthread_join(thread, NULL);
	truth_say(truth, "cpus", CPU_COUNT(&allowed));
	truth_write(truth);
	return 0;
}
