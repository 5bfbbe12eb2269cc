/* Formats csv-…: every table has a head, as many cells in each row, and the figures of the result. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "sample.h"

#define CELLS_MAX 64

static const char *const tables[] = {"csv",	   "csv-runs",	 "csv-summary",	 "csv-comparisons",
				     "csv-causes", "csv-series", "csv-timeline", "csv-bare"};

/* Splits a line of RFC 4180 in place; how many cells, SIZE_MAX where it is not well formed. */
static size_t split(char *line, char **cells)
{
	char *to = line;
	size_t n = 0;

	for (;;) {
		bool quoted = *line == '"';

		if (n == CELLS_MAX)
			return SIZE_MAX;
		cells[n++] = to;
		line += quoted;
		while (quoted ? *line && !(*line == '"' && line[1] != '"')
			      : *line && *line != ',' && *line != '"') {
			line += quoted && *line == '"';
			*to++ = *line++;
		}
		if (quoted && *line++ != '"')
			return SIZE_MAX;
		if (*line && *line != ',')
			return SIZE_MAX;
		if (!*line++) {
			*to = '\0';
			return n;
		}
		*to++ = '\0';
	}
}

/* A table as cells, to be asked by the head of a column. */
struct sheet {
	char *text;
	size_t columns, rows;
	char *heads[CELLS_MAX];
	char **cells;
};

static struct sheet sheet_of(const char *format, const struct recording *recording)
{
	struct sheet sheet = {.text = rendered_recording(format, recording, 0, 0)};
	char *save, *line = strtok_r(sheet.text, "\n", &save);

	sheet.columns = split(line, sheet.heads);
	assert_in_range(sheet.columns, 5, CELLS_MAX);
	while ((line = strtok_r(NULL, "\n", &save))) {
		sheet.cells = mem_realloc(sheet.cells, (sheet.rows + 1) * CELLS_MAX,
					  sizeof(*sheet.cells));
		assert_int_equal(split(line, sheet.cells + sheet.rows++ * CELLS_MAX),
				 sheet.columns);
	}
	return sheet;
}

static const char *cell(const struct sheet *sheet, size_t row, const char *head)
{
	for (size_t c = 0; c < sheet->columns; c++)
		if (!strcmp(sheet->heads[c], head))
			return sheet->cells[row * CELLS_MAX + c];
	fail_msg("no column %s", head);
	return NULL;
}

static double sum(const struct sheet *sheet, const char *head)
{
	double all = 0;

	for (size_t row = 0; row < sheet->rows; row++)
		all += strtod(cell(sheet, row, head), NULL);
	return all;
}

