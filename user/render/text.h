/* Pieces of the text renderer. */
#ifndef WAKEWHY_RENDER_TEXT_H
#define WAKEWHY_RENDER_TEXT_H

#include "render/render.h"

/* Safe for a terminal; the caller frees. */
char *text_of_cell(const struct cell *cell);
/* Shortens safe text in place to at most `columns`, "…" included. The buffer that it is in must
 * have room for 4 bytes more than the text takes. */
void text_cut(char *text, size_t columns);

enum text_shade { TEXT_PLAIN, TEXT_STRONG, TEXT_FAINT, TEXT_GOOD, TEXT_BAD };
/* What switches a shade on, and what switches it off again; "" without colour. */
const char *text_shade_on(const struct render_style *style, enum text_shade shade);
const char *text_shade_off(const struct render_style *style, enum text_shade shade);

/* Writes safe text, wrapped at spaces; a word longer than a line gets a line of its own. */
void text_render_prose(FILE *out, const char *text, const struct render_style *style);

/* Whether a chart is worth its lines here; only such a one may be written. */
bool text_shows_chart(const struct chart *chart, const struct render_style *style);
/* Writes its title and a picture of it, or its table where there is no picture in text. */
void text_render_chart(FILE *out, const struct chart *chart, const struct render_style *style);

/* Writes one table. Errors stay in the stream, as with fputs. */
void text_render_table(FILE *out, const struct table *table, const struct render_style *style);

#endif
