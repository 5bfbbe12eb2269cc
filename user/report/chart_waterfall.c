/* From one total to another, row by row: each bar begins where the one before it ended. */
#include <math.h>
#include <stdlib.h>

#include "report/chart.h"
#include "report/number.h"

#define WATERFALL_ROWS 7
/* Rows that make less than this of all changes are one bar. */
#define WATERFALL_LEAST_SHARE 0.01

struct waterfall {
	const struct difference *d;
	struct chart *chart;
	int decimals;
};

static double waterfall_change(const struct difference *d, const struct difference_row *row)
{
	struct difference_figure figure = difference_figure(d, row, d->by_cpu);

	return figure.other - figure.base;
}

static size_t waterfall_shown(const struct difference *d)
{
	double all = 0;
	size_t shown = 0;

	for (size_t i = 0; i < d->rows.n; i++)
		all += fabs(waterfall_change(d, &d->rows.items[i]));
	while (shown < d->rows.n && shown < WATERFALL_ROWS &&
	       fabs(waterfall_change(d, &d->rows.items[shown])) >= WATERFALL_LEAST_SHARE * all &&
	       all > 0)
		shown++;
	return d->rows.n - shown == 1 ? d->rows.n : shown;
}

/* A total at either end, or a change. Changes carry their sign in the table. */
static void waterfall_add(struct waterfall *w, const char *name, double value, bool is_total)
{
	struct row *row = table_add_row(&w->chart->table);
	char number[NUMBER_BYTES], *text;

	chart_add_point(&w->chart->series.items[0], (double)w->chart->series.items[0].points.n,
			value, name);
	row_add_text(row, name);
	if (is_total) {
		row->rule_before = w->chart->table.rows.n > 1;
		row_add_number(row, CELL_REAL, value, w->decimals);
		return;
	}
	text = mem_printf("%s%s", value > 0 ? "+" : "", number_real(number, value, w->decimals));
	row_add_text(row, text);
	free(text);
}

static char *waterfall_name(const struct difference *d, const struct difference_row *row)
{
	char *label = difference_label(d, row), *words = difference_text(row);
	char *a = part_shorten(label, CHART_NAME_BYTES), *b = part_shorten(words, CHART_TEXT_BYTES);
	char *name = mem_printf("%s%s%s", a, *b ? ": " : "", b);

	free(label);
	free(words);
	free(a);
	free(b);
	return name;
}

static void waterfall_add_changes(struct waterfall *w)
{
	const struct difference *d = w->d;
	size_t shown = waterfall_shown(d);
	double rest = 0;
	char *name;

	for (size_t i = 0; i < shown; i++) {
		name = waterfall_name(d, &d->rows.items[i]);
		waterfall_add(w, name, waterfall_change(d, &d->rows.items[i]), false);
		free(name);
	}
	for (size_t i = shown; i < d->rows.n; i++)
		rest += waterfall_change(d, &d->rows.items[i]);
	if (shown == d->rows.n)
		return;
	name = mem_printf("… and %zu more", d->rows.n - shown);
	waterfall_add(w, name, rest, false);
	free(name);
}

/* The decimals that the totals and the changes need. */
static int waterfall_decimals(const struct difference *d, const struct difference_figure *all)
{
	int most = d->by_cpu ? d->base_unit.cpu_decimals : d->base_unit.wakeups_decimals;
	double values[WATERFALL_ROWS + 3] = {all->base, all->other};
	size_t n = 2;

	for (size_t i = 0; i < waterfall_shown(d); i++)
		values[n++] = waterfall_change(d, &d->rows.items[i]);
	return number_decimals(values, n, most);
}

static char *waterfall_title(const struct waterfall *w, const struct difference_figure *all,
			     const char *base_name, const char *other_name)
{
	const struct difference *d = w->d;
	const char *unit = d->by_cpu ? d->base_unit.cpu : d->base_unit.wakeups;
	char base[NUMBER_BYTES], other[NUMBER_BYTES], change[NUMBER_BYTES];
	char *name, *title;

	number_real(base, all->base, w->decimals);
	number_real(other, all->other, w->decimals);
	if (!waterfall_shown(d) || waterfall_change(d, &d->rows.items[0]) == 0)
		return mem_printf("%s: %s of %s, %s of %s, and no cause that differs", unit, base,
				  base_name, other, other_name);
	number_real(change, waterfall_change(d, &d->rows.items[0]), w->decimals);
	name = waterfall_name(d, &d->rows.items[0]);
	title = mem_printf("From %s %s of %s to %s of %s; the largest change, %s%s, is %s", base,
			   unit, base_name, other, other_name,
			   waterfall_change(d, &d->rows.items[0]) > 0 ? "+" : "", change, name);
	free(name);
	return title;
}

void chart_waterfall_build(struct report *report, const struct difference *difference,
			   const char *base_name, const char *other_name, bool in_text)
{
	struct waterfall w = {.d = difference};
	struct difference_figure all = difference_figure(difference, NULL, difference->by_cpu);
	const char *unit =
		difference->by_cpu ? difference->base_unit.cpu : difference->base_unit.wakeups;
	char *base = part_shorten(base_name, CHART_NAME_BYTES);
	char *other = part_shorten(other_name, CHART_NAME_BYTES), *title;

	w.decimals = waterfall_decimals(difference, &all);
	title = waterfall_title(&w, &all, base, other);
	w.chart = report_add_chart(report, CHART_WATERFALL, title);
	free(title);
	chart_axis_set(&w.chart->x, "", CELL_TEXT, 0);
	chart_axis_set(&w.chart->y, unit, CELL_REAL, w.decimals);
	chart_add_series(w.chart, unit);
	table_add_column(&w.chart->table, "", true);
	table_add_column(&w.chart->table, unit, false);
	waterfall_add(&w, base, all.base, true);
	waterfall_add_changes(&w);
	waterfall_add(&w, other, all.other, true);
	w.chart->in_text = in_text;
	free(base);
	free(other);
}
