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

/* ---- experiments ------------------------------------------------------------------------------- */

static struct capture *add_start(struct recording *recording, const char *label, uint32_t repeat,
				 uint64_t exit_ns)
{
	struct capture *capture = sample_add_run(recording, label, "startup", NULL, repeat);

	capture->startup.present = true;
	capture->startup.exec_to_exit_ns = exit_ns;
	capture->outer_ns = exit_ns + 700000;
	return capture;
}

static void add_bare(struct recording *recording, const char *label, const char *workload,
		     const char *variant, uint32_t repeat, uint64_t outer_ns, uint64_t operations)
{
	*vec_push(&recording->bare) = (struct capture_bare){
		.label = mem_strdup(label),
		.workload = mem_strdup(workload),
		.variant = variant ? mem_strdup(variant) : NULL,
		.repeat = repeat,
		.outer_ns = outer_ns,
		.operations = operations,
	};
}

/* Six rounds; with probes zig takes `slower` ns more. */
static void add_rounds(struct recording *recording, uint64_t slower)
{
	for (uint32_t i = 0; i < 6; i++) {
		add_start(recording, "zig", i, 10000000 + i * 30000 + slower);
		add_start(recording, "rust", i, 4000000 + (i * 5 % 6) * 20000);
		add_bare(recording, "zig", "startup", NULL, i, 10700000 + i * 30000, 0);
		add_bare(recording, "rust", "startup", NULL, i, 4700000 + (i * 5 % 6) * 20000, 0);
	}
}

static void a_replaced_window_counts_nowhere(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	struct capture *capture;
	struct result result;

	(void)state;
	add_rounds(&recording, 0);
	capture = add_start(&recording, "zig", 2, 99000000);
	capture->replaced = true;
	capture = add_start(&recording, "gone", 0, 99000000);
	capture->replaced = true;
	result_init(&result, &recording);
	assert_int_equal(result.runs.n, 14);
	assert_int_equal(summary(&result, "zig", "startup", "exec_to_exit_ns")->stat.n, 6);
	assert_true(summary(&result, "zig", "startup", "exec_to_exit_ns")->stat.max < 11000000);
	assert_null(summary(&result, "gone", "startup", "exec_to_exit_ns"));
	c = comparison(&result, "zig", "rust", "startup", "exec_to_exit_ns");
	assert_int_equal(c->ratio.method, STAT_BY_ROUNDS); /* its round is there once again */
	assert_int_equal(c->n_base, 6);
	assert_null(comparison(&result, "zig", "gone", "startup", "exec_to_exit_ns"));
	result_free_members(&result);
	recording_free_members(&recording);
}

