/* diag, mem, strbuf: what the rest stands on. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/place_index.h"
#include "base/strbuf.h"

static void diag_returns_its_error_and_forgets_the_old_hint(void **state)
{
	struct diag diag = {.hint = "old"};

	(void)state;
	assert_int_equal(diag_set(&diag, -EINVAL, "bad %s", "thing"), -EINVAL);
	assert_string_equal(diag.what, "bad thing");
	assert_string_equal(diag.hint, "");
	assert_int_equal(diag_hint(&diag, -EINVAL, "try %d", 3), -EINVAL);
	assert_string_equal(diag.what, "bad thing");
	assert_string_equal(diag.hint, "try 3");
	assert_int_equal(diag_set(NULL, -EIO, "nobody listens"), -EIO);
	assert_int_equal(diag_hint(NULL, -EIO, "nobody listens"), -EIO);
}

/* A failure whose errno was left at 0 must not be taken for success, nor for a count. */
static void diag_is_never_success(void **state)
{
	struct diag diag;

	(void)state;
	assert_int_equal(diag_set(&diag, 0, "a library said nothing"), -EIO);
	assert_string_equal(diag.what, "a library said nothing");
	assert_int_equal(diag_hint(&diag, 0, "ask it"), -EIO);
	assert_int_equal(diag_set(&diag, 7, "seven"), -EIO);
	assert_int_equal(diag_hint(&diag, diag_set(&diag, -ESRCH, "first"), "then"), -ESRCH);
	assert_string_equal(diag.what, "first");
	assert_string_equal(diag.hint, "then");
}

static void diag_cuts_what_is_too_long(void **state)
{
	char text[2000];
	struct diag diag;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	diag_set(&diag, -1, "%s", text);
	assert_int_equal(strlen(diag.what), sizeof(diag.what) - 1);
}

static void vec_items_are_zeroed_and_kept(void **state)
{
	struct pair {
		uint64_t a;
		char b;
	};
	VEC(struct pair) pairs = {};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct pair *pair = vec_push(&pairs);

		assert_true(pair == &pairs.items[i]);
		assert_int_equal(pair->a, 0);
		assert_int_equal(pair->b, 0);
		pair->a = i;
		pair->b = 'x';
	}
	assert_int_equal(pairs.n, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(pairs.items[i].a, i);
	free(pairs.items);
}

static void mem_handles_nothing_and_cuts(void **state)
{
	char *text;

	(void)state;
	text = mem_strndup("abcdef", 3);
	assert_string_equal(text, "abc");
	free(text);
	text = mem_printf("%s-%d", "x", 7);
	assert_string_equal(text, "x-7");
	free(text);
	text = mem_calloc(0, 0);
	assert_non_null(text);
	free(text);
}

static void strbuf_grows_and_is_handed_over(void **state)
{
	struct strbuf buf = {};
	char *text;

	(void)state;
	assert_string_equal(strbuf_text(&buf), "");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&buf, "%d,", i % 10);
	assert_int_equal(buf.n, 2000);
	assert_int_equal(strlen(buf.text), 2000);
	strbuf_clear(&buf);
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_add(&buf, "ab");
	strbuf_add_char(&buf, 'c');
	strbuf_add_repeated(&buf, '-', 3);
	strbuf_add_bytes(&buf, "\0z", 2);
	assert_int_equal(buf.n, 8);
	text = strbuf_take(&buf);
	assert_memory_equal(text, "abc---\0z", 9);
	free(text);
	text = strbuf_take(&buf);
	assert_string_equal(text, "");
	free(text);
	strbuf_free_members(&buf);
}

static bool same_rest(const void *rests, uint32_t place, const void *wanted)
{
	return ((const unsigned *)rests)[place] == *(const unsigned *)wanted;
}

/* Of one hash, and at the table's end, so that they lie around it. */
static void an_index_finds_the_first_of_several_alike(void **state)
{
	struct place_index index = {};
	unsigned rests[2000];

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		rests[i] = i % 7;
		place_index_add(&index, UINT64_MAX, i);
		for (unsigned rest = 0; rest < 7; rest++)
			assert_int_equal(place_index_find(&index, UINT64_MAX, same_rest, rests, &rest),
					 rest <= i ? rest : PLACE_NONE);
	}
	place_index_clear(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diag_returns_its_error_and_forgets_the_old_hint),
		cmocka_unit_test(diag_is_never_success),
		cmocka_unit_test(diag_cuts_what_is_too_long),
		cmocka_unit_test(vec_items_are_zeroed_and_kept),
		cmocka_unit_test(mem_handles_nothing_and_cuts),
		cmocka_unit_test(strbuf_grows_and_is_handed_over),
		cmocka_unit_test(an_index_finds_the_first_of_several_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
