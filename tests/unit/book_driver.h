/* A stackbook in a test: stacks put in, and what comes out of them as one capture. */
#ifndef WAKEWHY_TESTS_BOOK_DRIVER_H
#define WAKEWHY_TESTS_BOOK_DRIVER_H

#include <stdlib.h>

#include "collect/stackbook.h"
#include "tests/unit/book_subject.h"

/* A book; the test is left out where the kernel gives this user no mapping records and `records` are
 * needed. */
static inline struct stackbook *book_open(bool records)
{
	struct stackbook *book;
	struct diag diag = {0};

	if (stackbook_open(&book, &diag) && records) {
		stackbook_free(book);
		skip();
	}
	return book;
}

/* One user frame, by its address. */
static inline void book_add(struct stackbook *book, uint32_t id, const struct book_spot *spot)
{
	struct stack_taken taken = {.id = id,
				    .pid = spot->pid,
				    .time_ns = spot->time_ns,
				    .user = &spot->address,
				    .n_user = 1};

	stackbook_add(book, &taken);
}

/* Stacks 1 to n, as those of sleepers of one cause. */
static inline void book_take(struct stackbook *book, uint32_t n, struct capture *ret_capture)
{
	struct stack_counted *counted = mem_calloc(n, sizeof(*counted));

	*ret_capture = (struct capture){0};
	vec_push(&ret_capture->causes)->number = 1;
	for (uint32_t i = 0; i < n; i++) {
		counted[i].key = (struct wk_stack_key){.what = 1, .sleeper = i + 1};
		counted[i].count = (struct wk_stack_count){.count = i + 1};
	}
	stackbook_take(book, counted, n, ret_capture);
	free(counted);
}

/* The sleeper's stack of the row that was counted so often; NULL: it has none. */
static inline const struct capture_stack *book_stack(const struct capture *capture, uint64_t wakeups)
{
	for (size_t i = 0; i < capture->wake_stacks.n; i++)
		if (capture->wake_stacks.items[i].wakeups == wakeups)
			return capture->wake_stacks.items[i].sleeper == STACK_NONE
				       ? NULL
				       : &capture->stacks.items[capture->wake_stacks.items[i].sleeper];
	fail_msg("no row with %lu wakeups", (unsigned long)wakeups);
	return NULL;
}

static inline const struct capture_frame *book_frame(const struct capture *capture, uint64_t wakeups,
						     size_t place)
{
	const struct capture_stack *stack = book_stack(capture, wakeups);

	assert_non_null(stack);
	assert_true(place < stack->frames.n);
	return &capture->frames.items[stack->frames.items[place]];
}

static inline void book_expect(const struct capture *capture, uint64_t wakeups, const char *name,
			       const char *path)
{
	const struct capture_frame *frame = book_frame(capture, wakeups, 0);

	assert_int_equal(frame->kind, FRAME_FILE);
	assert_string_equal(frame->name, name);
	assert_string_equal(capture->modules.items[frame->module].path, path);
}

#endif
