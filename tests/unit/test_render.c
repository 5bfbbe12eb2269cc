/* Formats: layout to the column, and names from outside that must do no harm in any of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/record.h"
#include "rendered.h"
#include "render/text.h"
#include "sample.h"

static void assert_report(const struct report *report, size_t width, const char *expected)
{
	char *text = rendered_report(report, width);

	assert_string_equal(text, expected);
	free(text);
}

/* ---- text: layout ------------------------------------------------------------------------------
 */

/* A table with a name, two numbers and a text. */
static void fill_table(struct report *report)
{
	struct table *table = report_add_table(report, "threads");
	struct row *row;

	table_add_column(table, "", true);
	table_add_column(table, "wakeups/s", false);
	table_add_column(table, "share", false);
	table_add_column(table, "most called", true);
	row = table_add_row(table);
	row_add_text(row, "bun");
	row->depth = 0;
	row = table_add_row(table);
	row->depth = 1;
	row_add_text(row, "bun#2");
	row_add_number(row, CELL_REAL, 9.95, 2);
	row_add_number(row, CELL_SHARE, 0.82, 0);
	row_add_text(row, "futex 9.95, epoll_wait 1.02");
	row = table_add_row(table);
	row->rule_before = true;
	row_add_text(row, "sum");
	row_add_number(row, CELL_REAL, 12.1, 2);
	row_add_number(row, CELL_RATIO, NAN, 0);
}

static void test_table(void **state)
{
	struct report report = {0};

	(void)state;
	report_add_heading(&report, "idle · 20 s");
	fill_table(&report);
	report_add_note(&report, NOTE_TEXT, "one");
	report_add_note(&report, NOTE_WARNING, "two");
	assert_report(&report, 0,
		      "idle · 20 s\n"
		      "\n"
		      "threads     wakeups/s   share   most called\n"
		      "  bun\n"
		      "    bun#2        9.95    82 %   futex 9.95, epoll_wait 1.02\n"
		      "\n"
		      "  sum           12.10       –\n"
		      "\n"
		      "one\n"
		      "two\n");
	report_free_members(&report);
}

static void test_table_fits(void **state)
{
	struct report report = {0};

	(void)state;
	fill_table(&report);
	/* Smaller gaps first. */
	assert_report(&report, 56,
		      "threads    wakeups/s  share  most called\n"
		      "  bun\n"
		      "    bun#2       9.95   82 %  futex 9.95, epoll_wait 1.02\n"
		      "\n"
		      "  sum          12.10      –\n");
	/* Then the text at the end is cut; numbers never are. */
	assert_report(&report, 50,
		      "threads    wakeups/s  share  most called\n"
		      "  bun\n"
		      "    bun#2       9.95   82 %  futex 9.95, epoll_wa…\n"
		      "\n"
		      "  sum          12.10      –\n");
	/* Then columns are folded below. */
	assert_report(&report, 40,
		      "threads    wakeups/s  share\n"
		      "  bun\n"
		      "    bun#2       9.95   82 %\n"
		      "\n"
		      "  sum          12.10      –\n"
		      "\n"
		      "threads    most called\n"
		      "  bun\n"
		      "    bun#2  futex 9.95, epoll_wait 1.02\n"
		      "\n"
		      "  sum\n");
	report_free_members(&report);
}

/* A row with a name alone does not push the columns apart, and is cut at the edge alone. */
static void test_row_reaches(void **state)
{
	struct report report = {0};
	struct table *table = report_add_table(&report, NULL);

	(void)state;
	table_add_column(table, "", true);
	table_add_column(table, "n", false);
	row_add_text(table_add_row(table), "x");
	row_add_number(&table->rows.items[0], CELL_COUNT, 12345, 0);
	row_add_text(table_add_row(table), "… and 16 more that did not run");
	assert_report(&report, 0,
		      "           n\n"
		      "  x   12,345\n"
		      "  … and 16 more that did not run\n");
	assert_report(&report, 20,
		      "           n\n"
		      "  x   12,345\n"
		      "  … and 16 more tha…\n");
	report_free_members(&report);
}

