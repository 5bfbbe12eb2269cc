/* Charts drawn in text: whole pictures as strings, in block characters and in ASCII. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/render.h"
#include "report/chart.h"
#include "sample.h"

static char *render(const struct report *report, size_t width, bool ascii)
{
	struct render_style style = {.width = width, .ascii = ascii};
	struct diag diag = {};
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(render_report_text(out, report, &style, &diag), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void check(const struct report *report, size_t width, bool ascii, const char *expected)
{
	char *text = render(report, width, ascii);

	if (strcmp(text, expected) != 0)
		fail_msg("got:\n%s\nnot:\n%s", text, expected);
	free(text);
}

static struct chart *begin(struct report *report, enum chart_kind kind, const char *title)
{
	struct chart *chart;

	*report = (struct report){};
	chart = report_add_chart(report, kind, title);
	chart->in_text = true;
	chart->x_step = 1;
	chart_axis_set(&chart->x, kind == CHART_BARS || kind == CHART_WATERFALL ? "" : "seconds",
		       CELL_REAL, 0);
	chart_axis_set(&chart->y, "ms", CELL_REAL, 1);
	return chart;
}

static void add_series(struct chart *chart, const char *name, double mark, size_t n,
		       const double *values)
{
	struct chart_series *series = chart_add_series(chart, name);

	series->mark = mark;
	for (size_t i = 0; i < n; i++)
		chart_add_point(series, (double)i, values[i], NULL);
}

/* ---- dots ------------------------------------------------------------------------------------ */

static void dots_stand_where_their_values_are(void **state)
{
	static const double a[] = {10, 10, 10, 10, 12, 14}, b[] = {4, 4, 5, 6};
	struct report report;
	struct chart *chart = begin(&report, CHART_DOTS, "a takes 10.0 ms, b 4.5");

	(void)state;
	add_series(chart, "a", 11, 6, a);
	add_series(chart, "second", 4.5, 4, b);
	check(&report, 50, false,
	      "a takes 10.0 ms, b 4.5\n"
	      "  a                        ● ┃  ·    ·   10.0–14.0\n"
	      "  second   •┃ · ·                          4.0–6.0\n"
	      "           4.0    ms, ┃ median    14.0\n");
	check(&report, 50, true,
	      "a takes 10.0 ms, b 4.5\n"
	      "  a                        O |  .    .   10.0-14.0\n"
	      "  second   o| . .                          4.0-6.0\n"
	      "           4.0    ms, | median    14.0\n");
	report_free_members(&report);
}

/* One run, or many that are the same, have no extent. */
static void dots_without_extent_stand_in_the_middle(void **state)
{
	static const double same[] = {7, 7, 7, 7};
	struct report report;
	struct chart *chart = begin(&report, CHART_DOTS, "t");

	(void)state;
	add_series(chart, "x", NAN, 1, same);
	add_series(chart, "y", 7, 4, same);
	add_series(chart, "none", NAN, 0, same);
	check(&report, 40, false,
	      "t\n"
	      "  x                ·             7.0–7.0\n"
	      "  y                ┃             7.0–7.0\n"
	      "  none\n"
	      "         7.0   ms, ┃ median\n");
	report_free_members(&report);
}

/* ---- strips ---------------------------------------------------------------------------------- */

static void strips_share_a_scale(void **state)
{
	static const double a[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, b[] = {0, 4.5, 0.01, 8};
	struct report report;
	struct chart *chart = begin(&report, CHART_STRIP, "t");

	(void)state;
	add_series(chart, "a", NAN, 9, a);
	add_series(chart, "b", NAN, 4, b);
	check(&report, 60, false,
	      "t\n"
	      "  a      ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███   max 8.0\n"
	      "  b      ▅▅▅▁▁▁███                  max 8.0\n"
	      "      0                 9 seconds\n");
	check(&report, 60, true,
	      "t\n"
	      "  a      ...:::---===+++***###@@@   max 8.0\n"
	      "  b      +++...@@@                  max 8.0\n"
	      "      0                 9 seconds\n");
	report_free_members(&report);
}

static void strips_of_nothing_are_empty(void **state)
{
	static const double zeros[] = {0, 0, 0, 0};
	struct report report;
	struct chart *chart = begin(&report, CHART_STRIP, "t");

	(void)state;
	add_series(chart, "a", NAN, 4, zeros);
	check(&report, 60, false,
	      "t\n"
	      "  a                  max 0.0\n"
	      "      0  4 seconds\n");
	report_free_members(&report);
}

/* Columns of joined seconds hold their sums, and the line below says how many they are. */
static void seconds_that_do_not_fit_are_joined(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_STRIP, "t");
	struct chart_series *series = chart_add_series(chart, "a");

	(void)state;
	for (size_t i = 0; i < 100; i++)
		chart_add_point(series, (double)i, i < 50 ? 1 : 2, NULL);
	check(&report, 50, false,
	      "t\n"
	      "  a   ▄▄▄▄▄▄▄▄▄▄▄▄▆████████████   max 8.0\n"
	      "      0             100 seconds\n"
	      "      4 seconds a column\n");
	report_free_members(&report);
}

