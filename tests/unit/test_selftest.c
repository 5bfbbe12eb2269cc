/* The result of `selftest`: what is right, what is said about it, and its JSON. */
#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "report/selftest.h"

static struct capture_tool tool = {.version = (char *)"1", .kernel = (char *)"6.18", .arch = (char *)"x86-64",
				   .started = (char *)"2026-01-01T00:00:00Z", .cpus = 2};

static char *text_of(const struct selftest_result *result)
{
	struct render_style style = {};
	struct report report = {};
	struct diag diag = {};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	selftest_build(&report, result);
	assert_int_equal(render_report_text(out, &report, &style, &diag), 0);
	fclose(out);
	report_free_members(&report);
	return text;
}

static json_t *json_of(const struct selftest_result *result)
{
	struct diag diag = {};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *root;

	assert_int_equal(render_selftest_json(out, result, &diag), 0);
	fclose(out);
	root = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(root);
	return root;
}

static void what_lies_between_is_right(void **state)
{
	struct selftest_result r = {.tool = &tool};

	(void)state;
	selftest_add(&r, "sleeper", "wakeups", SELFTEST_COUNT, 60, 60, 60);
	selftest_add(&r, "sleeper", "period", SELFTEST_NS, 10e6, 9.9e6, 10e6);
	assert_int_equal(selftest_wrong(&r), 0);
	assert_true(selftest_ok(&r));
	selftest_add(&r, "sleeper", "calls", SELFTEST_COUNT, 59, 60, 60);
	selftest_add(&r, "sleeper", "calls", SELFTEST_COUNT, 61, 60, 60);
	assert_int_equal(selftest_wrong(&r), 2);
	assert_false(selftest_ok(&r));
	selftest_free_members(&r);
}

static void no_figure_is_a_wrong_one(void **state)
{
	struct selftest_result r = {.tool = &tool};

	(void)state;
	assert_false(selftest_ok(&r)); /* nothing was looked at */
	selftest_add(&r, "sleeper", "wakeups", SELFTEST_COUNT, NAN, 0, INFINITY);
	assert_int_equal(selftest_wrong(&r), 1);
	selftest_free_members(&r);
}

static void a_doubt_is_enough(void **state)
{
	struct selftest_result r = {.tool = &tool};
	char *text;

	(void)state;
	selftest_add(&r, "sleeper", "wakeups", SELFTEST_COUNT, 1, 1, 1);
	*vec_push(&r.doubts) = mem_strdup("3 wakes were lost");
	assert_false(selftest_ok(&r));
	text = text_of(&r);
	assert_non_null(strstr(text, "3 wakes were lost"));
	assert_non_null(strstr(text, "not to be trusted"));
	free(text);
	selftest_free_members(&r);
}

static void the_table_has_both_beside_each_other(void **state)
{
	struct selftest_result r = {.tool = &tool, .left_out = 1, .took_ns = 3000000000};
	char *text;

	(void)state;
	selftest_add(&r, "caller", "calls of getppid", SELFTEST_COUNT, 100000, 100000, 100000);
	selftest_add(&r, "spinner", "CPU time", SELFTEST_NS, 300e6, 298e6, 302e6);
	text = text_of(&r);
	assert_non_null(strstr(text, "100,000    100,000   ok"));
	assert_non_null(strstr(text, "298 ms to 302 ms     300 ms   ok"));
	assert_non_null(strstr(text, "left out: 1 periods"));
	assert_non_null(strstr(text, "all 2 figures are right"));
	free(text);
	selftest_add(&r, "spinner", "wakeups", SELFTEST_COUNT, 1, 0, 0);
	text = text_of(&r);
	assert_non_null(strstr(text, "WRONG"));
	assert_non_null(strstr(text, "1 of 3 figures is wrong"));
	free(text);
	selftest_free_members(&r);
}

static void json_tells_the_same(void **state)
{
	struct selftest_result r = {.tool = &tool};
	json_t *root, *check;

	(void)state;
	selftest_add(&r, "crowd", "wait for a CPU", SELFTEST_NS, NAN, 1, 2);
	root = json_of(&r);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "wakewhy-selftest/1");
	assert_true(json_is_false(json_object_get(root, "ok")));
	assert_int_equal(json_integer_value(json_object_get(root, "wrong")), 1);
	check = json_array_get(json_object_get(root, "checks"), 0);
	assert_true(json_is_null(json_object_get(check, "measured")));
	assert_string_equal(json_string_value(json_object_get(check, "unit")), "ns");
	assert_true(json_is_false(json_object_get(check, "ok")));
	json_decref(root);
	selftest_free_members(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_between_is_right),
		cmocka_unit_test(no_figure_is_a_wrong_one),
		cmocka_unit_test(a_doubt_is_enough),
		cmocka_unit_test(the_table_has_both_beside_each_other),
		cmocka_unit_test(json_tells_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
