/* Charts as SVG, to stand in a page (page.css has the colours).
 *
 * Pictures are as wide as there is room: x is in per cent of the width, y and all text in pixels,
 * so that letters have one size on a phone and on a desk. What has many corners is a path in a
 * field of its own, 1,000 units wide, that is stretched to the same width. */
#ifndef WAKEWHY_RENDER_SVG_H
#define WAKEWHY_RENDER_SVG_H

#include "render/render.h"

/* ---- scales (svg_scale.c) -----------------------------------------------------------------------
 */

/* Maps what lies from low to high to the places from … to; what lies outside goes to the nearer
 * end. Ticks are at multiples of 1, 2 or 5 times a power of ten. */
struct svg_scale {
	double low, high; /* low < high; both above 0 where logarithmic */
	double from, to;
	double step; /* between ticks; of a logarithmic one decades, 0: 1, 2 and 5 in each */
	bool logarithmic;
};

#define SVG_TICKS 16 /* more than any scale has */

/* Steps on an axis of x: labels of five or six letters have room on a phone. */
#define SVG_X_TICKS 5

/* A linear scale for values from low to high with at most `most` steps between ticks (2 to 10).
 * whole: values are counts, ticks whole numbers. round: low and high are moved out to ticks. */
struct svg_scale svg_scale_linear(double low, double high, size_t most, bool whole, bool round);
/* A logarithmic one; values of 0 and below are at its low end. */
struct svg_scale svg_scale_logarithmic(double low, double high, size_t most, bool round);
double svg_scale_at(const struct svg_scale *scale, double value);
size_t svg_scale_ticks(const struct svg_scale *scale, double ret_ticks[SVG_TICKS]);
/* How a tick is labelled: short, for there is little room: "0.5", "20 k", "50 ms". */
#define SVG_TICK_BYTES 32
const char *svg_tick_text(char buf[SVG_TICK_BYTES], const struct svg_scale *scale,
			  const struct chart_axis *axis, double value);

/* ---- text (svg_text.c) --------------------------------------------------------------------------
 */

/* Pixels that safe text takes at most, in letters of `size` pixels, whatever common font it is in.
 */
double svg_text_width(const char *safe, double size);
/* Shortens safe text in place to at most `width` pixels, "…" included. Its buffer must have room
 * for 4 bytes more than the text takes. */
void svg_text_cut(char *safe, double width, double size);

/* Where a line of text stands. */
struct svg_spot {
	double x;	    /* per cent of the width */
	double dx, y;	    /* pixels; y of the foot of the letters */
	const char *anchor; /* "start", "middle", "end" */
	const char *classes;
	/* Room for it on the narrowest screen and on a wide one, in pixels; 0: it is short. What
	 * has no room in the one and more in the other is written twice, and the style sheet shows
	 * one. */
	double narrow, wide;
	const char *after; /* figures that follow the text and are never cut; NULL: none */
};

#define SVG_LETTERS 12.0 /* height of all text in pixels */
#define SVG_NARROW  322.0 /* a screen of 360 pixels without its margins */
#define SVG_WIDE    640.0

void svg_text(FILE *out, const struct svg_spot *spot, const char *text);

/* ---- pieces of pictures (svg.c, svg_axes.c) -----------------------------------------------------
 */

/* A picture under way. */
struct svg {
	FILE *out;
	const struct chart *chart;
	size_t number;	    /* of the chart in its page: makes ids its own */
	struct svg_scale x; /* to per cent */
	struct svg_scale y; /* to pixels from the top, low at the bottom */
};

/* Where fields with an axis of y begin and end, in per cent. */
#define SVG_LEFT  13.0
#define SVG_RIGHT 95.0

/* Units of a stretched field for a place in per cent. */
#define SVG_UNITS(percent) ((percent)*10.0)

/* Colours, dashes and shapes repeat after so many looks; a colour comes with another shape then.
 */
#define SVG_COLOURS 6
#define SVG_DASHES  5

/* Begins and ends a field for paths, over the whole width and height. */
void svg_begin_field(const struct svg *svg, double height);
void svg_end_field(const struct svg *svg);

/* Ticks of y with lines across, and the axis's title above. */
void svg_y_axis(const struct svg *svg);
/* Ticks of x at the foot y, its title below: SVG_X_AXIS pixels. */
void svg_x_axis(const struct svg *svg, double y);
#define SVG_X_AXIS 38.0

/* Which series is which, in one or two columns from `y` on; value (may be NULL) writes more about
 * one into buf. Returns its height. */
typedef void svg_value(char buf[128], const struct chart *chart, size_t series);
double svg_legend_height(const struct chart *chart, svg_value *value);
void svg_legend(const struct svg *svg, double y, bool lines, svg_value *value);
/* The shape of a look, its middle at x per cent and y pixels. title_or_null is shown on hovering.
 */
void svg_mark(const struct svg *svg, size_t look, double x, double dx, double y,
	      const char *title_or_null);
/* A number as the axis shows it, with its digits, into buf. */
void svg_number(char buf[64], const struct chart_axis *axis, double value);

/* The finite range of all x, all y, over all series; false: there is no finite point. */
bool svg_range(const struct chart *chart, double ret_x[2], double ret_y[2]);
static inline bool svg_is_point(const struct chart_point *point)
{
	return point->x - point->x == 0 && point->y - point->y == 0;
}

/* ---- kinds of charts ----------------------------------------------------------------------------
 */

/* How a kind is drawn: its height in pixels, which depends on how much there is, then itself. */
struct svg_kind {
	double (*height)(const struct chart *chart);
	void (*draw)(struct svg *svg);
	const char *meaning; /* what is drawn, for those who do not see it */
};

extern const struct svg_kind svg_dots, svg_stairs, svg_strip, svg_lanes, svg_bars, svg_waterfall,
	svg_columns, svg_graph, svg_flame;

/* Writes the picture of a chart. False, and nothing written, where there is nothing to draw. */
bool svg_chart(FILE *out, const struct chart *chart, size_t number);

#endif