/* No terminal is too narrow: every number is still there, whole. */
static void test_table_narrow(void **state)
{
	struct report report = {0};

	(void)state;
	fill_table(&report);
	for (size_t width = 1; width < 60; width++) {
		char *text = rendered_report(&report, width);

		assert_non_null(strstr(text, "9.95"));
		assert_non_null(strstr(text, "12.10"));
		assert_non_null(strstr(text, "82 %"));
		free(text);
	}
	report_free_members(&report);
}

/* A line may be as wide as the terminal, and must not be wider unless one number is. */
static void test_width_kept(void **state)
{
	static const size_t widths[] = {60, 80, 100, 160};
	struct recording recording;

	(void)state;
	sample_recording(&recording);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = rendered_recording("text", &recording, 0, widths[i]);
		char *save, *line = strtok_r(text, "\n", &save);

		for (; line; line = strtok_r(NULL, "\n", &save)) {
			size_t columns = text_columns(line);

			if (columns > widths[i])
				fail_msg("%zu columns in %zu: %s", columns, widths[i], line);
			assert_true(line[strlen(line) - 1] != ' ');
		}
		free(text);
	}
	recording_free_members(&recording);
}

static void test_table_titles(void **state)
{
	struct report report = {0};
	struct table *table;

	(void)state;
	/* Much longer than what is below: a line of its own. */
	table = report_add_table(&report, "a title that is longer than all the rest");
	table_add_column(table, "", true);
	table_add_column(table, "n", false);
	row_add_text(table_add_row(table), "x");
	row_add_number(&table->rows.items[0], CELL_COUNT, 12345, 0);
	/* No heads at all: no line for them. */
	table = report_add_table(&report, NULL);
	table_add_column(table, "", true);
	table_add_column(table, "", true);
	row_add_text(table_add_row(table), "text");
	row_add_text(&table->rows.items[0], "for people");
	/* Heads of the table's own. */
	table = report_add_table(&report, NULL);
	table_add_column(table, "format", true);
	row_add_text(table_add_row(table), "json");
	assert_report(&report, 0,
		      "a title that is longer than all the rest\n"
		      "           n\n"
		      "  x   12,345\n"
		      "\n"
		      "  text   for people\n"
		      "\n"
		      "  format\n"
		      "  json\n");
	report_free_members(&report);
}

static void test_cells(void **state)
{
	static const struct {
		struct cell cell;
		const char *text;
	} cases[] = {
		{{.kind = CELL_EMPTY}, ""},
		{{.kind = CELL_TEXT, .text = (char *)"a\tb"}, "a\\x09b"},
		{{.kind = CELL_TEXT}, ""},
		{{.kind = CELL_COUNT, .number = 1225000}, "1,225,000"},
		{{.kind = CELL_REAL, .number = 1.5, .decimals = 3}, "1.500"},
		{{.kind = CELL_DURATION, .number = 12100000}, "12.1 ms"},
		{{.kind = CELL_BYTES, .number = 92752752}, "92.8 MB"},
		{{.kind = CELL_RATIO, .number = 4.031}, "4.03×"},
		{{.kind = CELL_SHARE, .number = 0.82}, "82 %"},
		{{.kind = CELL_DURATION, .number = NAN}, "–"},
		{{.kind = CELL_BYTES, .number = INFINITY}, "–"},
		{{.kind = CELL_COUNT, .number = NAN}, "–"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = text_of_cell(&cases[i].cell);

		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *cut;
	} cases[] = {
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"abcdef", 1, "…"},
		{"abcdef", 0, ""},
		{"漢字漢字", 8, "漢字漢字"},
		{"漢字漢字", 7, "漢字漢…"},
		{"漢字漢字", 6, "漢字…"},
		{"ab\xcc\x81"
		 "cd",
		 3, "ab\xcc\x81…"},
		{"", 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", cases[i].text);
		text_cut(text, cases[i].columns);
		assert_string_equal(text, cases[i].cut);
	}
}

static void test_prose(void **state)
{
	struct report report = {0};

	(void)state;
	report_add_note(&report, NOTE_TEXT, "one two  three 82 %% four");
	assert_report(&report, 14, "one two three\n82 % four\n");
	/* A per cent sign stays with its number, and a long word is not lost. */
	assert_report(&report, 9, "one two\nthree\n82 % four\n");
	assert_report(&report, 3, "one\ntwo\nthree\n82 %\nfour\n");
	report_free_members(&report);
}

/* Colour repeats what the words say already: without it not one letter is missing. */
static void test_colour(void **state)
{
	struct recording recording;
	struct report_options options = {0};
	struct result result;
	struct report report;
	char *plain, *coloured, *to;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	plain = rendered_format("text", &result, &report, 90, false, NULL);
	coloured = rendered_format("text", &result, &report, 90, true, NULL);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(coloured, "\033[1;31mnot trusted: "));
	to = coloured;
	for (const char *from = coloured; *from;) {
		if (*from == '\033')
			from += strcspn(from, "m") + 1;
		else
			*to++ = *from++;
	}
	*to = 0;
	assert_string_equal(plain, coloured);
	free(plain);
	free(coloured);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* ---- hostile names -----------------------------------------------------------------------------
 */

static const char *const hostile[] = {
	"\x1b[2J\x1b]0;owned\a",
	"\"quoted\", and more",
	"<script>alert(1)</script>",
	"\xff\xfe\xc3\x28",
	"=1+2",
	"+cmd|' /C calc'!A0",
	"-2+3",
	"@SUM(1)",
	"\t=1",
	"\r\nnew,line",
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): e is no digit of \xae */
	"\xe2\x80\xae"
	"evil",
	"  =1",
	"＝1",
	"\xed\xa0\x80",
	"",
	"'; DROP TABLE",
	"a\x7f\xc2\x9b"
	"31m",
	"\\u0000",
};
#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

