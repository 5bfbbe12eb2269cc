/* Budgets and baselines: what is over, what is not, and what cannot be compared. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "rendered.h"
#include "report/excess.h"
#include "sample.h"

static const struct excess_limits no_limits = {
	.wakeups_per_s = NAN, .cpu_ms_per_s = NAN, .startup_ns = NAN};

/* A run of the sample's 20 s with one thread. */
static struct capture *add(struct recording *recording, const char *label, const char *workload,
			   uint32_t repeat, uint64_t wakeups, uint64_t oncpu_ns)
{
	struct capture *capture = sample_add_run(recording, label, workload, NULL, repeat);

	sample_add_thread(capture, SAMPLE_PID, label, wakeups, oncpu_ns);
	return capture;
}

/* Ten starts around a time, far closer together than any tolerance that is tested. */
static void add_starts(struct recording *recording, const char *label, uint64_t ns)
{
	for (uint32_t i = 0; i < 10; i++) {
		struct capture *capture = add(recording, label, "startup", i, 1, ns);

		capture->startup.present = true;
		capture->startup.exec_to_exit_ns = ns + i * (ns / 10000);
	}
}

static void add_hash(struct recording *recording, const char *label, uint64_t operations)
{
	for (uint32_t i = 0; i < 6; i++) {
		struct capture *capture = add(recording, label, "hash", i, 1, 1000);

		capture->variant = mem_strdup("sync");
		capture->has_result = true;
		capture->operations = operations + i;
	}
}

/* The figures that go with a sentence are what it is about. */
static void assert_figures(const struct excess *excess)
{
	assert_non_null(excess->option);
	assert_non_null(strstr(excess->text, excess->over ? excess->option : "not compared"));
	assert_int_equal(excess->metric != NULL, excess->over);
	if (!excess->over) {
		assert_true(isnan(excess->value) && isnan(excess->allowed));
		return;
	}
	assert_non_null(strstr(excess->text, excess->key.label));
	assert_non_null(strstr(excess->text, excess->metric->title));
	if (excess->metric->better == METRIC_HIGHER)
		assert_true(excess->value < excess->allowed);
	else
		assert_true(excess->value > excess->allowed);
}

/* What is said about `now`, a line for each: "! " before what is over, "? " before the rest. */
static char *judged(const struct recording *now, const struct recording *before,
		    struct excess_limits limits)
{
	struct result now_result, before_result;
	struct excesses excesses;
	struct strbuf text = {};
	bool over = false;

	result_init(&now_result, now);
	if (before) {
		result_init(&before_result, before);
		limits.baseline = &before_result;
		limits.baseline_name = "old.json";
	}
	excesses_init(&excesses, &now_result, &limits);
	for (size_t i = 0; i < excesses.all.n; i++) {
		strbuf_printf(&text, "%s %s\n", excesses.all.items[i].over ? "!" : "?",
			      excesses.all.items[i].text);
		over |= excesses.all.items[i].over;
		assert_figures(&excesses.all.items[i]);
	}
	assert_int_equal(excesses_any_over(&excesses), over);
	excesses_free_members(&excesses);
	result_free_members(&now_result);
	if (before)
		result_free_members(&before_result);
	return strbuf_take(&text);
}

static void assert_judged(const struct recording *now, const struct recording *before,
			  struct excess_limits limits, const char *expected)
{
	char *text = judged(now, before, limits);

	assert_string_equal(text, expected);
	free(text);
}

/* ---- budgets --------------------------------------------------------------------------------- */

static void a_budget_is_each_labels_own(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {};

	(void)state;
	sample_tool(&now);
	add(&now, "rust", "idle", 0, 60, 4880000);
	add(&now, "zig", "idle", 0, 242, 14800000);
	assert_judged(&now, NULL, limits, "");
	limits.wakeups_per_s = 3; /* what rust has: not above */
	limits.cpu_ms_per_s = 0.5;
	assert_judged(&now, NULL, limits,
		      "! idle of zig: wakeups/s 12.1, allowed 3.00 (--max-wakeups)\n"
		      "! idle of zig: CPU ms/s 0.740, allowed 0.500 (--max-cpu)\n");
	limits.wakeups_per_s = 0;
	limits.cpu_ms_per_s = NAN;
	assert_judged(&now, NULL, limits,
		      "! idle of rust: wakeups/s 3.00, allowed 0 (--max-wakeups)\n"
		      "! idle of zig: wakeups/s 12.1, allowed 0 (--max-wakeups)\n");
	recording_free_members(&now);
}

