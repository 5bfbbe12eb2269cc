/* What the pictures of the text renderer share: the room there is, and the characters to use. */
#ifndef WAKEWHY_RENDER_TEXT_SKETCH_H
#define WAKEWHY_RENDER_TEXT_SKETCH_H

#include "base/strbuf.h"
#include "render/text.h"

/* A chart on its way to lines of text. */
struct sketch {
	FILE *out;
	const struct chart *chart;
	const struct render_style *style;
	bool ascii;
	size_t width; /* columns of a line */
};

/* Safe for a terminal, in ASCII where the sketch asks for it, cut to `columns`; the caller frees.
 */
char *sketch_text(const struct sketch *sketch, const char *text, size_t columns);
/* The number as its axis shows it; the caller frees. */
char *sketch_number(const struct sketch *sketch, const struct chart_axis *axis, double number);
/* Adds text and spaces up to `columns`; text that is longer stands as it is. */
void sketch_add_padded(struct strbuf *line, const char *text, size_t columns);
/* Writes the line, cut to the width, without spaces at its end, and empties it. */
void sketch_end_line(const struct sketch *sketch, struct strbuf *line);
/* The line below a picture: `from` at its left end, `until` at its right, `words` between them or,
 * where there is no room, below. */
void sketch_add_axis(const struct sketch *sketch, size_t indent, size_t columns, const char *from,
		     const char *words, const char *until);

/* One picture each: a chart with at least one point. */
void sketch_dots(const struct sketch *sketch);
void sketch_strip(const struct sketch *sketch);
void sketch_stairs(const struct sketch *sketch);
void sketch_bars(const struct sketch *sketch); /* CHART_BARS, CHART_WATERFALL */

#endif