/* A recording in which every text from outside is the given one. */
static void hostile_recording(struct recording *recording, const char *text)
{
	const char *argv[] = {text, text};
	struct capture *capture;

	*recording = (struct recording){0};
	sample_tool(recording);
	*vec_push(&recording->tool.command) = mem_strdup(text);
	capture = sample_add_run(recording, text, "run", NULL, 0);
	capture->runtime = (struct capture_runtime){
		.present = true,
		.family = mem_strdup(text),
		.version = mem_strdup(text),
		.path = mem_strdup(text),
	};
	free(capture->noise.governor);
	capture->noise.governor = mem_strdup(text);
	sample_add_image(capture, SAMPLE_PID, 1, 2, text, argv, 2);
	sample_add_syscall(sample_add_thread(capture, SAMPLE_PID, text, 3, 40000000), 1, 2);
	sample_add_thread(capture, SAMPLE_PID + 1, text, 3, 40000)->t.pid = SAMPLE_PID + 1;
	capture->probes.items[0].misses = 1;
	free(capture->probes.items[0].name);
	capture->probes.items[0].name = mem_strdup(text);
	*vec_push(&recording->failures) = (struct capture_failure){
		.label = mem_strdup(text),
		.workload = mem_strdup(text),
		.reason = mem_strdup(text),
	};
}

/* Bytes that a terminal or an editor could act on: none but line ends may be in any output. */
static void assert_harmless(const char *text, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		uint32_t code = 0;
		size_t n = text_decode(text + at, bytes - at, &code);

		assert_true(n > 0); /* valid UTF-8 */
		assert_true(code == '\n' || code >= 0x20);
		assert_true(code < 0x7f || code >= 0xa0);
		at += n;
	}
}

static char *hostile_output(const char *format, const char *text, size_t *ret_bytes)
{
	struct report_options options = {0};
	struct recording recording;
	struct result result;
	struct report report;
	char *output;

	hostile_recording(&recording, text);
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	output = rendered_format(format, &result, &report, 0, false, ret_bytes);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
	return output;
}

static void test_hostile_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE; i++) {
		size_t bytes;
		char *output = hostile_output("text", hostile[i], &bytes);

		assert_harmless(output, bytes);
		assert_null(strstr(output, "\xe2\x80\xae")); /* right-to-left override */
		free(output);
	}
}

