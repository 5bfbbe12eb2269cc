/* Charts as data: sums that come out, bounds, names, and nothing where there is nothing to see. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "sample.h"

/* A recording with its report. */
struct built {
	struct recording recording;
	struct result result;
	struct report report;
};

static void build_rows(struct built *built, size_t max_threads)
{
	struct report_options options = {.max_threads = max_threads};

	result_init(&built->result, &built->recording);
	report_build(&built->report, &built->result, &options);
}

static void build(struct built *built)
{
	build_rows(built, 20);
}

static void build_sample(struct built *built)
{
	sample_recording(&built->recording);
	build(built);
}

static void built_free(struct built *built)
{
	report_free_members(&built->report);
	result_free_members(&built->result);
	recording_free_members(&built->recording);
}

/* The nth chart of a kind; NULL: there are fewer. */
static const struct chart *chart_find(const struct built *built, enum chart_kind kind, size_t nth)
{
	for (size_t i = 0; i < built->report.blocks.n; i++) {
		const struct block *block = &built->report.blocks.items[i];

		if (block->kind == BLOCK_CHART && block->chart->kind == kind && !nth--)
			return block->chart;
	}
	return NULL;
}

static const struct chart *chart_of(const struct built *built, enum chart_kind kind, size_t nth)
{
	const struct chart *chart = chart_find(built, kind, nth);

	assert_non_null(chart);
	return chart;
}

static double sum_of(const struct chart_series *series)
{
	double sum = 0;

	for (size_t i = 0; i < series->points.n; i++)
		sum += series->points.items[i].y;
	return sum;
}

