/* strange CALLS: system calls with numbers that do not exist, CALLS of each of -1, 9999 and
 * INT_MAX, and CALLS 32-bit calls (int 0x80) where the kernel takes them.
 *
 * Known answer: "invalid" calls apart, "compat" calls apart (0 where the kernel refuses them),
 * neither among the calls by name: getpid is 0 although 32-bit getpid's number, 20, is writev's. */
#include "truth.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>

#ifdef __x86_64__
static sigjmp_buf refused;

static void on_fault(int signal_number)
{
	siglongjmp(refused, signal_number);
}

/* Returns how many were made: 0 where the kernel answers with a fault. */
static uint64_t strange_compat(uint64_t calls)
{
	struct sigaction fault = {.sa_handler = on_fault}, old;
	volatile uint64_t made = 0;

	sigaction(SIGSEGV, &fault, &old);
	if (!sigsetjmp(refused, 1)) {
		while (made < calls) {
			long result = 20; /* getpid */

			__asm__ volatile("int $0x80"
					 : "+a"(result)
					 :
					 : "memory", "r8", "r9", "r10", "r11");
			if (result < 0)
				break;
			made += 1;
		}
	}
	sigaction(SIGSEGV, &old, NULL);
	return made;
}
#else
static uint64_t strange_compat(uint64_t calls)
{
	(void)calls;
	return 0;
}
#endif

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t calls = truth_number(argc, argv, 1, 100);
	const long numbers[] = {-1, 9999, INT_MAX};

	truth_ready(truth);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
		for (uint64_t i = 0; i < calls; i++) {
			if (syscall(numbers[n]) != -1 || errno != ENOSYS)
				abort();
		}
	}
	truth_say(truth, "invalid", (long long)(3 * calls));
	truth_say(truth, "compat", (long long)strange_compat(calls));
	truth_thread(truth, "main", 0);
	truth_write(truth);
	return 0;
}
