/* Text from outside: what a terminal, JSON and a column see of it. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void check_safe(const char *bytes, size_t n, const char *expected)
{
	char *safe = text_safe_bytes(bytes, n);

	assert_string_equal(safe, expected);
	free(safe);
}

#define SAFE(bytes, expected) check_safe(bytes, sizeof(bytes) - 1, expected)

static void printable_text_stays(void **state)
{
	(void)state;
	SAFE("", "");
	SAFE("plain ~!\"\\ text", "plain ~!\"\\ text");
	SAFE("héllo 日本 µs ± 😀", "héllo 日本 µs ± 😀");
	SAFE("e\xcc\x81", "e\xcc\x81"); /* a combining accent has its letter */
}

static void what_a_terminal_acts_on_is_escaped(void **state)
{
	(void)state;
	SAFE("\x1b[31mred\x1b]0;t\a", "\\x1b[31mred\\x1b]0;t\\x07");
	SAFE("a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f");
	SAFE("a\0b", "a\\x00b");
	SAFE("\xc2\x9b"
	     "31m",
	     "\\u{009b}31m"); /* C1: CSI in one code point */
	SAFE("\x9b"
	     "31m",
	     "\\x9b31m");
}

static void what_hides_or_reorders_is_escaped(void **state)
{
	(void)state;
	SAFE("a\xe2\x80\xae"
	     "b",
	     "a\\u{202e}b"); /* right-to-left override */
	SAFE("a\xe2\x81\xa6"
	     "b",
	     "a\\u{2066}b"); /* isolate */
	SAFE("a\xe2\x80\x8b"
	     "b",
	     "a\\u{200b}b"); /* zero-width space */
	SAFE("a\xe2\x80\xa8"
	     "b\xe2\x80\xa9",
	     "a\\u{2028}b\\u{2029}");
	SAFE("\xef\xbb\xbf", "\\u{feff}");
	SAFE("\xf3\xa0\x81\x81", "\\u{e0041}"); /* tag */
	SAFE("\xee\x80\x80", "\\u{e000}");	/* private use */
	SAFE("\xef\xbf\xbe", "\\u{fffe}");	/* noncharacter */
	SAFE("\xcc\x81"
	     "e",
	     "\\u{0301}e"); /* nothing to combine with */
	SAFE("a \xcc\x81"
	     "e",
	     "a \\u{0301}e"); /* nor where a line is broken at the space */
}

static void broken_utf8_is_escaped_byte_by_byte(void **state)
{
	(void)state;
	SAFE("\xff\xfe", "\\xff\\xfe");
	SAFE("\xc3(", "\\xc3(");
	SAFE("\xed\xa0\x80", "\\xed\\xa0\\x80");	  /* surrogate */
	SAFE("\xc0\xaf", "\\xc0\\xaf");			  /* overlong */
	SAFE("\xe0\x80\xaf", "\\xe0\\x80\\xaf");	  /* overlong */
	SAFE("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"); /* overlong */
	SAFE("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	SAFE("a\xe2\x82", "a\\xe2\\x82");		  /* cut short */
	SAFE("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
}

static void check_utf8(const char *bytes, size_t n, const char *expected)
{
	char *text = text_utf8_bytes(bytes, n);

	assert_string_equal(text, expected);
	free(text);
}

static void json_gets_valid_utf8(void **state)
{
	(void)state;
	check_utf8("a\xff"
		   "b",
		   3,
		   "a\xef\xbf\xbd"
		   "b");
	check_utf8("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_utf8("a\0b", 3,
		   "a\xef\xbf\xbd"
		   "b");
	check_utf8("日本\x1b", 7, "日本\x1b");
	check_utf8("\xe2\x80\xae", 3, "\xe2\x80\xae");
}

/* Whatever the bytes, what comes out is valid and without controls, and decodes to the end. */
static void any_bytes_come_out_valid(void **state)
{
	uint32_t random = 12345, code;
	char bytes[64];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char *safe, *utf8;
		size_t used;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			/* Mostly lead and continuation bytes. */
			bytes[i] = (char)(random >> 24 | (random & 0x300 ? 0x80 : 0));
		}
		safe = text_safe_bytes(bytes, sizeof(bytes));
		for (size_t i = 0, n = strlen(safe); i < n; i += used) {
			used = text_decode(safe + i, n - i, &code);
			assert_int_not_equal(used, 0);
			assert_true(code >= 0x20 && (code < 0x7f || code > 0x9f));
			assert_false(code >= 0x202a && code <= 0x202e);
		}
		utf8 = text_utf8_bytes(bytes, sizeof(bytes));
		for (size_t i = 0, n = strlen(utf8); i < n; i += used) {
			used = text_decode(utf8 + i, n - i, &code);
			assert_int_not_equal(used, 0);
		}
		free(utf8);
		free(safe);
	}
}

static void columns_count_wide_and_combining(void **state)
{
	(void)state;
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns("µs ± ×"), 6);
	assert_int_equal(text_columns("日本"), 4);
	assert_int_equal(text_columns("e\xcc\x81"), 1);
	assert_int_equal(text_columns("😀x"), 3);
	assert_int_equal(text_columns("ｱ"), 1);	 /* halfwidth */
	assert_int_equal(text_columns("Ａ"), 2); /* fullwidth */
	assert_int_equal(text_columns("└ …"), 3);
	assert_int_equal(text_columns("a\xff"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printable_text_stays),
		cmocka_unit_test(what_a_terminal_acts_on_is_escaped),
		cmocka_unit_test(what_hides_or_reorders_is_escaped),
		cmocka_unit_test(broken_utf8_is_escaped_byte_by_byte),
		cmocka_unit_test(json_gets_valid_utf8),
		cmocka_unit_test(any_bytes_come_out_valid),
		cmocka_unit_test(columns_count_wide_and_combining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
