/* What surrounds the figures of a picture: axes with their ticks, and which series is which. */
#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "render/svg.h"

#define LEGEND_ROW  20.0
#define LEGEND_MARK 26.0 /* the mark or line before a name */
/* Names with their figures up to this many pixels stand two in a row. */
#define LEGEND_HALF (SVG_NARROW / 2 - LEGEND_MARK)

void svg_y_axis(const struct svg *svg)
{
	const struct svg_scale *y = &svg->y;
	double ticks[SVG_TICKS], top = fmin(y->from, y->to);
	size_t n = svg_scale_ticks(y, ticks);
	struct svg_spot title = {
		.y = top - 9, .classes = "ax", .narrow = SVG_NARROW, .wide = SVG_WIDE};
	struct strbuf text = {0};
	char buf[SVG_TICK_BYTES];

	for (size_t i = 0; i < n; i++) {
		double at = svg_scale_at(y, ticks[i]);
		struct svg_spot spot = {SVG_LEFT, -6, at + 4, "end", "ax", 0, 0};

		fprintf(svg->out,
			"<line class=\"%s\" x1=\"%g%%\" x2=\"%g%%\" y1=\"%.5g\" y2=\"%.5g\"/>\n",
			i || y->low > 0 ? "grid" : "base", SVG_LEFT, SVG_RIGHT, at, at);
		svg_text(svg->out, &spot, svg_tick_text(buf, y, &svg->chart->y, ticks[i]));
	}
	strbuf_add(&text, svg->chart->y.title);
	if (y->low > 0 && !y->logarithmic)
		strbuf_printf(&text, " (axis begins at %s)",
			      svg_tick_text(buf, y, &svg->chart->y, y->low));
	if (text.n)
		svg_text(svg->out, &title, strbuf_text(&text));
	strbuf_free_members(&text);
}

/* A label in the middle of its tick, unless the edge of the picture would cut it on a phone. */
static void axis_x_label(const struct svg *svg, double at, double y, const char *text)
{
	double half = svg_text_width(text, SVG_LETTERS) / 2;
	struct svg_spot spot = {at, 0, y + 18, "middle", "ax", 0, 0};

	if (half > SVG_NARROW * (100 - at) / 100)
		spot.anchor = "end";
	else if (half > SVG_NARROW * at / 100)
		spot.anchor = "start";
	svg_text(svg->out, &spot, text);
}

void svg_x_axis(const struct svg *svg, double y)
{
	const struct svg_scale *x = &svg->x;
	double ticks[SVG_TICKS];
	size_t n = svg_scale_ticks(x, ticks);
	struct svg_spot title = {x->to, 0, y + 34, "end", "ax", SVG_NARROW, SVG_WIDE};
	char buf[SVG_TICK_BYTES];

	fprintf(svg->out,
		"<line class=\"base\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"%.5g\" y2=\"%.5g\"/>\n",
		x->from, x->to, y, y);
	for (size_t i = 0; i < n; i++) {
		double at = svg_scale_at(x, ticks[i]);

		fprintf(svg->out,
			"<line class=\"base\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"%.5g\" "
			"y2=\"%.5g\"/>\n",
			at, at, y, y + 4);
		axis_x_label(svg, at, y, svg_tick_text(buf, x, &svg->chart->x, ticks[i]));
	}
	if (*svg->chart->x.title)
		svg_text(svg->out, &title, svg->chart->x.title);
}

/* What follows a series' name: ": median 10.60", or nothing. */
static void legend_after(char buf[160], const struct chart *chart, size_t series, svg_value *value)
{
	char more[128] = "";

	if (value)
		value(more, chart, series);
	snprintf(buf, 160, "%s%s", *more ? ": " : "", more);
}

static size_t legend_columns(const struct chart *chart, svg_value *value)
{
	for (size_t i = 0; i < chart->series.n; i++) {
		char after[160];

		legend_after(after, chart, i, value);
		if (svg_text_width(chart->series.items[i].name, SVG_LETTERS) +
			    svg_text_width(after, SVG_LETTERS) >
		    LEGEND_HALF)
			return 1;
	}
	return 2;
}

double svg_legend_height(const struct chart *chart, svg_value *value)
{
	size_t columns = legend_columns(chart, value);

	return LEGEND_ROW * (double)((chart->series.n + columns - 1) / columns);
}

void svg_legend(const struct svg *svg, double y, bool lines, svg_value *value)
{
	size_t columns = legend_columns(svg->chart, value);

	for (size_t i = 0; i < svg->chart->series.n; i++) {
		double x = columns == 2 && i % 2 ? 50 : 0;
		double at = y + LEGEND_ROW * (double)(i / columns) + 9;
		size_t look = svg->chart->series.items[i].look;
		char after[160];
		struct svg_spot spot = {
			.x = x,
			.dx = LEGEND_MARK,
			.y = at + 4,
			.narrow = SVG_NARROW / (double)columns - LEGEND_MARK,
			.wide = SVG_WIDE / (double)columns - LEGEND_MARK,
			.after = after,
		};

		legend_after(after, svg->chart, i, value);
		fprintf(svg->out, "<g class=\"s%zu %s%zu\">", look % SVG_COLOURS,
			lines ? "l k" : "f k", look % SVG_DASHES);
		/* x of a line is in per cent alone, so it is moved as a whole. */
		if (lines)
			fprintf(svg->out,
				"<svg x=\"%g%%\" y=\"%.5g\" width=\"22\" height=\"4\">"
				"<path d=\"M0 2h22\"/></svg>",
				x, at - 2);
		else
			svg_mark(svg, look, x, 9, at, NULL);
		fputs("</g>\n", svg->out);
		svg_text(svg->out, &spot, svg->chart->series.items[i].name);
	}
}
