/* CPU time and wakeups over the seconds of a window: the staircase, and a strip of each. */
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/chart.h"
#include "report/number.h"

#define SECONDS_LEAST_NS (3 * WK_SECOND_NS)
/* A window that is closed late has one more slot, of a few microseconds. */
#define SECONDS_LATE_NS 10000000

enum seconds_what { SECONDS_CPU, SECONDS_WAKEUPS };

struct seconds_group {
	const struct run *run;
	char *name, *run_name; /* "zig", "zig (run 2 of 5)" */
	size_t at, n_runs, look;
	size_t n;			  /* seconds */
	double oncpu_ns, wakeups, active; /* sums over them; active: seconds with any CPU time */
	double least[2], most[2];	  /* in a step, least in a whole one; by what */
};

struct seconds {
	struct seconds_group groups[CHART_GROUPS];
	size_t n_groups, n_left_out;
	size_t n, step; /* steps in all, seconds of each */
	bool repeats;
	int cpu_decimals;
};

/* ---- amounts --------------------------------------------------------------------------------- */

/* Seconds of a run, without an empty one at the end that nobody asked for. */
static size_t seconds_of(const struct run *run)
{
	size_t n = run->series.n;
	const struct run_interval *last = n ? &run->series.items[n - 1] : NULL;

	if (n > 1 && !last->oncpu_ns && !last->wakeups &&
	    (double)run->window_ns < (double)(n - 1) * 1e9 + SECONDS_LATE_NS)
		n--;
	return n;
}

/* CPU time in ns, or wakeups, of one step; 0 beyond the end. */
static double seconds_amount(const struct seconds *seconds, const struct seconds_group *group,
			     size_t step, enum seconds_what what)
{
	double sum = 0;

	for (size_t i = step * seconds->step; i < (step + 1) * seconds->step && i < group->n; i++) {
		const struct run_interval *second = &group->run->series.items[i];

		sum += (double)(what == SECONDS_CPU ? second->oncpu_ns : second->wakeups);
	}
	return sum;
}

static size_t seconds_steps(const struct seconds *seconds, const struct seconds_group *group)
{
	return (group->n + seconds->step - 1) / seconds->step;
}

/* When a step ends, in seconds; that of the last one where the window does. */
static double seconds_end(const struct seconds *seconds, const struct seconds_group *group,
			  size_t step)
{
	double end = (double)((step + 1) * seconds->step);
	double window = (double)group->run->window_ns / 1e9;

	if (step + 1 < seconds_steps(seconds, group))
		return end;
	return window > (double)(step * seconds->step) ? fmin(end, window) : (double)group->n;
}

/* A last step that the window's end cuts short holds less than the others, whatever runs in it. */
static bool seconds_is_whole(const struct seconds *seconds, const struct seconds_group *group,
			     size_t step)
{
	double end_ns = (double)((step + 1) * seconds->step) * 1e9;

	return end_ns <= (double)group->run->window_ns + SECONDS_LATE_NS;
}

static void seconds_measure(const struct seconds *seconds, struct seconds_group *group)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct run_interval *second = &group->run->series.items[i];

		group->oncpu_ns += (double)second->oncpu_ns;
		group->wakeups += (double)second->wakeups;
		group->active += second->oncpu_ns > 0;
	}
	for (int what = 0; what < 2; what++) {
		group->least[what] = INFINITY;
		for (size_t i = 0; i < seconds_steps(seconds, group); i++) {
			double amount = seconds_amount(seconds, group, i, (enum seconds_what)what);

			if (seconds_is_whole(seconds, group, i))
				group->least[what] = fmin(group->least[what], amount);
			group->most[what] = fmax(group->most[what], amount);
		}
		group->least[what] = fmin(group->least[what], group->most[what]);
	}
}

static void seconds_add_group(struct seconds *seconds, const struct group *group)
{
	size_t at = chart_typical_run(group, false);
	struct seconds_group *g;

	if (at == SIZE_MAX || group->runs.items[at]->window_ns <= SECONDS_LEAST_NS ||
	    !group->runs.items[at]->series.n)
		return;
	if (seconds->n_groups == CHART_GROUPS) {
		seconds->n_left_out++;
		return;
	}
	g = &seconds->groups[seconds->n_groups++];
	*g = (struct seconds_group){
		.run = group->runs.items[at], .at = at, .n_runs = group->runs.n, .look = group->look};
	g->name = chart_group_name(group);
	g->run_name = chart_run_name(group, at);
	seconds->repeats |= g->n_runs > 1;
	g->n = seconds_of(g->run);
	seconds->n = g->n > seconds->n ? g->n : seconds->n;
}

