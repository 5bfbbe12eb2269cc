/* crash CALLS SIGNAL: makes CALLS getppid calls, then dies of SIGNAL (11 by default, a write to
 * address 0).
 *
 * Known answer: CALLS getppid calls and the end by that signal. */
#include "truth.h"

#include <signal.h>

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t calls = truth_number(argc, argv, 1, 1000);
	int number = (int)truth_number(argc, argv, 2, SIGSEGV);
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	truth_ready(truth);
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getppid);
	if (number == SIGSEGV)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): that is what it is for */
		*(volatile int *)(uintptr_t)truth->n_said = 1;
	raise(number);
	return 0;
}
