/* What a study's report says first: a row for each runtime, and claims beside what was measured. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/study.h"
#include "sample.h"

static void set_command(struct recording *recording, const char *command)
{
	for (size_t i = 0; i < recording->tool.command.n; i++)
		free(recording->tool.command.items[i]);
	recording->tool.command.n = 0;
	*vec_push(&recording->tool.command) = mem_strdup("wakewhy");
	*vec_push(&recording->tool.command) = mem_strdup(command);
}

static void add_serve(struct recording *recording, const char *label, uint64_t requests)
{
	struct capture *capture = sample_add_run(recording, label, "serve", NULL, 0);

	sample_add_thread(capture, SAMPLE_PID, "server", 10, 1000000);
	capture->has_result = true;
	capture->operations = requests;
	capture->not_comparable = mem_strdup("2 physical cores: one each");
}

static void make_study(struct recording *recording)
{
	sample_recording(recording);
	set_command(recording, "study");
	add_serve(recording, "zig", 20000 * 20);
	add_serve(recording, "rust", 30000 * 20);
}

static struct claim *add_claim(struct recording *recording, const char *workload, const char *metric,
			       const char *label, const char *base, double value)
{
	struct claim *claim = vec_push(&recording->claims);

	claim->source = mem_strdup("article");
	claim->what = mem_strdup("figure");
	claim->text = mem_strdup("as it was said");
	claim->label = mem_strdup(label);
	claim->base = base ? mem_strdup(base) : NULL;
	claim->workload = mem_strdup(workload);
	claim->metric = mem_strdup(metric);
	claim->value = value;
	claim->low = claim->high = NAN;
	return claim;
}

/* The line that begins with these words, spaces in a row made one; the caller frees. */
static char *line_of(const char *text, const char *words)
{
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t n = strcspn(at, "\n"), used = 0;
		char *line = mem_zalloc(n + 1);

		for (size_t i = 0; i < n; i++)
			if (at[i] != ' ' || (used && line[used - 1] != ' '))
				line[used++] = at[i];
		if (!strncmp(line, words, strlen(words)))
			return line;
		free(line);
	}
	fail_msg("no line begins with '%s' in:\n%s", words, text);
	return NULL;
}

static void assert_line(const char *text, const char *words, const char *expected)
{
	char *line = line_of(text, words);

	assert_string_equal(line, expected);
	free(line);
}

static void assert_ends(const char *text, const char *words, const char *end)
{
	char *line = line_of(text, words);
	size_t n = strlen(line);

	if (n < strlen(end) || strcmp(line + n - strlen(end), end))
		fail_msg("'%s' does not end with '%s'", line, end);
	free(line);
}

static void a_study_begins_with_a_row_for_each_runtime(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	make_study(&recording);
	text = rendered_recording("text", &recording, 20, 0);
	/* Labels in order of appearance: idle comes first in the sample. */
	assert_line(text, "zig 9", "zig 92.8 10.60 11.97 0.638 20 of 20 50.0 20,000† – –");
	assert_line(text, "rust 8", "rust 80.8 4.50 3.02 0.240 20 of 20 39.0 30,000† – –");
	assert_line(text, "rust / zig", "rust / zig 0.871× 0.425× 0.253× 0.376× 0.780× – – –");
	assert_non_null(strstr(text, "rust against zig. Lower: size 0.871×, start 0.425× ("));
	assert_line(text, "† not", "† not comparable: zig, rust: 2 physical cores: one each");
	free(text);
	recording_free_members(&recording);
}

static void other_recordings_do_not(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	make_study(&recording);
	set_command(&recording, "report");
	text = rendered_recording("text", &recording, 20, 0);
	assert_null(strstr(text, "study ·"));
	free(text);
	recording_free_members(&recording);
}

static void threads_of_a_study_are_shown_where_all_rows_are(void **state)
{
	struct recording recording;
	char *few, *all;

	(void)state;
	make_study(&recording);
	few = rendered_recording("text", &recording, 20, 0);
	all = rendered_recording("text", &recording, 0, 0);
	assert_null(strstr(few, "most called"));
	assert_non_null(strstr(all, "most called"));
	free(few);
	free(all);
	recording_free_members(&recording);
}

