/* Claims: the articles' file is read as it stands, and what is wrong in a file is named with its place. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/metric.h"
#include "record/claims.h"
#include "record/record.h"

/* What is refused leaves the recording alone and says where in one line. */
static int read_text(const char *text, size_t n, struct recording *ret, struct diag *diag)
{
	FILE *in = n ? fmemopen((void *)text, n, "rb") : fopen("/dev/null", "rb");
	int err;

	assert_non_null(in);
	*diag = (struct diag){0};
	err = claims_read(in, "c.json", ret, diag);
	fclose(in);
	if (err) {
		assert_int_equal(ret->claims.n, 0);
		assert_null(ret->claims.items);
		assert_ptr_equal(strstr(diag->what, "c.json: "), diag->what);
		assert_null(strchr(diag->what, '\n'));
	}
	return err;
}

/* A claim with everything in it; members of `change` stand in place of those of the same name. */
static const char *const whole[][2] = {
	{"source", "\"article\""},     {"what", "\"rate\""},	{"text", "\"9 times\""},
	{"label", "\"old\""},	       {"base", "\"new\""},	{"workload", "\"idle\""},
	{"variant", "null"},	       {"metric", "\"cpu_ms_per_s\""}, {"value", "9"},
	{"low", "8"},		       {"high", "13.5"},	{"window_s", "300"},
};
#define N_WHOLE (sizeof(whole) / sizeof(whole[0]))

static char *file_with(const char *name, const char *value)
{
	char *body = NULL, *file;
	size_t n = 0;
	bool seen = !name;
	FILE *out = open_memstream(&body, &n);

	for (size_t i = 0; i < N_WHOLE; i++) {
		bool same = name && !strcmp(whole[i][0], name);

		seen |= same;
		fprintf(out, "%s\"%s\": %s", i ? ", " : "", whole[i][0],
			same ? value : whole[i][1]);
	}
	if (!seen)
		fprintf(out, ", \"%s\": %s", name, value);
	fclose(out);
	assert_true(asprintf(&file, "{\"schema\": \"wakewhy-claims/1\", \"claims\": [{%s}]}", body) > 0);
	free(body);
	return file;
}

static void a_claim_is_read_whole(void **state)
{
	struct recording recording = {};
	char *file = file_with(NULL, NULL);
	const struct claim *claim;
	struct diag diag;

	(void)state;
	assert_int_equal(read_text(file, strlen(file), &recording, &diag), 0);
	assert_int_equal(recording.claims.n, 1);
	claim = &recording.claims.items[0];
	assert_string_equal(claim->source, "article");
	assert_string_equal(claim->what, "rate");
	assert_string_equal(claim->text, "9 times");
	assert_string_equal(claim->label, "old");
	assert_string_equal(claim->base, "new");
	assert_string_equal(claim->workload, "idle");
	assert_null(claim->variant);
	assert_string_equal(claim->metric, "cpu_ms_per_s");
	assert_true(claim->value == 9 && claim->low == 8 && claim->high == 13.5);
	assert_int_equal(claim->window_ns, 300000000000);
	recording_free_members(&recording);
	free(file);
}

static void one_that_is_out_of_scope_has_its_text_alone(void **state)
{
	static const char file[] = "{\"schema\": \"wakewhy-claims/1\", \"claims\": [{\"source\": \"a\","
				   "\"what\": \"b\", \"label\": \"c\", \"text\": \"d\"}]}";
	struct recording recording = {};
	struct diag diag;

	(void)state;
	assert_int_equal(read_text(file, sizeof(file) - 1, &recording, &diag), 0);
	assert_string_equal(recording.claims.items[0].workload, "");
	assert_string_equal(recording.claims.items[0].metric, "");
	assert_true(isnan(recording.claims.items[0].value));
	assert_true(isnan(recording.claims.items[0].low));
	recording_free_members(&recording);
}

