/* The user stack of a thread that sleeps, taken as the kernel side takes it: registers in DWARF's order and the
 * top of the stack. And what its process maps as code. */
#ifndef WAKEWHY_TESTS_STACK_COPY_H
#define WAKEWHY_TESTS_STACK_COPY_H

#include <sys/types.h>

#include "base/mem.h"
#include "sym/unwind.h"

struct stack_copy {
	uint64_t regs[UNWIND_REGS];
	uint8_t *memory; /* owned */
	size_t bytes;
};

/* Stops the thread of a process for a moment; at most max bytes, fewer where the stack ends before. */
void stack_copy_take(struct stack_copy *ret_copy, pid_t pid, pid_t tid, size_t max);
void stack_copy_free_members(struct stack_copy *copy);

/* Adds all code that the process maps, its files opened through /proc/PID/map_files. */
void stack_copy_add_mappings(struct unwinder *unwinder, pid_t pid);

/* Awaits that the thread sleeps in a system call of that number (/proc/PID/syscall). */
void stack_copy_await(pid_t pid, pid_t tid, long call);

/* The copy unwound: frames (UNWIND_FRAMES of them), their number. */
size_t stack_copy_unwind(struct unwinder *unwinder, const struct stack_copy *copy, uint64_t *ret_frames,
			 bool *ret_truncated);

#endif
