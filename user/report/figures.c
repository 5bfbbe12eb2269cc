/* Tables of metrics over labels: a column for each figure, a row for each group, ratios below. */
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"

static bool figures_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const struct stat_summary *figures_summary(const struct figures *figures,
						  const struct figure *figure,
						  const struct group *group)
{
	return result_find_summary(figures->part->result, group->label, figures->part->workload,
				   group->variant, figure->metric);
}

static const struct result_comparison *figures_comparison(const struct figures *figures,
							  const struct figure *figure,
							  const struct group *base,
							  const struct group *other)
{
	if (!figures_same(base->variant, other->variant))
		return NULL;
	return result_find_comparison(figures->part->result, base->label, other->label,
				      figures->part->workload, base->variant, figure->metric);
}

static double figures_window_s(const struct group *group)
{
	return group_window_ns(group) / (double)group->runs.n / 1e9;
}

/* Decides whether a figure is shown, and with how many decimals: the same for all its rows. */
static void figures_look(struct figures *figures, size_t at)
{
	const struct figure *figure = &figures->list[at];
	const struct part *part = figures->part;
	bool counts = figure->per == FIGURE_PER_RUN && figure->scale == 1;
	double *medians = mem_calloc(part->groups.n + 1, sizeof(*medians));
	bool all_zero = true, all_whole = true, any_long = false;
	size_t n = 0;

	for (size_t i = 0; i < part->groups.n; i++) {
		const struct stat_summary *stat =
			figures_summary(figures, figure, &part->groups.items[i]);

		if (!stat)
			continue;
		medians[n++] = stat->median * figure->scale;
		all_zero &= stat->median == 0;
		all_whole &= stat->median == floor(stat->median);
		any_long |= figures_window_s(&part->groups.items[i]) >= 2;
	}
	/* "1 of 1" seconds says nothing. */
	figures->shown[at] = n && !((figure->flags & FIGURE_RARE) && all_zero) &&
			     !((figure->flags & FIGURE_WINDOW) && !any_long);
	figures->decimals[at] =
		counts && all_whole ? 0 : number_decimals(medians, n, figure->decimals);
	free(medians);
}

void figures_begin(struct figures *ret_figures, struct report *report, const struct part *part,
		   const struct figure *list)
{
	struct figures figures = {.part = part, .list = list, .ranges = part_repeats(part)};

	figures.table = report_add_table(report, NULL);
	table_add_column(figures.table, "", true);
	for (size_t i = 0; i < FIGURES_MAX && list[i].metric; i++) {
		figures_look(&figures, i);
		if (!figures.shown[i])
			continue;
		table_add_column(figures.table, list[i].title, false);
		if (list[i].flags & FIGURE_RANGE && figures.ranges)
			table_add_column(figures.table, "(min–max)", false);
	}
	*ret_figures = figures;
}

/* Seconds of the window that a group's active seconds are counted in. A window that was closed a
 * few microseconds late has one more slot, which nobody asked for. */
static double figures_seconds(const struct group *group, double active)
{
	double window_s = figures_window_s(group);
	double seconds = fmax(1, floor(window_s + 0.5));

	return active > seconds ? ceil(window_s) : seconds;
}

static void figures_add_range(struct row *row, const struct figure *figure, int decimals,
			      const struct stat_summary *stat)
{
	char low[NUMBER_BYTES], high[NUMBER_BYTES];
	char *text;

	if (!stat || stat->n < 2) {
		row_add_empty(row);
		return;
	}
	text = mem_printf("(%s–%s)", number_real(low, stat->min * figure->scale, decimals),
			  number_real(high, stat->max * figure->scale, decimals));
	row_add_text(row, text);
	free(text);
}

static void figures_add_median(struct row *row, const struct figure *figure, int decimals,
			       const struct group *group, const struct stat_summary *stat)
{
	char *text;

	if (!stat || !(figure->flags & FIGURE_WINDOW)) {
		row_add_number(row, CELL_REAL, stat ? stat->median * figure->scale : NAN, decimals);
		return;
	}
	text = mem_printf("%.3g of %.0f", stat->median, figures_seconds(group, stat->median));
	row_add_text(row, text);
	free(text);
}

void figures_add_group(struct figures *figures, const struct group *group, int depth)
{
	struct row *row = table_add_row(figures->table);

	row->depth = depth;
	row_add_text(row, group->label);
	for (size_t i = 0; i < FIGURES_MAX && figures->list[i].metric; i++) {
		const struct figure *figure = &figures->list[i];
		const struct stat_summary *stat;

		if (!figures->shown[i])
			continue;
		stat = figures_summary(figures, figure, group);
		figures_add_median(row, figure, figures->decimals[i], group, stat);
		if ((figure->flags & FIGURE_RANGE) && figures->ranges)
			figures_add_range(row, figure, figures->decimals[i], stat);
	}
}

