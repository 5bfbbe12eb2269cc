/* A table of a report as one of a page: heads, names of rows, figures, shares with a bar. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/html.h"
#include "render/text.h"

/* Deeper rows of a tree stand no further in. */
#define HTML_DEEPEST 8

static bool html_has_heads(const struct table *table)
{
	for (size_t i = 0; i < table->columns.n; i++) {
		if (*table->columns.items[i].title)
			return true;
	}
	return false;
}

static void html_heads(FILE *out, const struct table *table)
{
	if (!html_has_heads(table))
		return;
	fputs("<thead><tr>", out);
	for (size_t i = 0; i < table->columns.n; i++) {
		const struct column *column = &table->columns.items[i];

		/* A head without words would be read out as one that is missing. */
		if (!*column->title) {
			fputs("<td></td>", out);
			continue;
		}
		fprintf(out, "<th scope=\"col\"%s>", i && !column->left ? "" : " class=\"t\"");
		html_text(out, column->title);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

void html_cell_text(FILE *out, const struct cell *cell)
{
	char *text = text_of_cell(cell);

	html_text(out, text);
	free(text);
}

/* The row's name. One that stands alone names the rows below it and reaches over all columns. */
static void html_row_name(FILE *out, const struct table *table, const struct row *row)
{
	int depth = row->depth < 0 ? 0 : row->depth > HTML_DEEPEST ? HTML_DEEPEST : row->depth;

	fputs("<th scope=\"row\"", out);
	if (row->cells.n == 1 && table->columns.n > 1)
		fprintf(out, " colspan=\"%zu\"", table->columns.n);
	if (depth)
		fprintf(out, " class=\"d%d\"", depth);
	fputc('>', out);
	html_cell_text(out, &row->cells.items[0]);
	fputs("</th>", out);
}

/* Words with nothing beside them reach over the columns there, as in text. */
static bool html_reaches(const struct table *table, const struct row *row)
{
	return row->cells.n == 2 && table->columns.n > 2 && table->columns.items[1].left;
}

static void html_cell(FILE *out, const struct column *column, const struct cell *cell)
{
	double share = cell->number;

	if (column->left)
		fputs("<td class=\"t\">", out);
	else if (cell->kind == CELL_SHARE && isfinite(share) && share > 0)
		fprintf(out, "<td class=\"s\" style=\"--s:%.1f%%\">", 100 * fmin(share, 1));
	else
		fputs("<td>", out);
	html_cell_text(out, cell);
	fputs("</td>", out);
}

static void html_row(FILE *out, const struct table *table, const struct row *row)
{
	static const struct cell empty = {.kind = CELL_EMPTY};

	if (!row->cells.n)
		return;
	fputs(row->rule_before ? "<tr class=\"r\">" : "<tr>", out);
	html_row_name(out, table, row);
	if (html_reaches(table, row)) {
		fprintf(out, "<td class=\"t w\" colspan=\"%zu\">", table->columns.n - 1);
		html_cell_text(out, &row->cells.items[1]);
		fputs("</td></tr>\n", out);
		return;
	}
	for (size_t i = 1; i < table->columns.n && row->cells.n > 1; i++)
		html_cell(out, &table->columns.items[i],
			  i < row->cells.n ? &row->cells.items[i] : &empty);
	fputs("</tr>\n", out);
}

void html_table(FILE *out, const struct table *table, enum html_table_place place, const char *what)
{
	const char *title = table->title ? table->title : "";

	if (!table->columns.n)
		return;
	/* Who has no pointer scrolls the box with the keys, once it has the focus. */
	fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
	html_text(out, *title ? title : what);
	fputs("\"><table>\n", out);
	if (*title && place == HTML_TABLE_OPEN) {
		fputs("<caption>", out);
		html_text(out, title);
		fputs("</caption>\n", out);
	}
	html_heads(out, table);
	fputs("<tbody>\n", out);
	for (size_t i = 0; i < table->rows.n; i++)
		html_row(out, table, &table->rows.items[i]);
	fputs("</tbody></table></div>\n", out);
}
