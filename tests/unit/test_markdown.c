/* Format markdown: what GitHub makes of it, and names from outside that must make nothing of it. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "rendered.h"
#include "sample.h"

#define JOIN "\xe2\x81\xa0"

static char *markdown_of(const struct report *report)
{
	return rendered_format("markdown", NULL, report, 0, false, NULL);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void fill_table(struct report *report, const char *title)
{
	struct table *table = report_add_table(report, title);
	struct row *row;

	table_add_column(table, "", true);
	table_add_column(table, "wakeups/s", false);
	row = table_add_row(table);
	row_add_text(row, "bun");
	row_add_number(row, CELL_REAL, 12.5, 2);
	row = table_add_row(table);
	row->depth = 1;
	row_add_text(row, "└ helper");
	row_add_number(row, CELL_SHARE, NAN, 0);
}

#define TABLE                                                                                      \
	"|            | wakeups/s |\n"                                                             \
	"| :--------- | --------: |\n"                                                             \
	"| bun        |     12.50 |\n"                                                             \
	"| \xc2\xa0\xc2\xa0└ helper |         – |\n"

static void blocks_come_out_in_order_with_later_tables_folded(void **state)
{
	struct report report = {0};
	struct chart *chart;
	char *text;

	(void)state;
	report_add_note(&report, NOTE_WARNING, "not trusted");
	report_add_heading(&report, "idle · 20 s");
	fill_table(&report, NULL);
	fill_table(&report, "threads & more");
	report_add_note(&report, NOTE_TEXT, "one");
	chart = report_add_chart(&report, CHART_BARS, "CPU in each second");
	table_add_column(&chart->table, "second", true);
	row_add_text(table_add_row(&chart->table), "0");
	report_add_heading(&report, "hash");
	fill_table(&report, "open");
	text = markdown_of(&report);
	assert_string_equal(text, "> **Warning:** not trusted\n"
				  "\n"
				  "### idle · 20 s\n"
				  "\n" TABLE "\n"
				  "<details><summary>threads &amp; more</summary>\n"
				  "\n" TABLE "\n"
				  "</details>\n"
				  "\n"
				  "one\n"
				  "\n"
				  "<details><summary>CPU in each second</summary>\n"
				  "\n"
				  "| second |\n"
				  "| :----- |\n"
				  "| 0      |\n"
				  "\n"
				  "</details>\n"
				  "\n"
				  "### hash\n"
				  "\n"
				  "**open**\n"
				  "\n" TABLE "\n");
	free(text);
	report_free_members(&report);
}

static void verdicts_come_before_the_parts_and_after_the_doubts(void **state)
{
	struct recording recording;
	char *text, *verdict, *part;

	(void)state;
	sample_recording(&recording);
	text = rendered_recording("markdown", &recording, 0, 0);
	assert_int_equal(strncmp(text, "> **Warning:** ", 15), 0);
	verdict = strstr(text, "**startup**\n\n| verdict ");
	part = strstr(text, "\n### ");
	assert_non_null(verdict);
	assert_non_null(part);
	assert_true(verdict < part);
	assert_non_null(strstr(verdict, "| zig → rust | "));
	/* Not a second time in the part. */
	assert_null(strstr(part, "| verdict "));
	free(text);
	recording_free_members(&recording);
}

/* ---- escaping -------------------------------------------------------------------------------- */

/* What becomes of text in a sentence, in a cell's head, and between tags. */
static const struct {
	const char *text, *note, *title;
} escapes[] = {
	{"futex 9.95, epoll_pwait2 1.25", "futex 9.95, epoll_pwait2 1.25",
	 "futex 9.95, epoll_pwait2 1.25"},
	{"a|b", "a\\|b", "a|b"},
	{"*a* _b_ `c` ~~d~~", "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~", "*a* _b_ `c` ~~d~~"},
	{"<script>alert(\"1\")</script>", "&lt;script&gt;alert(\"1\")&lt;/script&gt;",
	 "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"},
	{"&lt; $x$", "&amp;lt; &#36;x&#36;", "&amp;lt; &#36;x&#36;"},
	{"[a](b)", "\\[a\\](b)", "[a](b)"},
	{"@torvalds", "@" JOIN "torvalds", "@" JOIN "torvalds"},
	{"mail a@b.com", "mail a@" JOIN "b.com", "mail a@" JOIN "b.com"},
	{"bun#2 gh-12", "bun#" JOIN "2 gh-" JOIN "12", "bun#" JOIN "2 gh-" JOIN "12"},
	{"http://x www.x.y", "http:" JOIN "//x www." JOIN "x.y", "http:" JOIN "//x www." JOIN "x.y"},
	{":tada:", ":" JOIN "tada:", ":" JOIN "tada:"},
	{"# a", "\\# a", "# a"},
	{"- a", "\\- a", "- a"},
	{"---", "\\---", "---"},
	{"    a", "a", "a"},
	{"  - a", "\\- a", "- a"},
	{"-9.95 is", "-9.95 is", "-9.95 is"},
	{"12. a", "12\\. a", "12. a"},
	{"12.5 a", "12.5 a", "12.5 a"},
	{"a\nb\x1b[0m", "a\\\\x0ab\\\\x1b\\[0m", "a\\x0ab\\x1b[0m"},
	{"\\*", "\\\\\\*", "\\*"},
};

