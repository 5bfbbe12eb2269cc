/* Results in JSON read back: the same figures as from the recording, and nothing in them believed. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "record/json_result.h"
#include "rendered.h"
#include "report/diff.h"
#include "sample.h"
#include "sample_stacks.h"

/* ---- samples --------------------------------------------------------------------------------- */

/* A server whose helper is woken by its own timer thread, with names that are no text. */
static void add_server(struct recording *recording, uint32_t repeat, uint64_t wakeups)
{
	struct capture *capture = sample_add_run(recording, "a\xff" "b", "idle", NULL, repeat);
	struct wk_cause *cause;

	capture->settle_ns = 5;
	capture->disturbed = mem_strdup("others used 43 % of its CPUs");
	sample_add_thread(capture, SAMPLE_PID, "\xff\xfe\xfd 345678901\xc3", wakeups, 4000);
	sample_add_thread(capture, SAMPLE_PID + 1, "helper", wakeups, 5000);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, wakeups, 4000, 0);
	sample_set_timeout(cause, 202, WK_SECOND_NS);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_THREAD, wakeups, 3000, 1);
	sample_set_waker(cause, 1, 202, 202);
	sample_set_period(capture, 1, 0, WK_SECOND_NS / 2);
}

/* Two threads that hand work to and fro. */
static void add_loop(struct recording *recording)
{
	struct capture *capture = sample_add_run(recording, "node", "hash", "webcrypto", 0);
	struct wk_cause *cause;

	capture->has_result = true;
	capture->operations = 20000;
	capture->errors = 3;
	sample_add_thread(capture, SAMPLE_PID, "node", 20000, 90000000);
	sample_add_thread(capture, SAMPLE_PID + 1, "worker", 20000, 80000000);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 20000, 90000000, 2);
	sample_set_waker(cause, 2, 202, 202);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_THREAD, 20000, 80000000, 1);
	sample_set_waker(cause, 1, 202, 202);
}

static void sample_of(struct recording *recording, uint64_t wakeups)
{
	*recording = (struct recording){.seed = 42};
	sample_tool(recording);
	add_server(recording, 0, wakeups);
	add_server(recording, 1, wakeups + 1);
	add_loop(recording);
	recording->runs.items[1].lost[0] = 7; /* not trusted */
	*vec_push(&recording->bare) = (struct capture_bare){
		.label = mem_strdup("node"), .workload = mem_strdup("hash"),
		.variant = mem_strdup("webcrypto"), .outer_ns = 5, .operations = 20000};
}

static int read_text(const char *text, size_t n, struct json_result *result, struct diag *diag)
{
	FILE *in = fmemopen((void *)text, n, "rb");
	int err;

	assert_non_null(in);
	err = json_result_read(in, "x.json", result, diag);
	fclose(in);
	return err;
}

/* The recording by way of JSON. result_free_members and json_result_free_members are due. */
static void by_json(const struct recording *recording, struct json_result *json,
		    struct result *result)
{
	char *text = rendered_recording("json", recording, 0, 0);
	struct diag diag = {};

	if (read_text(text, strlen(text), json, &diag))
		fail_msg("%s", diag.what);
	result_init_derived(result, &json->recording, json->runs, json->whys);
	json->runs = NULL;
	json->whys = NULL;
	free(text);
}

static char *diff_text(const struct result *base, const struct result *other, bool as_json)
{
	struct diff diff;
	struct report report;
	struct diag diag;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_int_equal(diff_init(&diff, base, "A", other, "B", &diag), 0);
	diff_build(&report, &diff, 0);
	if (as_json)
		assert_int_equal(render_diff_json(out, &diff, &diag), 0);
	else
		assert_int_equal(render_report_text(out, &report, &(struct render_style){}, &diag),
				 0);
	fclose(out);
	report_free_members(&report);
	diff_free_members(&diff);
	return text;
}

/* ---- figures --------------------------------------------------------------------------------- */

static char *format_of(const char *format, const struct result *result)
{
	struct report report = {};
	char *text = rendered_format(format, result, &report, 0, false, NULL);

	report_free_members(&report);
	return text;
}

