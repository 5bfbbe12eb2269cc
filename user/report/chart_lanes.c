/* The wakes of one run on a time line: a lane for each thread and cause, a tick for each wake.
 *
 * Ticks closer to the last one drawn than a CHART_POINTS-th of the time shown would run into one
 * another and are left out. Where that happens, a second chart shows a part of the window in which
 * they stand apart. */
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/cause_words.h"
#include "report/chart.h"
#include "report/number.h"

#define LANES 12
/* Ticks of the fullest lane that the part is meant to show. */
#define LANES_PART_TICKS 100

struct lanes {
	const struct run *run;
	const struct why *why;
	char *name; /* of the run */
	const struct why_cause *causes[LANES];
	size_t *lane_of; /* of each cause of why; SIZE_MAX: not drawn */
	size_t n, n_left_out;
	uint64_t left_out; /* wakes of causes without a lane */
};

/* A stretch of the window, after its start. */
struct lanes_span {
	uint64_t from_ns, until_ns;
	bool is_part;
};

/* ---- lanes ----------------------------------------------------------------------------------- */

static bool lane_comes_before(const struct why_cause *a, const struct why_cause *b)
{
	return a->wakeups != b->wakeups ? a->wakeups > b->wakeups : a < b;
}

/* Keeps the LANES causes with most wakeups, the most first. */
static void lanes_add(struct lanes *lanes, const struct why_cause *cause)
{
	size_t at = lanes->n;

	while (at && lane_comes_before(cause, lanes->causes[at - 1]))
		at--;
	if (lanes->n == LANES) {
		lanes->n_left_out++;
		lanes->left_out += at == LANES ? cause->wakeups : lanes->causes[LANES - 1]->wakeups;
		if (at == LANES)
			return;
	} else {
		lanes->n++;
	}
	for (size_t i = lanes->n - 1; i > at; i--)
		lanes->causes[i] = lanes->causes[i - 1];
	lanes->causes[at] = cause;
}

static bool lanes_init(struct lanes *lanes, const struct group *group)
{
	size_t at = chart_typical_run(group, true);

	*lanes = (struct lanes){0};
	if (at == SIZE_MAX)
		return false;
	lanes->run = group->runs.items[at];
	lanes->why = group->whys.items[at];
	if (!lanes->run->capture->timeline.n || !lanes->run->window_ns)
		return false;
	for (size_t i = 0; i < lanes->why->causes.n; i++)
		if (lanes->why->causes.items[i].wakeups)
			lanes_add(lanes, &lanes->why->causes.items[i]);
	lanes->lane_of = mem_calloc(lanes->why->causes.n + 1, sizeof(*lanes->lane_of));
	for (size_t i = 0; i < lanes->why->causes.n; i++)
		lanes->lane_of[i] = SIZE_MAX;
	for (size_t i = 0; i < lanes->n; i++)
		lanes->lane_of[lanes->causes[i] - lanes->why->causes.items] = i;
	lanes->name = chart_run_name(group, at);
	return lanes->n;
}

static void lanes_free_members(struct lanes *lanes)
{
	free(lanes->lane_of);
	free(lanes->name);
}

/* ": its own 100 ms futex timeout, every 100.1 ms" */
static void lane_add_words(struct strbuf *text, const struct why_cause *cause)
{
	char *words = part_shorten(cause->text, CHART_TEXT_BYTES);
	char period[UNITS_TEXT_BYTES];

	strbuf_printf(text, ": %s", words);
	if (cause->period.known)
		strbuf_printf(text, ", every %s",
			      units_format_duration(period, cause->period.period_ns));
	free(words);
}

/* The caller frees. */
static char *lane_name(const struct why_cause *cause)
{
	char *label = part_shorten(cause->thread->label, CHART_NAME_BYTES);
	struct strbuf text = {0};

	strbuf_add(&text, label);
	lane_add_words(&text, cause);
	free(label);
	return strbuf_take(&text);
}

/* ---- ticks ----------------------------------------------------------------------------------- */

struct lane_count {
	size_t seen, drawn; /* wakes on the timeline in the span */
	double last_s;
};

static void lanes_add_ticks(const struct lanes *lanes, const struct lanes_span *span,
			    struct chart *chart, struct lane_count counts[LANES])
{
	const struct capture *capture = lanes->run->capture;
	double least_s = (double)(span->until_ns - span->from_ns) / 1e9 / CHART_POINTS;

	for (size_t i = 0; i < capture->timeline.n; i++) {
		const struct wk_wake_event *event = &capture->timeline.items[i];
		size_t row = why_row_of(lanes->why, event->cause);
		size_t lane = row == SIZE_MAX ? SIZE_MAX : lanes->lane_of[row];
		uint64_t after_ns = event->time_ns - capture->start_ns;
		double at_s = (double)after_ns / 1e9;

		if (lane == SIZE_MAX || event->time_ns < capture->start_ns ||
		    after_ns < span->from_ns || after_ns > span->until_ns)
			continue;
		counts[lane].seen++;
		/* A recording from outside may hold times that fall; they are not drawn. */
		if (counts[lane].drawn && !(at_s >= counts[lane].last_s + least_s))
			continue;
		counts[lane].drawn++;
		counts[lane].last_s = at_s;
		chart_add_point(&chart->series.items[lane], at_s, 0, NULL);
	}
}