/* A member in the whole claim, its value, and the place that the message has to name. */
static const char *const wrong_members[][3] = {
	{"value", "\"9\"", "claims[0].value: it is no number"},
	{"value", "-1", "claims[0].value: -1 is out of range"},
	{"value", "1e16", "claims[0].value: 1e+16 is out of range"},
	{"value", "7.9", "claims[0].value: 7.9 is not within low and high"},
	{"value", "14", "claims[0].value: 14 is not within low and high"},
	{"value", "null", "claims[0].value: it is missing"},
	{"value", "true", "claims[0].value: it is no number"},
	{"low", "null", "claims[0].high: a range has both ends"},
	{"high", "null", "claims[0].low: a range has both ends"},
	{"high", "[13]", "claims[0].high: it is no number"},
	{"label", "\"\"", "claims[0].label: it is empty"},
	{"label", "7", "claims[0].label: it is no text"},
	{"label", "null", "claims[0].label: it is missing"},
	{"label", "\"new\"", "claims[0].base: 'new' is the label itself"},
	{"source", "{}", "claims[0].source: it is no text"},
	{"text", "null", "claims[0].text: it is missing"},
	{"workload", "\"run\"", "claims[0].workload: 'run' is none of"},
	{"workload", "\"idle \"", "claims[0].workload: 'idle ' is none of"},
	{"workload", "null", "it says nothing without a workload"},
	{"workload", "\"hash\"", "claims[0].metric: cpu_ms_per_s is not measured by hash"},
	{"metric", "\"wakes\"", "claims[0].metric: there is no 'wakes'"},
	{"metric", "null", "claims[0].metric: it is missing"},
	{"variant", "[]", "claims[0].variant: it is no text"},
	{"window_s", "0", "claims[0].window_s: a window has a length"},
	{"window_s", "1e9", "claims[0].window_s: 1e+09 is out of range"},
	{"valeu", "9", "claims[0].valeu: no claim has such a member"},
	{"", "9", "claims[0]: no claim has such a member"},
};

static void what_is_wrong_in_a_claim_is_named_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_members) / sizeof(wrong_members[0]); i++) {
		struct recording recording = {};
		char *file = file_with(wrong_members[i][0], wrong_members[i][1]);
		struct diag diag;

		if (read_text(file, strlen(file), &recording, &diag) != -EINVAL)
			fail_msg("accepted: %s", file);
		if (!strstr(diag.what, wrong_members[i][2]))
			fail_msg("'%s' does not say '%s'", diag.what, wrong_members[i][2]);
		free(file);
	}
}

/* Files that are none, and what must be said about them. */
static const char *const wrong_files[][2] = {
	{"", "line 1, column 0"},
	{"nonsense", "line 1, column"},
	{"{\"schema\": \"wakewhy-claims/1\",\n\"claims\": [,]}", "line 2, column 12"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": []} x", "line 1, column"},
	{"{\"schema\": \"wakewhy-claims/1\", \"schema\": \"wakewhy-claims/1\"}", "duplicate"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [{\"what\": \"\\u0000\"}]}", "line 1"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [{\"what\": \"\xff\"}]}", "line 1"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [{\"value\": 1e999}]}", "line 1"},
	{"[]", "it is no file of claims"},
	{"{}", "it is no file of claims"},
	{"{\"schema\": \"wakewhy-claims/2\", \"claims\": []}", "it is no file of claims"},
	{"{\"schema\": 1, \"claims\": []}", "it is no file of claims"},
	{"{\"schema\": \"wakewhy-claims/1\"}", "claims: it is no list"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": {}}", "claims: it is no list"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [], \"more\": 1}", "there is more in it"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [3]}", "claims[0]: it is no object"},
	{"{\"schema\": \"wakewhy-claims/1\", \"claims\": [null]}", "claims[0]: it is no object"},
};

static void what_is_no_file_of_claims_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_files) / sizeof(wrong_files[0]); i++) {
		const char *file = wrong_files[i][0];
		struct recording recording = {};
		struct diag diag;

		if (read_text(file, strlen(file), &recording, &diag) != -EINVAL)
			fail_msg("accepted: %s", file);
		if (!strstr(diag.what, wrong_files[i][1]))
			fail_msg("'%s' does not say '%s' (%s)", diag.what, wrong_files[i][1], file);
	}
}

static char *repeated(const char *before, const char *middle, size_t times, const char *after)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	fputs(before, out);
	for (size_t i = 0; i < times; i++)
		fputs(middle, out);
	fputs(after, out);
	fclose(out);
	return text;
}

static void what_is_too_much_is_refused(void **state)
{
	static const char head[] = "{\"schema\": \"wakewhy-claims/1\", \"claims\": [";
	char *files[] = {
		repeated(head, "[", 100000, "]}"),
		repeated(head, "1,", 1000, "1]}"),
		repeated(head, " ", 1 << 20, "]}"),
		repeated(head, "", 0, "{\"source\": \""),
	};
	char *name = repeated("\"", "x", 1001, "\"");
	char *file = file_with("label", name);
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct recording recording = {};

		assert_int_equal(read_text(files[i], strlen(files[i]), &recording, &diag), -EINVAL);
		free(files[i]);
	}
	assert_int_equal(read_text(file, strlen(file), &(struct recording){}, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "claims[0].label: it is too long"));
	free(file);
	free(name);
}

/* Every byte of a good file in turn is lost, or another one: read or refused, never worse. */
static void damaged_files_are_read_or_refused(void **state)
{
	char *file = file_with(NULL, NULL);
	size_t n = strlen(file), refused = 0;
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		static const char bytes[] = {'\0', '"', '{', '}', '9', '\xff', '\\'};

		for (size_t j = 0; j <= sizeof(bytes); j++) {
			struct recording recording = {};
			char was = file[i];

			if (j < sizeof(bytes))
				file[i] = bytes[j];
			refused += read_text(file, j < sizeof(bytes) ? n : i, &recording, &diag) != 0;
			recording_free_members(&recording);
			file[i] = was;
		}
	}
	assert_in_range(refused, n, n * 8);
	free(file);
}

