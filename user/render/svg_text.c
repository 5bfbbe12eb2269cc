/* Text in pictures: it does not wrap there, so its width must be known before. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "render/html.h"
#include "render/svg.h"

/* Width of a letter in units of its height, from the widest of the common fonts without serifs
 * (Verdana and DejaVu Sans), rounded up: a reader's font may be any. */
static double text_letter(uint32_t code, size_t columns)
{
	if (columns != 1)
		return columns ? 1.1 : 0;
	if (code >= 0x80)
		return 1.0;
	if (strchr("mwMW@%", (char)code))
		return 1.08;
	if (strchr("fijlrtI.,:;'|!/- ()[]", (char)code))
		return 0.46;
	if ((code >= 'A' && code <= 'Z') || strchr("#&+<=>~", (char)code))
		return 0.83;
	return 0.64;
}

/* Reads one letter; returns its bytes. */
static size_t text_next(const char *text, size_t left, double *ret_width)
{
	char one[5] = "";
	uint32_t code = 0;
	size_t n = text_decode(text, left, &code);

	memcpy(one, text, n ? n : 1);
	*ret_width = text_letter(code, text_columns(one));
	return n ? n : 1;
}

double svg_text_width(const char *safe, double size)
{
	size_t left = strlen(safe);
	double width = 0;

	while (left) {
		double letter;
		size_t n = text_next(safe, left, &letter);

		width += letter * size;
		safe += n;
		left -= n;
	}
	return width;
}

void svg_text_cut(char *safe, double width, double size)
{
	size_t left = strlen(safe), keep = 0;
	double used = size; /* of the mark */

	if (svg_text_width(safe, size) <= width)
		return;
	while (left) {
		double letter;
		size_t n = text_next(safe + keep, left, &letter);

		used += letter * size;
		if (used > width)
			break;
		keep += n;
		left -= n;
	}
	memcpy(safe + keep, "…", sizeof("…"));
}

static void text_line(FILE *out, const struct svg_spot *spot, const char *screen, const char *text)
{
	fprintf(out, "<text x=\"%.4g%%\" y=\"%.5g\"", spot->x, spot->y);
	if (spot->dx < 0 || spot->dx > 0)
		fprintf(out, " dx=\"%.4g\"", spot->dx);
	if (spot->anchor && strcmp(spot->anchor, "start"))
		fprintf(out, " text-anchor=\"%s\"", spot->anchor);
	if (spot->classes || *screen)
		fprintf(out, " class=\"%s%s%s\"", spot->classes ? spot->classes : "",
			spot->classes && *screen ? " " : "", screen);
	fputc('>', out);
	html_text(out, text);
	fputs("</text>\n", out);
}

/* Safe text, cut to what `after` leaves of the width, and that. The caller frees. */
static char *text_fitted(const char *text, double width, const char *after)
{
	char *safe = text_safe(text ? text : ""), *whole;

	after = after ? after : "";
	safe = mem_realloc(safe, strlen(safe) + 5, 1);
	if (width > 0)
		svg_text_cut(safe, width - svg_text_width(after, SVG_LETTERS), SVG_LETTERS);
	whole = mem_printf("%s%s", safe, after);
	free(safe);
	return whole;
}

void svg_text(FILE *out, const struct svg_spot *spot, const char *text)
{
	char *narrow = text_fitted(text, spot->narrow, spot->after);
	char *wide = text_fitted(text, spot->wide, spot->after);

	if (!strcmp(narrow, wide)) {
		text_line(out, spot, "", wide);
	} else {
		text_line(out, spot, "nar", narrow);
		text_line(out, spot, "wid", wide);
	}
	free(narrow);
	free(wide);
}
