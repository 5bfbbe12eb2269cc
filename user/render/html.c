/* Format html: one page that needs no network and no script. */
#include "render/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "render/formats.h"
#include "render/svg.h"

/* Labels named in the title before the rest is only counted. */
#define HTML_LABELS 6

/* A page under way. */
struct html {
	FILE *out;
	const struct result *result;
	const struct report *report;
	struct report verdicts; /* of html_short_build */
	size_t charts, tables;	/* written so far */
	const char *section;	/* heading of the section that is open; NULL: none is */
	size_t section_bytes;
};

/* ---- head ---------------------------------------------------------------------------------------
 */

static bool html_names_add(struct strbuf *text, const char *const *seen, size_t n_seen,
			   const char *name)
{
	for (size_t i = 0; i < n_seen; i++) {
		if (!strcmp(seen[i], name))
			return false;
	}
	if (n_seen < HTML_LABELS)
		strbuf_printf(text, "%s%s", n_seen ? ", " : "", name);
	return true;
}

/* "floor, zig, rust" of what get says of each run, each once. */
static void html_names(struct strbuf *text, const struct result *result,
		       const char *(*get)(const struct capture *capture))
{
	VEC(const char *) seen = {0};

	for (size_t i = 0; i < result->runs.n; i++) {
		const char *name = get(result->runs.items[i].capture);

		name = name ? name : "";
		if (html_names_add(text, seen.items, seen.n, name))
			*vec_push(&seen) = name;
	}
	if (seen.n > HTML_LABELS)
		strbuf_printf(text, " and %zu more", seen.n - HTML_LABELS);
	free(seen.items);
}

static const char *html_workload(const struct capture *capture)
{
	return capture->workload;
}

static const char *html_label(const struct capture *capture)
{
	return capture->label;
}

/* "idle, startup: zig, rust"; the caller frees. */
static char *html_title(const struct result *result)
{
	struct strbuf text = {0};

	html_names(&text, result, html_workload);
	if (text.n)
		strbuf_add(&text, ": ");
	html_names(&text, result, html_label);
	if (!text.n)
		strbuf_add(&text, "nothing was measured");
	return strbuf_take(&text);
}

/* The policy is a second wall: it lets the page load and run nothing, should a name ever get
 * through the first. The icon keeps browsers from asking a server for one. */
static void html_head(const struct html *html, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>wakewhy: ",
	      html->out);
	html_text(html->out, title);
	fprintf(html->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", html_style);
	fputs("<a class=\"skip\" href=\"#main\">Skip to the results</a>\n", html->out);
}

static void html_fact(const struct html *html, const char *name, const char *text, bool code)
{
	if (!text || !*text)
		return;
	fprintf(html->out, "<dt>%s</dt><dd>%s", name, code ? "<code>" : "");
	html_text(html->out, text);
	fprintf(html->out, "%s</dd>\n", code ? "</code>" : "");
}