/* ---- stairs ---------------------------------------------------------------------------------- */

static void stairs_rise_to_their_ends(void **state)
{
	static const double a[] = {0, 5, 10, 15, 20, 25, 30}, b[] = {0, 0, 0, 10};
	struct report report;
	struct chart *chart = begin(&report, CHART_STAIRS, "t");

	(void)state;
	add_series(chart, "a", NAN, 7, a);
	add_series(chart, "b", NAN, 4, b);
	check(&report, 48, true,
	      "t\n"
	      "  30.0                              a  a: a 30.0\n"
	      "                                aaaa\n"
	      "                      aaaaaaaaaa\n"
	      "                 aaaaab                b: b 10.0\n"
	      "            aaaaa     b\n"
	      "   0.0  aaaabbbbbbbbbb\n"
	      "        0                   6 seconds\n"
	      "        ms, as it adds up\n");
	report_free_members(&report);
}

/* Lines end where they have come to; more series than lines share the highest. */
static void labels_keep_the_order_of_the_ends(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_STAIRS, "t");
	char *text, *before = NULL;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		const double values[] = {0, i == 5 ? 1000 : (double)i};
		char name[] = {(char)('p' + i), 0};

		add_series(chart, name, NAN, 2, values);
	}
	text = render(&report, 80, false);
	for (size_t i = 6; i-- > 0;) {
		char *label = mem_printf("  %c %s", (int)('p' + i),
					 i == 5 ? "1,000.0" : i == 4 ? "4.0" : "");
		char *at = strstr(text, label);

		assert_non_null(at);
		assert_true(!before || at > before);
		before = at;
		free(label);
	}
	free(text);
	add_series(chart, "v", NAN, 1, (const double[]){0});
	add_series(chart, "w", NAN, 0, NULL);
	text = render(&report, 80, false);
	assert_non_null(strstr(text, "t 4.0"));
	free(text);
	report_free_members(&report);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static void add_bar(struct chart *chart, const char *name, double value)
{
	struct chart_series *series = &chart->series.items[0];

	chart_add_point(series, (double)series->points.n, value, name);
}

static void bars_are_as_long_as_their_values(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_BARS, "t");

	(void)state;
	chart_add_series(chart, "");
	add_bar(chart, "all", 20);
	add_bar(chart, "└ half", 10);
	add_bar(chart, "  └ the least there is", 0.001);
	add_bar(chart, "nothing", 0);
	check(&report, 60, false,
	      "t\n"
	      "  all                      ██████████████████████████   20.0\n"
	      "  └ half                   █████████████                10.0\n"
	      "    └ the least there is   ▏                            <0.1\n"
	      "  nothing                                                0.0\n");
	report_free_members(&report);
}

static void bars_below_zero_go_to_the_left(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_BARS, "t");

	(void)state;
	chart_add_series(chart, "");
	add_bar(chart, "a", 10);
	add_bar(chart, "b", -10);
	check(&report, 40, true,
	      "t\n"
	      "  a                #############    10.0\n"
	      "  b   #############                -10.0\n");
	report_free_members(&report);
}

/* What has no line of its own is in the last one. */
static void bars_beyond_ten_are_added_up(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_BARS, "t");
	char *text;
	size_t lines = 0;

	(void)state;
	chart_add_series(chart, "");
	for (size_t i = 0; i < 14; i++)
		add_bar(chart, "bar", 3);
	text = render(&report, 60, true);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + 10);
	assert_non_null(strstr(text, "... and 5 more"));
	assert_non_null(strstr(text, " 15.0\n"));
	free(text);
	report_free_members(&report);
}

static void waterfalls_lead_from_one_total_to_the_other(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_WATERFALL, "From 12.0 of a to 3.0 of b");

	(void)state;
	chart_add_series(chart, "");
	add_bar(chart, "a", 12);
	add_bar(chart, "timer", -10);
	add_bar(chart, "helper", 1);
	add_bar(chart, "b", 3);
	check(&report, 46, true,
	      "From 12.0 of a to 3.0 of b\n"
	      "  a        ###########################    12.0\n"
	      "  timer         ----------------------   -10.0\n"
	      "  helper        ++                        +1.0\n"
	      "  b        #######                         3.0\n");
	report_free_members(&report);
}

