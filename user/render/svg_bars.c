/* Named bars, one below the other: each from 0, or each from where the one before it ended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/svg.h"

#define BAR_TOP	   22.0 /* title of y */
#define BAR_PITCH  40.0
#define BAR_TEXT   14.0 /* foot of the name below the row's top */
#define BAR_BAR	   20.0 /* top of the bar */
#define BAR_HEIGHT 12.0
#define BAR_INDENT 5.0 /* for each space that a name begins with: a tree */
/* Where bars may lie: beyond, their figures stand. */
#define BAR_LEFT  1.0
#define BAR_RIGHT 78.0
#define BAR_BELOW 22.0 /* instead of BAR_LEFT where some go left of 0 */

static const struct chart_series *bars_series(const struct chart *chart)
{
	return &chart->series.items[0];
}

static double bars_height(const struct chart *chart)
{
	return BAR_TOP + BAR_PITCH * (double)(chart->series.n ? bars_series(chart)->points.n : 0);
}

static double bars_value(const struct chart_series *series, size_t i)
{
	return svg_is_point(&series->points.items[i]) ? series->points.items[i].y : 0;
}

/* A bar's two ends, as values. */
struct bar {
	double begin, end;
	bool total; /* of a waterfall: where it starts from, what it comes to */
};

static struct bar bars_next(const struct svg *svg, size_t i, double *sum)
{
	const struct chart_series *series = bars_series(svg->chart);
	double value = bars_value(series, i);
	struct bar bar = {0, value, false};

	if (svg->chart->kind != CHART_WATERFALL)
		return bar;
	bar.total = i == 0 || i + 1 == series->points.n;
	if (!bar.total) {
		bar.begin = *sum;
		bar.end = *sum + value;
	}
	*sum = bar.end;
	return bar;
}

static void bars_scale(struct svg *svg)
{
	const struct chart_series *series = bars_series(svg->chart);
	double low = 0, high = 0, sum = 0;

	for (size_t i = 0; i < series->points.n; i++) {
		struct bar bar = bars_next(svg, i, &sum);

		low = fmin(low, bar.end);
		high = fmax(high, bar.end);
	}
	svg->x = svg_scale_linear(low, high, 5, false, false);
	svg->x.from = low < 0 ? BAR_BELOW : BAR_LEFT;
	svg->x.to = BAR_RIGHT;
}

static void bars_draw_name(const struct svg *svg, const char *name, double top)
{
	size_t spaces = strspn(name, " ");
	double in = BAR_INDENT * (double)(spaces < 24 ? spaces : 24);
	struct svg_spot spot = {BAR_LEFT,	 in,	       top + BAR_TEXT, "start", "nm",
				SVG_NARROW - in, SVG_WIDE - in};

	svg_text(svg->out, &spot, name + spaces);
}

/* At the bar's end, on the side that it points to. Changes carry their sign. */
static void bars_draw_figure(const struct svg *svg, const struct bar *bar, double top)
{
	bool change = svg->chart->kind == CHART_WATERFALL && !bar->total;
	bool left = bar->end < bar->begin && !change;
	double value = bar->end - bar->begin;
	double at = svg_scale_at(&svg->x, left ? bar->end : fmax(bar->begin, bar->end));
	struct svg_spot spot = {
		at, left ? -6 : 6, top + BAR_BAR + 10, left ? "end" : "start", "fg", 0, 0};
	char number[64], text[80];

	svg_number(number, &svg->chart->y, value);
	snprintf(text, sizeof(text), "%s%s", change && value > 0 && *number != '<' ? "+" : "",
		 number);
	svg_text(svg->out, &spot, text);
}

static const char *bars_class(const struct svg *svg, const struct bar *bar)
{
	if (svg->chart->kind != CHART_WATERFALL)
		return bar->end < 0 ? "s1 f" : "s0 f";
	if (bar->total)
		return "sum f";
	return bar->end < bar->begin ? "s0 f" : "s1 f";
}

static void bars_draw_row(const struct svg *svg, size_t i, const struct bar *bar)
{
	double top = BAR_TOP + BAR_PITCH * (double)i;
	double begin = svg_scale_at(&svg->x, fmin(bar->begin, bar->end));
	double end = svg_scale_at(&svg->x, fmax(bar->begin, bar->end));
	double zero = svg_scale_at(&svg->x, 0);

	bars_draw_name(svg,
		       bars_series(svg->chart)->points.items[i].name
			       ? bars_series(svg->chart)->points.items[i].name
			       : "",
		       top);
	/* What is there is seen, however small. */
	if (end > begin)
		fprintf(svg->out,
			"<rect class=\"%s\" x=\"%.4g%%\" y=\"%.5g\" width=\"%.4g%%\" "
			"height=\"%g\"/>\n",
			bars_class(svg, bar), begin, top + BAR_BAR, fmax(end - begin, 0.2),
			BAR_HEIGHT);
	bars_draw_figure(svg, bar, top);
	/* Where bars stand; changes of a waterfall stand on one another. */
	if (svg->chart->kind != CHART_WATERFALL || bar->total)
		fprintf(svg->out,
			"<line class=\"base\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"%.5g\" "
			"y2=\"%.5g\"/>\n",
			zero, zero, top + BAR_BAR - 2, top + BAR_BAR + BAR_HEIGHT + 2);
}

static void bars_draw(struct svg *svg)
{
	const struct chart_series *series = bars_series(svg->chart);
	struct svg_spot title = {BAR_LEFT, 0, 12, "start", "ax", SVG_NARROW, SVG_WIDE};
	double sum = 0;

	bars_scale(svg);
	svg_text(svg->out, &title, svg->chart->y.title);
	for (size_t i = 0; i < series->points.n; i++) {
		struct bar bar = bars_next(svg, i, &sum);
		double top = BAR_TOP + BAR_PITCH * (double)i + BAR_BAR;

		bars_draw_row(svg, i, &bar);
		/* A thread from each end to the next beginning. */
		if (svg->chart->kind == CHART_WATERFALL && i + 1 < series->points.n)
			fprintf(svg->out,
				"<line class=\"grid\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"%.5g\" "
				"y2=\"%.5g\"/>\n",
				svg_scale_at(&svg->x, bar.end), svg_scale_at(&svg->x, bar.end),
				top + BAR_HEIGHT, top + BAR_PITCH);
	}
}

const struct svg_kind svg_bars = {
	bars_height,
	bars_draw,
	"A bar for each row.",
};

const struct svg_kind svg_waterfall = {
	bars_height,
	bars_draw,
	"From one total to another: each bar begins where the one before it ended.",
};
