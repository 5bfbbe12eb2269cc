/* A time line for each thread and cause, with a tick at each wake. */
#include <math.h>
#include <stdlib.h>

#include "render/svg.h"

#define LANE_TOP   4.0
#define LANE_PITCH 42.0
#define LANE_TEXT  14.0 /* foot of the letters below a lane's top */
#define LANE_LINE  20.0 /* top of the ticks */
#define LANE_TICK  14.0
/* Names have their own line, so the time axis may have the whole width. */
#define LANE_LEFT  1.0
#define LANE_RIGHT 98.5

static double lanes_height(const struct chart *chart)
{
	return LANE_TOP + LANE_PITCH * (double)chart->series.n + SVG_X_AXIS;
}

static size_t lanes_count(const struct chart_series *series)
{
	size_t n = 0;

	for (size_t i = 0; i < series->points.n; i++)
		n += svg_is_point(&series->points.items[i]);
	return n;
}

/* Ticks that fall on one unit of the field are one: a lane has a thousand at most. */
static void lanes_draw_ticks(const struct svg *svg, const struct chart_series *series, double top)
{
	double last = -1;

	fputs("<path d=\"", svg->out);
	for (size_t i = 0; i < series->points.n; i++) {
		double at = rint(SVG_UNITS(svg_scale_at(&svg->x, series->points.items[i].x)));

		if (!svg_is_point(&series->points.items[i]) || at == last)
			continue;
		fprintf(svg->out, "M%.4g %.4gv%g", at, top, LANE_TICK);
		last = at;
	}
	fputs("\"/>", svg->out);
}

static void lanes_draw_names(const struct svg *svg)
{
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		const struct chart_series *series = &svg->chart->series.items[i];
		double top = LANE_TOP + LANE_PITCH * (double)i, foot = top + LANE_LINE + LANE_TICK;
		struct svg_spot name = {LANE_LEFT, 0, top + LANE_TEXT, "start", "nm", 270, 560};
		struct svg_spot count = {LANE_RIGHT, 0, top + LANE_TEXT, "end", "ax", 0, 0};
		char number[64];

		fprintf(svg->out,
			"<line class=\"grid\" x1=\"%g%%\" x2=\"%g%%\" y1=\"%.5g\" y2=\"%.5g\"/>\n",
			LANE_LEFT, LANE_RIGHT, foot, foot);
		svg_text(svg->out, &name, series->name);
		svg_number(number, &(struct chart_axis){.kind = CELL_COUNT},
			   (double)lanes_count(series));
		svg_text(svg->out, &count, number);
	}
}

static void lanes_draw(struct svg *svg)
{
	double x[2] = {0}, y[2];
	double foot = LANE_TOP + LANE_PITCH * (double)svg->chart->series.n;

	svg_range(svg->chart, x, y);
	svg->x = svg_scale_linear(fmin(x[0], 0), x[1], SVG_X_TICKS, false, false);
	svg->x.from = LANE_LEFT;
	svg->x.to = LANE_RIGHT;
	lanes_draw_names(svg);
	svg_begin_field(svg, foot);
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		fprintf(svg->out, "<g class=\"s%zu l tk\">", i % SVG_COLOURS);
		lanes_draw_ticks(svg, &svg->chart->series.items[i],
				 LANE_TOP + LANE_PITCH * (double)i + LANE_LINE);
		fputs("</g>\n", svg->out);
	}
	svg_end_field(svg);
	svg_x_axis(svg, foot);
}

const struct svg_kind svg_lanes = {
	lanes_height,
	lanes_draw,
	"A line of time for each thread and cause, with a tick at each wake; their number:",
};
