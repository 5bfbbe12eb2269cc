/* Charts of every kind built by hand, for tests of those who draw them. */
#include "chart_sample.h"

#include <math.h>
#include <stdlib.h>

static const char *const groups[] = {"zig", "rust", "node", "deno", "floor"};

static void point(struct chart_series *series, double x, double y, const char *name)
{
	struct chart_point *p = vec_push(&series->points);

	*p = (struct chart_point){.x = x, .y = y, .name = name ? mem_strdup(name) : NULL};
}

/* A spread that is the same each time: 0 to 1. */
static double spread(size_t i)
{
	return (double)(i * 2654435761u % 1000) / 1000;
}

static void add_dots(struct chart *chart, const char *name)
{
	chart_axis_set(&chart->x, "run", CELL_COUNT, 0);
	chart_axis_set(&chart->y, name ? name : "ms from exec to exit", CELL_REAL, 2);
	for (size_t i = 0; i < 4; i++) {
		struct chart_series *series = chart_add_series(chart, name ? name : groups[i]);

		series->mark = 10.6 - 3 * (double)i + 6 * (double)(i * i) * 0.4;
		for (size_t j = 0; j < 60; j++)
			point(series, (double)j + 1, series->mark + spread(j + i) - 0.4, NULL);
	}
}

static void add_stairs(struct chart *chart, const char *name)
{
	chart_axis_set(&chart->x, "seconds", CELL_REAL, 0);
	chart_axis_set(&chart->y, "CPU ms", CELL_REAL, 1);
	for (size_t i = 0; i < 3; i++) {
		struct chart_series *series = chart_add_series(chart, name ? name : groups[i]);
		double sum = 0;

		for (size_t j = 0; j <= 300; j++) {
			point(series, (double)j, sum, NULL);
			sum += i == 0 ? 0.7 : i == 1 && (j < 28 || j % 30 < 3) ? 0.25 : 0;
		}
	}
}

static void add_strip(struct chart *chart, const char *name)
{
	chart->x_step = 1;
	chart_axis_set(&chart->x, "seconds", CELL_REAL, 0);
	chart_axis_set(&chart->y, "CPU ms in each second", CELL_REAL, 2);
	for (size_t i = 0; i < 3; i++) {
		struct chart_series *series = chart_add_series(chart, name ? name : groups[i]);

		for (size_t j = 0; j < 300; j++)
			point(series, (double)j,
			      i == 0				 ? 0.7 + 0.1 * spread(j)
			      : i == 1 && (j < 28 || j % 30 < 3) ? 0.25
								 : 0,
			      NULL);
	}
}

static void add_lanes(struct chart *chart, const char *name)
{
	static const char *const lanes[] = {
		"bun#2: its own 100 ms futex timeout, every 100 ms",
		"bun: timerfd through epoll, every 1.00 s",
		"HeapHelper: futex wake by bun, every 1.00 s",
	};
	static const double periods[] = {0.1, 1, 1.02};

	chart_axis_set(&chart->x, "seconds", CELL_REAL, 0);
	chart_axis_set(&chart->y, "", CELL_TEXT, 0);
	for (size_t i = 0; i < 3; i++) {
		struct chart_series *series = chart_add_series(chart, name ? name : lanes[i]);

		for (double t = 0.03; t < 20; t += periods[i])
			point(series, t, 1, NULL);
	}
}

static void add_bars(struct chart *chart, const char *name)
{
	static const struct {
		const char *name;
		double value;
	} bars[] = {
		{"bun#2: its own 100 ms futex timeout, every 100 ms", 9.95},
		{"bun: timerfd through epoll, every 1.00 s", 1.02},
		{"└ HeapHelper: futex wake by bun, every 1.00 s, futile 95 %", 1.0},
		{"  └ a thread with a long name: the words of which go on and on beyond any screen "
		 "that "
		 "there is for people",
		 0.004},
		{"… and 3 more", 0},
		{"less than nothing", -2.5},
	};
	struct chart_series *series = chart_add_series(chart, name ? name : "zig");

	chart_axis_set(&chart->x, "", CELL_TEXT, 0);
	chart_axis_set(&chart->y, "wakeups/s", CELL_REAL, 2);
	for (size_t i = 0; i < sizeof(bars) / sizeof(*bars); i++)
		point(series, (double)i, bars[i].value, name ? name : bars[i].name);
}