static double last_of(const struct chart_series *series)
{
	assert_true(series->points.n > 0);
	return series->points.items[series->points.n - 1].y;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

/* What holds of every chart. */
static void check_chart(const struct chart *chart)
{
	assert_true(chart->title && *chart->title);
	assert_non_null(chart->x.title);
	assert_non_null(chart->y.title);
	assert_true(chart->table.columns.n > 0);
	assert_true(chart->table.rows.n > 0);
	assert_true(chart->series.n <= CHART_GROUPS);
	for (size_t i = 0; i < chart->table.rows.n; i++)
		assert_true(chart->table.rows.items[i].cells.n <= chart->table.columns.n);
	for (size_t i = 0; i < chart->series.n; i++) {
		const struct chart_series *series = &chart->series.items[i];

		assert_non_null(series->name);
		assert_true(series->points.n <= CHART_POINTS + 1);
		for (size_t j = 0; j < series->points.n; j++) {
			assert_true(isfinite(series->points.items[j].x));
			assert_true(isfinite(series->points.items[j].y));
			assert_true(!chart->x.logarithmic || series->points.items[j].x > 0);
		}
	}
	for (size_t i = 0; i < chart->links.n; i++) {
		assert_true(chart->links.items[i].from < chart->nodes.n);
		assert_true(chart->links.items[i].to < chart->nodes.n);
		assert_true(isfinite(chart->links.items[i].weight));
		assert_non_null(chart->links.items[i].text);
	}
}

/* Checks all charts; returns how many there are. */
static size_t check_charts(const struct built *built)
{
	size_t n = 0;

	for (size_t i = 0; i < built->report.blocks.n; i++) {
		if (built->report.blocks.items[i].kind != BLOCK_CHART)
			continue;
		check_chart(built->report.blocks.items[i].chart);
		n++;
	}
	return n;
}

static struct capture *begin_idle(struct built *built)
{
	struct capture *capture;

	*built = (struct built){};
	sample_tool(&built->recording);
	capture = sample_add_run(&built->recording, "app", "idle", NULL, 0);
	capture->causes_counted = true;
	return capture;
}

static void add_second(struct capture *capture, uint64_t oncpu_ns, uint64_t wakeups)
{
	*vec_push(&capture->seconds) = (struct wk_second){oncpu_ns, wakeups, 0};
}

static void set_window(struct capture *capture, uint64_t seconds)
{
	capture->end_ns = capture->start_ns + seconds * WK_SECOND_NS;
}

/* A cause whose thread has what it did. */
static struct wk_cause *add_cause(struct capture *capture, uint32_t serial, enum wk_context context,
				  uint64_t wakeups, uint64_t oncpu_ns)
{
	struct wk_thread *t = &capture->threads.items[serial - 1].t;

	t->count.wakeups += wakeups;
	t->count.oncpu_ns += oncpu_ns;
	return sample_add_cause(capture, serial, context, wakeups, oncpu_ns, 0);
}

/* ---- the sample ------------------------------------------------------------------------------ */

static void the_sample_has_every_picture(void **state)
{
	struct built built;

	(void)state;
	build_sample(&built);
	assert_true(check_charts(&built) > 10);
	chart_of(&built, CHART_DOTS, 0);
	chart_of(&built, CHART_STAIRS, 0);
	chart_of(&built, CHART_STRIP, 1);
	chart_of(&built, CHART_LANES, 0);
	chart_of(&built, CHART_BARS, 0);
	chart_of(&built, CHART_WATERFALL, 0);
	chart_of(&built, CHART_GRAPH, 0);
	assert_null(chart_find(&built, CHART_COLUMNS, 0)); /* older than spans */
	built_free(&built);
}

/* Stairs end at the run's CPU time, strips add up to it and to the wakeups: series[1] is zig, whose
 * first run stands for two equal ones. */
static void seconds_add_up(void **state)
{
	struct built built;
	const struct wk_counters *zig = NULL;
	const struct chart *stairs;

	(void)state;
	build_sample(&built);
	stairs = chart_of(&built, CHART_STAIRS, 0);
	assert_int_equal(stairs->series.n, 3);
	assert_string_equal(stairs->series.items[1].name, "zig");
	assert_string_equal(stairs->table.columns.items[2].title, "zig (run 1 of 2)");
	for (size_t i = 0; i < built.result.runs.n && !zig; i++)
		if (!strcmp(built.result.runs.items[i].capture->label, "zig"))
			zig = &built.result.runs.items[i].totals;
	assert_non_null(zig);
	assert_true(zig->oncpu_ns > 0);
	assert_true(last_of(&stairs->series.items[1]) == (double)zig->oncpu_ns / 1e6);
	assert_near(sum_of(&chart_of(&built, CHART_STRIP, 0)->series.items[1]),
		    (double)zig->oncpu_ns / 1e6);
	assert_near(sum_of(&chart_of(&built, CHART_STRIP, 1)->series.items[1]),
		    (double)zig->wakeups);
	built_free(&built);
}

/* Threads that run through whole seconds count in them, and a cut second ends where the window
 * does. */
static void stairs_rise_with_busy_threads(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart_series *series;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 3000000250);
	capture->end_ns = capture->start_ns + 4500000000;
	for (size_t i = 0; i < 5; i++)
		*vec_push(&capture->seconds) = (struct wk_second){i == 4 ? 250 : 0, 0,
								  i == 0   ? 1
								  : i == 3 ? -1
									   : 0};
	build(&built);
	series = &chart_of(&built, CHART_STAIRS, 0)->series.items[0];
	assert_int_equal(series->points.n, 6);
	assert_true(series->points.items[0].x == 0 && series->points.items[0].y == 0);
	assert_true(series->points.items[2].y == 2000);
	assert_true(series->points.items[5].x == 4.5);
	assert_true(series->points.items[5].y == 3000000250 / 1e6);
	assert_string_equal(chart_of(&built, CHART_STAIRS, 0)->title,
			    "app uses CPU in 4 of 5 seconds, 3.00 s in all");
	for (size_t i = 1; i < series->points.n; i++)
		assert_true(series->points.items[i].y >= series->points.items[i - 1].y);
	built_free(&built);
}

/* "4 to 13 wakeups" where the 4 are those of the last half second would be wrong. */
static void a_cut_second_is_not_the_least(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 53, 4500);
	capture->end_ns = capture->start_ns + 4500000000;
	for (size_t i = 0; i < 4; i++)
		add_second(capture, 1000, i ? 12 : 13);
	add_second(capture, 500, 4);
	build(&built);
	assert_string_equal(chart_of(&built, CHART_STRIP, 1)->title,
			    "Wakeups in each second: app 12 to 13");
	built_free(&built);
}

/* Floor is idle alone in the sample: in the starts' chart zig is the first, and still the second label. */
static void a_label_looks_the_same_in_all_charts(void **state)
{
	struct built built;
	const struct chart *dots, *stairs;

	(void)state;
	build_sample(&built);
	stairs = chart_of(&built, CHART_STAIRS, 0);
	dots = chart_of(&built, CHART_DOTS, 0);
	assert_string_equal(stairs->series.items[1].name, "zig");
	assert_string_equal(dots->series.items[0].name, "zig");
	assert_int_equal(stairs->series.items[1].look, 1);
	assert_int_equal(dots->series.items[0].look, 1);
	assert_int_equal(dots->series.items[1].look, 2);
	built_free(&built);
}

