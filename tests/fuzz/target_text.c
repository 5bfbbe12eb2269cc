/* Text from outside on its way into each format. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "render/csv.h"
#include "render/html.h"
#include "render/json.h"
#include "render/render.h"
#include "tests/fuzz/fuzz.h"

#define MIDDLE_DOT "\xc2\xb7"

/* ---- escapes ----------------------------------------------------------------------------------- */

static void check_safe(const char *bytes, size_t n)
{
	char *safe = text_safe_bytes(bytes, n), *again = text_safe(safe);
	char *utf8 = text_utf8_bytes(bytes, n);
	uint32_t code;

	FUZZ_CHECK(!strcmp(safe, again)); /* a second pass changes nothing */
	for (const char *at = safe; *at;) {
		size_t taken = text_decode(at, strlen(at), &code);

		FUZZ_CHECK(taken && code >= ' ' && !(code >= 0x7f && code < 0xa0));
		at += taken;
	}
	for (const char *at = utf8; *at;) {
		size_t taken = text_decode(at, strlen(at), &code);

		FUZZ_CHECK(taken);
		at += taken;
	}
	FUZZ_CHECK(text_columns(safe) <= 2 * strlen(safe));
	free(utf8);
	free(again);
	free(safe);
}

/* What is written by `write` of the text. */
static char *captured(void (*write)(FILE *out, const char *text), const char *text)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n);

	FUZZ_CHECK(out);
	write(out, text);
	fclose(out);
	return bytes;
}

static void check_html(const char *text)
{
	char *html = captured(html_text, text);

	FUZZ_CHECK(!strpbrk(html, "<>\"'"));
	for (const char *at = html; (at = strchr(at, '&')); at++)
		FUZZ_CHECK(!strncmp(at, "&amp;", 5) || !strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) ||
			   !strncmp(at, "&quot;", 6) || !strncmp(at, "&#39;", 5));
	free(html);
}

static void write_csv(FILE *out, const char *text)
{
	struct csv csv = {.out = out};

	csv_text(&csv, text);
	csv_end_row(&csv);
}

/* A cell read as RFC 4180 says is the safe text, or an apostrophe and the safe text. */
static void check_csv(const char *text)
{
	char *csv = captured(write_csv, text), *safe = text_safe(text);
	struct strbuf cell = {};
	const char *at = csv, *read;

	if (*at == '"') {
		for (at++; *at && (at[0] != '"' || at[1] == '"'); at++)
			strbuf_add_char(&cell, *(at += *at == '"'));
		FUZZ_CHECK(*at++ == '"');
	} else {
		for (; *at && *at != '\n'; at++) {
			FUZZ_CHECK(*at != ',' && *at != '"');
			strbuf_add_char(&cell, *at);
		}
	}
	FUZZ_CHECK(!strcmp(at, "\n"));
	read = strbuf_text(&cell);
	FUZZ_CHECK(!strchr("=+-@", *read) || !*read);
	FUZZ_CHECK(!strcmp(read, safe) || (*read == '\'' && !strcmp(read + 1, safe)));
	strbuf_free_members(&cell);
	free(safe);
	free(csv);
}

static void check_json(const char *text)
{
	json_t *value = json_of_text(text), *back;
	char *json = json_dumps(value, JSON_ENCODE_ANY);

	FUZZ_CHECK(json);
	back = json_loads(json, JSON_DECODE_ANY, NULL);
	FUZZ_CHECK(back && json_equal(value, back));
	json_decref(back);
	json_decref(value);
	free(json);
}

/* ---- whole reports ----------------------------------------------------------------------------- */

static void fill_report(struct report *report, const char *text)
{
	struct table *table;
	struct row *row;

	/* A dot in the middle parts a heading into pieces of their own: nothing worse. */
	report_add_heading(report, "%s", strstr(text, MIDDLE_DOT) ? "x" : text);
	report_add_note(report, NOTE_TEXT, "%s", text);
	report_add_note(report, NOTE_WARNING, "x %s", text);
	table = report_add_table(report, text);
	table_add_column(table, text, true);
	table_add_column(table, "n", false);
	row = table_add_row(table);
	row_add_text(row, text);
	row_add_number(row, CELL_COUNT, 1, 0);
}

/* What gives a document its shape: tags with their names, ends of lines, bars of tables that no
 * backslash stands before. */
static char *shape(const char *document, bool markdown)
{
	struct strbuf shape = {};

	for (const char *at = document; *at; at++) {
		if (markdown && *at == '\\' && at[1])
			at++;
		else if (*at == '<')
			for (; *at && !strchr(" >\n", *at); at++)
				strbuf_add_char(&shape, *at);
		else if (markdown && strchr("\n|", *at))
			strbuf_add_char(&shape, *at);
	}
	return strbuf_take(&shape);
}

static char *document_of(const char *text, const char *format)
{
	struct report report = {};
	struct result result = {};
	struct recording recording = {};
	struct diag diag = {};
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n);

	fill_report(&report, text);
	result.recording = &recording;
	FUZZ_CHECK(out && !format_find(format)->render(out, &result, &report,
						       &(struct render_style){.width = 60}, &diag));
	fclose(out);
	report_free_members(&report);
	return bytes;
}

/* A hostile text leaves the document in the shape that a harmless one gives it. */
static void check_document(const char *text, const char *format, bool markdown)
{
	char *document = document_of(text, format), *harmless = document_of("x", format);
	char *has = shape(document, markdown), *wanted = shape(harmless, markdown);

	FUZZ_CHECK(!strcmp(has, wanted));
	free(has);
	free(wanted);
	free(document);
	free(harmless);
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n\v\f")];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n), *document;

	check_safe(text, n);
	check_html(text);
	check_csv(text);
	check_json(text);
	document = document_of(text, "text");
	FUZZ_CHECK(fuzz_is_safe(document, strlen(document)));
	free(document);
	if (!is_blank(text)) {
		check_document(text, "html", false);
		check_document(text, "markdown", true);
	}
	free(text);
	return 0;
}
