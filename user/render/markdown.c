/* Format markdown: a report as GitHub shows it in a comment. Verdicts first, long tables folded, and
 * never longer than a comment may be.
 *
 * Names come from outside. They can neither end a cell, nor be taken for markup, for HTML, for a
 * link, or for the name of a person or an issue whom GitHub would tell. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "render/formats.h"
#include "render/text.h"

/* A comment on GitHub has at most 65,536 characters; bytes are at least as many. Sentences may use
 * what tables leave, and the last line says what was left out. */
#define MARKDOWN_BYTES	     65000
#define MARKDOWN_TABLE_BYTES 56000
/* One long table must not crowd out all others. */
#define MARKDOWN_ONE_TABLE   16000
#define MARKDOWN_CELL	     200 /* columns of a cell */
#define MARKDOWN_LINE	     1200
#define MARKDOWN_PAD	     40 /* cells are padded up to here, to be read without a renderer too */

/* Stands between two characters that GitHub must not read as one word, and shows nothing: U+2060. */
#define WORD_JOINER "\xe2\x81\xa0"
/* What a renderer does not trim from the beginning of a cell: U+00A0. */
#define HARD_SPACE "\xc2\xa0"

struct markdown {
	struct strbuf text;
	size_t left_out; /* tables and sentences that had no room */
	bool has_table;	 /* the part has shown its first table: the others are folded */
};

/* ---- escaping -------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether what begins at `at` would become a mention, a reference, an emoji or a link if the next
 * character were taken together with this one: @name #12 GH-12 :tada: a://b www.x. */
static bool joins_next(const char *text, size_t at)
{
	char c = text[at], next = text[at + 1];

	if (c == '@' || c == '#')
		return is_word(next) || next == '_' || next == '-';
	if (c == ':')
		return next && next != ' ';
	if (c == '-')
		return at >= 2 && !strncasecmp(text + at - 2, "gh", 2) && isdigit((unsigned char)next);
	return c == '.' && at >= 3 && !strncasecmp(text + at - 3, "www", 3);
}

/* Whether the character at `at` means something to Markdown. One underscore inside a word does not. */
static bool is_markup(const char *text, size_t at)
{
	if (text[at] == '_')
		return !at || !is_word(text[at - 1]) || !is_word(text[at + 1]);
	return strchr("\\`*[]|~", text[at]) != NULL;
}

/* What would make a list, a heading or a rule of a line that begins with it. */
static bool begins_block(const char *text, size_t at)
{
	char c = text[at], next = text[at + 1];

	if (!at && c == '#')
		return true;
	if (!at)
		return (c == '-' || c == '+') && (!next || next == ' ' || next == '-');
	return (c == '.' || c == ')') && (!next || next == ' ') &&
	       strspn(text, "0123456789") == at;
}

/* Adds safe text. in_html: between tags, where a backslash would be shown. */
static void markdown_add(struct strbuf *to, const char *safe, bool in_html)
{
	for (size_t i = 0; safe[i]; i++) {
		char c = safe[i];

		if (c == '<')
			strbuf_add(to, "&lt;");
		else if (c == '>')
			strbuf_add(to, "&gt;");
		else if (c == '&')
			strbuf_add(to, "&amp;");
		else if (c == '"' && in_html)
			strbuf_add(to, "&quot;");
		else if (c == '$') /* mathematics */
			strbuf_add(to, "&#36;");
		else if (!in_html && (is_markup(safe, i) || begins_block(safe, i)))
			strbuf_printf(to, "\\%c", c);
		else
			strbuf_add_char(to, c);
		if (joins_next(safe, i))
			strbuf_add(to, WORD_JOINER);
	}
}

/* Text from outside, cut to so many columns. Blanks at its beginning would make a block of code of it, or
 * hide what begins a list. */