static void sheet_free_members(struct sheet *sheet)
{
	free(sheet->text);
	free(sheet->cells);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void tables_hold_what_the_result_does(void **state)
{
	struct recording recording;
	struct sheet runs, threads, series;

	(void)state;
	sample_recording(&recording);
	runs = sheet_of("csv-runs", &recording);
	threads = sheet_of("csv", &recording);
	series = sheet_of("csv-series", &recording);
	assert_int_equal(runs.rows, recording.runs.n);
	assert_true(sum(&runs, "wakeups") > 0);
	assert_float_equal(sum(&runs, "wakeups"), sum(&threads, "wakeups"), 0);
	assert_float_equal(sum(&runs, "oncpu_ns"), sum(&threads, "oncpu_ns"), 0);
	for (size_t i = 0; i < series.rows; i++)
		assert_true(strtod(cell(&series, i, "second"), NULL) < 20);
	assert_string_equal(cell(&runs, 1, "label"), "zig");
	assert_string_equal(cell(&runs, 1, "size_bytes"), "92752752");
	assert_string_equal(cell(&runs, 1, "exec_to_exit_ns"), "");
	assert_string_equal(cell(&runs, runs.rows - 1, "trusted"), "no");
	sheet_free_members(&runs);
	sheet_free_members(&threads);
	sheet_free_members(&series);
	recording_free_members(&recording);
}

static void repeats_and_ratios(void **state)
{
	struct recording recording;
	struct sheet summary, comparisons;
	size_t found = 0;

	(void)state;
	sample_recording(&recording);
	summary = sheet_of("csv-summary", &recording);
	comparisons = sheet_of("csv-comparisons", &recording);
	for (size_t i = 0; i < summary.rows; i++)
		if (!strcmp(cell(&summary, i, "metric"), "exec_to_exit_ns") &&
		    !strcmp(cell(&summary, i, "label"), "zig")) {
			assert_string_equal(cell(&summary, i, "n"), "6");
			assert_string_equal(cell(&summary, i, "median"), "10600000");
			assert_string_equal(cell(&summary, i, "unit"), "ns");
			found++;
		}
	for (size_t i = 0; i < comparisons.rows; i++)
		if (!strcmp(cell(&comparisons, i, "metric"), "exec_to_exit_ns")) {
			double low = strtod(cell(&comparisons, i, "ci_low"), NULL);
			double high = strtod(cell(&comparisons, i, "ci_high"), NULL);
			double ratio = strtod(cell(&comparisons, i, "ratio"), NULL);

			assert_true(0 < low && low <= ratio && ratio <= high);
			assert_string_equal(cell(&comparisons, i, "verdict"), "lower");
			assert_string_equal(cell(&comparisons, i, "base"), "zig");
			found++;
		}
	assert_int_equal(found, 2);
	sheet_free_members(&summary);
	sheet_free_members(&comparisons);
	recording_free_members(&recording);
}

/* Two threads: main's timer rouses the helper. The helper has two causes that read the same. */
static void wakes_have_their_cause_and_their_root(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	struct wk_cause *cause;
	struct sheet timeline, causes;
	size_t by_root = 0;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "x", "attach", NULL, 0);
	/* The helper's causes come first, and go behind the root that is dearer. */
	sample_add_thread(capture, SAMPLE_PID + 1, "helper", 4, 4000);
	sample_add_thread(capture, SAMPLE_PID, "main", 4, 4000);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 2, 2000, 3);
	sample_set_waker(cause, 2, 202, 202);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 2, 2000, 3);
	sample_set_waker(cause, 2, 202, 202);
	cause->key.object = 77;
	cause = sample_add_cause(capture, 2, WK_CONTEXT_HRTIMER, 4, 4000, 0);
	sample_set_timeout(cause, 202, WK_SECOND_NS);
	sample_set_period(capture, 3, 0, 5 * WK_SECOND_NS);
	for (uint32_t i = 0; i < 4; i++)
		*vec_push(&capture->timeline) = (struct wk_wake_event){
			.time_ns = capture->start_ns + 1000 + i, .cause = 1 + i % 2, .root = 3};
	timeline = sheet_of("csv-timeline", &recording);
	assert_int_equal(timeline.rows, 8);
	for (size_t i = 0; i < timeline.rows; i++) {
		assert_string_not_equal(cell(&timeline, i, "cause"), "");
		if (strcmp(cell(&timeline, i, "thread"), "helper"))
			continue;
		assert_string_equal(cell(&timeline, i, "cause"), "thread");
		assert_string_equal(cell(&timeline, i, "root_thread"), "main");
		assert_string_equal(cell(&timeline, i, "root_cause"), "timeout");
		by_root++;
	}
	assert_int_equal(by_root, 4);
	assert_string_equal(cell(&timeline, 0, "at_ns"), "0");
	/* The helper's two are one row, and all of it is there. */
	causes = sheet_of("csv-causes", &recording);
	assert_int_equal(causes.rows, 2);
	assert_float_equal(sum(&causes, "wakeups"), 8, 0);
	assert_float_equal(sum(&causes, "oncpu_ns"), 8000, 0);
	assert_string_equal(cell(&causes, 0, "root_wakeups"), "8");
	assert_string_equal(cell(&causes, 1, "waker_thread"), "main");
	sheet_free_members(&causes);
	sheet_free_members(&timeline);
	recording_free_members(&recording);
}