static void what_must_not_be_compared_has_no_ratio(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	struct result result;

	(void)state;
	add_rounds(&recording, 0);
	recording.runs.items[7].not_comparable = mem_strdup("siblings");
	result_init(&result, &recording);
	c = comparison(&result, "zig", "rust", "startup", "exec_to_exit_ns");
	assert_string_equal(c->reason, "siblings");
	assert_true(isnan(c->ratio.ratio) && !c->ratio.has_interval);
	assert_int_equal(c->ratio.verdict, STAT_UNCLEAR);
	assert_int_equal(summary(&result, "rust", "startup", "exec_to_exit_ns")->stat.n, 6);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* 2 % of 10.7 ms, the same in each round: the interval of the cost is far from 1. */
static void start_ups_are_judged_without_probes_that_slow_them(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	const struct result_cost *cost;
	struct result result;

	(void)state;
	add_rounds(&recording, 214000);
	result_init(&result, &recording);
	assert_int_equal(result.costs.n, 2);
	cost = result_find_cost(&result, "zig", "startup", NULL);
	assert_int_equal(cost->n_bare, 6);
	assert_true(cost->bare_ns == 10775000 && cost->probed_ns == 10775000 + 214000);
	assert_true(cost->ratio.ci_low > 1.019 && cost->ratio.ci_high < 1.021);
	cost = result_find_cost(&result, "rust", "startup", NULL);
	assert_true(cost->ratio.ratio == 1 && cost->ratio.ci_low == 1 && cost->ratio.ci_high == 1);
	c = comparison(&result, "zig", "rust", "startup", "exec_to_exit_ns");
	assert_true(c->from_bare);
	assert_true(fabs(c->ratio.ratio - 4750000 / 10775000.0) < 1e-12);
	/* Other figures have no counterpart without probes. */
	assert_false(comparison(&result, "zig", "rust", "startup", "oncpu_ns")->from_bare);
	result_free_members(&result);
	recording_free_members(&recording);

	add_rounds(&recording, 0);
	result_init(&result, &recording);
	c = comparison(&result, "zig", "rust", "startup", "exec_to_exit_ns");
	assert_false(c->from_bare);
	assert_true(fabs(c->ratio.ratio - 4050000 / 10075000.0) < 1e-12);
	result_free_members(&result);
	recording_free_members(&recording);
}

static void costs_of_operations_are_per_operation(void **state)
{
	struct recording recording = {};
	const struct result_cost *cost;
	struct result result;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct capture *capture = sample_add_run(&recording, "node", "hash", "sync", i);

		capture->has_result = true;
		capture->operations = 1000;
		capture->outer_ns = 600000 + i * 1000;
		add_bare(&recording, "node", "hash", "sync", i, 1000000 + i * 2000, 2000);
		/* What is broken in a recording is no figure. */
		add_bare(&recording, "node", "hash", "oneshot", i, 0, 0);
	}
	result_init(&result, &recording);
	assert_int_equal(result.costs.n, 1);
	cost = result_find_cost(&result, "node", "hash", "sync");
	assert_true(cost->probed_ns == 601 && cost->bare_ns == 501);
	assert_int_equal(cost->ratio.method, STAT_BY_FEW);
	assert_null(result_find_cost(&result, "node", "hash", NULL));
	result_free_members(&result);
	recording_free_members(&recording);
}

/* ---- one window -------------------------------------------------------------------------------- */

static struct capture *add_window(struct recording *recording, const char *label, size_t seconds)
{
	struct capture *capture = sample_add_run(recording, label, "idle", NULL, 0);

	capture->end_ns = capture->start_ns + seconds * WK_SECOND_NS + 40000;
	sample_add_thread(capture, SAMPLE_PID, label, 0, 0);
	for (size_t i = 0; i <= seconds; i++)
		vec_push(&capture->seconds);
	return capture;
}

static void add_second(struct capture *capture, size_t second, uint64_t wakeups, uint64_t oncpu_ns)
{
	struct wk_counters *count = &capture->threads.items[0].t.count;

	capture->seconds.items[second].wakeups += wakeups;
	capture->seconds.items[second].oncpu_ns += oncpu_ns;
	count->wakeups += wakeups;
	count->oncpu_ns += oncpu_ns;
}

/* The article's shape: 215.1 ms in all of 300 seconds against 22.2 ms in 28 seconds at the start and three
 * of each 30 after that. What one window tells of a ratio that other windows gave as 8.8 to 13.8. */