static void lanes_add_table(const struct lanes *lanes, struct chart *chart,
			    const struct lane_count counts[LANES])
{
	struct table *table = &chart->table;

	table_add_column(table, "", true);
	table_add_column(table, "wakeups", false);
	table_add_column(table, "period", false);
	table_add_column(table, "ticks here", false);
	table_add_column(table, "too close to draw", false);
	for (size_t i = 0; i < lanes->n; i++) {
		const struct why_cause *cause = lanes->causes[i];
		struct row *row = table_add_row(table);

		row_add_text(row, chart->series.items[i].name);
		row_add_number(row, CELL_COUNT, (double)cause->wakeups, 0);
		row_add_number(row, CELL_DURATION,
			       cause->period.known ? cause->period.period_ns : NAN, 0);
		row_add_number(row, CELL_COUNT, (double)counts[i].drawn, 0);
		row_add_number(row, CELL_COUNT, (double)(counts[i].seen - counts[i].drawn), 0);
	}
}

/* ---- charts ---------------------------------------------------------------------------------- */

/* "zig: bun#2 wakes most, 199 of 239 times: its own 100 ms futex timeout, every 100.1 ms" */
static char *lanes_title(const struct lanes *lanes, const struct lanes_span *span)
{
	const struct why_cause *most = lanes->causes[0];
	char from[UNITS_TEXT_BYTES], until[UNITS_TEXT_BYTES], number[NUMBER_BYTES];
	char *label = part_shorten(most->thread->label, CHART_NAME_BYTES);
	struct strbuf text = {0};

	if (span->is_part)
		strbuf_printf(&text, "%s from %s to %s, where its ticks stand apart", lanes->name,
			      units_format_duration(from, (double)span->from_ns),
			      units_format_duration(until, (double)span->until_ns));
	else
		strbuf_printf(&text, "%s: %s wakes most, %s", lanes->name, label,
			      number_real(number, (double)most->wakeups, 0));
	free(label);
	if (span->is_part)
		return strbuf_take(&text);
	strbuf_printf(&text, " of %s times",
		      number_real(number, (double)lanes->run->totals.wakeups, 0));
	lane_add_words(&text, most);
	if (lanes->n_left_out)
		strbuf_printf(&text, "; %s of %zu more causes have no lane",
			      number_real(number, (double)lanes->left_out, 0), lanes->n_left_out);
	if (lanes->run->capture->timeline_left_out)
		strbuf_printf(
			&text, "; %s came too fast to be kept",
			number_real(number, (double)lanes->run->capture->timeline_left_out, 0));
	return strbuf_take(&text);
}

/* Adds the chart. Returns the wakes of the fullest lane that had more than a tenth left out. */
static size_t lanes_add_chart(struct report *report, const struct lanes *lanes,
			      const struct lanes_span *span)
{
	struct lane_count counts[LANES] = {0};
	char *title = lanes_title(lanes, span);
	struct chart *chart = report_add_chart(report, CHART_LANES, title);
	size_t fullest = 0;

	free(title);
	chart_axis_set(&chart->x, "seconds", CELL_REAL, 1);
	chart_axis_set(&chart->y, "", CELL_TEXT, 0);
	for (size_t i = 0; i < lanes->n; i++) {
		char *name = lane_name(lanes->causes[i]);

		chart_add_series(chart, name);
		free(name);
	}
	lanes_add_ticks(lanes, span, chart, counts);
	lanes_add_table(lanes, chart, counts);
	for (size_t i = 0; i < lanes->n; i++) {
		if (counts[i].drawn < counts[i].seen - counts[i].seen / 10 &&
		    counts[i].seen > fullest)
			fullest = counts[i].seen;
	}
	return fullest;
}

void chart_lanes_build(struct report *report, const struct group *group)
{
	struct lanes lanes;
	struct lanes_span span = {0};
	size_t fullest;

	if (lanes_init(&lanes, group)) {
		span.until_ns = lanes.run->window_ns;
		fullest = lanes_add_chart(report, &lanes, &span);
		if (fullest > LANES_PART_TICKS) {
			/* From the middle: at the edges things start and end. */
			uint64_t part_ns = span.until_ns / fullest * LANES_PART_TICKS;

			span.from_ns = span.until_ns / 2 - part_ns / 2;
			span.until_ns = span.from_ns + part_ns;
			span.is_part = true;
			lanes_add_chart(report, &lanes, &span);
		}
	}
	lanes_free_members(&lanes);
}
