/* Unwinding a copied user stack: by .eh_frame where the file has it, by frame pointers where it has not.
 * libdw does the work. All that comes in is hostile: registers, stack, files; a chain ends, it never
 * hangs or crashes. */
#ifndef WAKEWHY_SYM_UNWIND_H
#define WAKEWHY_SYM_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_REGS   33 /* as WK_STACK_REGS: DWARF's numbering, x86-64 uses 17, arm64 33 */
#define UNWIND_FRAMES 256

/* One address space: what is mapped in it. */
struct unwinder;

/* An executable mapping. fd: the file, the caller's, may be closed afterwards; -1: none (anonymous, or
 * gone): frames in it are followed by frame pointers. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t file_offset; /* of `start` */
	const char *name;     /* tells files apart: mappings of one file have one name */
	int fd;
};

struct unwind_state {
	const uint64_t *regs;  /* UNWIND_REGS of them */
	const uint8_t *memory; /* from the stack pointer upwards */
	size_t bytes;
};

struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *unwinder); /* NULL is fine */
/* Files are opened and searched when a frame first falls into one. What overlaps an older mapping
 * takes its place. */
void unwinder_add(struct unwinder *unwinder, const struct unwind_mapping *mapping);

/* Writes addresses, innermost first: of the instruction that runs, then of each caller the address of
 * the last byte of its call (return address less one). Returns how many, at least 1 where the
 * instruction pointer lies in a mapping, else 0; addresses in no mapping end the chain and are not in it.
 * *ret_truncated: it did not reach the thread's outermost frame (the copied bytes ended, a caller lay
 * outside of all mappings, ret_frames was full, or no rule was known).
 *
 * Equal stacks are unwound once: what was read of registers and memory for a chain is kept with it, and the chain
 * is used again only where every one of these words is the same. */
size_t unwinder_run(struct unwinder *unwinder, const struct unwind_state *state, uint64_t *ret_frames,
		    size_t max, bool *ret_truncated);

#endif
