/* Differences: causes of two sides matched, and shares that add up. */
#include "unit.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/diff.h"
#include "sample.h"

/* Two recordings with their results. */
struct sides {
	struct recording base, other;
	struct result base_result, other_result;
};

static void sides_begin(struct sides *sides)
{
	*sides = (struct sides){};
	sample_tool(&sides->base);
	sample_tool(&sides->other);
}

static void sides_free(struct sides *sides)
{
	result_free_members(&sides->base_result);
	result_free_members(&sides->other_result);
	recording_free_members(&sides->base);
	recording_free_members(&sides->other);
}

/* Derives the results: the recordings are as the test wants them. */
static int sides_diff(struct sides *sides, struct diff *ret_diff, struct diag *diag)
{
	result_init(&sides->base_result, &sides->base);
	result_init(&sides->other_result, &sides->other);
	return diff_init(ret_diff, &sides->base_result, "a.wkw", &sides->other_result, "b.wkw",
			 diag);
}

static struct capture *add_run(struct recording *recording, const char *label, const char *workload,
			       uint32_t repeat)
{
	struct capture *capture = sample_add_run(recording, label, workload, NULL, repeat);

	capture->causes_counted = true;
	return capture;
}

static struct wk_cause *add(struct capture *capture, uint32_t serial, enum wk_context context,
			    uint64_t wakeups, uint64_t oncpu_ns)
{
	struct wk_thread *t = &capture->threads.items[serial - 1].t;

	t->count.wakeups += wakeups;
	t->count.oncpu_ns += oncpu_ns;
	return sample_add_cause(capture, serial, context, wakeups, oncpu_ns, 0);
}

static char *diff_text(const struct diff *diff)
{
	struct report report;
	char *text;

	diff_build(&report, diff, 20);
	text = rendered_report(&report, 0);
	report_free_members(&report);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static const struct difference_row *find_row(const struct difference *d, const char *text)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		char *words = difference_text(&d->rows.items[i]);
		bool found = !strcmp(words, text);

		free(words);
		if (found)
			return &d->rows.items[i];
	}
	return NULL;
}

/* Rows add up to the totals, and shares to 1, for wakeups and CPU time. */
static void assert_adds_up(const struct difference *d)
{
	for (int by_cpu = 0; by_cpu < 2; by_cpu++) {
		struct difference_figure all = difference_figure(d, NULL, by_cpu), sum = {};
		double share = 0;

		for (size_t i = 0; i < d->rows.n; i++) {
			struct difference_figure figure =
				difference_figure(d, &d->rows.items[i], by_cpu);

			sum.base += figure.base;
			sum.other += figure.other;
			share += difference_share(d, &d->rows.items[i], by_cpu);
		}
		assert_true(fabs(sum.base - all.base) <= 1e-9 * fabs(all.base));
		assert_true(fabs(sum.other - all.other) <= 1e-9 * fabs(all.other));
		if (all.base != all.other)
			assert_true(fabs(share - 1) < 1e-9);
		else
			assert_true(isnan(share));
	}
}

/* ---- matching -------------------------------------------------------------------------------- */

static void the_sample_adds_up(void **state)
{
	static const char *const workloads[] = {"idle", "startup", "hash"};
	struct recording recording;
	struct result result;
	size_t compared = 0;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	for (size_t w = 0; w < 3; w++) {
		struct part part;

		part_init(&part, &result, workloads[w]);
		for (size_t i = 1; i < part.groups.n; i++) {
			struct difference d;

			difference_init(&d, workloads[w], &part.groups.items[i - 1],
					&part.groups.items[i]);
			assert_adds_up(&d);
			difference_free_members(&d);
			compared++;
		}
		part_free_members(&part);
	}
	assert_int_equal(compared, 2 + 1 + 1);
	result_free_members(&result);
	recording_free_members(&recording);
}

