/* getppid THREADS CALLS: THREADS threads pinned to the CPUs in turn, CALLS getppid calls by each.
 *
 * Known answer: getppid is CALLS for every thread but the main one, where it is 0. */
#include "truth.h"

static struct truth *truth;
static uint64_t calls;

static void *caller(void *number)
{
	truth_pin((unsigned int)(uintptr_t)number);
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getppid);
	truth_thread(truth, "caller", calls);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[256];
	uintptr_t n;

	truth = truth_new(&argc, argv);
	n = truth_number(argc, argv, 1, 4);
	calls = truth_number(argc, argv, 2, 1000000);
	if (n > 256)
		n = 256;
	truth_ready(truth);
	for (uintptr_t i = 0; i < n; i++)
		threads[i] = truth_start(caller, (void *)i);
	for (uintptr_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	return 0;
}
