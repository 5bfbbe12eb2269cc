/* Series over one another in one field: a dot for each run, or stairs that rise. */
#include <math.h>
#include <stdlib.h>

#include "render/svg.h"

#define FIELD_GAP    30.0 /* between legend and field, with the title of y */
#define FIELD_HEIGHT 220.0

static void dots_value(char buf[128], const struct chart *chart, size_t series);
static void stairs_value(char buf[128], const struct chart *chart, size_t series);

static double field_legend(const struct chart *chart)
{
	return svg_legend_height(chart, chart->kind == CHART_DOTS ? dots_value : stairs_value);
}

static double field_height(const struct chart *chart)
{
	return field_legend(chart) + FIELD_GAP + FIELD_HEIGHT + SVG_X_AXIS;
}

/* y begins at 0 unless that would press the figures into the upper half of the field. */
static struct svg_scale field_y(const double y[2])
{
	bool from_zero = y[0] >= 0 && y[0] <= y[1] / 2;

	return svg_scale_linear(from_zero ? 0 : y[0], y[1], 5, false, true);
}

static void field_begin(struct svg *svg, bool from_zero, bool whole_x)
{
	double x[2] = {0}, y[2] = {0}, top = field_legend(svg->chart) + FIELD_GAP;

	svg_range(svg->chart, x, y);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		double mark = svg->chart->series.items[i].mark;

		y[0] = isfinite(mark) ? fmin(y[0], mark) : y[0];
		y[1] = isfinite(mark) ? fmax(y[1], mark) : y[1];
	}
	if (from_zero)
		y[0] = fmin(y[0], 0);
	svg->y = field_y(y);
	svg->y.from = top + FIELD_HEIGHT;
	svg->y.to = top;
	/* Runs are whole: half of one on either side keeps dots off the edge. */
	svg->x = svg_scale_linear(x[0] - (whole_x ? 0.5 : 0), x[1] + (whole_x ? 0.5 : 0),
				  SVG_X_TICKS, whole_x, false);
	svg->x.from = SVG_LEFT;
	svg->x.to = SVG_RIGHT;
	svg_y_axis(svg);
	svg_x_axis(svg, svg->y.from);
}

/* ---- dots ---------------------------------------------------------------------------------------
 */

static void dots_value(char buf[128], const struct chart *chart, size_t series)
{
	double median = chart->series.items[series].mark;
	char number[64];

	if (!isfinite(median))
		return;
	svg_number(number, &chart->y, median);
	snprintf(buf, 128, "median %s", number);
}

static void dots_draw_series(const struct svg *svg, const struct chart_series *series)
{
	if (isfinite(series->mark)) {
		double at = svg_scale_at(&svg->y, series->mark);

		fprintf(svg->out,
			"<line class=\"l k%zu\" x1=\"%g%%\" x2=\"%g%%\" y1=\"%.5g\" "
			"y2=\"%.5g\"/>\n",
			series->look % SVG_DASHES, SVG_LEFT, SVG_RIGHT, at, at);
	}
	for (size_t i = 0; i < series->points.n; i++) {
		const struct chart_point *point = &series->points.items[i];
		char x[64], y[64], *title;

		if (!svg_is_point(point))
			continue;
		svg_number(x, &svg->chart->x, point->x);
		svg_number(y, &svg->chart->y, point->y);
		title = mem_printf("%s %s: %s", svg->chart->x.title, x, y);
		svg_mark(svg, series->look, svg_scale_at(&svg->x, point->x), 0,
			 svg_scale_at(&svg->y, point->y), title);
		free(title);
	}
}

static void dots_draw(struct svg *svg)
{
	svg_legend(svg, 0, false, dots_value);
	field_begin(svg, false, true);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		const struct chart_series *series = &svg->chart->series.items[i];

		fprintf(svg->out, "<g class=\"s%zu f\">\n", series->look % SVG_COLOURS);
		dots_draw_series(svg, series);
		fputs("</g>\n", svg->out);
	}
}

const struct svg_kind svg_dots = {
	field_height,
	dots_draw,
	"A dot for each run, in the order of the runs, and a line at the median.",
};

/* ---- stairs -------------------------------------------------------------------------------------
 */

static void stairs_value(char buf[128], const struct chart *chart, size_t series)
{
	const struct chart_series *s = &chart->series.items[series];
	char number[64];

	if (!s->points.n)
		return;
	svg_number(number, &chart->y, s->points.items[s->points.n - 1].y);
	snprintf(buf, 128, "%s in all", number);
}

/* The height at the end of each step: up until a point's x its y is not reached yet. */
static void stairs_draw_series(const struct svg *svg, const struct chart_series *series)
{
	double last_x = NAN, last_y = NAN;

	fputs("<path d=\"", svg->out);
	for (size_t i = 0; i < series->points.n; i++) {
		const struct chart_point *point = &series->points.items[i];
		double x = rint(SVG_UNITS(svg_scale_at(&svg->x, point->x)));
		double y = rint(svg_scale_at(&svg->y, point->y) * 10) / 10;

		if (!svg_is_point(point))
			continue;
		if (isnan(last_x))
			fprintf(svg->out, "M%.5g %.5g", x, y);
		else if (x > last_x)
			fprintf(svg->out, "H%.5g", x);
		if (y < last_y || y > last_y)
			fprintf(svg->out, "V%.5g", y);
		last_x = x;
		last_y = y;
	}
	fputs("\"/>", svg->out);
}

static void stairs_draw(struct svg *svg)
{
	svg_legend(svg, 0, true, stairs_value);
	field_begin(svg, true, false);
	svg_begin_field(svg, svg->y.from);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		const struct chart_series *series = &svg->chart->series.items[i];

		fprintf(svg->out, "<g class=\"s%zu l k%zu\">", series->look % SVG_COLOURS,
			series->look % SVG_DASHES);
		stairs_draw_series(svg, series);
		fputs("</g>\n", svg->out);
	}
	svg_end_field(svg);
}

const struct svg_kind svg_stairs = {
	field_height,
	stairs_draw,
	"What has been used up until each moment, a line for each.",
};