static void seconds_init(struct seconds *seconds, const struct part *part)
{
	double totals[CHART_GROUPS];

	*seconds = (struct seconds){0};
	for (size_t i = 0; i < part->groups.n; i++)
		seconds_add_group(seconds, &part->groups.items[i]);
	seconds->step = seconds->n ? (seconds->n + CHART_POINTS - 1) / CHART_POINTS : 1;
	seconds->n = (seconds->n + seconds->step - 1) / seconds->step;
	for (size_t i = 0; i < seconds->n_groups; i++) {
		seconds_measure(seconds, &seconds->groups[i]);
		totals[i] = seconds->groups[i].oncpu_ns / 1e6;
	}
	seconds->cpu_decimals = number_decimals(totals, seconds->n_groups, 3);
}

static bool seconds_any(const struct seconds *seconds, enum seconds_what what)
{
	for (size_t i = 0; i < seconds->n_groups; i++)
		if (seconds->groups[i].most[what] > 0)
			return true;
	return false;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void seconds_add_more(const struct seconds *seconds, struct strbuf *text)
{
	size_t more = seconds->n_groups > 3 ? seconds->n_groups - 3 : 0;

	if (more)
		strbuf_printf(text, "; and %zu more", more);
	if (seconds->n_left_out)
		strbuf_printf(text, "; %zu more are not drawn", seconds->n_left_out);
}

/* Which of its repeats stands for each. */
static void seconds_add_runs(const struct seconds *seconds, struct strbuf *text)
{
	if (!seconds->repeats)
		return;
	strbuf_add(text, "; of repeats the one with the median CPU time:");
	for (size_t i = 0; i < seconds->n_groups && i < 3; i++)
		strbuf_printf(text, "%s %s %zu of %zu", i ? "," : "", seconds->groups[i].name,
			      seconds->groups[i].at + 1, seconds->groups[i].n_runs);
}

/* "zig uses CPU in each of 20 seconds, 14.8 ms in all; rust in 12 of 20, 4.88 ms" */
static char *seconds_stairs_title(const struct seconds *seconds)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < seconds->n_groups && i < 3; i++) {
		const struct seconds_group *group = &seconds->groups[i];
		char cpu[UNITS_TEXT_BYTES];

		strbuf_printf(&text, "%s%s%s", i ? "; " : "", group->name, i ? "" : " uses CPU");
		if (!group->active) {
			strbuf_printf(&text, " in none of %zu seconds", group->n);
			continue;
		}
		if (group->active == (double)group->n)
			strbuf_printf(&text, " in each of %zu seconds", group->n);
		else
			strbuf_printf(&text, " in %.0f of %zu seconds", group->active, group->n);
		strbuf_printf(&text, ", %s%s", units_format_duration(cpu, group->oncpu_ns),
			      i ? "" : " in all");
	}
	seconds_add_more(seconds, &text);
	seconds_add_runs(seconds, &text);
	return strbuf_take(&text);
}

static void seconds_add_amount(struct strbuf *text, double amount, enum seconds_what what)
{
	char number[NUMBER_BYTES], cpu[UNITS_TEXT_BYTES];

	if (what == SECONDS_CPU)
		strbuf_add(text, amount > 0 ? units_format_duration(cpu, amount) : "0");
	else
		strbuf_add(text, number_real(number, amount, 0));
}

/* "Wakeups in each second: zig 11 to 13, rust 3" */
static char *seconds_strip_title(const struct seconds *seconds, enum seconds_what what)
{
	struct strbuf text = {0};

	strbuf_add(&text, what == SECONDS_CPU ? "CPU time in each " : "Wakeups in each ");
	if (seconds->step > 1)
		strbuf_printf(&text, "%zu seconds:", seconds->step);
	else
		strbuf_add(&text, "second:");
	for (size_t i = 0; i < seconds->n_groups && i < 3; i++) {
		const struct seconds_group *group = &seconds->groups[i];

		strbuf_printf(&text, "%s%s ", i ? "; " : " ", group->name);
		seconds_add_amount(&text, group->least[what], what);
		if (group->most[what] == group->least[what])
			continue;
		strbuf_add(&text, " to ");
		seconds_add_amount(&text, group->most[what], what);
	}
	seconds_add_more(seconds, &text);
	if (!seconds_any(seconds, SECONDS_CPU))
		seconds_add_runs(seconds, &text);
	return strbuf_take(&text);
}

