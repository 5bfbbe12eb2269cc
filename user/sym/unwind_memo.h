/* Chains that were unwound, with all that they depended on: the words that were read and the registers
 * that could matter. */
#ifndef WAKEWHY_SYM_UNWIND_MEMO_H
#define WAKEWHY_SYM_UNWIND_MEMO_H

#include "base/mem.h"
#include "sym/unwind.h"

#define UNWIND_READS 4096 /* words of one chain */

/* A word of the stack, by its distance from the stack pointer. */
struct unwind_word {
	uint64_t offset;
	uint64_t value;
};

/* A chain, and while it is being unwound what it depends on. */
struct unwind_chain {
	uint64_t frames[UNWIND_FRAMES];
	size_t n;
	bool truncated;
	uint64_t sources; /* bit n: register n matters */
	bool beyond;	  /* something behind the copy was asked for: its size matters */
	VEC(struct unwind_word) words;
};

struct unwind_memo;

struct unwind_memo *unwind_memo_new(void);
void unwind_memo_free(struct unwind_memo *memo); /* NULL is fine */
/* Keeps a copy; the oldest ones go where there are too many. */
void unwind_memo_keep(struct unwind_memo *memo, const struct unwind_state *state,
		      const struct unwind_chain *chain);
/* Fills frames (at most max), their number and truncated where a kept chain has everything the same. */
bool unwind_memo_find(const struct unwind_memo *memo, const struct unwind_state *state,
		      uint64_t *ret_frames, size_t max, size_t *ret_n, bool *ret_truncated);
void unwind_memo_clear(struct unwind_memo *memo);

#endif