static const char *json_text_at(const json_t *root, const char *list, const char *name)
{
	json_t *run = json_array_get(json_object_get(root, "runs"), 0);

	return json_string_value(
		json_object_get(json_array_get(json_object_get(run, list), 0), name));
}

static void test_hostile_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE; i++) {
		size_t bytes;
		char *output = hostile_output("json", hostile[i], &bytes);
		char *utf8 = text_utf8(hostile[i]);
		json_error_t error;
		json_t *root = json_loadb(output, bytes, JSON_REJECT_DUPLICATES, &error);
		json_t *run;

		if (!root)
			fail_msg("line %d: %s", error.line, error.text);
		/* jansson writes what JSON must escape as escapes, DEL and C1 as they are. */
		for (size_t j = 0; j < bytes; j++)
			assert_true((unsigned char)output[j] >= 0x20 || output[j] == '\n');
		run = json_array_get(json_object_get(root, "runs"), 0);
		assert_string_equal(json_string_value(json_object_get(run, "label")), utf8);
		assert_string_equal(
			json_string_value(json_array_get(
				json_object_get(
					json_array_get(json_object_get(run, "processes"), 0),
					"argv"),
				1)),
			utf8);
		assert_non_null(json_text_at(root, "threads", "comm"));
		json_decref(root);
		free(utf8);
		free(output);
	}
}

/* Splits one CSV line in place; returns the number of cells, SIZE_MAX when it is not well formed.
 */
static size_t csv_split(char *line, char **cells, size_t max)
{
	size_t n = 0;

	for (;;) {
		char *to = line;

		if (n == max)
			return SIZE_MAX;
		cells[n++] = line;
		if (*line == '"') {
			for (line++; *line != '"' || line[1] == '"'; line++) {
				line += *line == '"';
				if (!*line)
					return SIZE_MAX;
				*to++ = *line;
			}
			line++;
		} else {
			while (*line && *line != ',') {
				if (*line == '"')
					return SIZE_MAX;
				*to++ = *line++;
			}
		}
		if (*line && *line != ',')
			return SIZE_MAX;
		if (!*line++) {
			*to = 0;
			return n;
		}
		*to = 0;
	}
}

static void test_hostile_csv(void **state)
{
	static const char *const formulas[] = {"=", "+", "-", "@", "＝"};

	(void)state;
	for (size_t i = 0; i < HOSTILE; i++) {
		char *cells[64], *save;
		size_t bytes, columns, lines = 0;
		char *output = hostile_output("csv", hostile[i], &bytes);
		char *line = strtok_r(output, "\n", &save);

		assert_harmless(output, strlen(output));
		columns = csv_split(line, cells, 64);
		assert_in_range(columns, 12, 63);
		while ((line = strtok_r(NULL, "\n", &save))) {
			assert_harmless(line, strlen(line));
			assert_int_equal(csv_split(line, cells, 64), columns);
			for (size_t c = 0; c < columns; c++) {
				const char *cell = cells[c] + strspn(cells[c], " ");

				for (size_t f = 0; f < sizeof(formulas) / sizeof(*formulas); f++)
					assert_true(
						strncmp(cell, formulas[f], strlen(formulas[f])));
			}
			lines++;
		}
		assert_int_equal(lines, 2);
		free(output);
	}
}

/* ---- csv ---------------------------------------------------------------------------------------
 */

static void test_csv_rows(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	struct capture_thread *thread;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "a,b", "hash", "sync", 3);
	thread = sample_add_thread(capture, SAMPLE_PID, "main", 7, 1234567);
	sample_add_syscall(thread, 1, 9);
	text = rendered_recording("csv", &recording, 0, 0);
	assert_string_equal(
		text,
		"workload,label,variant,repeat,trusted,partial,window_ns,pid,tid,thread,comm,"
		"wakeups,"
		"cancelled_sleeps,starts,oncpu_ns,runq_ns,runq_waits,runq_max_ns,switches_"
		"voluntary,"
		"switches_preempted,idle_exits,migrations,syscalls,syscalls_compat,syscalls_"
		"invalid,"
		"active_seconds\n"
		"hash,\"a,b\",sync,3,yes,no,20000000000,4711,4711,main,main,7,0,0,1234567,28700,7,"
		"61000,7,0,3,0,9,0,0,7\n");
	free(text);
	/* Not counted is not 0. */
	capture->syscalls_counted = false;
	capture->lost[0] = 1;
	capture->partial = true;
	text = rendered_recording("csv", &recording, 0, 0);
	assert_non_null(strstr(text, "\nhash,\"a,b\",sync,3,no,yes,20000000000,"));
	assert_non_null(strstr(text, ",7,0,3,0,,,,7\n"));
	free(text);
	recording_free_members(&recording);
}

