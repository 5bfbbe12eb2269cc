/* A dot for each run, in run order, with the median: starts, serve, and hash in each variant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/number.h"

/* What is drawn of a workload. */
struct dots_figure {
	const char *workload, *metric;
	const char *axis;  /* title of y */
	const char *verb;  /* of the sentence: "zig takes" */
	const char *after; /* the figure: "10.60 ms from exec to exit" */
	double scale;
	int decimals; /* at most */
};

static const struct dots_figure dots_figures[] = {
	{"startup", "exec_to_exit_ns", "ms from exec to exit", "takes", " ms from exec to exit",
	 1e-6, 2},
	{"hash", "operations_per_s", "operations/s", "does", " operations a second", 1, 0},
	{"serve", "operations_per_s", "requests/s", "answers", " requests a second", 1, 0},
	{0},
};

/* Values of one group's runs, in run order; NaN where a run has none. */
struct dots_group {
	const struct group *group;
	char *name;
	double *values;
	size_t n, counted; /* runs, those that have a value */
	double median;
};

struct dots {
	const struct dots_figure *figure;
	struct dots_group groups[CHART_GROUPS];
	size_t n_groups, n_left_out; /* groups */
	size_t runs;		     /* of the group that has most */
	size_t step;		     /* runs that a dot stands for */
	bool repeats;
	int decimals;
};

