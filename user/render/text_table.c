/* A table as aligned text: columns measured, fitted to the terminal, folded where they do not fit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/text.h"

#define SHEET_INDENT	  2  /* of rows; titles stand at the margin */
#define SHEET_LEVEL	  2  /* of each depth of a tree */
#define SHEET_LEAST_TEXT  16 /* columns below which a text column is not worth its place */
#define SHEET_LEAST_WORDS 24 /* the same for words that figures follow */

/* The table as strings. Line 0 holds the heads. */
struct sheet {
	const struct table *table;
	size_t n_lines, n_columns;
	char **text;   /* n_lines × n_columns */
	size_t *width; /* of each column */
	size_t gap;
	bool title_apart; /* the title has a line of its own */
};

static char **sheet_at(const struct sheet *sheet, size_t line, size_t column)
{
	return &sheet->text[line * sheet->n_columns + column];
}

static size_t sheet_indent(const struct sheet *sheet, size_t line, size_t column)
{
	if (column)
		return 0;
	if (!line)
		return sheet->table->title && !sheet->title_apart ? 0 : SHEET_INDENT;
	return SHEET_INDENT + SHEET_LEVEL * (size_t)sheet->table->rows.items[line - 1].depth;
}

/* The last text of a row that has nothing to say in the columns beside it may reach over them: "… and 16
 * more that did not run", or words behind a name. */
static bool sheet_reaches(const struct sheet *sheet, size_t line, size_t column)
{
	return line && column < 2 && column + 1 < sheet->n_columns &&
	       (!column || sheet->table->columns.items[column].left) &&
	       sheet->table->rows.items[line - 1].cells.n == column + 1;
}

static void sheet_measure(struct sheet *sheet)
{
	for (size_t c = 0; c < sheet->n_columns; c++) {
		sheet->width[c] = 0;
		for (size_t l = 0; l < sheet->n_lines; l++) {
			size_t width =
				sheet_indent(sheet, l, c) + text_columns(*sheet_at(sheet, l, c));

			if (width > sheet->width[c] && !sheet_reaches(sheet, l, c))
				sheet->width[c] = width;
		}
	}
}

/* The title takes the place of the first head where it is not much longer than what is below. */
static void sheet_place_title(struct sheet *sheet)
{
	const struct table *table = sheet->table;
	char *title;

	sheet->title_apart = true;
	sheet_measure(sheet);
	if (!table->title || table->columns.items[0].title[0])
		return;
	title = text_safe(table->title);
	if (text_columns(title) > sheet->width[0] + 8) {
		free(title);
		return;
	}
	free(*sheet_at(sheet, 0, 0));
	*sheet_at(sheet, 0, 0) = title;
	sheet->title_apart = false;
	sheet_measure(sheet);
}

static void sheet_init(struct sheet *sheet, const struct table *table)
{
	*sheet = (struct sheet){
		.table = table,
		.n_lines = table->rows.n + 1,
		.n_columns = table->columns.n,
	};
	sheet->text = mem_calloc(sheet->n_lines * sheet->n_columns, sizeof(*sheet->text));
	sheet->width = mem_calloc(sheet->n_columns, sizeof(*sheet->width));
	for (size_t c = 0; c < sheet->n_columns; c++)
		*sheet_at(sheet, 0, c) = text_safe(table->columns.items[c].title);
	for (size_t r = 0; r < table->rows.n; r++) {
		const struct row *row = &table->rows.items[r];

		for (size_t c = 0; c < sheet->n_columns; c++)
			*sheet_at(sheet, r + 1, c) = c < row->cells.n
							     ? text_of_cell(&row->cells.items[c])
							     : mem_strdup("");
	}
	sheet_place_title(sheet);
}

static void sheet_free_members(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->n_lines * sheet->n_columns; i++)
		free(sheet->text[i]);
	free(sheet->text);
	free(sheet->width);
}

/* Columns that the columns from..until-1 take behind the first one. */
static size_t sheet_span(const struct sheet *sheet, size_t from, size_t until)
{
	size_t width = sheet->width[0];

	for (size_t c = from; c < until; c++)
		width += sheet->gap + sheet->width[c];
	return width;
}

static void sheet_cut(struct sheet *sheet, size_t line, size_t column, size_t width)
{
	char **text = sheet_at(sheet, line, column);
	size_t indent = sheet_indent(sheet, line, column);

	*text = mem_realloc(*text, strlen(*text) + 5, 1);
	text_cut(*text, width > indent ? width - indent : 1);
}

static void sheet_narrow(struct sheet *sheet, size_t column, size_t width)
{
	for (size_t l = 0; l < sheet->n_lines; l++) {
		if (!sheet_reaches(sheet, l, column))
			sheet_cut(sheet, l, column, width);
	}
	sheet_measure(sheet);
}

/* Words that stand between a name and its figures give way, so that the figures stay beside the
 * name, as far as the words can be read; else they take what is left beside the name. */
static void sheet_fit_words(struct sheet *sheet, size_t limit)
{
	const struct column *columns = sheet->table->columns.items;
	size_t all, others, room;

	if (sheet->n_columns < 3 || !columns[1].left || columns[sheet->n_columns - 1].left)
		return;
	all = sheet_span(sheet, 1, sheet->n_columns);
	others = all - sheet->width[1];
	if (all <= limit)
		return;
	room = limit > others ? limit - others : 0;
	if (room < SHEET_LEAST_WORDS) {
		others = sheet->width[0] + sheet->gap;
		room = limit > others + SHEET_LEAST_TEXT ? limit - others : SHEET_LEAST_TEXT;
	}
	if (room < sheet->width[1])
		sheet_narrow(sheet, 1, room);
}

