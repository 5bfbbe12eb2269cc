/* A document that is written item by item: to the byte what it would be whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "render/json.h"

/* A line end, one that hides, DEL, one beyond 16 bits, quotes. */
#define STRANGE "a\nb\u202e\x7f\U000e0001\"\\"

static json_t *item(void)
{
	return json_pack("{s:s, s:[i, {}, []], s:{s:n}}", "text", STRANGE, "list", 1, "more", "none");
}

static char *put_together(void)
{
	struct json_out to = {0};
	char *text;
	size_t n;

	to.out = open_memstream(&text, &n);
	assert_non_null(to.out);
	json_open(&to, NULL, '{');
	json_put(&to, "first", item());
	json_open(&to, "items", '[');
	json_put(&to, NULL, item());
	json_open(&to, NULL, '{');
	json_open(&to, "none", '[');
	json_close(&to, ']');
	json_put(&to, "real", json_real(0.1));
	json_close(&to, '}');
	json_put(&to, NULL, json_null());
	json_close(&to, ']');
	json_open(&to, "empty", '{');
	json_close(&to, '}');
	json_put(&to, "last", json_string(STRANGE));
	json_close(&to, '}');
	fclose(to.out);
	return text;
}

static char *whole(void)
{
	json_t *root = json_pack("{s:o, s:[o, {s:[], s:f}, n], s:{}, s:s}", "first", item(), "items", item(),
				 "none", "real", 0.1, "empty", "last", STRANGE);
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(root);
	assert_non_null(out);
	json_write(root, out, JSON_INDENT(2));
	json_decref(root);
	fclose(out);
	return text;
}

static void what_is_put_is_what_would_be_written_whole(void **state)
{
	char *put = put_together(), *written = whole();

	(void)state;
	assert_string_equal(put, written);
	assert_non_null(strstr(put, "a\\nb\\u202e\\u007f\\udb40\\udc01\\\"\\\\"));
	free(put);
	free(written);
}

static void an_empty_one_is_an_empty_one(void **state)
{
	struct json_out to = {0};
	char *text;
	size_t n;

	(void)state;
	to.out = open_memstream(&text, &n);
	json_open(&to, NULL, '{');
	json_close(&to, '}');
	fclose(to.out);
	assert_string_equal(text, "{}\n");
	free(text);
}

/* A full disk: the stream tells, and nothing more is asked of it than to go on. */
static void a_stream_that_takes_nothing_says_so(void **state)
{
	struct json_out to = {.out = fopen("/dev/full", "w")};

	(void)state;
	assert_non_null(to.out);
	json_open(&to, NULL, '[');
	for (int i = 0; i < 10000; i++)
		json_put(&to, NULL, item());
	json_close(&to, ']');
	assert_true(ferror(to.out));
	fclose(to.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_what_would_be_written_whole),
		cmocka_unit_test(an_empty_one_is_an_empty_one),
		cmocka_unit_test(a_stream_that_takes_nothing_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