/* The microseconds after the end of a window are no second of it. */
static void a_late_end_is_no_second(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 8, 4000);
	capture->end_ns = capture->start_ns + 4000003000;
	for (size_t i = 0; i < 4; i++)
		add_second(capture, 1000, 2);
	add_second(capture, 0, 0);
	build(&built);
	assert_int_equal(chart_of(&built, CHART_STRIP, 0)->series.items[0].points.n, 4);
	assert_has(chart_of(&built, CHART_STAIRS, 0)->title, "in each of 4 seconds");
	built_free(&built);
}

/* ---- dots ------------------------------------------------------------------------------------ */

static struct capture *add_start(struct built *built, const char *label, uint32_t repeat,
				 uint64_t exit_ns)
{
	struct capture *capture = sample_add_run(&built->recording, label, "startup", NULL, repeat);

	capture->startup.present = true;
	capture->startup.exec_to_exit_ns = exit_ns;
	return capture;
}

static void dots_are_in_run_order(void **state)
{
	static const uint64_t times_ns[] = {9000000, 3000000, 5000000, 80000000, 4000000};
	struct built built = {};
	const struct chart *chart;

	(void)state;
	sample_tool(&built.recording);
	for (uint32_t i = 0; i < 5; i++) {
		struct capture *capture = add_start(&built, "app", i, times_ns[i]);

		/* A window that was measured again stands for no run. */
		if (i == 3) {
			capture->replaced = true;
			capture->disturbed = mem_strdup("others used 90 %");
		}
	}
	add_start(&built, "other", 0, 1)->startup.present = false;
	add_start(&built, "other", 1, 2000000);
	build(&built);
	chart = chart_of(&built, CHART_DOTS, 0);
	assert_int_equal(chart->series.n, 2);
	assert_int_equal(chart->series.items[0].points.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(chart->series.items[0].points.items[i].x == (double)(i + 1));
		assert_near(chart->series.items[0].points.items[i].y,
			    (double)times_ns[i < 3 ? i : 4] / 1e6);
	}
	assert_near(chart->series.items[0].mark, 4.5);
	assert_has(chart->title, "app takes 4.50 ms from exec to exit (median of 4 runs)");
	assert_int_equal(chart->series.items[1].points.n, 1); /* the other has no time */
	assert_true(chart->series.items[1].points.items[0].x == 2);
	assert_true(check_charts(&built) == 1);
	built_free(&built);
}

static void a_single_start_is_no_picture(void **state)
{
	struct built built = {};

	(void)state;
	sample_tool(&built.recording);
	add_start(&built, "a", 0, 5000000);
	add_start(&built, "b", 0, 6000000);
	build(&built);
	assert_int_equal(check_charts(&built), 0);
	built_free(&built);
}

static void many_starts_share_dots(void **state)
{
	struct built built = {};
	const struct chart *chart;

	(void)state;
	sample_tool(&built.recording);
	for (uint32_t i = 0; i < 1500; i++)
		add_start(&built, "app", i, 1000000 + i % 3 * 1000);
	build(&built);
	chart = chart_of(&built, CHART_DOTS, 0);
	check_chart(chart);
	assert_int_equal(chart->series.items[0].points.n, 500);
	assert_near(chart->series.items[0].points.items[499].y, 1.001);
	assert_has(chart->title, "each dot is the median of 3 runs");
	built_free(&built);
}

/* Each variant has a scale of its own. */
static void variants_have_pictures_of_their_own(void **state)
{
	static const char *const variants[] = {"sync", "webcrypto"};
	struct built built = {};

	(void)state;
	sample_tool(&built.recording);
	for (size_t v = 0; v < 2; v++)
		for (uint32_t i = 0; i < 3; i++) {
			struct capture *capture =
				sample_add_run(&built.recording, "node", "hash", variants[v], i);

			capture->has_result = true;
			capture->operations = v ? 20000 : 20000000;
		}
	build(&built);
	for (size_t v = 0; v < 2; v++) {
		const struct chart *chart = chart_of(&built, CHART_DOTS, v);

		assert_int_equal(chart->series.n, 1);
		assert_has(chart->series.items[0].name, variants[v]);
		assert_near(chart->series.items[0].mark, v ? 1000 : 1000000);
	}
	assert_null(chart_find(&built, CHART_DOTS, 2));
	built_free(&built);
}