static void the_sample_report_ends_with_the_difference(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = rendered_recording("text", &recording, 20, 0);
	assert_has(text, "wakeups/s: rust against zig\n");
	assert_has(text,
		   "  bun#2          its own 100 ms futex timeout, every 100 ms    9.95      –   "
		   "     -9.95   111 %\n");
	assert_has(text,
		   "  in all                                                      11.97   3.02   "
		   "     -8.95   100 %\n");
	assert_has(text,
		   "rust wakes 8.95 times a second less than zig (3.02 against 12.0) and uses "
		   "0.398 ms of CPU a second\nless (0.240 against 0.638).\n");
	assert_has(text,
		   "-9.95 is bun#2: its own 100 ms futex timeout, which rust has no counterpart "
		   "of.\n");
	assert_has(text, "-6.10 is bun: its own start, from 9.90 to 3.80 ms a run.\n");
	free(text);
	recording_free_members(&recording);
}

/* Timeouts within 15 % are one; others are not, in the same words or not. */
static void timeouts_match_by_length(void **state)
{
	struct sides sides;
	struct capture *a, *b;
	struct diff diff;

	(void)state;
	sides_begin(&sides);
	a = add_run(&sides.base, "x", "idle", 0);
	b = add_run(&sides.other, "x", "idle", 0);
	sample_add_thread(a, SAMPLE_PID, "x", 0, 0);
	sample_add_thread(b, SAMPLE_PID, "x", 0, 0);
	sample_set_timeout(add(a, 1, WK_CONTEXT_HRTIMER, 200, 1000), 202, 100000000);
	sample_set_timeout(add(b, 1, WK_CONTEXT_HRTIMER, 180, 1000), 202, 110000000);
	sample_set_timeout(add(b, 1, WK_CONTEXT_HRTIMER, 80, 1000), 202, 250000000);
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	assert_int_equal(diff.pairs.n, 1);
	assert_adds_up(&diff.pairs.items[0].difference);
	assert_int_equal(diff.pairs.items[0].difference.rows.n, 2);
	assert_null(
		find_row(&diff.pairs.items[0].difference, "its own 250 ms futex timeout")->base);
	assert_non_null(
		find_row(&diff.pairs.items[0].difference, "its own 110 ms futex timeout")->base);
	diff_free_members(&diff);
	sides_free(&sides);
}

/* A timer that became a timeout of the same period is still that wake; main threads are main
 * threads whatever the program is called; another process's id is not part of the match. */
static void what_is_done_in_another_way_matches(void **state)
{
	struct sides sides;
	struct capture *a, *b;
	struct wk_cause *cause;
	struct diff diff;
	char *text;

	(void)state;
	sides_begin(&sides);
	a = add_run(&sides.base, "old", "idle", 0);
	b = add_run(&sides.other, "new", "idle", 0);
	sample_add_thread(a, SAMPLE_PID, "before", 0, 0);
	sample_add_thread(b, SAMPLE_PID, "after", 0, 0);
	cause = add(a, 1, WK_CONTEXT_HRTIMER, 20, 3000000);
	sample_set_timeout(cause, 232, 0);
	strcpy(cause->name, "timerfd_tmrproc");
	sample_set_period(a, 1, 0, WK_SECOND_NS);
	sample_set_timeout(add(b, 1, WK_CONTEXT_HRTIMER, 20, 1000000), 281, WK_SECOND_NS);
	sample_set_period(b, 1, 0, WK_SECOND_NS);
	cause = add(a, 1, WK_CONTEXT_PROCESS, 10, 1000);
	sample_set_waker(cause, 812, 1, 0);
	strcpy(cause->name, "nginx");
	cause = add(b, 1, WK_CONTEXT_PROCESS, 40, 1000);
	sample_set_waker(cause, 9044, 1, 0);
	strcpy(cause->name, "nginx");
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	assert_adds_up(&diff.pairs.items[0].difference);
	assert_int_equal(diff.pairs.items[0].difference.rows.n, 2);
	text = diff_text(&diff);
	assert_has(text, "timerfd through epoll → its own 1 s epoll timeout, every 1.00 s");
	assert_has(text, "before → after");
	assert_has(text,
		   "+1.50 is before → after: write by nginx(9044) in read, from 0.50 to 2.00 a "
		   "second.");
	free(text);
	diff_free_members(&diff);
	sides_free(&sides);
}