/* ---- json --------------------------------------------------------------------------------------
 */

static json_t *json_of(const struct recording *recording)
{
	char *text = rendered_recording("json", recording, 0, 0);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	assert_string_equal(text + strlen(text) - 3, "\n}\n");
	free(text);
	return root;
}

static json_t *json_at(json_t *root, size_t run, const char *object, const char *name)
{
	json_t *value = json_array_get(json_object_get(root, "runs"), run);

	if (object)
		value = json_object_get(value, object);
	value = json_object_get(value, name);
	assert_non_null(value);
	return value;
}

static void test_json_figures(void **state)
{
	struct recording recording;
	json_t *root, *threads, *calls;
	size_t run;

	(void)state;
	sample_recording(&recording);
	root = json_of(&recording);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "wakewhy/1");
	assert_true(json_is_false(json_object_get(root, "trusted")));
	assert_int_equal(json_array_size(json_object_get(root, "runs")), recording.runs.n);
	assert_int_equal(json_array_size(json_object_get(root, "failures")), 1);
	/* The second run is zig's first: 20 + 20 + 199 wakeups. */
	assert_int_equal(json_integer_value(json_at(root, 1, "totals", "wakeups")), 239);
	assert_int_equal(json_integer_value(json_at(root, 1, "totals", "oncpu_ns")), 12760000);
	assert_int_equal(json_integer_value(json_at(root, 1, "memory", "rss_bytes")), 52000000);
	assert_int_equal(json_integer_value(json_at(root, 1, "runtime", "size_bytes")), 92752752);
	assert_int_equal(json_array_size(json_at(root, 1, "series", "wakeups")), 20);
	assert_true(json_is_null(json_at(root, 1, NULL, "variant")));
	assert_true(json_is_null(json_at(root, 1, NULL, "exit_status")));
	assert_true(json_is_null(json_at(root, 1, NULL, "startup")));
	assert_true(json_is_true(json_at(root, 1, "trust", "ok")));
	threads = json_at(root, 1, NULL, "threads");
	calls = json_object_get(json_array_get(threads, 0), "syscall_counts");
	assert_string_equal(json_string_value(json_object_get(json_array_get(threads, 0), "label")),
			    "bun#2");
	assert_int_equal(json_integer_value(json_object_get(calls, "futex")), 199);
	/* The last run: status 1, one cause to doubt it, a call that has no name. */
	run = recording.runs.n - 1;
	assert_int_equal(json_integer_value(json_at(root, run, NULL, "exit_status")), 1);
	assert_true(json_is_false(json_at(root, run, "trust", "ok")));
	assert_int_equal(json_array_size(json_at(root, run, "trust", "reasons")), 2);
	calls = json_object_get(json_array_get(json_at(root, run, NULL, "threads"), 0),
				"syscall_counts");
	assert_int_equal(json_integer_value(json_object_get(calls, "479")), 2);
	json_decref(root);
	recording_free_members(&recording);
}

