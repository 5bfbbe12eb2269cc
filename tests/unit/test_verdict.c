/* Verdicts in words, and what repeated runs look like: outliers, drifts, two groups, probe cost. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/part.h"
#include "sample.h"

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static struct capture *add_start(struct recording *recording, const char *label, uint32_t repeat,
				 uint64_t exit_ns)
{
	struct capture *capture = sample_add_run(recording, label, "startup", NULL, repeat);

	sample_add_thread(capture, SAMPLE_PID, label, 1, exit_ns / 2);
	capture->startup.present = true;
	capture->startup.exec_to_exit_ns = exit_ns;
	capture->outer_ns = exit_ns;
	return capture;
}

/* Runs of one label whose times are given in µs. */
static void add_starts(struct recording *recording, const char *label, const unsigned int *us, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_start(recording, label, (uint32_t)i, us[i] * 1000ull);
}

static char *text_of(struct recording *recording)
{
	char *text = rendered_recording("text", recording, 0, 0);

	recording_free_members(recording);
	return text;
}

static char *verdicts_of(struct recording *recording, const char *workload)
{
	struct report report = {};
	struct result result;
	struct part part;
	char *text;

	result_init(&result, recording);
	part_init(&part, &result, workload);
	verdicts_build(&report, &result, &part);
	text = rendered_report(&report, 0);
	report_free_members(&report);
	part_free_members(&part);
	result_free_members(&result);
	recording_free_members(recording);
	return text;
}

static void verdicts_are_a_table(void **state)
{
	static const unsigned int zig[] = {1000, 1010, 1005, 1002, 1008, 1004};
	static const unsigned int rust[] = {500, 505, 502, 501, 504, 502};
	static const unsigned int same[] = {1004, 1005, 1008, 1001, 1003, 1009};
	static const unsigned int vague[] = {900, 1105, 1208, 951, 1003, 1109};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "floor", rust, 6);
	add_starts(&recording, "zig", zig, 6);
	add_starts(&recording, "rust", rust, 6);
	add_starts(&recording, "same", same, 6);
	add_starts(&recording, "vague", vague, 6);
	text = verdicts_of(&recording, "startup");
	assert_has(text, "  verdict                       ratio   (95 % interval)\n"
			 "  exec to exit   zig → rust    0.500×   (0.500×–0.500×)   lower (better)\n"
			 "  exec to exit   zig → same     1.00×   (0.995×–1.004×)   same within 2 %\n"
			 "  exec to exit   zig → vague    1.05×    (0.925×–1.15×)   unclear: about 390 "
			 "runs of each would tell a difference of 2 %\n");
	assert_has(text, "Runs are compared round by round");
	assert_has_not(text, "floor"); /* nobody's rival */
	free(text);
}

static void floor_is_compared_with_where_there_is_nothing_else(void **state)
{
	static const unsigned int zig[] = {1000, 1010, 1005, 1002, 1008, 1004};
	static const unsigned int rust[] = {500, 505, 502, 501, 504, 502};
	struct recording recording = {};
	char *text;

	(void)state;
	add_starts(&recording, "floor", rust, 6);
	add_starts(&recording, "zig", zig, 6);
	text = verdicts_of(&recording, "startup");
	assert_has(text, "floor → zig   2.00×     (2.00×–2.00×)   higher (worse)\n");
	free(text);
}

static void single_runs_have_no_verdicts(void **state)
{
	static const unsigned int one[] = {1000};
	struct recording recording = {};
	char *text;

	(void)state;
	add_starts(&recording, "zig", one, 1);
	add_starts(&recording, "rust", one, 1);
	text = verdicts_of(&recording, "startup");
	assert_string_equal(text, "");
	free(text);
	/* Nor has a part that is not there. */
	add_starts(&recording, "zig", one, 1);
	text = verdicts_of(&recording, "idle");
	assert_string_equal(text, "");
	free(text);
}

