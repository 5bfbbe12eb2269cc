/* Lists of CPUs. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"

static void lists_are_read_and_written(void **state)
{
	static const struct {
		const char *text, *written;
		size_t n;
	} good[] = {
		{"0", "0", 1},	       {"0,2-3", "0,2-3", 3},
		{"0-3\n", "0-3", 4},   {"", "", 0},
		{"\n", "", 0},	       {"3,1,2,1", "1-3", 3},
		{"63-64", "63-64", 2}, {"8191", "8191", 1},
		{"5-5", "5", 1},       {"0-8191", "0-8191", 8192},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct cpulist list;
		char *text;

		assert_int_equal(cpulist_parse(&list, good[i].text, NULL), 0);
		assert_int_equal(cpulist_count(&list), good[i].n);
		text = cpulist_format(&list);
		assert_string_equal(text, good[i].written);
		free(text);
	}
}

static void bad_lists_are_refused(void **state)
{
	static const char *const bad[] = {",",	 "0,",	"0,,1",	 "-1",	  "1-",	  "3-1",
					  "a",	 "0 1", "0-1-2", "0x1",	  "1,\n", "0\n1",
					  "0-a", "1;2", " 0",	 "0-10:2"};
	struct cpulist list = {};
	struct diag diag;

	(void)state;
	cpulist_add(&list, 7);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cpulist_parse(&list, bad[i], &diag), -EINVAL);
	assert_int_equal(cpulist_parse(&list, "8192", &diag), -ERANGE);
	assert_int_equal(cpulist_parse(&list, "0-99999999999999999999", &diag), -ERANGE);
	assert_non_null(strstr(diag.what, "8191"));
	/* Untouched by all of these. */
	assert_int_equal(cpulist_count(&list), 1);
	assert_true(cpulist_has(&list, 7));
}

static void single_cpus_are_found(void **state)
{
	struct cpulist list = {};

	(void)state;
	cpulist_add(&list, 5);
	cpulist_add(&list, 64);
	cpulist_add(&list, CPULIST_MAX);
	assert_int_equal(cpulist_count(&list), 2);
	assert_true(cpulist_has(&list, 64));
	assert_false(cpulist_has(&list, 63));
	assert_false(cpulist_has(&list, CPULIST_MAX));
	assert_int_equal(cpulist_next(&list, 0), 5);
	assert_int_equal(cpulist_next(&list, 6), 64);
	assert_int_equal(cpulist_next(&list, 65), CPULIST_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_and_written),
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(single_cpus_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
