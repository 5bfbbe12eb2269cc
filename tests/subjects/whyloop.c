/* whyloop ROUNDS: two threads, "ping" and "pong", that hand a byte to and fro ROUNDS times over two
 * pipes. They share a CPU and, being batch tasks, do not preempt each other at a wake: so each step
 * is one sleep and one wake.
 *
 * Known answer: a hand-off loop of ROUNDS rounds with 2 wakeups and 4 system calls in each. */
#include "truth.h"

#include <sys/prctl.h>

static struct truth *truth;
static uint64_t rounds;
static int to_pong[2], to_ping[2];

static void batch(void)
{
	struct sched_param parameters = {};

	truth_pin(1);
	if (sched_setscheduler(0, SCHED_BATCH, &parameters))
		truth_die("sched_setscheduler");
}

static void step(const char *name, int from, int to, bool first)
{
	char byte = 0;

	prctl(PR_SET_NAME, name);
	batch();
	for (uint64_t i = 0; i < rounds; i++) {
		if (first && write(to, &byte, 1) != 1)
			truth_die("write");
		if (read(from, &byte, 1) != 1)
			truth_die("read");
		if (!first && write(to, &byte, 1) != 1)
			truth_die("write");
	}
	truth_thread(truth, name, rounds);
}

static void *ping_body(void *unused)
{
	step("ping", to_ping[0], to_pong[1], true);
	return unused;
}

static void *pong_body(void *unused)
{
	step("pong", to_pong[0], to_ping[1], false);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t ping, pong;

	truth = truth_new(&argc, argv);
	rounds = truth_number(argc, argv, 1, 20000);
	if (pipe(to_pong) || pipe(to_ping))
		truth_die("pipe");
	truth_ready(truth);
	pong = truth_start(pong_body, NULL);
	ping = truth_start(ping_body, NULL);
	pthread_join(ping, NULL);
	pthread_join(pong, NULL);
	truth_write(truth);
	return 0;
}
