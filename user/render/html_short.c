/* "In short": the verdicts on what a reader comes for, before anything else. */
#include <string.h>

#include "render/html.h"
#include "report/part.h"

/* Columns of the table that verdicts_build makes. */
enum { SHORT_WHAT, SHORT_PAIR, SHORT_RATIO, SHORT_INTERVAL, SHORT_WORDS, SHORT_COLUMNS };

static const char *short_workload(const struct result *result, size_t run)
{
	const char *workload = result->runs.items[run].capture->workload;

	return workload ? workload : "";
}

static bool short_is_first(const struct result *result, size_t run)
{
	for (size_t i = 0; i < run; i++) {
		if (!strcmp(short_workload(result, i), short_workload(result, run)))
			return false;
	}
	return true;
}

void html_short_build(struct report *verdicts, const struct result *result)
{
	for (size_t i = 0; i < result->runs.n; i++) {
		const char *workload = short_workload(result, i);
		size_t before = verdicts->blocks.n;
		struct part part;

		if (!short_is_first(result, i))
			continue;
		part_init(&part, result, workload);
		report_add_heading(verdicts, "%s", workload);
		verdicts_build(verdicts, result, &part);
		if (verdicts->blocks.n == before + 1)
			report_remove_last(verdicts);
		part_free_members(&part);
	}
}

/* "lower (better)", "unclear: about 390 runs …": what comes after a colon stands after the figures.
 */
static void short_row(FILE *out, const char *workload, const struct row *row)
{
	const struct cell *cells = row->cells.items;
	const char *words = cells[SHORT_WORDS].text ? cells[SHORT_WORDS].text : "";
	size_t bytes = strcspn(words, ":");

	fputs("<li><b>", out);
	html_text_bytes(out, words, bytes);
	fputs("</b> <span>", out);
	html_text(out, workload);
	fputs(", ", out);
	for (size_t i = SHORT_WHAT; i < SHORT_WORDS; i++) {
		/* Where there is no ratio, there is no interval to stand beside it. */
		if (cells[i].kind == CELL_EMPTY || (cells[i].text && !*cells[i].text))
			continue;
		fputs(i == SHORT_PAIR ? ": " : i ? " " : "", out);
		html_cell_text(out, &cells[i]);
	}
	if (words[bytes]) {
		fputc(';', out);
		html_text(out, words + bytes + 1);
	}
	fputs("</span></li>\n", out);
}

void html_short(FILE *out, const struct report *verdicts)
{
	const char *workload = "";

	if (!verdicts->blocks.n)
		return;
	fputs("<section id=\"short\" aria-labelledby=\"short-h\">"
	      "<h2 id=\"short-h\">In short</h2>\n<ul>\n",
	      out);
	for (size_t i = 0; i < verdicts->blocks.n; i++) {
		const struct block *block = &verdicts->blocks.items[i];

		if (block->kind == BLOCK_HEADING)
			workload = block->text;
		for (size_t j = 0; j < block->table.rows.n; j++) {
			if (block->table.rows.items[j].cells.n == SHORT_COLUMNS)
				short_row(out, workload, &block->table.rows.items[j]);
		}
	}
	fputs("</ul>\n<p>Each ratio has its 95 % interval; the sections below have all figures and "
	      "say "
	      "what they take for granted.</p></section>\n",
	      out);
}