static bool dots_same_variant(const struct group *a, const struct group *b)
{
	return a->variant && b->variant ? !strcmp(a->variant, b->variant)
					: a->variant == b->variant;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void dots_add_group(struct dots *dots, const struct group *group)
{
	const struct metric *metric = metric_find(dots->figure->metric);
	struct dots_group *g = &dots->groups[dots->n_groups];
	struct stat_summary summary;

	*g = (struct dots_group){.group = group, .n = group->runs.n};
	g->values = mem_calloc(g->n + 1, sizeof(*g->values));
	for (size_t i = 0; i < g->n; i++) {
		double value;

		g->values[i] = NAN;
		if (metric->get(group->runs.items[i], &value))
			g->values[i] = value * dots->figure->scale;
	}
	summary = stat_summarise(g->values, g->n);
	g->counted = summary.n;
	g->median = summary.median;
	if (!summary.n) {
		free(g->values);
		return;
	}
	g->name = chart_group_name(group);
	dots->repeats |= summary.n > 1;
	dots->runs = g->n > dots->runs ? g->n : dots->runs;
	dots->n_groups++;
}

static void dots_init(struct dots *dots, const struct dots_figure *figure, const struct part *part,
		      const struct group *first)
{
	double medians[CHART_GROUPS];

	*dots = (struct dots){.figure = figure};
	for (size_t i = 0; i < part->groups.n; i++) {
		if (!dots_same_variant(&part->groups.items[i], first))
			continue;
		if (dots->n_groups < CHART_GROUPS)
			dots_add_group(dots, &part->groups.items[i]);
		else
			dots->n_left_out++;
	}
	for (size_t i = 0; i < dots->n_groups; i++)
		medians[i] = dots->groups[i].median;
	dots->decimals = number_decimals(medians, dots->n_groups, figure->decimals);
	dots->step = (dots->runs + CHART_POINTS - 1) / CHART_POINTS;
}

static void dots_free_members(struct dots *dots)
{
	for (size_t i = 0; i < dots->n_groups; i++) {
		free(dots->groups[i].values);
		free(dots->groups[i].name);
	}
}

/* The median of the runs that dot i stands for; NaN: none has a value. */
static double dots_value(const struct dots *dots, const struct dots_group *group, size_t i)
{
	size_t first = i * dots->step;

	if (first >= group->n)
		return NAN;
	return stat_summarise(group->values + first,
			      group->n - first < dots->step ? group->n - first : dots->step)
		.median;
}

/* ---- chart ----------------------------------------------------------------------------------- */

/* Why the figures must not be compared, where that is so: it stands where they do. */
static void dots_add_doubt(const struct dots *dots, struct strbuf *text)
{
	for (size_t i = 0; i < dots->n_groups; i++) {
		const char *why = group_not_comparable(dots->groups[i].group);
		char *reason;

		if (!why)
			continue;
		reason = part_shorten(why, CHART_REASON_BYTES);
		strbuf_printf(text, "; not comparable: %s", reason);
		free(reason);
		return;
	}
}

/* "zig takes 10.60 ms from exec to exit at the median of 6 runs, rust 4.50 at that of 6" */
static char *dots_title(const struct dots *dots)
{
	size_t shown = dots->n_groups < 5 ? dots->n_groups : 3;
	struct strbuf text = {0};
	char number[NUMBER_BYTES];

	for (size_t i = 0; i < shown; i++) {
		const struct dots_group *group = &dots->groups[i];

		number_real(number, group->median, dots->decimals);
		if (!i)
			strbuf_printf(&text, "%s %s %s%s (median of %zu run%s)", group->name,
				      dots->figure->verb, number, dots->figure->after,
				      group->counted, group->counted == 1 ? "" : "s");
		else
			strbuf_printf(&text, ", %s %s", group->name, number);
	}
	if (dots->n_groups > shown)
		strbuf_printf(&text, " and %zu more", dots->n_groups - shown);
	if (dots->n_left_out)
		strbuf_printf(&text, "; %zu more are not drawn", dots->n_left_out);
	dots_add_doubt(dots, &text);
	if (dots->step > 1)
		strbuf_printf(&text, "; each dot is the median of %zu runs", dots->step);
	return strbuf_take(&text);
}

static void dots_add_table(const struct dots *dots, struct table *table, size_t n)
{
	struct row *row;

	table_add_column(table, "run", true);
	for (size_t i = 0; i < dots->n_groups; i++)
		table_add_column(table, dots->groups[i].name, false);
	for (size_t i = 0; i < n; i++) {
		row = table_add_row(table);
		row_add_number(row, CELL_COUNT, (double)(i * dots->step + 1), 0);
		for (size_t j = 0; j < dots->n_groups; j++)
			row_add_number(row, CELL_REAL, dots_value(dots, &dots->groups[j], i),
				       dots->decimals);
	}
	row = table_add_row(table);
	row->rule_before = true;
	row_add_text(row, "median");
	for (size_t j = 0; j < dots->n_groups; j++)
		row_add_number(row, CELL_REAL, dots->groups[j].median, dots->decimals);
}

static void dots_add_chart(struct report *report, const struct dots *dots)
{
	size_t n = (dots->runs + dots->step - 1) / dots->step;
	char *title = dots_title(dots);
	struct chart *chart = report_add_chart(report, CHART_DOTS, title);

	free(title);
	chart_axis_set(&chart->x, "run", CELL_COUNT, 0);
	chart_axis_set(&chart->y, dots->figure->axis, CELL_REAL, dots->decimals);
	for (size_t i = 0; i < dots->n_groups; i++) {
		const struct dots_group *group = &dots->groups[i];
		struct chart_series *series = chart_add_group(chart, group->name, group->group->look);

		series->mark = group->median;
		for (size_t j = 0; j < n; j++)
			chart_add_point(series, (double)(j * dots->step + 1),
					dots_value(dots, group, j), NULL);
	}
	dots_add_table(dots, &chart->table, n);
	chart->in_text = true;
}

static bool dots_is_first(const struct part *part, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (dots_same_variant(&part->groups.items[i], &part->groups.items[at]))
			return false;
	return true;
}

void chart_dots_build(struct report *report, const struct part *part)
{
	const struct dots_figure *figure = dots_figures;

	while (figure->workload && !part_is(part, figure->workload))
		figure++;
	for (size_t i = 0; figure->workload && i < part->groups.n; i++) {
		struct dots dots;

		if (!dots_is_first(part, i))
			continue;
		dots_init(&dots, figure, part, &part->groups.items[i]);
		if (dots.repeats)
			dots_add_chart(report, &dots);
		dots_free_members(&dots);
	}
}
