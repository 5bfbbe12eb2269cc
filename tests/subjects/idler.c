/* idler THREADS: THREADS threads that sleep for ever, the main one among them; SIGTERM ends the
 * process.
 *
 * Known answer: nothing happens at all: no wakeups, no CPU time. */
#include "truth.h"

#include <signal.h>

static void *idler_body(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t threads = truth_number(argc, argv, 1, 1);

	for (uint64_t i = 1; i < threads; i++)
		truth_start(idler_body, NULL);
	truth_ready(truth);
	for (;;)
		pause();
}