static void markdown_add_text(struct strbuf *to, const char *text, size_t columns, bool in_html)
{
	char *safe;

	text = text ? text : "";
	safe = text_safe(text + strspn(text, " "));
	safe = mem_realloc(safe, strlen(safe) + 5, 1);
	text_cut(safe, columns);
	markdown_add(to, safe, in_html);
	free(safe);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* One row's cells as Markdown; cells beyond those of the row are empty. The caller frees each. */
static char **row_cells(const struct table *table, const struct row *row)
{
	char **cells = mem_calloc(table->columns.n, sizeof(*cells));

	for (size_t c = 0; c < table->columns.n; c++) {
		struct strbuf text = {};

		for (int depth = 0; row && !c && depth < row->depth && depth < 8; depth++)
			strbuf_add(&text, HARD_SPACE HARD_SPACE);
		if (!row) {
			markdown_add_text(&text, table->columns.items[c].title, MARKDOWN_CELL, false);
		} else if (c < row->cells.n) {
			char *shown = text_of_cell(&row->cells.items[c]);

			/* Safe already: a second pass changes nothing. */
			markdown_add_text(&text, shown, MARKDOWN_CELL, false);
			free(shown);
		}
		cells[c] = strbuf_take(&text);
	}
	return cells;
}

static void free_cells(char **cells, size_t n)
{
	for (size_t c = 0; c < n; c++)
		free(cells[c]);
	free(cells);
}

static bool column_is_left(const struct table *table, size_t column)
{
	return !column || table->columns.items[column].left;
}

static void add_line(struct strbuf *text, const struct table *table, char **cells,
		     const size_t *widths)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		size_t width = text_columns(cells[c]);
		size_t room = widths[c] > width ? widths[c] - width : 0;
		bool left = column_is_left(table, c);

		strbuf_add(text, c ? " " : "| ");
		strbuf_add_repeated(text, ' ', left ? 0 : room);
		strbuf_add(text, cells[c]);
		strbuf_add_repeated(text, ' ', left ? room : 0);
		strbuf_add(text, " |");
	}
	strbuf_add(text, "\n");
}

static void add_rule(struct strbuf *text, const struct table *table, const size_t *widths)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		bool left = column_is_left(table, c);

		strbuf_add(text, c ? " " : "| ");
		strbuf_add(text, left ? ":" : "");
		strbuf_add_repeated(text, '-', widths[c] - 1);
		strbuf_add(text, left ? " |" : ": |");
	}
	strbuf_add(text, "\n");
}

static void widen(size_t *widths, char **cells, size_t n)
{
	for (size_t c = 0; c < n; c++) {
		size_t width = text_columns(cells[c]);

		width = width > MARKDOWN_PAD ? MARKDOWN_PAD : width;
		widths[c] = width > widths[c] ? width : widths[c];
	}
}

