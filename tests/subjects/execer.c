/* execer CALLS SLEEPS: a thread that is not the leader executes the program anew, while the leader
 * and four other threads sleep; the new image makes CALLS getppid calls and sleeps SLEEPS times 1
 * ms.
 *
 * Known answer: one process with two images under one pid; CALLS getppid calls and SLEEPS nanosleep
 * calls in it, by the thread whose tid is the pid. */
#include "truth.h"

static char **arguments;

static void *execer_sleep(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *execer_exec(void *unused)
{
	execv("/proc/self/exe", arguments);
	truth_die("execv");
	return unused;
}

static int execer_second(struct truth *truth, uint64_t calls, uint64_t sleeps)
{
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getppid);
	for (uint64_t i = 0; i < sleeps; i++)
		truth_sleep_ns(1000000);
	truth_say(truth, "getppid", (long long)calls);
	truth_say(truth, "sleeps", (long long)sleeps);
	truth_thread(truth, "second", sleeps);
	truth_write(truth);
	return 7;
}

int main(int argc, char **argv)
{
	char *all[16];
	struct truth *truth;

	if (argc > 12)
		return 2;
	/* All options go through to the second image, with a word that tells it from the first. */
	memcpy(all, argv, (size_t)(argc + 1) * sizeof(*argv));
	all[argc] = "second";
	all[argc + 1] = NULL;
	truth = truth_new(&argc, argv);
	if (argc == 4)
		return execer_second(truth, truth_number(argc, argv, 1, 0),
				     truth_number(argc, argv, 2, 0));
	if (argc != 3)
		return 2;
	arguments = all;
	truth_ready(truth);
	for (int i = 0; i < 4; i++)
		truth_start(execer_sleep, NULL);
	truth_start(execer_exec, NULL);
	for (;;)
		pause();
}
