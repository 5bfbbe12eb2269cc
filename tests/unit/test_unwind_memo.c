/* Chains that were unwound before: used again where, and only where, all that they depend on is the same. */
#include "tests/unit/unit.h"

#include <string.h>

#include "sym/unwind_arch.h"
#include "sym/unwind_memo.h"

#define WORDS 64

struct stack {
	uint64_t regs[UNWIND_REGS], words[WORDS];
	struct unwind_state state;
};

static void fill(struct stack *stack)
{
	for (uint64_t i = 0; i < UNWIND_REGS; i++)
		stack->regs[i] = 0x1000 + i;
	for (uint64_t i = 0; i < WORDS; i++)
		stack->words[i] = i;
	stack->state = (struct unwind_state){
		.regs = stack->regs,
		.memory = (const uint8_t *)stack->words,
		.bytes = sizeof(stack->words),
	};
}

/* A chain of two frames that read words 3 and 5, and depends on the frame pointer. */
static void keep(struct unwind_memo *memo, const struct stack *stack, uint64_t frame, bool beyond)
{
	struct unwind_word words[] = {{24, 3}, {40, 5}};
	static struct unwind_chain chain;

	chain = (struct unwind_chain){
		.frames = {frame, 8},
		.n = 2,
		.sources = UNWIND_BIT(UNWIND_FP),
		.beyond = beyond,
		.words = {.items = words, .n = 2, .cap = 2},
	};
	unwind_memo_keep(memo, &stack->state, &chain);
}

/* The first frame of the chain that is found; 0: none. */
static uint64_t find(const struct unwind_memo *memo, const struct stack *stack)
{
	uint64_t frames[2] = {};
	bool truncated;
	size_t n;

	return unwind_memo_find(memo, &stack->state, frames, 2, &n, &truncated) ? frames[0] : 0;
}

static void test_what_matters(void **state)
{
	struct unwind_memo *memo = unwind_memo_new();
	struct stack stack;

	(void)state;
	fill(&stack);
	assert_int_equal(find(memo, &stack), 0);
	keep(memo, &stack, 7, false);
	assert_int_equal(find(memo, &stack), 7);
	stack.words[4] = 99; /* was not read */
	stack.regs[0] = 99;
	assert_int_equal(find(memo, &stack), 7);
	stack.words[5] = 99;
	assert_int_equal(find(memo, &stack), 0);
	stack.words[5] = 5;
	stack.regs[UNWIND_FP]++;
	assert_int_equal(find(memo, &stack), 0);
	stack.regs[UNWIND_FP]--;
	stack.regs[UNWIND_SP]++;
	assert_int_equal(find(memo, &stack), 0);
	stack.regs[UNWIND_SP]--;
	stack.regs[UNWIND_PC]++;
	assert_int_equal(find(memo, &stack), 0);
	stack.regs[UNWIND_PC]--;
	stack.state.bytes = 48; /* all that was read */
	assert_int_equal(find(memo, &stack), 7);
	stack.state.bytes = 47;
	assert_int_equal(find(memo, &stack), 0);
	unwind_memo_free(memo);
}

static void test_the_end_of_the_copy(void **state)
{
	struct unwind_memo *memo = unwind_memo_new();
	struct stack stack;

	(void)state;
	fill(&stack);
	keep(memo, &stack, 7, true);
	assert_int_equal(find(memo, &stack), 7);
	stack.state.bytes -= 8;
	assert_int_equal(find(memo, &stack), 0);
	unwind_memo_free(memo);
}

static void test_two_chains_of_one_place(void **state)
{
	struct unwind_memo *memo = unwind_memo_new();
	struct stack one, other;
	uint64_t frame;
	bool truncated;
	size_t n;

	(void)state;
	fill(&one);
	fill(&other);
	other.regs[UNWIND_FP]++;
	keep(memo, &one, 7, false);
	keep(memo, &other, 9, false);
	assert_int_equal(find(memo, &one), 7);
	assert_int_equal(find(memo, &other), 9);
	/* Room for one frame. */
	assert_true(unwind_memo_find(memo, &one.state, &frame, 1, &n, &truncated));
	assert_int_equal(n, 1);
	assert_true(truncated);
	unwind_memo_clear(memo);
	assert_int_equal(find(memo, &one), 0);
	unwind_memo_free(memo);
}

static void test_the_oldest_goes(void **state)
{
	struct unwind_memo *memo = unwind_memo_new();
	struct stack stack;

	(void)state;
	fill(&stack);
	for (uint64_t i = 1; i <= 5000; i++) {
		stack.regs[UNWIND_SP] = i;
		keep(memo, &stack, i, false);
		assert_int_equal(find(memo, &stack), i);
	}
	stack.regs[UNWIND_SP] = 1;
	assert_int_equal(find(memo, &stack), 0);
	unwind_memo_free(memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_matters),
		cmocka_unit_test(test_the_end_of_the_copy),
		cmocka_unit_test(test_two_chains_of_one_place),
		cmocka_unit_test(test_the_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
