/* Pieces of the HTML renderer. Errors stay in the stream, as with fputs. */
#ifndef WAKEWHY_RENDER_HTML_H
#define WAKEWHY_RENDER_HTML_H

#include "render/render.h"

/* Writes text from anywhere as text of a document or as the value of a quoted attribute: what a
 * terminal could act on is shown as an escape (text_safe), what HTML could act on as a character
 * reference. Nothing that was not written in this room reaches a page by another way. NULL:
 * nothing. */
void html_text(FILE *out, const char *text);
/* The first n bytes of text. */
void html_text_bytes(FILE *out, const char *text, size_t n);

/* How a table stands in the page. */
enum html_table_place {
	HTML_TABLE_OPEN,   /* by itself, its title as caption */
	HTML_TABLE_FOLDED, /* below a picture of the same figures, which has said the title */
};

/* Writes a table in a box of its own that scrolls where the page is too narrow. what names the box
 * where the table has no title. Nothing for a table without columns. */
void html_table(FILE *out, const struct table *table, enum html_table_place place,
		const char *what);

/* One cell as text of the page. */
void html_cell_text(FILE *out, const struct cell *cell);

/* Adds the verdicts of each workload to an empty report, to be freed: nothing where nothing can be
 * told. */
void html_short_build(struct report *verdicts, const struct result *result);
/* Writes them as the section "In short"; nothing where there are none. */
void html_short(FILE *out, const struct report *verdicts);

/* The style sheet (page.css). */
extern const char html_style[];

#endif