/* Heads, rule, and as many rows as there is room for. */
static void add_table(struct strbuf *text, const struct table *table)
{
	size_t n = table->columns.n, lines = table->rows.n + 1, line = 0;
	char ***all = mem_calloc(lines, sizeof(*all));
	size_t *widths = mem_calloc(n, sizeof(*widths));
	size_t begun = text->n;

	for (size_t c = 0; c < n; c++)
		widths[c] = 3; /* ":--" */
	for (size_t l = 0; l < lines; l++) {
		all[l] = row_cells(table, l ? &table->rows.items[l - 1] : NULL);
		widen(widths, all[l], n);
	}
	for (line = 0; line < lines && text->n - begun < MARKDOWN_ONE_TABLE; line++) {
		add_line(text, table, all[line], widths);
		if (!line)
			add_rule(text, table, widths);
	}
	if (line < lines)
		strbuf_printf(text, "| … and %zu rows that had no room |\n", lines - line);
	for (size_t l = 0; l < lines; l++)
		free_cells(all[l], n);
	free(all);
	free(widths);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Takes over `piece` where there is room for it, up to `limit`; counts it as left out else. */
static void markdown_take(struct markdown *m, struct strbuf *piece, size_t limit)
{
	if (m->text.n + piece->n <= limit)
		strbuf_add(&m->text, strbuf_text(piece));
	else
		m->left_out++;
	strbuf_free_members(piece);
}

/* The first table of a part stands open, the others are one line each until they are opened. */
static void markdown_table(struct markdown *m, const struct table *table, const char *title,
			   bool folded)
{
	struct strbuf piece = {};

	if (!table->columns.n || !table->rows.n)
		return;
	if (folded) {
		strbuf_add(&piece, "<details><summary>");
		markdown_add_text(&piece, title && *title ? title : "more figures", MARKDOWN_CELL,
				  true);
		strbuf_add(&piece, "</summary>\n\n");
	} else if (title && *title) {
		strbuf_add(&piece, "**");
		markdown_add_text(&piece, title, MARKDOWN_CELL, false);
		strbuf_add(&piece, "**\n\n");
	}
	add_table(&piece, table);
	strbuf_add(&piece, folded ? "\n</details>\n\n" : "\n");
	markdown_take(m, &piece, MARKDOWN_TABLE_BYTES);
}

static void markdown_line(struct markdown *m, const char *before, const char *text)
{
	struct strbuf piece = {};

	strbuf_add(&piece, before);
	markdown_add_text(&piece, text, MARKDOWN_LINE, false);
	strbuf_add(&piece, "\n\n");
	markdown_take(m, &piece, MARKDOWN_BYTES - 200);
}

static void markdown_block(struct markdown *m, const struct block *block)
{
	switch (block->kind) {
	case BLOCK_HEADING:
		m->has_table = false;
		markdown_line(m, "### ", block->text);
		break;
	case BLOCK_TABLE:
		markdown_table(m, &block->table, block->table.title, m->has_table);
		m->has_table = true;
		break;
	case BLOCK_CHART:
		markdown_table(m, &block->chart->table, block->chart->title, true);
		break;
	case BLOCK_NOTE:
		markdown_line(m, block->note == NOTE_WARNING ? "> **Warning:** " : "", block->text);
		break;
	}
}

static int markdown_write(struct markdown *m, FILE *out, struct diag *diag)
{
	if (m->left_out)
		strbuf_printf(&m->text,
			      "_Cut to what a comment may hold: %zu more tables and sentences are in "
			      "formats text and html._\n",
			      m->left_out);
	fwrite(strbuf_text(&m->text), 1, m->text.n, out);
	strbuf_free_members(&m->text);
	return render_finish(out, diag);
}

/* Blocks until the first heading are doubts about all of it. Returns the place of that heading. */
static size_t markdown_doubts(struct markdown *m, const struct report *report)
{
	size_t i = 0;

	for (; i < report->blocks.n && report->blocks.items[i].kind != BLOCK_HEADING; i++)
		markdown_block(m, &report->blocks.items[i]);
	return i;
}

int render_report_markdown(FILE *out, const struct report *report, struct diag *diag)
{
	struct markdown m = {};

	for (size_t i = 0; i < report->blocks.n; i++)
		markdown_block(&m, &report->blocks.items[i]);
	return markdown_write(&m, out, diag);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Verdicts are a table of each part (report/verdict.c), told by its first head. */
static bool is_verdicts(const struct block *block)
{
	return block->kind == BLOCK_TABLE && block->table.columns.n &&
	       !strcmp(block->table.columns.items[0].title, "verdict");
}

/* Those of all parts, each under the first word of its part's heading, before anything else is said. */
static void markdown_verdicts(struct markdown *m, const struct report *report)
{
	const char *heading = "";

	for (size_t i = 0; i < report->blocks.n; i++) {
		const struct block *block = &report->blocks.items[i];

		if (block->kind == BLOCK_HEADING)
			heading = block->text;
		if (is_verdicts(block)) {
			char *title = mem_strndup(heading, strcspn(heading, " "));

			markdown_table(m, &block->table, title, false);
			free(title);
		}
	}
}

int markdown_render(FILE *out, const struct result *result, const struct report *report,
		    const struct render_style *style, struct diag *diag)
{
	struct markdown m = {};
	size_t at = markdown_doubts(&m, report);

	(void)result;
	(void)style;
	markdown_verdicts(&m, report);
	for (; at < report->blocks.n; at++)
		if (!is_verdicts(&report->blocks.items[at]))
			markdown_block(&m, &report->blocks.items[at]);
	return markdown_write(&m, out, diag);
}