static void runs_without_probes_have_a_table(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	*vec_push(&recording.bare) = (struct capture_bare){
		.label = mem_strdup("zig"), .workload = mem_strdup("hash"),
		.variant = mem_strdup("sync"), .repeat = 2, .outer_ns = 5000, .operations = 7};
	*vec_push(&recording.bare) = (struct capture_bare){
		.label = mem_strdup("zig"), .workload = mem_strdup("startup"), .outer_ns = 6000};
	text = rendered_recording("csv-bare", &recording, 0, 0);
	assert_string_equal(text, "workload,label,variant,repeat,outer_ns,operations\n"
				  "hash,zig,sync,2,5000,7\n"
				  "startup,zig,,0,6000,\n");
	free(text);
	recording_free_members(&recording);
}

/* ---- text from outside ----------------------------------------------------------------------- */

static void names_run_nothing_and_break_no_row(void **state)
{
	static const char *const hostile[] = {"=1+1", "@SUM(A1)", "-2", "+3",   "  =4",
					      "a,\"b\"\n", "\xff\x1b[2J", "＝5", "\t=6"};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct recording recording = {0};
		struct capture *capture;

		sample_tool(&recording);
		capture = sample_add_run(&recording, hostile[i], "attach", hostile[i], 0);
		capture->disturbed = mem_strdup(hostile[i]);
		capture->not_comparable = mem_strdup(hostile[i]);
		sample_add_thread(capture, SAMPLE_PID, hostile[i], 4, 4000);
		sample_set_timeout(sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 4, 4000, 0), 202,
				   WK_SECOND_NS);
		sample_set_period(capture, 1, 0, WK_SECOND_NS);
		for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
			struct sheet sheet = sheet_of(tables[t], &recording);

			for (size_t c = 0; c < sheet.rows * sheet.columns; c++) {
				const char *text = sheet.cells[c / sheet.columns * CELLS_MAX +
							       c % sheet.columns];

				text += strspn(text, " ");
				assert_null(*text ? strchr("=+-@", *text) : NULL);
				assert_true(strncmp(text, "＝", strlen("＝")) != 0);
				assert_null(strchr(text, '\x1b'));
			}
			sheet_free_members(&sheet);
		}
		recording_free_members(&recording);
	}
}

/* ---- names of files -------------------------------------------------------------------------- */

static void longest_extension_wins(void **state)
{
	(void)state;
	assert_ptr_equal(format_of_file("a.csv"), format_find("csv"));
	assert_ptr_equal(format_of_file("a.b.csv"), format_find("csv"));
	assert_ptr_equal(format_of_file("a.Summary.CSV"), format_find("csv-summary"));
	assert_ptr_equal(format_of_file("x/summary.csv"), format_find("csv"));
	assert_ptr_equal(format_of_file(".summary.csv"), format_find("csv"));
	assert_ptr_equal(format_for("a.csv", format_find("csv-runs")), format_find("csv-runs"));
	assert_ptr_equal(format_for("a.csv", format_find("text")), format_find("csv"));
	assert_ptr_equal(format_for("a.summary.csv", format_find("csv-runs")),
			 format_find("csv-summary"));
	assert_ptr_equal(format_for("a", format_find("csv-runs")), format_find("csv-runs"));
	assert_ptr_equal(format_for("a.md", NULL), format_find("markdown"));
	assert_null(format_for("a", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_hold_what_the_result_does),
		cmocka_unit_test(repeats_and_ratios),
		cmocka_unit_test(wakes_have_their_cause_and_their_root),
		cmocka_unit_test(runs_without_probes_have_a_table),
		cmocka_unit_test(names_run_nothing_and_break_no_row),
		cmocka_unit_test(longest_extension_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