static void the_article_is_retold_from_one_window(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	struct capture *zig, *rust;
	struct result result;

	(void)state;
	zig = add_window(&recording, "zig", 300);
	for (size_t i = 0; i < 300; i++)
		add_second(zig, i, 12, 717000);
	rust = add_window(&recording, "rust", 300);
	for (size_t i = 0; i < 28; i++)
		add_second(rust, i, 3, 364000);
	for (size_t i = 30; i < 300; i += 30)
		for (size_t j = 0; j < 3; j++)
			add_second(rust, i + j, 3, 444741);
	result_init(&result, &recording);
	c = comparison(&result, "rust", "zig", "idle", "cpu_ms_per_s");
	assert_null(c); /* the first one is the base */
	c = comparison(&result, "zig", "rust", "idle", "cpu_ms_per_s");
	assert_int_equal(c->ratio.method, STAT_BY_SECONDS);
	assert_int_equal(c->block_s, 7); /* no period is known: 7³ is the first cube above 300 */
	assert_int_equal(c->ratio.verdict, STAT_LOWER);
	assert_true(1 / c->ratio.ratio > 9.6 && 1 / c->ratio.ratio < 9.8);
	assert_true(1 / c->ratio.ci_high < 8.8 && 1 / c->ratio.ci_low > 13.8);
	assert_true(1 / c->ratio.ci_high > 5 && 1 / c->ratio.ci_low < 40);
	/* Where the seconds are not those of a lasting thing they tell nothing. */
	assert_int_equal(comparison(&result, "zig", "rust", "idle", "syscalls_per_s")->ratio.verdict,
			 STAT_UNCLEAR);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* Six wakes against three: an exact interval of the two counts, which tells nothing yet. */
static void few_wakes_are_counts(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	struct capture *capture;
	struct result result;

	(void)state;
	capture = add_window(&recording, "a", 20);
	for (size_t i = 0; i < 3; i++)
		add_second(capture, 5 * i, 1, 70000);
	/* What the window's end cut short is no second. */
	capture->seconds.items[20].wakeups = 1000;
	capture = add_window(&recording, "b", 20);
	for (size_t i = 0; i < 6; i++)
		add_second(capture, 3 * i, 1, 70000);
	result_init(&result, &recording);
	c = comparison(&result, "a", "b", "idle", "wakeups_per_s");
	assert_int_equal(c->ratio.method, STAT_BY_COUNTS);
	assert_int_equal(c->ratio.verdict, STAT_UNCLEAR);
	assert_true(fabs(c->ratio.ratio - 2) < 1e-12);
	/* scipy 1.10, beta.ppf as odds. */
	assert_true(fabs(c->ratio.ci_low - 0.4271342151363714) < 1e-9);
	assert_true(fabs(c->ratio.ci_high - 12.359226824499896) < 1e-9);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* A known period of 4.9 s makes blocks of five seconds, though the cube root of 27 is 3. */
static void blocks_hold_the_longest_period(void **state)
{
	struct recording recording = {};
	const struct result_comparison *c;
	struct result result;

	(void)state;
	for (int label = 0; label < 2; label++) {
		struct capture *capture = add_window(&recording, label ? "b" : "a", 27);

		for (size_t i = 0; i < 27; i++)
			add_second(capture, i, i % 5 == 0 || i % 5 == 2, 70000);
		sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 11, 1890000, 0);
		sample_set_period(capture, 1, 0, label ? 2500000000 : 4900000000);
	}
	result_init(&result, &recording);
	c = comparison(&result, "a", "b", "idle", "wakeups_per_s");
	assert_int_equal(c->ratio.method, STAT_BY_SECONDS);
	assert_int_equal(c->block_s, 5);
	result_free_members(&result);
	/* What a damaged recording claims is longer than any window, and costs no time. */
	recording.runs.items[0].causes.items[0].c.interval_ns = UINT64_MAX / 4;
	for (size_t i = 0; i < recording.runs.items[0].timeline.n; i++)
		recording.runs.items[0].timeline.items[i].time_ns = i * (UINT64_MAX / 16);
	result_init(&result, &recording);
	c = comparison(&result, "a", "b", "idle", "wakeups_per_s");
	assert_int_equal(c->ratio.method, STAT_BY_COUNTS);
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
		cmocka_unit_test(a_replaced_window_counts_nowhere),
		cmocka_unit_test(what_must_not_be_compared_has_no_ratio),
		cmocka_unit_test(start_ups_are_judged_without_probes_that_slow_them),
		cmocka_unit_test(costs_of_operations_are_per_operation),
		cmocka_unit_test(the_article_is_retold_from_one_window),
		cmocka_unit_test(few_wakes_are_counts),
		cmocka_unit_test(blocks_hold_the_longest_period),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