static void figures_are_those_of_the_recording(void **state)
{
	static const char *const tables[] = {"csv-runs", "csv-summary", "csv-comparisons",
					     "csv-causes", "csv-series", "csv-bare"};
	struct recording recording;
	struct json_result json;
	struct result direct, back;

	(void)state;
	sample_of(&recording, 40);
	result_init(&direct, &recording);
	by_json(&recording, &json, &back);
	assert_false(back.trusted);
	assert_int_equal(json.recording.seed, 42);
	assert_string_equal(back.runs.items[1].trust.reasons.items[0],
			    direct.runs.items[1].trust.reasons.items[0]);
	assert_string_equal(json.recording.runs.items[0].disturbed,
			    recording.runs.items[0].disturbed);
	assert_int_equal(json.recording.runs.items[2].errors, 3);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		char *wanted = format_of(tables[i], &direct), *got = format_of(tables[i], &back);
		struct strbuf plain = {};

		/* A byte that is no text reads U+FFFD in JSON; and who else used the CPUs is left out. */
		for (const char *p = wanted; *p; p++)
			if (strncmp(p, "\\xff", 4) && strncmp(p, "\\xfe", 4) &&
			    strncmp(p, "\\xfd", 4) && strncmp(p, "\\xc3", 4)) {
				strbuf_add_char(&plain, *p);
			} else {
				strbuf_add(&plain, "\xef\xbf\xbd");
				p += 3;
			}
		if (strcmp(tables[i], "csv-runs") != 0)
			assert_string_equal(got, strbuf_text(&plain));
		strbuf_free_members(&plain);
		free(wanted);
		free(got);
	}
	result_free_members(&back);
	json_result_free_members(&json);
	result_free_members(&direct);
	recording_free_members(&recording);
}

static void differences_are_the_same(void **state)
{
	struct recording a, b;
	struct json_result a_json, b_json;
	struct result a_direct, b_direct, a_back, b_back;

	(void)state;
	sample_of(&a, 40);
	sample_of(&b, 20);
	/* Names that JSON can hold: others read differently, and are none the less matched. */
	for (size_t i = 0; i < 2; i++) {
		strcpy(a.runs.items[i].threads.items[0].t.comm, "main");
		strcpy(b.runs.items[i].threads.items[0].t.comm, "main");
		strcpy(a.runs.items[i].label, "a");
		strcpy(b.runs.items[i].label, "a");
	}
	result_init(&a_direct, &a);
	result_init(&b_direct, &b);
	by_json(&a, &a_json, &a_back);
	by_json(&b, &b_json, &b_back);
	for (int as_json = 0; as_json < 2; as_json++) {
		char *wanted = diff_text(&a_direct, &b_direct, as_json);
		char *both = diff_text(&a_back, &b_back, as_json);
		char *one = diff_text(&a_direct, &b_back, as_json);

		assert_non_null(strstr(wanted, "futex wake by main"));
		assert_string_equal(both, wanted);
		assert_string_equal(one, wanted);
		free(wanted);
		free(both);
		free(one);
	}
	result_free_members(&a_direct);
	result_free_members(&b_direct);
	result_free_members(&a_back);
	result_free_members(&b_back);
	json_result_free_members(&a_json);
	json_result_free_members(&b_json);
	recording_free_members(&a);
	recording_free_members(&b);
}

/* Broken names go to JSON and back and to JSON again as the same bytes. */
static void broken_names_stay_as_json_has_them(void **state)
{
	struct recording recording;
	struct json_result json;
	struct result direct, back;
	char *first, *second;

	(void)state;
	sample_of(&recording, 40);
	result_init(&direct, &recording);
	by_json(&recording, &json, &back);
	first = diff_text(&back, &back, true);
	second = format_of("csv", &back);
	/* "\xff\xfe\xfd 345678901\xc3": one byte for each of the broken ones, so that all of it fits. */
	assert_non_null(strstr(second, "\\xff\\xff\\xff 345678901\\xff"));
	assert_null(strstr(first, "\"share\": 1"));
	free(first);
	free(second);
	result_free_members(&back);
	json_result_free_members(&json);
	result_free_members(&direct);
	recording_free_members(&recording);
}