static void test_json_unknown(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	json_t *root, *thread;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "x", "attach", NULL, 0);
	sample_add_thread(capture, SAMPLE_PID, "x", UINT64_MAX, 5);
	capture->syscalls_counted = false;
	capture->probes_timed = false;
	capture->noise.other_cpu_share = NAN;
	capture->exit_status = 9;
	root = json_of(&recording);
	thread = json_array_get(json_at(root, 0, NULL, "threads"), 0);
	assert_true(json_is_null(json_at(root, 0, "totals", "syscalls")));
	assert_true(json_is_null(json_object_get(thread, "syscall_counts")));
	assert_true(json_is_null(json_at(root, 0, NULL, "result")));
	assert_true(json_is_null(
		json_object_get(json_at(root, 0, "trust", "noise"), "other_cpu_share")));
	assert_true(json_is_null(
		json_object_get(json_array_get(json_at(root, 0, "trust", "probes"), 0), "ns")));
	/* Beyond what JSON integers hold: the largest, never a negative one. */
	assert_true(json_integer_value(json_object_get(thread, "wakeups")) == INT64_MAX);
	assert_int_equal(json_integer_value(json_at(root, 0, NULL, "exit_status")), 137);
	json_decref(root);
	recording_free_members(&recording);
}

/* ---- the table of formats ----------------------------------------------------------------------
 */

static void test_formats(void **state)
{
	(void)state;
	for (const struct format *f = formats; f->name; f++) {
		char *path = mem_printf("/tmp/a.b/c.%s", f->extension);

		assert_ptr_equal(format_find(f->name), f);
		assert_ptr_equal(format_of_file(path), f);
		assert_true(*f->meaning);
		assert_non_null(f->render);
		free(path);
	}
	assert_null(format_find("yaml"));
	assert_null(format_find(""));
	assert_null(format_of_file("json"));
	assert_null(format_of_file(".json"));
	assert_null(format_of_file("a.json/b"));
	assert_null(format_of_file("a."));
	assert_ptr_equal(format_of_file("A.JSON"), format_find("json"));
}

/* What wkw writes reads back as the same report, byte for byte, in every format. */
static void test_wkw(void **state)
{
	struct recording recording, again = {0};
	struct report_options options = {0};
	struct result result;
	struct report report;
	struct diag diag;
	char *bytes;
	size_t n;
	FILE *in;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	bytes = rendered_format("wkw", &result, &report, 0, false, &n);
	in = fmemopen(bytes, n, "r");
	assert_int_equal(record_read(in, "it", &again, &diag), 0);
	fclose(in);
	for (const struct format *f = formats; f->name; f++) {
		size_t n_before, n_after;
		char *before = rendered_format(f->name, &result, &report, 0, false, &n_before);
		struct result result_again;
		struct report report_again;
		char *after;

		result_init(&result_again, &again);
		report_build(&report_again, &result_again, &options);
		after = rendered_format(f->name, &result_again, &report_again, 0, false, &n_after);
		assert_int_equal(n_before, n_after);
		assert_memory_equal(before, after, n_before);
		free(before);
		free(after);
		report_free_members(&report_again);
		result_free_members(&result_again);
	}
	free(bytes);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
	recording_free_members(&again);
}

/* A full disk fails every format that has something to write: a folded file is empty without stacks. */
static void test_full(void **state)
{
	struct render_style style = {0};
	struct report_options options = {0};
	struct recording recording;
	struct result result;
	struct report report;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	for (const struct format *f = formats; f->name; f++) {
		FILE *out = fopen("/dev/full", "w");
		bool empty = !strncmp(f->name, "folded", 6);
		struct diag diag = {0};

		assert_non_null(out);
		if (empty) {
			fclose(out);
			continue;
		}
		assert_int_equal(f->render(out, &result, &report, &style, &diag), -EIO);
		assert_true(*diag.what);
		fclose(out);
	}
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	     cmocka_unit_test(test_table_fits),
		cmocka_unit_test(test_table_narrow), cmocka_unit_test(test_row_reaches),
		cmocka_unit_test(test_width_kept),   cmocka_unit_test(test_table_titles),
		cmocka_unit_test(test_cells),	     cmocka_unit_test(test_cut),
		cmocka_unit_test(test_prose),	     cmocka_unit_test(test_colour),
		cmocka_unit_test(test_hostile_text), cmocka_unit_test(test_hostile_json),
		cmocka_unit_test(test_hostile_csv),  cmocka_unit_test(test_csv_rows),
		cmocka_unit_test(test_json_figures), cmocka_unit_test(test_json_unknown),
		cmocka_unit_test(test_formats),	     cmocka_unit_test(test_wkw),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