static void a_start_is_judged_by_its_median(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {};

	(void)state;
	sample_tool(&now);
	add_starts(&now, "zig", 7580000);
	now.runs.items[9].startup.exec_to_exit_ns *= 100; /* one that was hit by something */
	limits.startup_ns = 7.6e6;
	assert_judged(&now, NULL, limits, "");
	limits.startup_ns = 7.5e6;
	assert_judged(&now, NULL, limits,
		      "! startup of zig: exec to exit 7.58 ms, allowed 7.50 ms (--max-startup)\n");
	recording_free_members(&now);
}

/* ---- baselines ------------------------------------------------------------------------------- */

static void worse_by_more_than_the_tolerance_is_over(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {}, before = {};
	char *text;

	(void)state;
	limits.tolerance = 0.05;
	sample_tool(&now);
	sample_tool(&before);
	add_starts(&before, "zig", 2930000);
	add_starts(&now, "zig", 3070000); /* 4.8 % more */
	assert_judged(&now, &before, limits, "");
	limits.tolerance = 0.04;
	text = judged(&now, &before, limits);
	assert_non_null(strstr(text, "! startup of zig: exec to exit 3.07 ms, in old.json 2.93 ms: "
				     "1.05× ("));
	assert_non_null(strstr(text, "), allowed 1.04× (--baseline)\n"));
	free(text);
	/* Better is never over. */
	assert_judged(&before, &now, limits, "");
	limits.tolerance = 0;
	assert_judged(&before, &now, limits, "");
	recording_free_members(&now);
	recording_free_members(&before);
}

/* Ratios whose interval reaches into what is allowed are no excess, however high they are. */
static void an_interval_must_lie_beyond_what_is_allowed(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {}, before = {};

	(void)state;
	limits.tolerance = 0.05;
	sample_tool(&now);
	sample_tool(&before);
	add_starts(&before, "zig", 2930000);
	add_starts(&now, "zig", 2930000);
	/* Six of ten are slower by half: the median is, and the interval reaches from 1 to 1.5. */
	for (size_t i = 0; i < 6; i++)
		now.runs.items[i].startup.exec_to_exit_ns = 4400000;
	assert_judged(&now, &before, limits, "");
	/* All of them. */
	for (size_t i = 6; i < 10; i++)
		now.runs.items[i].startup.exec_to_exit_ns = 4400000;
	{
		char *text = judged(&now, &before, limits);

		assert_non_null(strstr(text, "! startup of zig: exec to exit 4.40 ms"));
		free(text);
	}
	recording_free_members(&now);
	recording_free_members(&before);
}

static void more_is_better_where_the_metric_says_so(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {}, before = {};
	char *text;

	(void)state;
	limits.tolerance = 0.10;
	sample_tool(&now);
	sample_tool(&before);
	add_hash(&before, "node", 24000000);
	add_hash(&now, "node", 20000000);
	text = judged(&now, &before, limits);
	assert_string_equal(text, "! hash of node sync: operations/s 1,000,000, in old.json 1,200,000: "
				  "0.833× (0.833×–0.833×), allowed 0.909× (--baseline)\n");
	free(text);
	assert_judged(&before, &now, limits, "");
	/* Nothing left of it has no ratio. */
	for (size_t i = 0; i < now.runs.n; i++)
		now.runs.items[i].operations = 0;
	assert_judged(&now, &before, limits,
		      "! hash of node sync: operations/s 0, in old.json 1,200,000, allowed 0.909× "
		      "(--baseline)\n");
	recording_free_members(&now);
	recording_free_members(&before);
}

static void something_from_nothing_is_over_once_it_is_no_chance(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {}, before = {};

	(void)state;
	limits.tolerance = 0.05;
	sample_tool(&now);
	sample_tool(&before);
	add(&before, "node", "idle", 0, 0, 0);
	add(&now, "node", "idle", 0, 2, 0);
	assert_judged(&now, &before, limits, "");
	now.runs.items[0].threads.items[0].t.count.wakeups = 40;
	now.runs.items[0].threads.items[0].t.last.voluntary = 40;
	{
		char *text = judged(&now, &before, limits);

		assert_non_null(strstr(text, "! idle of node: wakeups/s 2.00, in old.json 0, "
					     "allowed 1.05× (--baseline)"));
		free(text);
	}
	assert_judged(&before, &before, limits, "");
	recording_free_members(&now);
	recording_free_members(&before);
}

/* ---- what cannot be compared ----------------------------------------------------------------- */

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = mem_strdup(value);
}