static void add_waterfall(struct chart *chart, const char *name)
{
	static const struct {
		const char *name;
		double value;
	} bars[] = {
		{"zig", 11.97},
		{"bun#2: its own 100 ms futex timeout, every 100 ms", -9.95},
		{"bun#2: futex wake by bun, every 1.00 s", 1.0},
		{"… and 2 more", 0.001},
		{"rust", 3.021},
	};
	struct chart_series *series = chart_add_series(chart, "wakeups/s");

	chart_axis_set(&chart->x, "", CELL_TEXT, 0);
	chart_axis_set(&chart->y, "wakeups/s", CELL_REAL, 2);
	for (size_t i = 0; i < sizeof(bars) / sizeof(*bars); i++)
		point(series, (double)i, bars[i].value, name ? name : bars[i].name);
}

static void add_columns(struct chart *chart, const char *name)
{
	chart_axis_set(&chart->x, "time on a CPU", CELL_DURATION, 0);
	chart_axis_set(&chart->y, "stretches", CELL_COUNT, 0);
	chart->x.logarithmic = true;
	for (size_t i = 0; i < 3; i++) {
		struct chart_series *series = chart_add_series(chart, name ? name : groups[i]);

		point(series, 0, 12, NULL);
		for (size_t b = 1; b < 28; b++)
			point(series, ldexp(b % 2 ? 1.5 : 1, 8 + (int)b / 2),
			      floor(3000 * exp(-fabs((double)b - 10 - 3 * (double)i) / 2)), NULL);
	}
}

static void add_graph(struct chart *chart, const char *name)
{
	static const char *const nodes[] = {"bun",	    "bun#2",   "HeapHelper",
					    "mi-scavenger", "kworker", "libuv-worker"};
	static const struct {
		size_t from, to;
		double weight;
	} links[] = {{0, 1, 10}, {0, 2, 1}, {1, 0, 9.9},  {2, 0, 0.5},
		     {4, 5, 3},	 {5, 0, 3}, {0, 3, 0.01}, {0, 5, 2}};

	chart_axis_set(&chart->x, "", CELL_TEXT, 0);
	chart_axis_set(&chart->y, "wakeups/s", CELL_REAL, 2);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		*vec_push(&chart->nodes) = mem_strdup(name ? name : nodes[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		*vec_push(&chart->links) = (struct chart_link){
			.from = links[i].from,
			.to = links[i].to,
			.weight = links[i].weight,
			.text = mem_strdup(name ? name : "futex wake"),
		};
}

static void add_flame(struct chart *chart, const char *name)
{
	static const struct {
		size_t depth;
		double begin, width;
		const char *name;
		size_t series;
	} boxes[] = {{0, 0, 1000, "zig", 2},	       {1, 0, 700, "bun", 2},
		     {2, 0, 700, "main", 0},	       {3, 0, 698, "uv_run(uv_loop_t*, uv_run_mode)", 0},
		     {4, 0, 2, "…", 2},		       {1, 700, 300, "libuv-worker", 2},
		     {2, 700, 300, "start_thread", 1}, {3, 900, 100, "worker", 0}};

	chart_axis_set(&chart->x, "", CELL_TEXT, 0);
	chart_axis_set(&chart->y, "wakeups", CELL_COUNT, 0);
	chart_add_series(chart, name ? name : "program");
	chart_add_series(chart, name ? name : "library");
	chart_add_series(chart, name ? name : "thread or cause")->look = SIZE_MAX;
	for (size_t i = 0; i < sizeof(boxes) / sizeof(*boxes); i++)
		*vec_push(&chart->boxes) =
			(struct chart_box){.depth = boxes[i].depth,
					   .begin = boxes[i].begin,
					   .width = boxes[i].width,
					   .name = mem_strdup(name ? name : boxes[i].name),
					   .series = boxes[i].series};
}

struct chart *chart_sample_add(struct report *report, enum chart_kind kind, const char *name)
{
	static void (*const add[])(struct chart * chart, const char *name) = {
		[CHART_DOTS] = add_dots,       [CHART_STAIRS] = add_stairs,
		[CHART_STRIP] = add_strip,     [CHART_LANES] = add_lanes,
		[CHART_BARS] = add_bars,       [CHART_WATERFALL] = add_waterfall,
		[CHART_COLUMNS] = add_columns, [CHART_GRAPH] = add_graph,
		[CHART_FLAME] = add_flame,
	};
	struct chart *chart =
		report_add_chart(report, kind, name ? name : "What there is to be seen");
	struct row *row;

	add[kind](chart, name);
	table_add_column(&chart->table, "", true);
	table_add_column(&chart->table, name ? name : "figure", false);
	row = table_add_row(&chart->table);
	row_add_text(row, name ? name : "row");
	row_add_number(row, CELL_SHARE, 0.5, 0);
	return chart;
}

void chart_sample(struct report *report, const char *name)
{
	report_add_heading(report, "%s · all kinds", name ? name : "charts");
	for (int kind = CHART_DOTS; kind <= CHART_FLAME; kind++)
		chart_sample_add(report, (enum chart_kind)kind, name);
}