/* Figures that must not be compared say so where they are told. */
static void what_is_not_comparable_says_so(void **state)
{
	struct built built = {};
	const struct chart *chart;

	(void)state;
	sample_tool(&built.recording);
	for (uint32_t i = 0; i < 4; i++) {
		struct capture *capture =
			sample_add_run(&built.recording, i % 2 ? "b" : "a", "serve", NULL, i / 2);

		capture->has_result = true;
		capture->operations = 20000 * (1 + i);
		capture->not_comparable =
			i == 3 ? mem_strdup("server and load share a core") : NULL;
	}
	build(&built);
	chart = chart_of(&built, CHART_DOTS, 0);
	assert_string_equal(chart->title, "a answers 2,000 requests a second (median of 2 runs), b "
					  "3,000; not comparable: server and load share a core");
	check_chart(chart);
	built_free(&built);
}

/* ---- the run that stands for its repeats -------------------------------------------------------
 */

static void the_median_run_stands_for_its_repeats(void **state)
{
	static const uint64_t oncpu_ns[] = {50, 900, 10, 40, 30};
	struct built built = {};
	struct part part;

	(void)state;
	sample_tool(&built.recording);
	for (uint32_t i = 0; i < 5; i++)
		sample_add_thread(sample_add_run(&built.recording, "app", "idle", NULL, i),
				  SAMPLE_PID, "app", 1, oncpu_ns[i]);
	result_init(&built.result, &built.recording);
	part_init(&part, &built.result, "idle");
	assert_int_equal(chart_typical_run(&part.groups.items[0], false), 3);
	assert_true(chart_typical_run(&part.groups.items[0], true) == SIZE_MAX);
	part_free_members(&part);
	built_free(&built);
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* Whatever is folded: the bars of the nth group are all its wakeups a second. */
static void bars_add_up(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, SAMPLE_HOSTILE_COMM, 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 1, "helper", 0, 0);
	for (uint16_t i = 0; i < 70; i++) {
		struct wk_cause *cause = add_cause(capture, 1, WK_CONTEXT_IRQ, 100 + i, 100000);

		cause->key.waker = 10u + i;
	}
	sample_set_waker(add_cause(capture, 2, WK_CONTEXT_THREAD, 4000, 2000), 1, 202, 202);
	build_rows(&built, 0);
	chart = chart_of(&built, CHART_BARS, 0);
	check_chart(chart);
	assert_true(chart->in_text);
	assert_int_equal(chart->series.items[0].points.n, 40);
	assert_near(sum_of(&chart->series.items[0]), (70 * 100 + 69 * 35 + 4000) / 20.0);
	assert_int_equal(chart->table.rows.n, chart->series.items[0].points.n);
	built_free(&built);
}

static void commands_have_bars_of_cpu_time(void **state)
{
	struct built built;
	const struct chart *chart;

	(void)state;
	build_sample(&built);
	for (size_t i = 0;; i++) {
		chart = chart_of(&built, CHART_BARS, i);
		if (!strcmp(chart->y.title, "CPU ms"))
			break;
	}
	assert_near(sum_of(&chart->series.items[0]), 10.0);
	assert_string_equal(chart->title, "bun has 99 % of zig's CPU time: its own start");
	built_free(&built);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* A cell of the chart's table. */
static double figure(const struct chart *chart, size_t row, size_t column)
{
	assert_true(row < chart->table.rows.n && column < chart->table.rows.items[row].cells.n);
	return chart->table.rows.items[row].cells.items[column].number;
}

/* Timeouts that a boundary of the kernel side has parted are one row: both are in its lane,
 * whatever order the rows come in. */
static void a_lane_has_all_numbers_of_its_row(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 1, "other", 0, 0);
	sample_set_timeout(add_cause(capture, 1, WK_CONTEXT_HRTIMER, 10, 1000), 202, 100000000);
	sample_set_timeout(add_cause(capture, 1, WK_CONTEXT_HRTIMER, 5, 1000), 202, 101000000);
	capture->causes.items[1].c.key.timeout_class = 78;
	sample_set_timeout(add_cause(capture, 2, WK_CONTEXT_HRTIMER, 7, 9000000), 202,
			   WK_SECOND_NS);
	sample_set_period(capture, 1, 0, WK_SECOND_NS);
	sample_set_period(capture, 2, 10 * WK_SECOND_NS, WK_SECOND_NS);
	sample_set_period(capture, 3, 500000000, 2 * WK_SECOND_NS);
	build(&built);
	why = &built.result.whys.items[0];
	assert_int_equal(why_row_of(why, 1), 1);
	assert_int_equal(why_row_of(why, 2), 1);
	assert_int_equal(why_row_of(why, 3), 0);
	assert_true(why_row_of(why, 0) == SIZE_MAX);
	assert_true(why_row_of(why, UINT32_MAX) == SIZE_MAX);
	chart = chart_of(&built, CHART_LANES, 0);
	assert_int_equal(chart->series.n, 2);
	assert_has(chart->series.items[0].name, "app: its own 100 ms futex timeout");
	assert_int_equal(chart->series.items[0].points.n, 15);
	assert_int_equal(chart->series.items[1].points.n, 7);
	assert_near(chart->series.items[1].points.items[1].x, 2.5);
	assert_true(figure(chart, 0, 1) == 15 && figure(chart, 0, 3) == 15);
	built_free(&built);
}