/* ---- nothing is believed --------------------------------------------------------------------- */

#define HEAD                                                                                       \
	"{\"schema\":\"wakewhy/1\",\"tool\":{\"version\":\"1\",\"kernel\":\"6\",\"arch\":\"x\","   \
	"\"started\":\"t\"},\"runs\":["
#define RUN HEAD "{\"label\":\"a\",\"workload\":\"idle\",\"totals\":{},"
#define THREAD "{\"pid\":1,\"tid\":1,\"comm\":\"c\",\"label\":\"c\"}"
#define CAUSES                                                                                     \
	RUN "\"causes_counted\":true,\"threads\":[" THREAD "],\"causes\":[{\"pid\":1,\"tid\":1,"   \
	    "\"comm\":\"c\",\"label\":\"c\",\"cause\":\"timer\",\"text\":\"t\"}],"

static const struct {
	const char *text, *message;
	int err;
} bad[] = {
	{"", "x.json is not a valid result: ", -EINVAL},
	{"{", "at byte", -EINVAL},
	{"{}", "it names no schema", -EINVAL},
	{"{\"schema\":1}", "it names no schema", -EINVAL},
	{"{\"schema\":\"x\"}", "its schema is 'x', not wakewhy/1", -EINVAL},
	{"{\"schema\":\"wakewhy/2\"}", "which this wakewhy cannot read", -ENOTSUP},
	{"{\"schema\":\"wakewhy/1\"}", "it does not say what measured", -EINVAL},
	{"{\"schema\":\"wakewhy/1\",\"schema\":\"wakewhy/1\"}", "duplicate", -EINVAL},
	{"[[[[[[[[[[[[[[1]]]]]]]]]]]]]]", "nested deeper than 12", -EINVAL},
	{HEAD "{}]}", "label is missing", -EINVAL},
	{HEAD "null]}", "label is missing", -EINVAL},
	{HEAD "{\"label\":\"\",\"workload\":\"idle\"}]}", "no label or no workload", -EINVAL},
	{HEAD "{\"label\":7}]}", "label is no text", -EINVAL},
	{HEAD "{\"label\":\"a\",\"workload\":\"idle\"}]}", "a run has no totals", -EINVAL},
	{RUN "\"window_ns\":-1}]}", "window_ns is no whole number", -EINVAL},
	{RUN "\"window_ns\":1.5}]}", "window_ns is no whole number", -EINVAL},
	{RUN "\"repeat\":4294967296}]}", "repeat is no whole number", -EINVAL},
	{RUN "\"partial\":1}]}", "partial is neither true nor false", -EINVAL},
	{RUN "\"series\":{\"oncpu_ns\":[1],\"wakeups\":[]}}]}", "series differ", -EINVAL},
	{RUN "\"series\":{\"oncpu_ns\":[-1],\"wakeups\":[1]}}]}", "no count", -EINVAL},
	{RUN "\"threads\":{}}]}", "threads is no list", -EINVAL},
	{RUN "\"threads\":[{}]}]}", "comm is missing", -EINVAL},
	{RUN "\"runtime\":[]}]}", "runtime is no object", -EINVAL},
	{RUN "\"trust\":{\"reasons\":[1]}}]}", "is no text", -EINVAL},
	{RUN "\"causes\":[{\"cause\":\"timer\",\"text\":\"t\",\"label\":\"c\",\"pid\":1,\"tid\":2,"
	     "\"comm\":\"c\"}]}]}",
	 "thread 2 of process 1 is not among its threads", -EINVAL},
	{CAUSES "\"roots\":[{\"root\":0,\"cause\":1}]}]}", "not among its causes", -EINVAL},
	{CAUSES "\"roots\":[{\"root\":1,\"cause\":0}]}]}", "not among its causes", -EINVAL},
	{CAUSES "\"roots\":[{}]}]}", "not among its causes", -EINVAL},
	{CAUSES "\"loops\":[{\"threads\":[]}]}]}", "fewer than two threads", -EINVAL},
	{CAUSES "\"loops\":[{\"threads\":[1,2]}]}]}", "comm is missing", -EINVAL},
	{CAUSES "\"unexplained\":3}]}", "unexplained is no object", -EINVAL},
};