static void what_must_not_be_compared_says_why(void **state)
{
	static const unsigned int zig[] = {1000, 1010, 1005, 1002, 1008, 1004};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", zig, 6);
	add_starts(&recording, "rust", zig, 6);
	recording.runs.items[8].not_comparable = mem_strdup("server and load share a core\x1b[2J");
	text = text_of(&recording);
	assert_has(text, "zig → rust       –                     not compared: server and load share a "
			 "core\\x1b[2J\n");
	assert_has_not(text, "rust / zig"); /* no row of ratios */
	assert_has_not(text, "\x1b");
	free(text);
}

static void a_workload_of_replaced_windows_alone_is_left_out(void **state)
{
	static const unsigned int one[] = {1000};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", one, 1);
	recording.runs.items[0].replaced = true;
	text = text_of(&recording);
	assert_has_not(text, "startup ·");
	free(text);
}

/* ---- spread -------------------------------------------------------------------------------------- */

static void outliers_are_told_and_kept(void **state)
{
	static const unsigned int us[] = {1000, 1010, 1005, 1900, 1002, 1008, 1004, 1003, 1007};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", us, 9);
	text = text_of(&recording);
	assert_has(text, "zig: exec to exit lies far out in 1 of 9 runs (run 4 1.90 ms; the median is "
			 "1.00 ms); none is left\nout.");
	assert_has(text, "(1.00–1.90)");
	assert_has_not(text, "drifts");
	free(text);
}

static void a_drift_is_told(void **state)
{
	static const unsigned int us[] = {1000, 1030, 1010, 1060, 1020, 1070,
					  1100, 1060, 1090, 1130, 1110, 1100};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", us, 12);
	text = text_of(&recording);
	assert_has(text, "zig drifts: exec to exit rises by 110 µs (10 %) from the first run to the last "
			 "(spread without that\n32.5 µs; p 0.002)");
	free(text);
}

static void two_groups_are_told(void **state)
{
	static const unsigned int us[] = {1000, 1300, 1010, 1310, 1005, 1302, 1002, 1304, 1001, 1303};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", us, 10);
	text = text_of(&recording);
	assert_has(text, "zig has two kinds of runs: exec to exit is near 1.00 ms in 5 of them and near "
			 "1.30 ms in 5");
	free(text);
}

static void the_cost_of_probes_is_told(void **state)
{
	static const unsigned int zig[] = {1020, 1030, 1025, 1022, 1028, 1024};
	struct recording recording = {};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_starts(&recording, "zig", zig, 6);
	add_starts(&recording, "rust", zig, 6);
	for (size_t i = 0; i < 12; i++) {
		bool is_rust = i >= 6;

		*vec_push(&recording.bare) = (struct capture_bare){
			.label = mem_strdup(is_rust ? "rust" : "zig"),
			.workload = mem_strdup("startup"),
			.repeat = (uint32_t)(i % 6),
			.outer_ns = is_rust ? zig[(i + 1) % 6] * 1000ull : zig[i] * 1000ull - 20000,
		};
	}
	text = text_of(&recording);
	assert_has(text, "What the probes cost, of the time of one start: zig +2.0 % (2.0 to 2.0 %), "
			 "rust +0.0 % (");
	assert_has(text, ": may be chance).");
	assert_has(text, "ratios of start-up to exit are those of the runs without probes");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_a_table),
		cmocka_unit_test(floor_is_compared_with_where_there_is_nothing_else),
		cmocka_unit_test(single_runs_have_no_verdicts),
		cmocka_unit_test(what_must_not_be_compared_says_why),
		cmocka_unit_test(a_workload_of_replaced_windows_alone_is_left_out),
		cmocka_unit_test(outliers_are_told_and_kept),
		cmocka_unit_test(a_drift_is_told),
		cmocka_unit_test(two_groups_are_told),
		cmocka_unit_test(the_cost_of_probes_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
