/* Summaries over repeats, and what is compared with what. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/result.h"
#include "sample.h"

static const struct result_summary *summary(const struct result *result, const char *label,
					    const char *workload, const char *metric)
{
	for (size_t i = 0; i < result->summaries.n; i++) {
		const struct result_summary *s = &result->summaries.items[i];

		if (strcmp(s->label, label) == 0 && strcmp(s->workload, workload) == 0 &&
		    strcmp(s->metric->id, metric) == 0)
			return s;
	}
	return NULL;
}

static const struct result_comparison *comparison(const struct result *result, const char *base,
						  const char *other, const char *workload,
						  const char *metric)
{
	for (size_t i = 0; i < result->comparisons.n; i++) {
		const struct result_comparison *c = &result->comparisons.items[i];

		if (strcmp(c->base, base) == 0 && strcmp(c->other, other) == 0 &&
		    strcmp(c->workload, workload) == 0 && strcmp(c->metric->id, metric) == 0)
			return c;
	}
	return NULL;
}

static void the_sample_is_summarised(void **state)
{
	struct recording recording;
	const struct result_summary *s;
	struct result result;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	assert_int_equal(result.runs.n, recording.runs.n);
	assert_false(result.trusted); /* the hostile run is not */
	s = summary(&result, "zig", "idle", "wakeups_per_s");
	assert_int_equal(s->stat.n, 2);
	assert_true(s->stat.min == 239 / 20.0 && s->stat.max == 240 / 20.0);
	assert_true(s->stat.median == 239.5 / 20.0);
	s = summary(&result, "rust", "startup", "exec_to_exit_ns");
	assert_int_equal(s->stat.n, 6);
	assert_true(s->stat.median == 4400000 + 2.5 * 40000);
	/* Metrics stay with the workloads that they are for. */
	assert_null(summary(&result, "rust", "startup", "wakeups_per_s"));
	assert_null(summary(&result, "zig", "idle", "exec_to_exit_ns"));
	assert_null(summary(&result, "floor", "idle", "rss_bytes")); /* it has none */
	result_free_members(&result);
	recording_free_members(&recording);
}

static void variants_are_kept_apart(void **state)
{
	struct recording recording;
	struct result result;
	size_t n = 0;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	for (size_t i = 0; i < result.summaries.n; i++) {
		const struct result_summary *s = &result.summaries.items[i];

		if (strcmp(s->workload, "hash") != 0 ||
		    strcmp(s->metric->id, "wakeups_per_op") != 0)
			continue;
		n++;
		assert_int_equal(s->stat.n, 1);
		assert_true(s->stat.median == (strcmp(s->variant, "sync") == 0 ? 2e-7 : 2.0));
	}
	assert_int_equal(n, 2);
	for (size_t i = 0; i < result.comparisons.n; i++)
		assert_string_not_equal(result.comparisons.items[i].workload, "hash");
	result_free_members(&result);
	recording_free_members(&recording);
}

static void labels_are_compared_with_the_first_and_the_floor(void **state)
{
	struct recording recording;
	const struct result_comparison *c;
	struct result result;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	c = comparison(&result, "zig", "rust", "startup", "exec_to_exit_ns");
	assert_true(fabs(c->ratio.ratio - 4500000.0 / 10600000.0) < 1e-12);
	assert_true(c->ratio.has_interval && c->ratio.ci_low < c->ratio.ci_high);
	assert_int_equal(c->ratio.verdict, STAT_LOWER);
	c = comparison(&result, "zig", "rust", "idle", "wakeups_per_s");
	assert_true(fabs(c->ratio.ratio - 60.5 / 239.5) < 1e-12);
	assert_int_equal(c->ratio.verdict, STAT_LOWER); /* two repeats, which agree */
	assert_int_equal(c->ratio.method, STAT_BY_FEW);
	c = comparison(&result, "floor", "rust", "idle", "wakeups_per_s");
	assert_true(isnan(c->ratio.ratio)); /* the floor never wakes */
	assert_non_null(comparison(&result, "floor", "zig", "idle", "cpu_ms_per_s"));
	for (size_t i = 0; i < result.comparisons.n; i++) {
		assert_string_not_equal(result.comparisons.items[i].other, "floor");
		assert_string_not_equal(result.comparisons.items[i].base,
					result.comparisons.items[i].other);
		assert_string_not_equal(result.comparisons.items[i].base, "rust");
	}
	result_free_members(&result);
	recording_free_members(&recording);
}

/* A report of a saved recording must be the bytes that the live one was. */
static void results_are_the_same_each_time(void **state)
{
	struct recording recording;
	struct result a, b;

	(void)state;
	sample_recording(&recording);
	result_init(&a, &recording);
	result_init(&b, &recording);
	assert_int_equal(a.comparisons.n, b.comparisons.n);
	for (size_t i = 0; i < a.comparisons.n; i++) {
		const struct stat_ratio *x = &a.comparisons.items[i].ratio;
		const struct stat_ratio *y = &b.comparisons.items[i].ratio;

		assert_memory_equal(&x->ratio, &y->ratio, sizeof(double));
		assert_memory_equal(&x->ci_low, &y->ci_low, sizeof(double));
		assert_memory_equal(&x->ci_high, &y->ci_high, sizeof(double));
	}
	result_free_members(&b);
	result_free_members(&a);
	recording_free_members(&recording);
}

static void nothing_gives_nothing(void **state)
{
	struct recording recording = {};
	struct result result;

	(void)state;
	result_init(&result, &recording);
	assert_true(result.trusted);
	assert_int_equal(result.summaries.n, 0);
	result_free_members(&result);
	/* A capture without any name, as a struct built by hand may be. */
	vec_push(&recording.runs);
	result_init(&result, &recording);
	assert_int_equal(result.summaries.n, 0);
	result_free_members(&result);
	recording_free_members(&recording);
	result_free_members(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_is_summarised),
		cmocka_unit_test(variants_are_kept_apart),
		cmocka_unit_test(labels_are_compared_with_the_first_and_the_floor),
		cmocka_unit_test(results_are_the_same_each_time),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
