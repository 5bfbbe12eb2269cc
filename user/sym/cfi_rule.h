/* One function's call frame information in libdw's hands: from a frame to its caller's. libdw is seen nowhere
 * else. It gets a small ELF image of ours, with the one checked entry in it, and nothing of the file. */
#ifndef WAKEWHY_SYM_CFI_RULE_H
#define WAKEWHY_SYM_CFI_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi.h"
#include "sym/unwind.h"

struct unwind_frame {
	uint64_t regs[UNWIND_REGS];
	uint64_t known; /* bit n: regs[n] is */
	uint64_t pc;	/* of the instruction, or where a call will return to */
	bool exact;	/* innermost, or interrupted by a signal: pc is the instruction's own */
};

/* Where the instruction is that the frame is at: for a call, its last byte. */
static inline uint64_t unwind_frame_at(const struct unwind_frame *frame)
{
	return frame->exact ? frame->pc : frame->pc - 1;
}

/* Reads eight bytes of the stack; false: they are not there. */
typedef bool unwind_read(void *context, uint64_t address, uint64_t *ret_word);

enum unwind_step {
	UNWIND_MOVED,	  /* the frame is its caller now */
	UNWIND_OUTERMOST, /* it has no caller */
	UNWIND_LOST,	  /* it may have one, but that cannot be found */
};

struct cfi_rule;

/* `bias`: what the process adds to the file's addresses. NULL: cfi_check refuses it. */
struct cfi_rule *cfi_rule_new(const struct cfi_entry *entry, uint64_t bias);
void cfi_rule_free(struct cfi_rule *rule); /* NULL is fine */
/* Registers (below 64) that may be read on the way to the caller, besides those that calls keep. */
uint64_t cfi_rule_sources(const struct cfi_rule *rule);
/* Whether its code was not called, but is where a signal handler returns to. */
bool cfi_rule_is_trampoline(const struct cfi_rule *rule);
/* unwind_frame_at() of the frame must lie in the entry. */
enum unwind_step cfi_rule_step(struct cfi_rule *rule, struct unwind_frame *frame, unwind_read *read,
			       void *context);

#endif