/* More causes than lanes, and ticks closer than can be drawn: both are counted. */
static void lanes_say_what_is_not_drawn(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (uint16_t i = 0; i < 15; i++) {
		add_cause(capture, 1, WK_CONTEXT_IRQ, i ? 100 - i : 100000, 1000)->key.waker =
			10u + i;
		sample_set_period(capture, i + 1u, 0, i ? 100000000 : 200000);
	}
	capture->timeline_left_out = 77;
	build(&built);
	chart = chart_of(&built, CHART_LANES, 0);
	check_chart(chart);
	assert_int_equal(chart->series.n, 12);
	assert_true(chart->series.items[0].points.n >= CHART_POINTS / 2);
	assert_true(figure(chart, 0, 3) == (double)chart->series.items[0].points.n);
	assert_true(figure(chart, 0, 3) + figure(chart, 0, 4) == 100000);
	assert_true(figure(chart, 1, 3) == 99 && figure(chart, 1, 4) == 0);
	assert_has(chart->title, "; 261 of 3 more causes have no lane"); /* 86 + 87 + 88 */
	assert_has(chart->title, "; 77 came too fast to be kept");
	/* The part in which they stand apart: some 100 wakes, every one drawn. */
	chart = chart_of(&built, CHART_LANES, 1);
	check_chart(chart);
	assert_in_range(chart->series.items[0].points.n, 99, 101);
	assert_true(figure(chart, 0, 4) == 0);
	assert_near(chart->series.items[0].points.items[1].x -
			    chart->series.items[0].points.items[0].x,
		    0.0002);
	assert_null(chart_find(&built, CHART_LANES, 2));
	built_free(&built);
}

/* ---- hand-offs ------------------------------------------------------------------------------- */

static void threads_of_one_name_are_one_node(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;
	double sum = 0;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (uint32_t i = 1; i <= 7; i++)
		sample_add_thread(capture, SAMPLE_PID + i, "pool", 0, 0);
	add_cause(capture, 1, WK_CONTEXT_IRQ, 500, 1000);
	for (uint32_t i = 2; i <= 8; i++)
		sample_set_waker(add_cause(capture, i, WK_CONTEXT_THREAD, 20, 200000), 1, 202, 202);
	sample_set_waker(add_cause(capture, 8, WK_CONTEXT_THREAD, 10, 100), 2, 202, 202);
	/* In two calls, both times by write: one link. */
	sample_set_waker(add_cause(capture, 1, WK_CONTEXT_THREAD, 3, 100), 2, 1, 232);
	sample_set_waker(add_cause(capture, 1, WK_CONTEXT_THREAD, 4, 100), 2, 1, 441);
	build(&built);
	chart = chart_of(&built, CHART_GRAPH, 0);
	check_chart(chart);
	assert_int_equal(chart->nodes.n, 2);
	assert_int_equal(chart->links.n, 3);
	assert_string_equal(chart->nodes.items[chart->links.items[0].from], "app");
	assert_string_equal(chart->nodes.items[chart->links.items[0].to], "pool ×7");
	assert_string_equal(chart->links.items[0].text, "futex");
	assert_int_equal(chart->links.items[1].from, chart->links.items[1].to);
	for (size_t i = 0; i < chart->links.n; i++)
		sum += chart->links.items[i].weight;
	assert_near(sum, (7 * 20 + 10 + 7) / 20.0);
	built_free(&built);
}