/* Wakes that no cause holds are a row too, so the sum stays whole. */
static void what_is_not_explained_is_a_row(void **state)
{
	struct sides sides;
	struct capture *a, *b;
	struct diff diff;
	const struct difference_row *row;

	(void)state;
	sides_begin(&sides);
	a = add_run(&sides.base, "x", "idle", 0);
	b = add_run(&sides.other, "x", "idle", 0);
	sample_add_thread(a, SAMPLE_PID, "x", 3, 500);
	sample_add_thread(b, SAMPLE_PID, "x", 0, 0);
	add(b, 1, WK_CONTEXT_IRQ, 10, 1000);
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	assert_adds_up(&diff.pairs.items[0].difference);
	row = find_row(&diff.pairs.items[0].difference, "");
	assert_non_null(row);
	assert_true(row->base_wakeups == 3 && row->other_wakeups == 0);
	diff_free_members(&diff);
	sides_free(&sides);
}

/* Rates, not counts: one window twice as long, one side repeated. */
static void windows_may_differ(void **state)
{
	struct sides sides;
	struct capture *capture;
	struct diff diff;
	struct difference_figure all;
	char *text;

	(void)state;
	sides_begin(&sides);
	capture = add_run(&sides.base, "x", "idle", 0);
	capture->end_ns += SAMPLE_WINDOW_NS;
	sample_add_thread(capture, SAMPLE_PID, "x", 0, 0);
	add(capture, 1, WK_CONTEXT_IRQ, 400, 4000000);
	for (uint32_t repeat = 0; repeat < 2; repeat++) {
		capture = add_run(&sides.other, "x", "idle", repeat);
		sample_add_thread(capture, SAMPLE_PID, "x", 0, 0);
		add(capture, 1, WK_CONTEXT_IRQ, 200, 2000000);
	}
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	all = difference_figure(&diff.pairs.items[0].difference, NULL, false);
	assert_true(all.base == 10 && all.other == 10);
	text = diff_text(&diff);
	assert_has(text,
		   "b.wkw wakes as often as a.wkw (10.0 against 10.0) and uses as much CPU time");
	assert_null(strstr(text, "in all"));
	free(text);
	diff_free_members(&diff);
	sides_free(&sides);
}

/* ---- pairing --------------------------------------------------------------------------------- */

static void add_waking_run(struct recording *recording, const char *label, const char *workload)
{
	struct capture *capture = add_run(recording, label, workload, 0);

	sample_add_thread(capture, SAMPLE_PID, "x", 0, 0);
	add(capture, 1, WK_CONTEXT_IRQ, 10, 1000);
}

static void labels_are_paired(void **state)
{
	struct sides sides;
	struct diff diff;
	char *text;

	(void)state;
	sides_begin(&sides);
	add_waking_run(&sides.base, "floor", "idle");
	add_waking_run(&sides.base, "bun", "idle");
	add_waking_run(&sides.base, "node", "idle");
	add_waking_run(&sides.base, "v1", "startup");
	add_waking_run(&sides.other, "node", "idle");
	add_waking_run(&sides.other, "deno", "idle");
	add_waking_run(&sides.other, "v2", "startup");
	free(sides.other.tool.kernel);
	sides.other.tool.kernel = mem_strdup("6.1.0");
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	assert_int_equal(diff.pairs.n, 2);
	assert_string_equal(diff.pairs.items[0].base->label, "node");
	assert_string_equal(diff.pairs.items[0].base_name, "a.wkw");
	assert_string_equal(diff.pairs.items[1].base_name, "v1");
	assert_string_equal(diff.pairs.items[1].other_name, "v2");
	text = diff_text(&diff);
	assert_has(text, "diff · idle · node · b.wkw against a.wkw\n");
	assert_has(text, "diff · startup · v2 against v1\n");
	assert_has(text, "idle of bun is in a.wkw alone.\n");
	assert_has(text, "idle of deno is in b.wkw alone.\n");
	assert_has(text, "measured on different machines or kernels: a.wkw on Linux 6.18.0");
	free(text);
	diff_free_members(&diff);
	sides_free(&sides);
}