static void html_facts(const struct html *html)
{
	const struct capture_tool *tool = &html->result->recording->tool;
	struct strbuf text = {0};
	char *machine = mem_printf("%u CPU%s, Linux %s, %s", tool->cpus, tool->cpus == 1 ? "" : "s",
				   tool->kernel ? tool->kernel : "", tool->arch ? tool->arch : "");

	for (size_t i = 0; i < tool->command.n; i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", tool->command.items[i]);
	fputs("<dl class=\"facts\">\n", html->out);
	html_fact(html, "Measured", tool->started, false);
	html_fact(html, "On", machine, false);
	html_fact(html, "With", strbuf_text(&text), true);
	html_fact(html, "Version", tool->version, false);
	if (html->report->trust_at)
		fprintf(html->out, "<dt>Trust</dt><dd><a href=\"#trust\">%s</a></dd>\n",
			html->result->trusted ? "every run passed its checks"
					      : "not every run is to be trusted");
	fputs("</dl>\n", html->out);
	free(machine);
	strbuf_free_members(&text);
}

static void html_header(const struct html *html)
{
	char *title = html_title(html->result);

	html_head(html, title);
	fputs("<header><h1>", html->out);
	html_text(html->out, title);
	fputs("</h1>\n", html->out);
	html_facts(html);
	fputs("</header>\n", html->out);
	free(title);
}

/* ---- contents -----------------------------------------------------------------------------------
 */

/* A heading's first words, up to the first middle dot, name its section; the rest stands below. */
static size_t html_heading_bytes(const char *text)
{
	const char *dot = strstr(text, " · ");

	return dot && dot != text ? (size_t)(dot - text) : strlen(text);
}

static bool html_is_trust(const struct html *html, size_t block)
{
	return block && block == html->report->trust_at &&
	       html->report->blocks.items[block].kind != BLOCK_HEADING;
}

static void html_contents(const struct html *html)
{
	fputs("<nav aria-labelledby=\"nav-h\"><h2 id=\"nav-h\">Contents</h2>\n<ol>\n", html->out);
	if (html->verdicts.blocks.n)
		fputs("<li><a href=\"#short\">In short</a></li>\n", html->out);
	for (size_t i = 0; i < html->report->blocks.n; i++) {
		const struct block *block = &html->report->blocks.items[i];

		if (html_is_trust(html, i))
			fputs("<li><a href=\"#trust\">Trust and noise</a></li>\n", html->out);
		if (block->kind != BLOCK_HEADING)
			continue;
		fprintf(html->out, "<li><a href=\"#s%zu\">", i);
		html_text_bytes(html->out, block->text, html_heading_bytes(block->text));
		fputs("</a></li>\n", html->out);
	}
	fputs("</ol></nav>\n", html->out);
}

/* ---- blocks -------------------------------------------------------------------------------------
 */

static void html_end_section(struct html *html)
{
	if (html->section)
		fputs("</section>\n", html->out);
	html->section = NULL;
	html->tables = 0;
}

static void html_heading(struct html *html, const char *text, size_t number)
{
	size_t bytes = html_heading_bytes(text);

	html_end_section(html);
	fprintf(html->out, "<section aria-labelledby=\"s%zu\"><h2 id=\"s%zu\">", number, number);
	html_text_bytes(html->out, text, bytes);
	fputs("</h2>\n", html->out);
	if (text[bytes]) {
		fputs("<p class=\"sub\">", html->out);
		html_text(html->out, text + bytes + strlen(" · "));
		fputs("</p>\n", html->out);
	}
	html->section = text;
	html->section_bytes = bytes;
}

static void html_begin_trust(struct html *html)
{
	static const char title[] = "Trust and noise";

	html_end_section(html);
	fprintf(html->out, "<section aria-labelledby=\"trust\"><h2 id=\"trust\">%s</h2>\n", title);
	html->section = title;
	html->section_bytes = strlen(title);
}

/* The word before the first colon is what a warning or a confirmation is about. */
static void html_note(const struct html *html, const struct block *block)
{
	size_t bytes = strcspn(block->text, ":");

	if (block->note == NOTE_TEXT) {
		fputs("<p>", html->out);
		html_text(html->out, block->text);
		fputs("</p>\n", html->out);
		return;
	}
	fprintf(html->out, "<p class=\"%s\"><b>", block->note == NOTE_WARNING ? "warn" : "ok");
	html_text_bytes(html->out, block->text, bytes);
	fputs("</b>", html->out);
	html_text(html->out, block->text + bytes);
	fputs("</p>\n", html->out);
}

static void html_chart(struct html *html, const struct chart *chart)
{
	fprintf(html->out, "<figure id=\"c%zu\"><figcaption>", html->charts);
	html_text(html->out, chart->title);
	fputs("</figcaption>\n", html->out);
	if (!svg_chart(html->out, chart, html->charts))
		fputs("<p>There is nothing to draw.</p>\n", html->out);
	if (chart->table.columns.n) {
		fputs("<details><summary>The figures as a table<span class=\"vh\">: ", html->out);
		html_text(html->out, chart->title);
		fputs("</span></summary>\n", html->out);
		html_table(html->out, &chart->table, HTML_TABLE_FOLDED, chart->title);
		fputs("</details>\n", html->out);
	}
	fputs("</figure>\n", html->out);
	html->charts++;
}

static void html_open_table(struct html *html, const struct table *table)
{
	char *section = mem_strndup(html->section ? html->section : "", html->section_bytes);
	char *what = mem_printf("%s, table %zu", section, ++html->tables);

	html_table(html->out, table, HTML_TABLE_OPEN, what);
	free(section);
	free(what);
}

static void html_block(struct html *html, size_t number)
{
	const struct block *block = &html->report->blocks.items[number];

	if (html_is_trust(html, number))
		html_begin_trust(html);
	switch (block->kind) {
	case BLOCK_HEADING:
		html_heading(html, block->text, number);
		break;
	case BLOCK_TABLE:
		html_open_table(html, &block->table);
		break;
	case BLOCK_NOTE:
		html_note(html, block);
		break;
	case BLOCK_CHART:
		html_chart(html, block->chart);
		break;
	}
}

/* Doubts come before anything else; they are the notes that a report begins with. */
static void html_main(struct html *html)
{
	const struct report *report = html->report;
	size_t i = 0;

	fputs("<main id=\"main\" tabindex=\"-1\">\n", html->out);
	for (; i < report->blocks.n && report->blocks.items[i].kind == BLOCK_NOTE &&
	       !html_is_trust(html, i);
	     i++)
		html_block(html, i);
	html_short(html->out, &html->verdicts);
	for (; i < report->blocks.n; i++)
		html_block(html, i);
	html_end_section(html);
	fputs("</main>\n", html->out);
}

int html_render(FILE *out, const struct result *result, const struct report *report,
		const struct render_style *style, struct diag *diag)
{
	struct html html = {.out = out, .result = result, .report = report};

	(void)style;
	html_short_build(&html.verdicts, result);
	html_header(&html);
	html_contents(&html);
	html_main(&html);
	fputs("<footer><p>Made by wakewhy. This page is whole: it loads nothing and runs no "
	      "script.</p></footer>\n"
	      "</body>\n</html>\n",
	      out);
	report_free_members(&html.verdicts);
	return render_finish(out, diag);
}