static void what_is_no_result_is_refused_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct json_result result = {.names.n = 77};
		struct diag diag = {};
		/* fmemopen takes no empty buffer. */
		const char *text = *bad[i].text ? bad[i].text : " ";

		assert_int_equal(read_text(text, strlen(text), &result, &diag), bad[i].err);
		if (!strstr(diag.what, bad[i].message))
			fail_msg("%s: %s", bad[i].text, diag.what);
		assert_int_equal(result.names.n, 77);
	}
}

/* A cause that only a newer wakewhy knows keeps its words. */
static void newer_causes_and_members_are_kept_or_skipped(void **state)
{
	static const char text[] =
		RUN "\"causes_counted\":true,\"threads\":[" THREAD "],\"causes\":[{\"pid\":1,"
		    "\"tid\":1,\"comm\":\"c\",\"label\":\"c\",\"cause\":\"quantum\",\"new\":[1],"
		    "\"text\":\"a quantum leap\",\"wakeups\":3}]}]}";
	struct json_result result;
	struct diag diag = {};

	(void)state;
	assert_int_equal(read_text(text, sizeof(text) - 1, &result, &diag), 0);
	assert_string_equal(result.whys[0].causes.items[0].rule->id, "unknown");
	assert_string_equal(result.whys[0].causes.items[0].text, "a quantum leap");
	assert_false(result.runs[0].trust.ok);
	json_result_free_members(&result);
}

/* n runs, and as many without probes, each with a label of its own: twice n in all. */
static int read_labels(size_t n, struct json_result *result, struct diag *diag)
{
	struct strbuf text = {};
	int err;

	strbuf_add(&text, HEAD);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%s{\"label\":\"r%zu\",\"workload\":\"idle\",\"totals\":{}}",
			      i ? "," : "", i);
	strbuf_add(&text, "],\"bare\":[");
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%s{\"label\":\"b%zu\",\"workload\":\"idle\"}", i ? "," : "", i);
	strbuf_add(&text, "]}");
	err = read_text(strbuf_text(&text), text.n, result, diag);
	strbuf_free_members(&text);
	return err;
}

/* Labels are compared with one another in many places. */
static void more_labels_than_anybody_measures_are_refused(void **state)
{
	struct json_result result;
	struct diag diag = {};

	(void)state;
	assert_int_equal(read_labels(1024, &result, &diag), 0);
	json_result_free_members(&result);
	assert_int_equal(read_labels(1025, &result, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "its runs have 2050 labels"));
}

/* However many there are, each cause keeps its own. */
static void mechanisms_without_end_are_kept(void **state)
{
	struct json_result result;
	struct strbuf text = {};
	struct diag diag = {};

	(void)state;
	strbuf_add(&text, RUN "\"causes_counted\":true,\"threads\":[" THREAD "],\"causes\":[");
	for (size_t i = 0; i < 1000; i++)
		strbuf_printf(&text,
			      "%s{\"pid\":1,\"tid\":1,\"comm\":\"c\",\"label\":\"c\","
			      "\"cause\":\"timer\",\"text\":\"t\",\"mechanism\":\"m%zu\"}",
			      i ? "," : "", i % 500);
	strbuf_add(&text, "]}]}");
	assert_int_equal(read_text(strbuf_text(&text), text.n, &result, &diag), 0);
	for (size_t i = 0; i < 1000; i++) {
		char *name = mem_printf("m%zu", i % 500);

		assert_string_equal(result.whys[0].causes.items[i].mechanism, name);
		free(name);
	}
	json_result_free_members(&result);
	strbuf_free_members(&text);
}

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* Puts another value where a number, a word or a letter stands. */
static void damage(struct strbuf *text, uint32_t *random)
{
	static const char *const values[] = {"0",	 "1",	 "9223372036854775807",
					     "-1",	 "null", "\"\"",
					     "1e17",	 "[]",	 "{}",
					     "4294967296"};
	size_t at = next_random(random) % text->n, end;
	struct strbuf damaged = {};

	while (at < text->n && text->text[at] != ':')
		at++;
	at += 2 * (at + 2 < text->n);
	end = at + strspn(text->text + at, "0123456789.-truefalsn");
	if (end == at) {
		if (text->text[at] >= 'a' && text->text[at] < 'z')
			text->text[at]++;
		return;
	}
	strbuf_add_bytes(&damaged, text->text, at);
	strbuf_add(&damaged, values[next_random(random) % (sizeof(values) / sizeof(*values))]);
	strbuf_add_bytes(&damaged, text->text + end, text->n - end);
	strbuf_free_members(text);
	*text = damaged;
}