/* ---- charts ---------------------------------------------------------------------------------- */

static void seconds_add_heads(const struct seconds *seconds, struct table *table, const char *first)
{
	table_add_column(table, first, true);
	for (size_t i = 0; i < seconds->n_groups; i++)
		table_add_column(table, seconds->groups[i].run_name, false);
}

/* A row for each step, by points as they were drawn; skip: points before the first step. */
static void seconds_add_rows(const struct seconds *seconds, struct chart *chart, size_t skip,
			     enum cell_kind kind, int decimals)
{
	for (size_t i = 0; i < seconds->n; i++) {
		struct row *row = table_add_row(&chart->table);

		row_add_number(row, CELL_COUNT, (double)((i + skip) * seconds->step), 0);
		for (size_t j = 0; j < chart->series.n; j++) {
			const struct chart_series *series = &chart->series.items[j];

			if (i + skip < series->points.n)
				row_add_number(row, kind, series->points.items[i + skip].y,
					       decimals);
			else
				row_add_empty(row);
		}
	}
}

static void seconds_add_stairs(struct report *report, const struct seconds *seconds)
{
	char *title = seconds_stairs_title(seconds);
	struct chart *chart = report_add_chart(report, CHART_STAIRS, title);

	free(title);
	chart_axis_set(&chart->x, "seconds", CELL_REAL, 0);
	chart_axis_set(&chart->y, "CPU ms", CELL_REAL, seconds->cpu_decimals);
	for (size_t i = 0; i < seconds->n_groups; i++) {
		const struct seconds_group *group = &seconds->groups[i];
		struct chart_series *series = chart_add_group(chart, group->name, group->look);
		double sum_ns = 0;

		chart_add_point(series, 0, 0, NULL);
		for (size_t j = 0; j < seconds_steps(seconds, group); j++) {
			sum_ns += seconds_amount(seconds, group, j, SECONDS_CPU);
			chart_add_point(series, seconds_end(seconds, group, j), sum_ns / 1e6, NULL);
		}
	}
	seconds_add_heads(seconds, &chart->table, "until second");
	seconds_add_rows(seconds, chart, 1, CELL_REAL, seconds->cpu_decimals);
	chart->in_text = seconds->n_groups > 1;
}

static void seconds_add_strip(struct report *report, const struct seconds *seconds,
			      enum seconds_what what)
{
	char *title = seconds_strip_title(seconds, what);
	struct chart *chart = report_add_chart(report, CHART_STRIP, title);
	enum cell_kind kind = what == SECONDS_CPU ? CELL_REAL : CELL_COUNT;
	int decimals = what == SECONDS_CPU ? 3 : 0;
	double scale = what == SECONDS_CPU ? 1e-6 : 1;

	free(title);
	chart->x_step = (double)seconds->step;
	chart_axis_set(&chart->x, "seconds", CELL_REAL, 0);
	chart_axis_set(&chart->y, what == SECONDS_CPU ? "CPU ms" : "wakeups", kind, decimals);
	for (size_t i = 0; i < seconds->n_groups; i++) {
		const struct seconds_group *group = &seconds->groups[i];
		struct chart_series *series = chart_add_group(chart, group->name, group->look);

		for (size_t j = 0; j < seconds_steps(seconds, group); j++)
			chart_add_point(series, (double)(j * seconds->step),
					seconds_amount(seconds, group, j, what) * scale, NULL);
	}
	seconds_add_heads(seconds, &chart->table, "from second");
	seconds_add_rows(seconds, chart, 0, kind, decimals);
	/* One line that is level all along says less than the table above. */
	chart->in_text = what == SECONDS_WAKEUPS &&
			 (seconds->n_groups > 1 ||
			  seconds->groups[0].most[what] > 1.2 * seconds->groups[0].least[what]);
}

void chart_seconds_build(struct report *report, const struct part *part)
{
	struct seconds seconds;

	if (!part_is(part, "idle") && !part_is(part, "attach") && !part_is(part, "run"))
		return;
	seconds_init(&seconds, part);
	if (seconds_any(&seconds, SECONDS_CPU)) {
		seconds_add_stairs(report, &seconds);
		seconds_add_strip(report, &seconds, SECONDS_CPU);
	}
	if (seconds_any(&seconds, SECONDS_WAKEUPS))
		seconds_add_strip(report, &seconds, SECONDS_WAKEUPS);
	for (size_t i = 0; i < seconds.n_groups; i++) {
		free(seconds.groups[i].name);
		free(seconds.groups[i].run_name);
	}
}
