/* Chains that were unwound before: a queue, looked through by instruction and stack pointer. */
#include "sym/unwind_memo.h"

#include <stdlib.h>
#include <string.h>

#include "sym/unwind_arch.h"

#define CHAINS	    512
#define CHAIN_BYTES (4 << 20) /* of all */

struct kept {
	uint64_t regs[UNWIND_USED];
	uint64_t sources;
	size_t bytes;	/* of the copy, */
	bool beyond;	/* which matters */
	bool truncated;
	size_t n_frames, n_words;
	uint64_t *frames;
	struct unwind_word *words; /* in the same block */
};

struct unwind_memo {
	size_t first, n; /* of the queue */
	size_t held;	 /* bytes */
	/* Apart from the rest, so that looking through them is quick. */
	struct {
		uint64_t pc, sp;
	} keys[CHAINS];
	struct kept chains[CHAINS];
};

struct unwind_memo *unwind_memo_new(void)
{
	return mem_zalloc(sizeof(struct unwind_memo));
}

static size_t block_bytes(size_t n_frames, size_t n_words)
{
	return n_frames * sizeof(uint64_t) + n_words * sizeof(struct unwind_word);
}

static void drop_oldest(struct unwind_memo *memo)
{
	struct kept *kept = &memo->chains[memo->first];

	memo->held -= block_bytes(kept->n_frames, kept->n_words);
	free(kept->frames);
	*kept = (struct kept){};
	memo->first = (memo->first + 1) % CHAINS;
	memo->n--;
}

void unwind_memo_clear(struct unwind_memo *memo)
{
	while (memo->n)
		drop_oldest(memo);
}

void unwind_memo_free(struct unwind_memo *memo)
{
	if (memo)
		unwind_memo_clear(memo);
	free(memo);
}

void unwind_memo_keep(struct unwind_memo *memo, const struct unwind_state *state,
		      const struct unwind_chain *chain)
{
	size_t bytes = block_bytes(chain->n, chain->words.n), place;
	struct kept *kept;

	while (memo->n == CHAINS || (memo->n && memo->held + bytes > CHAIN_BYTES))
		drop_oldest(memo);
	place = (memo->first + memo->n++) % CHAINS;
	memo->keys[place].pc = state->regs[UNWIND_PC];
	memo->keys[place].sp = state->regs[UNWIND_SP];
	kept = &memo->chains[place];
	*kept = (struct kept){
		.sources = chain->sources,
		.bytes = state->bytes,
		.beyond = chain->beyond,
		.truncated = chain->truncated,
		.n_frames = chain->n,
		.n_words = chain->words.n,
		.frames = mem_calloc(1, bytes + 1),
	};
	memcpy(kept->regs, state->regs, sizeof(kept->regs));
	kept->words = (struct unwind_word *)(kept->frames + chain->n);
	if (chain->n)
		memcpy(kept->frames, chain->frames, chain->n * sizeof(chain->frames[0]));
	if (chain->words.n)
		memcpy(kept->words, chain->words.items, chain->words.n * sizeof(kept->words[0]));
	memo->held += bytes;
}

static bool is_same(const struct kept *kept, const struct unwind_state *state)
{
	if (kept->beyond && kept->bytes != state->bytes)
		return false;
	for (unsigned i = 0; i < UNWIND_USED; i++) {
		if ((kept->sources & UNWIND_BIT(i)) && kept->regs[i] != state->regs[i])
			return false;
	}
	for (size_t i = 0; i < kept->n_words; i++) {
		uint64_t offset = kept->words[i].offset;

		if (state->bytes < 8 || offset > state->bytes - 8 ||
		    memcmp(state->memory + offset, &kept->words[i].value, 8) != 0)
			return false;
	}
	return true;
}

bool unwind_memo_find(const struct unwind_memo *memo, const struct unwind_state *state,
		      uint64_t *ret_frames, size_t max, size_t *ret_n, bool *ret_truncated)
{
	uint64_t pc = state->regs[UNWIND_PC], sp = state->regs[UNWIND_SP];

	for (size_t i = 0; i < memo->n; i++) {
		size_t place = (memo->first + i) % CHAINS;
		const struct kept *kept = &memo->chains[place];

		if (memo->keys[place].pc != pc || memo->keys[place].sp != sp ||
		    !is_same(kept, state))
			continue;
		*ret_n = kept->n_frames < max ? kept->n_frames : max;
		*ret_truncated = kept->truncated || kept->n_frames > max;
		if (*ret_n)
			memcpy(ret_frames, kept->frames, *ret_n * sizeof(*ret_frames));
		return true;
	}
	return false;
}
