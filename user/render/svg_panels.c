/* A field for each series, one below the other on the same axes: strips of seconds, histograms. */
#include <math.h>
#include <stdlib.h>

#include "render/svg.h"

#define PANEL_HEAD   24.0 /* name of the series, and its largest figure */
#define PANEL_HEIGHT 64.0
#define PANEL_TITLE  20.0 /* of y, above the first */

static double panel_top(size_t number)
{
	return PANEL_TITLE + (PANEL_HEAD + PANEL_HEIGHT) * (double)number + PANEL_HEAD;
}

static double panels_height(const struct chart *chart)
{
	return PANEL_TITLE + (PANEL_HEAD + PANEL_HEIGHT) * (double)chart->series.n + SVG_X_AXIS;
}

static double panel_most(const struct chart_series *series)
{
	double most = 0;

	for (size_t i = 0; i < series->points.n; i++) {
		if (svg_is_point(&series->points.items[i]))
			most = fmax(most, series->points.items[i].y);
	}
	return most;
}

static void panel_head(const struct svg *svg, const struct chart_series *series, double top)
{
	struct svg_spot name = {SVG_LEFT, 0, top - 7, "start", "nm", 150, 460};
	struct svg_spot most = {SVG_RIGHT, 0, top - 7, "end", "ax", 0, 0};
	char number[64], text[80];

	svg_text(svg->out, &name, series->name);
	svg_number(number, &svg->chart->y, panel_most(series));
	snprintf(text, sizeof(text), "up to %s", number);
	svg_text(svg->out, &most, text);
}

/* Fields have room for little more than the line at the top and at the bottom. */
static void panel_grid(const struct svg *svg)
{
	double ticks[SVG_TICKS];
	size_t n = svg_scale_ticks(&svg->y, ticks);

	for (size_t i = 0; i < n; i++) {
		double at = svg_scale_at(&svg->y, ticks[i]);
		struct svg_spot spot = {SVG_LEFT, -6, at + 4, "end", "ax", 0, 0};
		char buf[SVG_TICK_BYTES];

		fprintf(svg->out,
			"<line class=\"%s\" x1=\"%g%%\" x2=\"%g%%\" y1=\"%.5g\" y2=\"%.5g\"/>\n",
			i ? "grid" : "base", SVG_LEFT, SVG_RIGHT, at, at);
		svg_text(svg->out, &spot, svg_tick_text(buf, &svg->y, &svg->chart->y, ticks[i]));
	}
}

static struct svg_scale panels_y(const struct chart *chart, const double y[2])
{
	if (chart->y.logarithmic)
		return svg_scale_logarithmic(fmax(y[0], 1), y[1], 3, true);
	return svg_scale_linear(fmin(y[0], 0), fmax(y[1], 0), 3, chart->y.kind == CELL_COUNT, true);
}

/* A column from the point's x to `end`. What is there is seen, however small or narrow it is. */
static void panel_column(const struct svg *svg, const struct chart_point *point, double end)
{
	double left = SVG_UNITS(svg_scale_at(&svg->x, point->x));
	double right = SVG_UNITS(svg_scale_at(&svg->x, end));
	double gap = right - left > 6 ? 1.5 : 0;

	if (!(point->y > 0))
		return;
	fprintf(svg->out, "M%.4g %.4gV%.4gH%.4gV%.4gz", left, svg->y.from,
		fmin(svg_scale_at(&svg->y, point->y), svg->y.from - 1), fmax(right - gap, left + 1),
		svg->y.from);
}

/* ---- columns ------------------------------------------------------------------------------------
 */

/* Where the column that begins at x ends: where the next one of any series begins, unless there are
 * buckets between that are empty in all. */
struct buckets {
	VEC(double) begins; /* rising */
	double least;	    /* the narrowest: a difference, or on a logarithmic axis a ratio */
	bool logarithmic;
};

static int buckets_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double buckets_after(const struct buckets *buckets, double begin)
{
	return buckets->logarithmic ? begin * buckets->least : begin + buckets->least;
}

/* How much larger b is than a, in the measure of the axis; 0 where that cannot be told. */
static double buckets_apart(const struct buckets *buckets, double a, double b)
{
	if (!buckets->logarithmic)
		return b - a;
	return a > 0 && b > a ? b / a : 0;
}

static void buckets_init(struct buckets *buckets, const struct chart *chart)
{
	*buckets = (struct buckets){.logarithmic = chart->x.logarithmic};
	for (size_t i = 0; i < chart->series.n; i++) {
		const struct chart_series *series = &chart->series.items[i];

		for (size_t j = 0; j < series->points.n; j++) {
			if (svg_is_point(&series->points.items[j]))
				*vec_push(&buckets->begins) = series->points.items[j].x;
		}
	}
	if (buckets->begins.n)
		qsort(buckets->begins.items, buckets->begins.n, sizeof(double), buckets_order);
	buckets->least = INFINITY;
	for (size_t i = 1; i < buckets->begins.n; i++) {
		double apart = buckets_apart(buckets, buckets->begins.items[i - 1],
					     buckets->begins.items[i]);

		if (apart > 0)
			buckets->least = fmin(buckets->least, apart);
	}
	if (!isfinite(buckets->least))
		buckets->least = buckets->logarithmic ? 2 : 1;
}

