/* Charts in text: which are drawn, and the pieces that all pictures share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/text_sketch.h"
#include "report/number.h"

/* Where the width is not known, and beyond which a picture says no more. */
#define SKETCH_COLUMNS	    80
#define SKETCH_MOST_COLUMNS 120
/* Narrower than this nothing can be told apart. */
#define SKETCH_LEAST_COLUMNS 40

/* ---- pieces ---------------------------------------------------------------------------------- */

/* What our own words hold beyond ASCII; anything else is a '?'. */
static const char *sketch_ascii_of(uint32_t code)
{
	switch (code) {
	case 0x00b1: /* ± */
		return "+-";
	case 0x00b5: /* µ */
		return "u";
	case 0x00b7: /* · */
	case 0x2013: /* – */
	case 0x2014: /* — */
		return "-";
	case 0x00d7: /* × */
		return "x";
	case 0x2026: /* … */
		return "...";
	case 0x2192: /* → */
		return "->";
	case 0x2514: /* └ */
		return "`";
	}
	return "?";
}

static char *sketch_ascii(const char *safe)
{
	size_t n = strlen(safe), at = 0;
	struct strbuf text = {0};

	while (at < n) {
		uint32_t code;
		size_t used = text_decode(safe + at, n - at, &code);

		if (used == 1)
			strbuf_add_char(&text, safe[at]);
		else
			strbuf_add(&text, used ? sketch_ascii_of(code) : "?");
		at += used ? used : 1;
	}
	return strbuf_take(&text);
}

char *sketch_text(const struct sketch *sketch, const char *text, size_t columns)
{
	char *safe = text_safe(text), *shown;

	if (!sketch->ascii) {
		safe = mem_realloc(safe, strlen(safe) + 5, 1);
		text_cut(safe, columns);
		return safe;
	}
	shown = sketch_ascii(safe);
	free(safe);
	if (strlen(shown) > columns) {
		shown[columns] = '\0';
		if (columns)
			shown[columns - 1] = '~';
	}
	return shown;
}

char *sketch_number(const struct sketch *sketch, const struct chart_axis *axis, double number)
{
	struct cell cell = {.kind = axis->kind, .decimals = axis->decimals, .number = number};
	char *text = text_of_cell(&cell), *shown = sketch_text(sketch, text, SIZE_MAX);

	free(text);
	return shown;
}

void sketch_add_padded(struct strbuf *line, const char *text, size_t columns)
{
	size_t used = text_columns(text);

	strbuf_add(line, text);
	if (used < columns)
		strbuf_add_repeated(line, ' ', columns - used);
}

void sketch_end_line(const struct sketch *sketch, struct strbuf *line)
{
	char *text;
	size_t n;

	text = sketch_text(sketch, strbuf_text(line), sketch->width);
	n = strlen(text);
	while (n && text[n - 1] == ' ')
		n--;
	fwrite(text, 1, n, sketch->out);
	fputc('\n', sketch->out);
	free(text);
	strbuf_clear(line);
}

void sketch_add_axis(const struct sketch *sketch, size_t indent, size_t columns, const char *from,
		     const char *words, const char *until)
{
	size_t ends = text_columns(from) + text_columns(until), middle = text_columns(words);
	size_t left = columns > ends ? columns - ends : 1;
	bool fits = middle + 4 <= left;
	struct strbuf line = {0};

	fputs(text_shade_on(sketch->style, TEXT_FAINT), sketch->out);
	strbuf_add_repeated(&line, ' ', indent);
	strbuf_add(&line, from);
	if (fits) {
		strbuf_add_repeated(&line, ' ', (left - middle) / 2);
		strbuf_add(&line, words);
		left -= (left - middle) / 2 + middle;
	}
	strbuf_add_repeated(&line, ' ', left);
	strbuf_add(&line, until);
	sketch_end_line(sketch, &line);
	if (!fits && middle) {
		sketch_add_padded(&line, "", sketch->width > middle + indent ? indent : 2);
		strbuf_add(&line, words);
		sketch_end_line(sketch, &line);
	}
	fputs(text_shade_off(sketch->style, TEXT_FAINT), sketch->out);
	strbuf_free_members(&line);
}

/* ---- charts ---------------------------------------------------------------------------------- */

static bool chart_has_points(const struct chart *chart)
{
	for (size_t i = 0; i < chart->series.n; i++)
		if (chart->series.items[i].points.n)
			return true;
	return false;
}

bool text_shows_chart(const struct chart *chart, const struct render_style *style)
{
	return chart->in_text && (chart_has_points(chart) || chart->links.n) &&
	       (!style->width || style->width >= SKETCH_LEAST_COLUMNS);
}

void text_render_chart(FILE *out, const struct chart *chart, const struct render_style *style)
{
	struct sketch sketch = {.out = out, .chart = chart, .style = style, .ascii = style->ascii};
	char *title = sketch_text(&sketch, chart->title, SIZE_MAX);

	sketch.width = style->width ? style->width : SKETCH_COLUMNS;
	if (sketch.width > SKETCH_MOST_COLUMNS)
		sketch.width = SKETCH_MOST_COLUMNS;
	fputs(text_shade_on(style, TEXT_STRONG), out);
	text_render_prose(out, title, style);
	fputs(text_shade_off(style, TEXT_STRONG), out);
	free(title);
	switch (chart->kind) {
	case CHART_DOTS:
		sketch_dots(&sketch);
		break;
	case CHART_STRIP:
		sketch_strip(&sketch);
		break;
	case CHART_STAIRS:
		sketch_stairs(&sketch);
		break;
	case CHART_BARS:
	case CHART_WATERFALL:
		sketch_bars(&sketch);
		break;
	case CHART_LANES:
	case CHART_COLUMNS:
	case CHART_GRAPH:
	case CHART_FLAME:
		text_render_table(out, &chart->table, style);
		break;
	}
}