static void what_cannot_be_compared_is_said_and_no_excess(void **state)
{
	struct excess_limits limits = no_limits;
	struct recording now = {}, before = {};
	struct capture *capture;
	char *text;

	(void)state;
	limits.tolerance = 0.05;
	sample_tool(&now);
	sample_tool(&before);
	add(&now, "a", "idle", 0, 600, 60000000);
	capture = add(&before, "b", "idle", 0, 60, 6000000);
	assert_judged(&now, &before, limits, "? not compared with old.json: idle of a is not in it\n");
	set_text(&capture->label, "a");
	capture->not_comparable = mem_strdup("its CPUs were the generator's");
	assert_judged(&now, &before, limits,
		      "? not compared with old.json: idle of a must not be compared: its CPUs were the "
		      "generator's\n");
	free(capture->not_comparable);
	capture->not_comparable = NULL;
	capture->lost[0] = 1;
	assert_judged(&now, &before, limits,
		      "? not compared with old.json: idle of a is not to be trusted there\n");
	capture->lost[0] = 0;
	capture->end_ns += 60 * WK_SECOND_NS;
	assert_judged(&now, &before, limits,
		      "? not compared with old.json: idle of a was watched for 80 s there, and for 20 s "
		      "now\n");
	capture->end_ns -= 60 * WK_SECOND_NS;
	text = judged(&now, &before, limits);
	assert_int_equal(text[0], '!');
	free(text);
	/* Only what was measured again counts. */
	capture->replaced = true;
	assert_judged(&now, &before, limits, "? not compared with old.json: idle of a is not in it\n");
	capture->replaced = false;
	set_text(&before.tool.kernel, "5.10");
	text = judged(&now, &before, limits);
	assert_int_equal(strncmp(text, "? not compared with old.json: it is from another machine", 56), 0);
	assert_null(strchr(text, '!'));
	free(text);
	recording_free_members(&now);
	recording_free_members(&before);
}

/* ---- in the report --------------------------------------------------------------------------- */

/* What JSON has of "excesses", without spaces and line ends; the caller frees. */
static char *excesses_in_json(const struct result *result, const struct report *report)
{
	char *text = rendered_format("json", result, report, 0, false, NULL);
	const char *from = strstr(text, "\"excesses\""), *until = strstr(text, "\n  \"tool\"");
	struct strbuf squeezed = {};

	assert_non_null(from);
	assert_non_null(until);
	for (; from < until; from++)
		if (*from != ' ' && *from != '\n')
			strbuf_add_char(&squeezed, *from);
	free(text);
	return strbuf_take(&squeezed);
}

static void the_report_begins_with_what_is_over(void **state)
{
	struct excess_limits limits = no_limits;
	struct report_options options = {0};
	struct recording now = {};
	struct excesses excesses;
	struct result result;
	struct report report;
	char *text;

	(void)state;
	sample_tool(&now);
	add(&now, "<b>", "idle", 0, 60, 4880000)->lost[0] = 1;
	limits.wakeups_per_s = 1;
	result_init(&result, &now);
	excesses_init(&excesses, &result, &limits);
	options.excesses = &excesses;
	report_build(&report, &result, &options);
	text = rendered_report(&report, 0);
	assert_int_equal(strncmp(text,
				 "over budget: idle of <b>: wakeups/s 3.00, allowed 1.00 "
				 "(--max-wakeups)\nnot trusted",
				 79),
			 0);
	free(text);
	text = excesses_in_json(&result, &report);
	assert_string_equal(text,
			    "\"excesses\":[{\"over\":true,\"option\":\"--max-wakeups\","
			    "\"label\":\"<b>\",\"workload\":\"idle\",\"variant\":null,"
			    "\"metric\":\"wakeups_per_s\",\"value\":3.0,\"allowed\":1.0,\"text\":"
			    "\"idleof<b>:wakeups/s3.00,allowed1.00(--max-wakeups)\"}],");
	free(text);
	report_free_members(&report);
	excesses_free_members(&excesses);
	result_free_members(&result);
	recording_free_members(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_is_each_labels_own),
		cmocka_unit_test(a_start_is_judged_by_its_median),
		cmocka_unit_test(worse_by_more_than_the_tolerance_is_over),
		cmocka_unit_test(an_interval_must_lie_beyond_what_is_allowed),
		cmocka_unit_test(more_is_better_where_the_metric_says_so),
		cmocka_unit_test(something_from_nothing_is_over_once_it_is_no_chance),
		cmocka_unit_test(what_cannot_be_compared_is_said_and_no_excess),
		cmocka_unit_test(the_report_begins_with_what_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