/* ---- differences ----------------------------------------------------------------------------- */

static void check_waterfall(const struct chart *chart, double base, double other)
{
	const struct chart_series *series = &chart->series.items[0];
	double last = last_of(series);

	check_chart(chart);
	assert_in_range(series->points.n, 3, 10);
	assert_near(series->points.items[0].y, base);
	assert_near(last, other);
	assert_near(sum_of(series) - last, last);
	assert_int_equal(chart->table.rows.n, series->points.n);
}

static void waterfalls_end_at_the_other_total(void **state)
{
	struct built built;

	(void)state;
	build_sample(&built);
	check_waterfall(chart_of(&built, CHART_WATERFALL, 0), 11.975, 3.025);
	check_waterfall(chart_of(&built, CHART_WATERFALL, 1), 10, 3.9);
	built_free(&built);
}

static void many_changes_are_folded_with_their_sum(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (uint16_t i = 0; i < 30; i++)
		add_cause(capture, 1, WK_CONTEXT_IRQ, 50 + i, 1000)->key.waker = 10u + i;
	capture = sample_add_run(&built.recording, "new", "idle", NULL, 0);
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (uint16_t i = 0; i < 30; i++)
		add_cause(capture, 1, WK_CONTEXT_IRQ, 7, 1000)->key.waker = 110u + i;
	build(&built);
	check_waterfall(chart_of(&built, CHART_WATERFALL, 0), (30 * 50 + 29 * 15) / 20.0, 10.5);
	built_free(&built);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void histograms_hold_all_runs(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			capture = sample_add_run(&built.recording, "app", "idle", NULL, i);
		capture->has_spans = true;
		capture->spans.runq[0] = 10;
		capture->spans.runq[5] = 30;
		capture->spans.oncpu[WK_SPAN_BUCKETS - 1] = 3;
	}
	sample_add_run(&built.recording, "older", "idle", NULL, 0);
	build(&built);
	chart = chart_of(&built, CHART_COLUMNS, 0);
	check_chart(chart);
	assert_true(chart->x.logarithmic);
	assert_int_equal(chart->series.n, 1);
	assert_int_equal(chart->series.items[0].points.n, 6);
	assert_near(sum_of(&chart->series.items[0]), 80);
	assert_true(chart->series.items[0].points.items[5].x == (double)span_low_ns(5));
	assert_string_equal(chart->title,
			    "Half of the waits for a CPU are shorter than: app 2.05 µs");
	chart = chart_of(&built, CHART_COLUMNS, 1);
	assert_int_equal(chart->series.items[0].points.n, 1);
	assert_near(sum_of(&chart->series.items[0]), 6);
	assert_true(check_charts(&built) == 2);
	built_free(&built);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Seven days. */
static void long_windows_are_joined(void **state)
{
	const uint64_t week_s = 7 * 86400;
	struct built built;
	struct capture *capture = begin_idle(&built);
	const struct chart *chart;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 3 * week_s, week_s * 1000000);
	set_window(capture, week_s);
	for (uint64_t i = 0; i < week_s; i++)
		add_second(capture, 1000000, 3);
	build(&built);
	assert_true(check_charts(&built) >= 3);
	chart = chart_of(&built, CHART_STRIP, 1);
	assert_true(chart->x_step == 1008);
	assert_int_equal(chart->series.items[0].points.n, 600);
	assert_near(sum_of(&chart->series.items[0]), 3.0 * (double)week_s);
	assert_has(chart->title, "Wakeups in each 1008 seconds");
	assert_near(last_of(&chart_of(&built, CHART_STAIRS, 0)->series.items[0]), (double)week_s);
	built_free(&built);
}

/* More labels than can be told apart. */
static void many_labels_are_cut_and_counted(void **state)
{
	struct built built = {};
	const struct chart *chart;

	(void)state;
	sample_tool(&built.recording);
	for (uint32_t i = 0; i < 21; i++) {
		char label[16];
		struct capture *capture;

		snprintf(label, sizeof(label), "app %u", i);
		capture = sample_add_run(&built.recording, label, "idle", NULL, 0);
		for (size_t j = 0; j < 20; j++)
			add_second(capture, 1000, 1);
	}
	build(&built);
	assert_true(check_charts(&built) >= 3);
	chart = chart_of(&built, CHART_STRIP, 1);
	assert_int_equal(chart->series.n, CHART_GROUPS);
	assert_near(sum_of(&chart->series.items[11]), 20);
	assert_has(chart->title, "; 9 more are not drawn");
	built_free(&built);
}

