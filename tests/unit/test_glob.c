/* Names against patterns of '*' and '?': bpf/glob.h beside a matcher that is obviously right. */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/glob.h"

#define PAIRS 200000

static int matches(const char *pattern, const char *name)
{
	char padded[WK_COMM_BYTES] = {0};
	struct wk_glob glob;

	assert_true(strlen(name) < sizeof(padded));
	assert_int_equal(glob_compile(&glob, pattern), 0);
	memcpy(padded, name, strlen(name));
	return glob_match(&glob, padded);
}

/* By the definition: '*' stands for any bytes, '?' for one, others for themselves. */
static bool reference(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern == '*')
		return reference(pattern + 1, name) || (*name && reference(pattern, name + 1));
	return *name && (*pattern == '?' || *pattern == *name) && reference(pattern + 1, name + 1);
}

static void known_answers(void **state)
{
	static const struct {
		const char *pattern, *name;
		int matches;
	} cases[] = {
		{"bun", "bun", 1},
		{"bun", "bunx", 0},
		{"bun", "bu", 0},
		{"bun", "Bun", 0},
		{"", "", 1},
		{"", "bun", 0},
		{"*", "", 1},
		{"*", "HTTP Client", 1},
		{"**", "", 1},
		{"?", "", 0},
		{"?", "b", 1},
		{"n*", "nginx", 1},
		{"*x", "nginx", 1},
		{"*g*", "nginx", 1},
		{"*z*", "nginx", 0},
		{"n?inx", "nginx", 1},
		{"n?nx", "nginx", 0},
		{"*ab", "aab", 1},
		{"*a*b*c", "aXbXbXc", 1},
		{"*a*b*c", "aXcXb", 0},
		{"*.sh", ".sh.sh", 1},
		{"a*a", "a", 0},
		{"kworker/*", "kworker/0:1", 1},
		{"[a]", "a", 0},
		{"[a]", "[a]", 1},
		{"\\*", "*", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(matches(cases[i].pattern, cases[i].name), cases[i].matches);
		assert_int_equal(reference(cases[i].pattern, cases[i].name), cases[i].matches);
	}
}

/* A name has 15 bytes at most: a longer pattern could match none and is refused. */
static void the_longest_patterns_and_names(void **state)
{
	struct wk_glob glob;

	(void)state;
	assert_int_equal(matches("***************?", "123456789012345"), 1);
	assert_int_equal(matches("123456789012345", "123456789012345"), 1);
	assert_int_equal(matches("*1*2*3*4*5*6*7*8*9*0*1*2*3*4*5*", "123456789012345"), 1);
	assert_int_equal(glob_compile(&glob, "1234567890123456"), -1);
	assert_int_equal(glob_compile(&glob, "*1234567890123456"), -1);
	assert_int_equal(matches("*5", "123456789012345"), 1);
	/* A tail that almost fits everywhere. */
	assert_int_equal(matches("*aaaaaaab", "aaaaaaaaaaaaaab"), 1);
	assert_int_equal(matches("*aaaaaaab", "aaaaaaaaaaaaaaa"), 0);
	assert_int_equal(matches("*a*a*a*a*a*a*ab", "aaaaaaaaaaaaaab"), 1);
}

/* xorshift64 (Marsaglia, Xorshift RNGs, 2003). */
static uint64_t chance(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 16;
}

static void make_up(uint64_t *random, char *text, size_t max, const char *letters)
{
	size_t n = chance(random) % (max + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = letters[chance(random) % strlen(letters)];
	text[n] = 0;
}

static void random_patterns_match_by_the_definition(void **state)
{
	uint64_t random = 1;
	unsigned int yes = 0;

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		char pattern[WK_COMM_BYTES], name[WK_COMM_BYTES];
		int want;

		make_up(&random, pattern, i % 2 ? WK_COMM_BYTES - 1 : 6, "ab*?*");
		make_up(&random, name, WK_COMM_BYTES - 1, i % 3 ? "ab" : "aab\xff");
		want = reference(pattern, name);
		if (matches(pattern, name) != want)
			fail_msg("'%s' of '%s': should be %d", pattern, name, want);
		yes += want;
	}
	/* Neither answer is rare. */
	assert_in_range(yes, PAIRS / 5, PAIRS - PAIRS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(the_longest_patterns_and_names),
		cmocka_unit_test(random_patterns_match_by_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
