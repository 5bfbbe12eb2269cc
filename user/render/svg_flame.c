/* Boxes within boxes: each as wide as its share of the whole, what is inside of it below.
 *
 * Boxes are outlined in the colour of their kind, with dashes of its own, and tinted, so that the names in
 * them are as easy to read as elsewhere. A name without room is shown on hovering, with its figures. */
#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "render/html.h"
#include "render/svg.h"
#include "report/number.h"

#define FLAME_ROW    18.0
#define FLAME_TEXT   12.5 /* foot of the letters below a box's top */
#define FLAME_PAD    3.0
#define FLAME_LEAST  30.0 /* pixels that a name needs to be worth writing */
#define FLAME_LEGEND 20.0 /* a row of it; two stand side by side */
#define FLAME_GAP    8.0

static double flame_legend_height(const struct chart *chart)
{
	return FLAME_LEGEND * (double)((chart->series.n + 1) / 2) + FLAME_GAP;
}

static double flame_height(const struct chart *chart)
{
	size_t deepest = 0;

	for (size_t i = 0; i < chart->boxes.n; i++)
		if (chart->boxes.items[i].depth > deepest)
			deepest = chart->boxes.items[i].depth;
	return flame_legend_height(chart) + FLAME_ROW * ((double)deepest + 1) + 1;
}

static const char *flame_class(char buf[32], const struct chart *chart, size_t series)
{
	size_t look = series < chart->series.n ? chart->series.items[series].look : SIZE_MAX;

	if (look == SIZE_MAX)
		return "sum fb";
	snprintf(buf, 32, "s%zu fb k%zu", look % SVG_COLOURS, look % SVG_DASHES);
	return buf;
}

static void flame_draw_legend(const struct svg *svg)
{
	for (size_t i = 0; i < svg->chart->series.n; i++) {
		double x = i % 2 ? 50 : 0, y = FLAME_LEGEND * (double)(i / 2);
		struct svg_spot spot = {
			.x = x, .dx = 22, .y = y + 12, .narrow = SVG_NARROW / 2 - 22,
			.wide = SVG_WIDE / 2 - 22};
		char buf[32];

		fprintf(svg->out,
			"<rect class=\"%s\" x=\"%g%%\" y=\"%.5g\" width=\"16\" height=\"12\" "
			"transform=\"translate(1)\"/>\n",
			flame_class(buf, svg->chart, i), x, y + 2);
		svg_text(svg->out, &spot, svg->chart->series.items[i].name);
	}
}

/* "uv_cond_wait: 1,204 wakeups, 31 % (library)" */
static void flame_draw_title(const struct svg *svg, const struct chart_box *box, double whole)
{
	char number[64], share[NUMBER_BYTES];

	svg_number(number, &svg->chart->y, box->width);
	fputs("<title>", svg->out);
	html_text(svg->out, box->name);
	fprintf(svg->out, ": %s ", number);
	html_text(svg->out, svg->chart->y.title);
	fprintf(svg->out, ", %s", number_share(share, box->width / whole));
	if (box->series < svg->chart->series.n) {
		fputs(" (", svg->out);
		html_text(svg->out, svg->chart->series.items[box->series].name);
		fputs(")", svg->out);
	}
	fputs("</title>", svg->out);
}

static void flame_draw_name(const struct svg *svg, const struct chart_box *box, double x,
			    double width, double top)
{
	double narrow = width / 100 * SVG_NARROW - 2 * FLAME_PAD;
	double wide = width / 100 * SVG_WIDE - 2 * FLAME_PAD;
	struct svg_spot spot = {
		.x = x, .dx = FLAME_PAD, .y = top + FLAME_TEXT, .narrow = narrow, .wide = wide};

	if (wide < FLAME_LEAST)
		return;
	if (narrow < FLAME_LEAST) { /* only where there is more room */
		spot.narrow = wide;
		spot.classes = "wid";
	}
	svg_text(svg->out, &spot, box->name);
}

static void flame_draw_box(const struct svg *svg, const struct chart_box *box, double whole,
			   double above)
{
	double x = box->begin / whole * 100, width = box->width / whole * 100;
	double top = above + FLAME_ROW * (double)box->depth;
	char buf[32];

	fprintf(svg->out,
		"<rect class=\"%s\" x=\"%.5g%%\" y=\"%.5g\" width=\"%.4g%%\" height=\"%g\">",
		flame_class(buf, svg->chart, box->series), x, top, width, FLAME_ROW - 1);
	flame_draw_title(svg, box, whole);
	fputs("</rect>\n", svg->out);
	flame_draw_name(svg, box, x, width, top);
}

static void flame_draw(struct svg *svg)
{
	const struct chart *chart = svg->chart;
	double whole = chart->boxes.n ? chart->boxes.items[0].width : 0;
	double above = flame_legend_height(chart);

	flame_draw_legend(svg);
	for (size_t i = 0; i < chart->boxes.n; i++) {
		const struct chart_box *box = &chart->boxes.items[i];

		if (box->begin >= 0 && box->width > 0 && box->begin + box->width <= whole * 1.000001)
			flame_draw_box(svg, box, whole, above);
	}
}

const struct svg_kind svg_flame = {
	flame_height,
	flame_draw,
	"A box for each function, as wide as its share; what it called stands below it.",
};