/* Figures that no machine has are no reason to draw what is not a number. */
static void impossible_figures_stay_finite(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", UINT64_MAX / 2, UINT64_MAX / 2);
	sample_add_cause(capture, 1, WK_CONTEXT_IRQ, UINT64_MAX / 2, UINT64_MAX / 2, 0);
	for (size_t i = 0; i < 10; i++)
		*vec_push(&capture->seconds) =
			(struct wk_second){UINT64_MAX, UINT64_MAX, INT64_MAX};
	for (uint32_t i = 0; i < 1000; i++)
		*vec_push(&capture->timeline) =
			(struct wk_wake_event){UINT64_MAX - i * 1000003ull, 1, 1};
	capture->end_ns = UINT64_MAX;
	capture->has_spans = true;
	memset(&capture->spans, 0xff, sizeof(capture->spans));
	capture = sample_add_run(&built.recording, "empty", "idle", NULL, 0);
	capture->end_ns = capture->start_ns;
	build(&built);
	assert_true(check_charts(&built) >= 4);
	built_free(&built);
}

static void silence_and_short_windows_have_no_pictures(void **state)
{
	struct built built;
	struct capture *capture = begin_idle(&built);

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (size_t i = 0; i < 20; i++)
		add_second(capture, 0, 0);
	capture = sample_add_run(&built.recording, "short", "idle", NULL, 0);
	set_window(capture, 3);
	for (size_t i = 0; i < 3; i++)
		add_second(capture, 1000, 1);
	build(&built);
	assert_int_equal(check_charts(&built), 0);
	built_free(&built);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Renderers make names safe, so charts hand them over as they are, but not at any length. */
static void names_are_raw_and_cut(void **state)
{
	struct built built = {};
	char label[400];
	const struct chart *chart;

	(void)state;
	memset(label, 'x', sizeof(label));
	memcpy(label, "\x1b[2J<script>\xff", 13);
	label[sizeof(label) - 1] = '\0';
	sample_tool(&built.recording);
	add_start(&built, label, 0, 1000000);
	add_start(&built, label, 1, 2000000);
	build(&built);
	chart = chart_of(&built, CHART_DOTS, 0);
	assert_true(!strncmp(chart->series.items[0].name, "\x1b[2J<script>\xff", 13));
	assert_true(strlen(chart->series.items[0].name) <= CHART_NAME_BYTES + 3);
	assert_true(strlen(chart->title) < 200);
	built_free(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_has_every_picture),
		cmocka_unit_test(seconds_add_up),
		cmocka_unit_test(stairs_rise_with_busy_threads),
		cmocka_unit_test(a_cut_second_is_not_the_least),
		cmocka_unit_test(a_label_looks_the_same_in_all_charts),
		cmocka_unit_test(a_late_end_is_no_second),
		cmocka_unit_test(dots_are_in_run_order),
		cmocka_unit_test(a_single_start_is_no_picture),
		cmocka_unit_test(many_starts_share_dots),
		cmocka_unit_test(variants_have_pictures_of_their_own),
		cmocka_unit_test(what_is_not_comparable_says_so),
		cmocka_unit_test(the_median_run_stands_for_its_repeats),
		cmocka_unit_test(bars_add_up),
		cmocka_unit_test(commands_have_bars_of_cpu_time),
		cmocka_unit_test(a_lane_has_all_numbers_of_its_row),
		cmocka_unit_test(lanes_say_what_is_not_drawn),
		cmocka_unit_test(threads_of_one_name_are_one_node),
		cmocka_unit_test(waterfalls_end_at_the_other_total),
		cmocka_unit_test(many_changes_are_folded_with_their_sum),
		cmocka_unit_test(histograms_hold_all_runs),
		cmocka_unit_test(long_windows_are_joined),
		cmocka_unit_test(many_labels_are_cut_and_counted),
		cmocka_unit_test(impossible_figures_stay_finite),
		cmocka_unit_test(silence_and_short_windows_have_no_pictures),
		cmocka_unit_test(names_are_raw_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