static void use(struct json_result *json)
{
	struct report_options options = {.max_threads = 10};
	struct result result;
	struct report report;
	struct diff diff;
	struct diag diag;

	result_init_derived(&result, &json->recording, json->runs, json->whys);
	json->runs = NULL;
	json->whys = NULL;
	report_build(&report, &result, &options);
	for (const struct format *format = formats; format->name; format++)
		free(rendered_format(format->name, &result, &report, 80, false, NULL));
	report_free_members(&report);
	if (!diff_init(&diff, &result, "A", &result, "B", &diag)) {
		diff_build(&report, &diff, 10);
		free(rendered_report(&report, 80));
		report_free_members(&report);
		diff_free_members(&diff);
	}
	result_free_members(&result);
	json_result_free_members(json);
}

static void damaged_results_do_no_harm(void **state)
{
	struct recording recording;
	uint32_t random = 2463534242, used = 0;
	char *sound;

	(void)state;
	sample_of(&recording, 40);
	sound = rendered_recording("json", &recording, 0, 0);
	for (int round = 0; round < 600; round++) {
		struct strbuf text = {};
		struct json_result json;
		struct diag diag = {};

		strbuf_add(&text, sound);
		for (uint32_t n = next_random(&random) % 4 + 1; n > 0; n--)
			damage(&text, &random);
		if (!read_text(text.text, text.n, &json, &diag)) {
			use(&json);
			used++;
		} else {
			assert_true(strstr(diag.what, "x.json") == diag.what);
		}
		strbuf_free_members(&text);
	}
	assert_in_range(used, 60, 590);
	free(sound);
	recording_free_members(&recording);
}

/* Stacks are for the report of a recording: of a result in JSON nothing is made of them, or lost by them. */
static void stacks_are_skipped(void **state)
{
	struct recording recording;
	struct json_result json;
	struct result direct, back;
	char *expected, *got;

	(void)state;
	sample_stacks_recording(&recording);
	result_init(&direct, &recording);
	assert_true(direct.stacks.items[0].known);
	by_json(&recording, &json, &back);
	assert_int_equal(back.stacks.n, 1);
	assert_false(back.stacks.items[0].known);
	assert_int_equal(json.recording.runs.items[0].frames.n, 0);
	assert_true(back.trusted);
	expected = format_of("csv-summary", &direct);
	got = format_of("csv-summary", &back);
	assert_string_equal(got, expected);
	free(expected);
	free(got);
	result_free_members(&back);
	json_result_free_members(&json);
	result_free_members(&direct);
	recording_free_members(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_the_recording),
		cmocka_unit_test(differences_are_the_same),
		cmocka_unit_test(broken_names_stay_as_json_has_them),
		cmocka_unit_test(what_is_no_result_is_refused_with_its_place),
		cmocka_unit_test(newer_causes_and_members_are_kept_or_skipped),
		cmocka_unit_test(more_labels_than_anybody_measures_are_refused),
		cmocka_unit_test(mechanisms_without_end_are_kept),
		cmocka_unit_test(damaged_results_do_no_harm),
		cmocka_unit_test(stacks_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
