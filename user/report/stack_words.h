/* Stacks in a few words, and how often threads were there:
 *
 *	uv_cond_wait ← worker                  stack_add_words
 *	92 %: uv_cond_wait ← worker (3 ways)   the first of stack_ways_find, with its share
 */
#ifndef WAKEWHY_REPORT_STACK_WORDS_H
#define WAKEWHY_REPORT_STACK_WORDS_H

#include "report/cause_sums.h"

/* What a frame is made of; has a colour and a word in each picture. */
enum stack_look {
	STACK_PROGRAM,
	STACK_LIBRARY,
	STACK_KERNEL,
	STACK_JIT,
	STACK_OTHER, /* no frame: what stands beside them in a picture */
	STACK_LOOKS,
};

/* "kernel", "library" … */
const char *stack_look_name(enum stack_look look);
/* frame: a place in capture.frames. */
enum stack_look stack_look(const struct stacks *stacks, const struct capture *capture,
			   uint32_t frame);

/* Bytes of a stack in words, and of one frame in them. */
#define STACK_WORDS_BYTES 72
#define STACK_FRAME_BYTES 44

/* A function's name without its list of arguments, where it is too long without those of templates too, cut
 * to so many bytes. The caller frees. */
char *stack_frame_words(const char *text, size_t bytes);
/* Adds the frames that matter, innermost first, as many as fit; the call that the first of them made before it.
 * Nothing for STACK_NONE. */
void stack_add_words(struct strbuf *text, const struct stacks *stacks,
		     const struct capture *capture, uint32_t stack);

/* One place in the code where threads of a cause slept, or were woken from: stacks with the same words. */
struct stack_way {
	size_t sum;  /* place in cause_sums.causes */
	bool waker;  /* they were woken from there */
	const char *words; /* owned by struct stack_ways */
	uint64_t wakeups;
	size_t run; /* of the group; with the stack that came most often there */
	uint32_t stack;
	uint64_t stack_wakeups;
};

struct stack_ways {
	VEC(struct stack_way) all; /* by sum, sleepers before wakers, then wakeups falling */
	VEC(char *) owned;
};

void stack_ways_init(struct stack_ways *ret_ways, const struct group *group,
		     const struct cause_sums *sums);
void stack_ways_free_members(struct stack_ways *ways);
/* The first of the ways of a cause, and how many there are; NULL: none. */
const struct stack_way *stack_ways_find(const struct stack_ways *ways, size_t sum, bool waker,
					size_t *ret_n);

#endif