/* Makes room: first the gaps, then names, then words. What still does not fit is cut, where it is
 * the text at the end, or folded; numbers are never cut. */
static void sheet_fit(struct sheet *sheet, size_t limit)
{
	sheet->gap = 3;
	if (!limit || sheet_span(sheet, 1, sheet->n_columns) <= limit)
		return;
	sheet->gap = 2;
	if (sheet->width[0] > limit / 2)
		sheet_narrow(sheet, 0, limit / 2);
	sheet_fit_words(sheet, limit);
}

/* What reaches over others ends where the terminal does. */
static void sheet_cut_reaching(struct sheet *sheet, size_t limit)
{
	size_t beside = sheet->width[0] + sheet->gap;

	for (size_t l = 0; limit && l < sheet->n_lines; l++) {
		if (sheet_reaches(sheet, l, 0))
			sheet_cut(sheet, l, 0, limit);
		if (sheet_reaches(sheet, l, 1))
			sheet_cut(sheet, l, 1, limit > beside ? limit - beside : 1);
	}
}

static void sheet_pad(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

/* Writes one cell; *pending counts the spaces that stand before it, so that no line ends in any. */
static void sheet_write_cell(FILE *out, const struct sheet *sheet, size_t line, size_t column,
			     size_t *pending)
{
	const char *text = *sheet_at(sheet, line, column);
	size_t indent = sheet_indent(sheet, line, column);
	size_t used = indent + text_columns(text);
	size_t room = sheet->width[column] > used ? sheet->width[column] - used : 0;
	bool left = column == 0 || sheet->table->columns.items[column].left;

	*pending += indent + (left ? 0 : room);
	if (*text) {
		sheet_pad(out, *pending);
		fputs(text, out);
		*pending = 0;
	}
	*pending += left ? room : 0;
}

static void sheet_write_line(FILE *out, const struct sheet *sheet, size_t line, size_t from,
			     size_t until, const struct render_style *style)
{
	enum text_shade name = line ? TEXT_PLAIN : TEXT_STRONG;
	enum text_shade rest = line ? TEXT_PLAIN : TEXT_FAINT;
	size_t pending = 0;

	fputs(text_shade_on(style, name), out);
	sheet_write_cell(out, sheet, line, 0, &pending);
	fputs(text_shade_off(style, name), out);
	fputs(text_shade_on(style, rest), out);
	for (size_t c = from; c < until; c++) {
		pending += sheet->gap;
		sheet_write_cell(out, sheet, line, c, &pending);
	}
	fputs(text_shade_off(style, rest), out);
	fputc('\n', out);
}

static bool sheet_has_heads(const struct sheet *sheet)
{
	for (size_t c = 0; c < sheet->n_columns; c++) {
		if (**sheet_at(sheet, 0, c))
			return true;
	}
	return false;
}

/* Writes the first column and from..until-1. A table without heads, such as a list, needs no line
 * for them. */
static void sheet_write_panel(FILE *out, const struct sheet *sheet, size_t from, size_t until,
			      const struct render_style *style)
{
	if (sheet_has_heads(sheet))
		sheet_write_line(out, sheet, 0, from, until, style);
	for (size_t l = 1; l < sheet->n_lines; l++) {
		if (sheet->table->rows.items[l - 1].rule_before)
			fputc('\n', out);
		sheet_write_line(out, sheet, l, from, until, style);
	}
}

/* The column behind the last one that fits in a panel that begins with `from`. Text at the end
 * takes what room is left rather than a panel of its own. */
static size_t sheet_panel_end(struct sheet *sheet, size_t from, size_t limit)
{
	size_t last = sheet->n_columns - 1, until = from, used;

	while (until < sheet->n_columns && (!limit || sheet_span(sheet, from, until + 1) <= limit))
		until++;
	used = sheet_span(sheet, from, until) + sheet->gap;
	if (until == last && sheet->table->columns.items[last].left &&
	    used + SHEET_LEAST_TEXT <= limit) {
		sheet_narrow(sheet, last, limit - used);
		until++;
	}
	/* A column wider than the terminal has to be shown all the same. */
	return until == from && from < sheet->n_columns ? from + 1 : until;
}

/* As many panels below one another as the terminal's width asks for. */
static void sheet_write(FILE *out, struct sheet *sheet, const struct render_style *style)
{
	size_t from = 1;

	do {
		size_t until = sheet_panel_end(sheet, from, style->width);

		if (from > 1)
			fputc('\n', out);
		sheet_write_panel(out, sheet, from, until, style);
		from = until;
	} while (from < sheet->n_columns);
}

void text_render_table(FILE *out, const struct table *table, const struct render_style *style)
{
	struct sheet sheet;

	if (!table->columns.n)
		return;
	sheet_init(&sheet, table);
	sheet_fit(&sheet, style->width);
	sheet_cut_reaching(&sheet, style->width);
	if (table->title && sheet.title_apart) {
		char *title = text_safe(table->title);

		fprintf(out, "%s%s%s\n", text_shade_on(style, TEXT_STRONG), title,
			text_shade_off(style, TEXT_STRONG));
		free(title);
	}
	sheet_write(out, &sheet, style);
	sheet_free_members(&sheet);
}
