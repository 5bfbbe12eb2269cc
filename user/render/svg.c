/* A chart as a picture: its frame, and what all kinds share. */
#include "render/svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "render/html.h"
#include "render/text.h"

static const struct svg_kind *const svg_kinds[] = {
	[CHART_DOTS] = &svg_dots,	[CHART_STAIRS] = &svg_stairs,
	[CHART_STRIP] = &svg_strip,	[CHART_LANES] = &svg_lanes,
	[CHART_BARS] = &svg_bars,	[CHART_WATERFALL] = &svg_waterfall,
	[CHART_COLUMNS] = &svg_columns, [CHART_GRAPH] = &svg_graph,
	[CHART_FLAME] = &svg_flame,
};

void svg_number(char buf[64], const struct chart_axis *axis, double value)
{
	struct cell cell = {.kind = axis->kind, .decimals = axis->decimals, .number = value};
	char *text = text_of_cell(&cell);

	snprintf(buf, 64, "%s", text);
	free(text);
}

bool svg_range(const struct chart *chart, double ret_x[2], double ret_y[2])
{
	double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};

	for (size_t i = 0; i < chart->series.n; i++) {
		const struct chart_series *series = &chart->series.items[i];

		for (size_t j = 0; j < series->points.n; j++) {
			const struct chart_point *point = &series->points.items[j];

			if (!svg_is_point(point))
				continue;
			x[0] = fmin(x[0], point->x);
			x[1] = fmax(x[1], point->x);
			y[0] = fmin(y[0], point->y);
			y[1] = fmax(y[1], point->y);
		}
	}
	if (!(x[0] <= x[1]))
		return false;
	for (size_t i = 0; i < 2; i++) {
		ret_x[i] = x[i];
		ret_y[i] = y[i];
	}
	return true;
}

void svg_begin_field(const struct svg *svg, double height)
{
	fprintf(svg->out,
		"<svg x=\"0\" y=\"0\" width=\"100%%\" height=\"%.5g\" viewBox=\"0 0 1000 %.5g\" "
		"preserveAspectRatio=\"none\">\n",
		height, height);
}

void svg_end_field(const struct svg *svg)
{
	fputs("</svg>\n", svg->out);
}

/* ---- shapes -------------------------------------------------------------------------------------
 */

/* Around 0,0, about as much ink in each; the last is drawn as a line. */
static const char *const svg_shapes[] = {
	"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
	"M-3.5-3.5h7v7h-7z",
	"M0-5L5 0L0 5L-5 0z",
	"M0-4.6L4.6 3.6H-4.6z",
	"M0 4.6L4.6-3.6H-4.6z",
	"M-1.3-4.5h2.6v3.2h3.2v2.6h-3.2v3.2h-2.6v-3.2h-3.2v-2.6h3.2z",
};
/* Not a multiple of the number of colours, so that the second round of colours has new shapes. */
#define SVG_SHAPES (sizeof(svg_shapes) / sizeof(*svg_shapes))

static size_t svg_shape_of(size_t look)
{
	return (look + look / SVG_COLOURS) % SVG_SHAPES;
}

static void svg_define_shapes(const struct svg *svg)
{
	size_t n = 0;

	for (size_t i = 0; i < svg->chart->series.n; i++) {
		size_t shape = svg_shape_of(svg->chart->series.items[i].look);

		n = shape + 1 > n ? shape + 1 : n;
	}
	fputs("<defs>", svg->out);
	for (size_t i = 0; i < n; i++)
		fprintf(svg->out, "<path id=\"c%zum%zu\" d=\"%s\"/>", svg->number, i,
			svg_shapes[i]);
	fputs("</defs>\n", svg->out);
}

void svg_mark(const struct svg *svg, size_t look, double x, double dx, double y,
	      const char *title_or_null)
{
	fprintf(svg->out, "<use href=\"#c%zum%zu\" x=\"%.4g%%\" y=\"%.4g\"", svg->number,
		svg_shape_of(look), x, y);
	if (dx > 0)
		fprintf(svg->out, " transform=\"translate(%.4g)\"", dx);
	if (!title_or_null) {
		fputs("/>\n", svg->out);
		return;
	}
	fputs("><title>", svg->out);
	html_text(svg->out, title_or_null);
	fputs("</title></use>\n", svg->out);
}

/* ---- the whole picture --------------------------------------------------------------------------
 */

/* Series beyond which a description only counts them. */
#define SVG_DESCRIBED 6

/* What cannot be seen in words: "A dot for each run … zig: 60 points from 7.45 to 8.63; …" */
static void svg_describe(const struct svg *svg, const char *meaning)
{
	const struct chart *chart = svg->chart;

	fprintf(svg->out, "<desc id=\"c%zud\">%s", svg->number, meaning);
	if (*chart->y.title) {
		fputs(" In ", svg->out);
		html_text(svg->out, chart->y.title);
		fputs(".", svg->out);
	}
	for (size_t i = 0; i < chart->series.n && i < SVG_DESCRIBED; i++) {
		struct chart one = *chart;
		double x[2], y[2];
		char low[64], high[64];

		one.series.items += i;
		one.series.n = 1;
		if (!svg_range(&one, x, y))
			continue;
		svg_number(low, &chart->y, y[0]);
		svg_number(high, &chart->y, y[1]);
		fputc(' ', svg->out);
		html_text(svg->out, chart->series.items[i].name);
		if (chart->kind == CHART_LANES)
			fprintf(svg->out, ": %zu.", chart->series.items[i].points.n);
		else
			fprintf(svg->out, ": from %s to %s.", low, high);
	}
	if (chart->series.n > SVG_DESCRIBED)
		fprintf(svg->out, " And %zu more.", chart->series.n - SVG_DESCRIBED);
	fputs(" The table below has the figures.</desc>\n", svg->out);
}

/* A stray link of a damaged graph has no end to be drawn at. */
static bool svg_has_data(const struct chart *chart)
{
	double x[2], y[2];

	if (chart->kind == CHART_FLAME)
		return chart->boxes.n && isfinite(chart->boxes.items[0].width) &&
		       chart->boxes.items[0].width > 0;
	if (chart->kind != CHART_GRAPH)
		return svg_range(chart, x, y);
	for (size_t i = 0; i < chart->links.n; i++) {
		if (chart->links.items[i].from < chart->nodes.n &&
		    chart->links.items[i].to < chart->nodes.n)
			return true;
	}
	return false;
}

bool svg_chart(FILE *out, const struct chart *chart, size_t number)
{
	const struct svg_kind *kind = svg_kinds[chart->kind];
	struct svg svg = {.out = out, .chart = chart, .number = number};
	double height;

	if (!svg_has_data(chart))
		return false;
	height = kind->height(chart);
	fprintf(out,
		"<svg class=\"chart\" role=\"img\" aria-labelledby=\"c%zut\" "
		"aria-describedby=\"c%zud\" "
		"width=\"100%%\" height=\"%.5g\">\n<title id=\"c%zut\">",
		number, number, height, number);
	html_text(out, chart->title);
	fputs("</title>\n", out);
	svg_describe(&svg, kind->meaning);
	if (chart->kind == CHART_DOTS)
		svg_define_shapes(&svg);
	kind->draw(&svg);
	fputs("</svg>\n", out);
	return true;
}