/* ---- what holds of all ------------------------------------------------------------------------- */

static void check_lines(const char *text, size_t width)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = mem_strndup(text, n);

		if (text_columns(line) > width)
			fail_msg("%zu columns, not %zu: %s", text_columns(line), width, line);
		assert_true(!n || line[n - 1] != ' ');
		free(line);
		text += n + (text[n] == '\n');
	}
}

/* Nothing is wider than the terminal, nothing is what a terminal acts on, at any width; below 40
 * columns and without a mark for text there is no picture. */
static void hostile_names_fit_any_width(void **state)
{
	static const enum chart_kind kinds[] = {CHART_DOTS, CHART_STRIP, CHART_STAIRS, CHART_BARS,
						CHART_WATERFALL};
	static const double values[] = {0, 1, 1e9, 3};

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t width = 38; width < 140; width++)
			for (int ascii = 0; ascii < 2; ascii++) {
				struct report report;
				struct chart *chart = begin(&report, kinds[k], "t");
				char *text;

				add_series(chart, SAMPLE_HOSTILE_COMM SAMPLE_HOSTILE_ARG, 1, 4, values);
				add_series(chart, "日本語の名前がとても長い場合でも", NAN, 4, values);
				for (size_t i = 0; i < 4; i++)
					chart->series.items[0].points.items[i].name =
						mem_strdup(SAMPLE_HOSTILE_ARG SAMPLE_HOSTILE_COMM);
				text = render(&report, width, ascii);
				assert_true(width >= 40 || !*text);
				check_lines(text, width);
				for (const char *c = text; *c; c++)
					assert_true((*c >= ' ' && *c != 0x7f) || *c == '\n' ||
						    (!ascii && (unsigned char)*c >= 0x80));
				free(text);
				report_free_members(&report);
			}
}

static void only_what_is_marked_is_drawn(void **state)
{
	static const double values[] = {1, 2};
	struct report report;
	struct chart *chart = begin(&report, CHART_STRIP, "t");

	(void)state;
	add_series(chart, "a", NAN, 2, values);
	chart->in_text = false;
	report_add_note(&report, NOTE_TEXT, "before");
	chart = report_add_chart(&report, CHART_STRIP, "empty");
	chart->in_text = true;
	chart_axis_set(&chart->x, "", CELL_REAL, 0);
	chart_axis_set(&chart->y, "", CELL_REAL, 0);
	report_add_note(&report, NOTE_TEXT, "after");
	check(&report, 80, false, "before\nafter\n");
	report_free_members(&report);
}

/* A kind without a picture in text shows its table. */
static void other_kinds_show_their_tables(void **state)
{
	struct report report;
	struct chart *chart = begin(&report, CHART_GRAPH, "a wakes b");
	struct chart_link *link = vec_push(&chart->links);
	struct row *row;

	(void)state;
	*vec_push(&chart->nodes) = mem_strdup("a");
	link->weight = 1;
	link->text = mem_strdup("futex");
	table_add_column(&chart->table, "from", true);
	table_add_column(&chart->table, "wakeups/s", false);
	row = table_add_row(&chart->table);
	row_add_text(row, "a");
	row_add_number(row, CELL_REAL, 1, 2);
	check(&report, 80, false, "a wakes b\n  from   wakeups/s\n  a           1.00\n");
	report_free_members(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dots_stand_where_their_values_are),
		cmocka_unit_test(dots_without_extent_stand_in_the_middle),
		cmocka_unit_test(strips_share_a_scale),
		cmocka_unit_test(strips_of_nothing_are_empty),
		cmocka_unit_test(seconds_that_do_not_fit_are_joined),
		cmocka_unit_test(stairs_rise_to_their_ends),
		cmocka_unit_test(labels_keep_the_order_of_the_ends),
		cmocka_unit_test(bars_are_as_long_as_their_values),
		cmocka_unit_test(bars_below_zero_go_to_the_left),
		cmocka_unit_test(bars_beyond_ten_are_added_up),
		cmocka_unit_test(waterfalls_lead_from_one_total_to_the_other),
		cmocka_unit_test(hostile_names_fit_any_width),
		cmocka_unit_test(only_what_is_marked_is_drawn),
		cmocka_unit_test(other_kinds_show_their_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