static void read_articles(struct recording *recording)
{
	FILE *in = fopen("docs/claims/articles.json", "re");
	struct diag diag = {};

	if (!in)
		fail_msg("docs/claims/articles.json is not there: tests run in the checkout");
	if (claims_read(in, "articles.json", recording, &diag))
		fail_msg("%s", diag.what);
	fclose(in);
}

/* What the articles say, in their own numbers. */
static void the_articles_claims_hold_their_figures(void **state)
{
	struct recording recording = {};
	double zig = 0, rust = 0, ratio = 0;

	(void)state;
	read_articles(&recording);
	for (size_t i = 0; i < recording.claims.n; i++) {
		const struct claim *claim = &recording.claims.items[i];

		if (strcmp(claim->metric, "size_bytes") || strcmp(claim->source, "article 1"))
			continue;
		if (claim->base)
			ratio = claim->value;
		else if (!strcmp(claim->label, "zig"))
			zig = claim->value;
		else
			rust = claim->value;
	}
	assert_true(zig == 92752752 && rust == 80761952);
	assert_int_equal(lround((1 - rust / zig) * 1000), 129);
	assert_int_equal(lround((1 - ratio) * 1000), 129);
	recording_free_members(&recording);
}

static void claims_are_kept_in_a_recording(void **state)
{
	struct recording recording = {}, again = {};
	char *bytes = NULL;
	size_t n;
	FILE *out = open_memstream(&bytes, &n), *in;
	struct diag diag;

	(void)state;
	read_articles(&recording);
	assert_int_equal(record_write(out, &recording, &diag), 0);
	fclose(out);
	in = fmemopen(bytes, n, "rb");
	assert_int_equal(record_read(in, "a.wkw", &again, &diag), 0);
	fclose(in);
	assert_int_equal(again.claims.n, recording.claims.n);
	for (size_t i = 0; i < again.claims.n; i++) {
		const struct claim *a = &recording.claims.items[i], *b = &again.claims.items[i];

		assert_string_equal(a->text, b->text);
		assert_int_equal(a->window_ns, b->window_ns);
		assert_true(a->value == b->value || (isnan(a->value) && isnan(b->value)));
	}
	recording_free_members(&recording);
	recording_free_members(&again);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_is_read_whole),
		cmocka_unit_test(one_that_is_out_of_scope_has_its_text_alone),
		cmocka_unit_test(what_is_wrong_in_a_claim_is_named_with_its_place),
		cmocka_unit_test(what_is_no_file_of_claims_is_refused),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(damaged_files_are_read_or_refused),
		cmocka_unit_test(the_articles_claims_hold_their_figures),
		cmocka_unit_test(claims_are_kept_in_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