static void each_claim_stands_beside_what_was_measured(void **state)
{
	struct recording recording;
	struct claim *claim;
	char *text;

	(void)state;
	make_study(&recording);
	add_claim(&recording, "startup", "size_bytes", "rust", "zig", 0.8)->what[0] = 'a';
	claim = add_claim(&recording, "startup", "size_bytes", "zig", NULL, 92752752);
	claim->low = claim->high = 92752752;
	claim->what[0] = 'b';
	claim = add_claim(&recording, "startup", "size_bytes", "zig", NULL, 92752751);
	claim->low = claim->high = 92752751;
	claim->what[0] = 'c';
	/* The other way round than the result's comparison. */
	add_claim(&recording, "startup", "exec_to_exit_ns", "zig", "rust", 2.45)->what[0] = 'd';
	claim = add_claim(&recording, "idle", "cpu_ms_per_s", "zig", "rust", 2.66);
	claim->what[0] = 'e';
	claim = add_claim(&recording, "idle", "cpu_ms_per_s", "zig", "rust", 9.3);
	claim->window_ns = 300 * WK_SECOND_NS;
	claim->what[0] = 'g';
	add_claim(&recording, "serve", "operations_per_s", "zig", NULL, 20000)->what[0] = 'h';
	add_claim(&recording, "idle", "cpu_ms_per_s", "bun", "rust", 3)->what[0] = 'i';
	add_claim(&recording, "", "", "zig", NULL, NAN)->what[0] = 'j';
	/* Neither is what the others are compared with. */
	sample_add_run(&recording, "node", "startup", NULL, 0)->startup.present = true;
	recording.runs.items[recording.runs.n - 1].startup.exec_to_exit_ns = 9000000;
	add_claim(&recording, "startup", "exec_to_exit_ns", "node", "rust", 2)->what[0] = 'k';
	text = rendered_recording("text", &recording, 20, 0);
	assert_line(text, "aigure", "aigure, rust / zig article 0.800× 0.871× differs");
	assert_line(text, "bigure", "bigure, zig article 92,752,752 B 92,752,752 B agrees");
	assert_line(text, "cigure", "cigure, zig article 92,752,751 B 92,752,752 B differs");
	assert_ends(text, "digure", " agrees");
	assert_line(text, "eigure", "eigure, zig / rust article 2.66× 2.66× (2.66×–2.66×) agrees");
	assert_ends(text, "gigure", " not comparable: a window of 20 s here, of 300 s there");
	assert_ends(text, "higure", " not comparable: serve says why");
	assert_ends(text, "iigure", " – not measured");
	assert_line(text, "kigure", "kigure, node / rust article 2.00× 2.00× agrees");
	assert_line(text, "Claimed but", "Claimed but not checked: jigure, zig (article): as it was said.");
	free(text);
	recording_free_members(&recording);
}

/* A recording may hold anything that is a number or a text. */
static void claims_of_a_recording_are_not_believed(void **state)
{
	static const char hostile[] = "\x1b[31m\xff<b>|\n";
	struct recording recording;
	struct claim *claim;
	char *text;

	(void)state;
	make_study(&recording);
	claim = add_claim(&recording, "no such", "nothing", hostile, hostile, -1e15);
	claim->low = 9;
	claim->high = -9;
	add_claim(&recording, "idle", hostile, "zig", NULL, NAN);
	add_claim(&recording, "", "", hostile, NULL, 0);
	claim = add_claim(&recording, "idle", "cpu_ms_per_s", "zig", "rust", 0);
	claim->window_ns = UINT64_MAX;
	text = rendered_recording("text", &recording, 20, 60);
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xff"));
	assert_non_null(strstr(text, "not measured"));
	free(text);
	recording_free_members(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_study_begins_with_a_row_for_each_runtime),
		cmocka_unit_test(other_recordings_do_not),
		cmocka_unit_test(threads_of_a_study_are_shown_where_all_rows_are),
		cmocka_unit_test(each_claim_stands_beside_what_was_measured),
		cmocka_unit_test(claims_of_a_recording_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