/* The ratio of two medians; NaN where there is none worth telling. */
static double figures_ratio(const struct figures *figures, const struct figure *figure,
			    const struct group *base, const struct group *other)
{
	const struct stat_summary *below = figures_summary(figures, figure, base);
	const struct stat_summary *above = figures_summary(figures, figure, other);
	const struct result_comparison *comparison =
		figures_comparison(figures, figure, base, other);
	double times = (double)base->runs.n;

	if (!below || !above || (figure->flags & FIGURE_WINDOW) || group_not_comparable(base) ||
	    group_not_comparable(other))
		return NAN;
	if (figure->per == FIGURE_PER_SECOND)
		times = group_window_ns(base) / 1e9;
	else if (figure->per == FIGURE_PER_OPERATION)
		times = 1;
	if (!(below->median * figure->scale * times >= figure->least) || !(below->median > 0))
		return NAN;
	/* Of start-ups it may be that of other runs than the medians above it. */
	return comparison ? comparison->ratio.ratio : above->median / below->median;
}

static void figures_add_interval(struct figures *figures, struct row *row,
				 const struct result_comparison *comparison)
{
	char low[NUMBER_BYTES], high[NUMBER_BYTES];
	char *text;

	if (!comparison || !comparison->ratio.has_interval) {
		row_add_empty(row);
		return;
	}
	text = mem_printf("(%s–%s)", number_ratio(low, comparison->ratio.ci_low),
			  number_ratio(high, comparison->ratio.ci_high));
	row_add_text(row, text);
	free(text);
	figures->intervals = true;
	figures->bare |= comparison->from_bare;
}

bool figures_add_ratio(struct figures *figures, const char *name, const struct group *base,
		       const struct group *other, int depth)
{
	bool any = false;
	struct row *row;

	/* The first two are what the table is about: a row with memory alone says little. */
	for (size_t i = 0, n = 0; i < FIGURES_MAX && figures->list[i].metric && n < 2; i++) {
		if (!figures->shown[i])
			continue;
		any |= isfinite(figures_ratio(figures, &figures->list[i], base, other));
		n++;
	}
	if (!any)
		return false;
	row = table_add_row(figures->table);
	row->depth = depth;
	row_add_text(row, name);
	for (size_t i = 0; i < FIGURES_MAX && figures->list[i].metric; i++) {
		const struct figure *figure = &figures->list[i];
		double ratio;

		if (!figures->shown[i])
			continue;
		ratio = figures_ratio(figures, figure, base, other);
		if ((figure->flags & FIGURE_WINDOW))
			row_add_empty(row);
		else
			row_add_number(row, CELL_RATIO, ratio, 0);
		if ((figure->flags & FIGURE_RANGE) && figures->ranges)
			figures_add_interval(
				figures, row,
				isfinite(ratio) ? figures_comparison(figures, figure, base, other)
						: NULL);
	}
	return true;
}

static const struct group *figures_group(const struct figures *figures, const char *label,
					 const char *variant)
{
	for (size_t i = 0; i < figures->part->groups.n; i++) {
		const struct group *group = &figures->part->groups.items[i];

		if (!strcmp(group->label, label) && figures_same(group->variant, variant))
			return group;
	}
	return NULL;
}

/* Comparisons of a pair stand together, a metric each: true for the first of them. */
static bool figures_is_first_of_pair(const struct result *result, size_t at)
{
	const struct result_comparison *c = &result->comparisons.items[at];
	const struct result_comparison *before = c - 1;

	return !at || strcmp(before->base, c->base) || strcmp(before->other, c->other) ||
	       strcmp(before->workload, c->workload) || !figures_same(before->variant, c->variant);
}

/* Rows against floor, or those against all others. */
static size_t figures_add_ratios_to(struct figures *figures, bool floors, const char *variant,
				    int depth)
{
	const struct result *result = figures->part->result;
	size_t n = 0;

	for (size_t i = 0; i < result->comparisons.n; i++) {
		const struct result_comparison *c = &result->comparisons.items[i];
		const struct group *base, *other;
		char *name;

		if (strcmp(c->workload, figures->part->workload) ||
		    !figures_same(c->variant, variant) || !strcmp(c->base, "floor") != floors ||
		    !figures_is_first_of_pair(result, i))
			continue;
		base = figures_group(figures, c->base, variant);
		other = figures_group(figures, c->other, variant);
		if (!base || !other)
			continue;
		name = mem_printf("%s / %s", c->other, c->base);
		n += figures_add_ratio(figures, name, base, other, depth);
		free(name);
	}
	return n;
}

void figures_add_ratios(struct figures *figures, const char *variant, int depth)
{
	size_t first = figures->table->rows.n;
	size_t n = figures_add_ratios_to(figures, false, variant, depth);

	n += figures_add_ratios_to(figures, true, variant, depth);
	/* One or two rows are told apart by their names; more would drown the figures. */
	if (n > 2 && !depth)
		figures->table->rows.items[first].rule_before = true;
}

void figures_end(const struct figures *figures, struct report *report)
{
	if (figures->ranges)
		report_add_note(report, NOTE_TEXT, "Figures are medians over the runs%s.",
				figures->intervals
					? "; the brackets of a ratio hold its 95 % interval"
					: "");
	if (figures->bare)
		report_add_note(report, NOTE_TEXT,
				"The ratios of start-up to exit are those of the runs without probes, "
				"from which the runs with probes differ by more than chance.");
}