static void single_runs_of_any_workload_are_paired(void **state)
{
	struct sides sides;
	struct diff diff;
	char *text;

	(void)state;
	sides_begin(&sides);
	add_waking_run(&sides.base, "x", "idle");
	add_waking_run(&sides.other, "y", "run");
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	text = diff_text(&diff);
	assert_has(text, "the workloads differ: a.wkw is idle, b.wkw is run.\n");
	free(text);
	diff_free_members(&diff);
	sides_free(&sides);
}

static void what_cannot_be_paired_is_refused(void **state)
{
	struct sides sides;
	struct diff diff;
	struct diag diag = {};

	(void)state;
	sides_begin(&sides);
	add_waking_run(&sides.base, "x", "idle");
	add_waking_run(&sides.base, "y", "idle");
	add_waking_run(&sides.other, "z", "idle");
	assert_int_equal(sides_diff(&sides, &diff, &diag), -EINVAL);
	assert_string_equal(diag.what, "a.wkw and b.wkw have nothing in common");
	sides_free(&sides);
	sides_begin(&sides);
	add_waking_run(&sides.base, "x", "idle");
	add_waking_run(&sides.other, "x", "idle");
	sides.other.runs.items[0].causes_counted = false;
	assert_int_equal(sides_diff(&sides, &diff, &diag), -EINVAL);
	assert_string_equal(diag.what, "b.wkw holds no causes of wakeups");
	sides_free(&sides);
	diff_free_members(NULL);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static json_t *diff_json(const struct diff *diff)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	json_t *root;

	assert_int_equal(render_diff_json(out, diff, NULL), 0);
	fclose(out);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static void json_rows_add_up(void **state)
{
	double difference = 0, share = 0, cpu_share = 0;
	struct sides sides;
	struct diff diff;
	json_t *root, *rows, *total;

	(void)state;
	sides_begin(&sides);
	recording_free_members(&sides.base);
	sample_recording(&sides.base);
	/* The same label as in the sample, alone. */
	add_waking_run(&sides.other, "zig", "idle");
	assert_int_equal(sides_diff(&sides, &diff, NULL), 0);
	assert_int_equal(diff.pairs.n, 1);
	root = diff_json(&diff);
	rows = json_object_get(root, "rows");
	total = json_array_get(json_object_get(root, "totals"), 0);
	assert_true(json_array_size(rows) >= 4);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		assert_true(number(row, "other_per_s") - number(row, "base_per_s") ==
			    number(row, "difference_per_s"));
		difference += number(row, "difference_per_s");
		share += number(row, "share");
		cpu_share += number(row, "cpu_share");
	}
	assert_true(fabs(difference - number(total, "difference_per_s")) < 1e-9);
	assert_true(fabs(number(total, "base_per_s") - 479 / 40.0) < 1e-9);
	assert_true(fabs(share - 1) < 1e-9);
	assert_true(fabs(cpu_share - 1) < 1e-9);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "wakewhy-diff/1");
	assert_true(json_is_false(json_object_get(root, "trusted")));
	json_decref(root);
	diff_free_members(&diff);
	sides_free(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_adds_up),
		cmocka_unit_test(the_sample_report_ends_with_the_difference),
		cmocka_unit_test(timeouts_match_by_length),
		cmocka_unit_test(what_is_done_in_another_way_matches),
		cmocka_unit_test(what_is_not_explained_is_a_row),
		cmocka_unit_test(windows_may_differ),
		cmocka_unit_test(labels_are_paired),
		cmocka_unit_test(single_runs_of_any_workload_are_paired),
		cmocka_unit_test(what_cannot_be_paired_is_refused),
		cmocka_unit_test(json_rows_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