/* Half octaves are 1.5 and 1.33 wide in turn: up to twice the narrowest is one bucket. */
static double buckets_end(const struct buckets *buckets, double begin)
{
	double end = buckets_after(buckets, begin);
	/* Nothing has a ratio to the 0 that the lowest bucket begins at. */
	bool lowest = buckets->logarithmic && !(begin > 0);

	for (size_t i = 0; i < buckets->begins.n; i++) {
		double next = buckets->begins.items[i];

		if (next > begin) {
			double limit = buckets_after(buckets, end);

			return lowest || next <= limit * (1 + 1e-9) ? next : end;
		}
	}
	return end;
}

static void columns_draw_series(const struct svg *svg, const struct chart_series *series,
				const struct buckets *buckets)
{
	fputs("<path d=\"", svg->out);
	for (size_t i = 0; i < series->points.n; i++) {
		const struct chart_point *point = &series->points.items[i];

		if (svg_is_point(point))
			panel_column(svg, point, buckets_end(buckets, point->x));
	}
	fputs("\"/>\n", svg->out);
}

static void columns_scales(struct svg *svg, const struct buckets *buckets)
{
	double x[2] = {0}, y[2] = {0}, last;

	svg_range(svg->chart, x, y);
	last = buckets_end(buckets, x[1]);
	if (svg->chart->x.logarithmic) {
		/* The lowest bucket begins at 0, which no such axis has: it is drawn as wide as
		 * one. */
		for (size_t i = 0; i < buckets->begins.n && !(x[0] > 0); i++)
			x[0] = fmax(buckets->begins.items[i] / buckets->least, 0);
		svg->x = svg_scale_logarithmic(x[0], last, SVG_X_TICKS, false);
	} else {
		svg->x = svg_scale_linear(x[0], last, SVG_X_TICKS, false, false);
	}
	svg->y = panels_y(svg->chart, y);
}

/* ---- the kinds ----------------------------------------------------------------------------------
 */

/* Places the field of series `number`, with its name and grid, and opens a field for its path. */
static void panel_begin(struct svg *svg, size_t number)
{
	double top = panel_top(number);

	svg->y.from = top + PANEL_HEIGHT;
	svg->y.to = top;
	panel_head(svg, &svg->chart->series.items[number], top);
	panel_grid(svg);
	svg_begin_field(svg, svg->y.from);
	fprintf(svg->out, "<g class=\"s%zu f\">",
		svg->chart->series.items[number].look % SVG_COLOURS);
}

static void panel_end(const struct svg *svg)
{
	fputs("</g>", svg->out);
	svg_end_field(svg);
}

static void panels_begin(struct svg *svg)
{
	struct svg_spot title = {0, 0, 12, "start", "ax", SVG_NARROW, SVG_WIDE};

	svg->x.from = SVG_LEFT;
	svg->x.to = SVG_RIGHT;
	svg_text(svg->out, &title, svg->chart->y.title);
}

static void columns_draw(struct svg *svg)
{
	struct buckets buckets;

	buckets_init(&buckets, svg->chart);
	columns_scales(svg, &buckets);
	panels_begin(svg);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		panel_begin(svg, i);
		columns_draw_series(svg, &svg->chart->series.items[i], &buckets);
		panel_end(svg);
	}
	svg_x_axis(svg, svg->y.from);
	free(buckets.begins.items);
}

static void strip_draw(struct svg *svg)
{
	double x[2] = {0}, y[2] = {0};

	svg_range(svg->chart, x, y);
	svg->x = svg_scale_linear(x[0], x[1] + svg->chart->x_step, SVG_X_TICKS, false, false);
	svg->y = panels_y(svg->chart, y);
	panels_begin(svg);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		const struct chart_series *series = &svg->chart->series.items[i];

		panel_begin(svg, i);
		fputs("<path d=\"", svg->out);
		for (size_t j = 0; j < series->points.n; j++) {
			if (svg_is_point(&series->points.items[j]))
				panel_column(svg, &series->points.items[j],
					     series->points.items[j].x + svg->chart->x_step);
		}
		fputs("\"/>\n", svg->out);
		panel_end(svg);
	}
	svg_x_axis(svg, svg->y.from);
}

const struct svg_kind svg_columns = {
	panels_height,
	columns_draw,
	"A histogram for each series, on the same axes.",
};

const struct svg_kind svg_strip = {
	panels_height,
	strip_draw,
	"A column for each step of time, a strip for each series, on the same axes.",
};