static void names_are_neither_markup_nor_links_nor_mentions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		struct report report = {0};
		struct strbuf wanted = {0};
		struct table *table;
		char *text;

		report_add_note(&report, NOTE_TEXT, "%s", escapes[i].text);
		table = report_add_table(&report, NULL);
		table_add_column(table, "x", false);
		row_add_text(table_add_row(table), "y");
		table = report_add_table(&report, escapes[i].text);
		table_add_column(table, "x", false);
		row_add_text(table_add_row(table), "y");
		text = markdown_of(&report);
		strbuf_printf(&wanted, "%s\n\n| x   |\n| :-- |\n| y   |\n\n", escapes[i].note);
		strbuf_printf(&wanted, "<details><summary>%s</summary>\n\n", escapes[i].title);
		if (strncmp(text, strbuf_text(&wanted), wanted.n) != 0)
			assert_string_equal(text, strbuf_text(&wanted));
		strbuf_free_members(&wanted);
		free(text);
		report_free_members(&report);
	}
}

/* A cell stays a cell whatever is in it: each line of a table has as many bars. */
static void cells_keep_their_table(void **state)
{
	static const char *const hostile[] = {"|", "\\|", "\\\\|", "a\n|b", "`|`", "\xff|\xe2\x80\xae"};
	struct report report = {0};
	struct table *table = report_add_table(&report, NULL);
	char *text, *save, *line;

	(void)state;
	table_add_column(table, "|", true);
	table_add_column(table, "n", false);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct row *row = table_add_row(table);

		row_add_text(row, hostile[i]);
		row_add_number(row, CELL_COUNT, 1, 0);
	}
	text = markdown_of(&report);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t bars = 0;

		for (size_t i = 0; line[i]; i++) {
			size_t slashes = 0;

			while (slashes < i && line[i - 1 - slashes] == '\\')
				slashes++;
			bars += line[i] == '|' && slashes % 2 == 0;
		}
		assert_int_equal(bars, 3);
	}
	free(text);
	report_free_members(&report);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void never_longer_than_a_comment(void **state)
{
	struct report report = {0};
	char *name = mem_zalloc(5001), *text;
	size_t bytes;

	(void)state;
	memset(name, '|', 5000);
	report_add_heading(&report, "%s", name);
	for (int i = 0; i < 30; i++) {
		struct table *table = report_add_table(&report, name);

		table_add_column(table, name, true);
		for (int j = 0; j < 1000; j++)
			row_add_text(table_add_row(table), name);
		for (int j = 0; j < 10; j++)
			report_add_note(&report, NOTE_TEXT, "%d%s", j, name);
	}
	text = rendered_format("markdown", NULL, &report, 0, false, &bytes);
	assert_in_range(bytes, 40000, 65536);
	assert_non_null(strstr(text, "rows that had no room"));
	assert_non_null(strstr(text, "_Cut to what a comment may hold: "));
	assert_int_equal(count(text, "<details>"), count(text, "</details>"));
	free(text);
	free(name);
	report_free_members(&report);
}

static void nothing_measured_is_no_error(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	text = rendered_recording("markdown", &recording, 0, 0);
	assert_null(strchr(text, '|'));
	free(text);
	recording_free_members(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_come_out_in_order_with_later_tables_folded),
		cmocka_unit_test(verdicts_come_before_the_parts_and_after_the_doubts),
		cmocka_unit_test(names_are_neither_markup_nor_links_nor_mentions),
		cmocka_unit_test(cells_keep_their_table),
		cmocka_unit_test(never_longer_than_a_comment),
		cmocka_unit_test(nothing_measured_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
