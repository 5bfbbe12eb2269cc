/* The report of servers under load: costs of a request, and rows that must not be compared. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "sample.h"

#define REASON "2 physical cores: one each"

/* A run of 20 s that answered so many requests at 4 µs and two calls each, with a wakeup for `batch` of
 * them. */
static struct capture *add_serve(struct recording *recording, const char *label, uint32_t repeat,
				 uint64_t requests, uint64_t batch)
{
	struct capture *capture = sample_add_run(recording, label, "serve", NULL, repeat);
	struct capture_thread *thread = sample_add_thread(capture, SAMPLE_PID, label, requests / batch,
							  requests * 4000);

	sample_add_syscall(thread, 0, requests);
	sample_add_syscall(thread, 1, requests);
	capture->has_result = true;
	capture->operations = requests;
	capture->has_memory = true;
	capture->rss_start_bytes = 20000000;
	capture->pss_start_bytes = 15000000;
	capture->rss_bytes = 30000000;
	capture->pss_bytes = 25000000;
	capture->conditions = mem_strdup("server on CPUs 0-1; wrk on CPUs 2-3");
	capture->causes_counted = true;
	sample_add_cause(capture, 1, WK_CONTEXT_SOFTIRQ, requests / batch, requests * 4000, 0)->key.waker =
		3; /* NET_RX */
	return capture;
}

static char *report_of(struct recording *recording)
{
	char *text = rendered_recording("text", recording, 20, 200);

	recording_free_members(recording);
	return text;
}

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

static void two_servers(struct recording *recording)
{
	*recording = (struct recording){};
	sample_tool(recording);
	add_serve(recording, "rust", 0, 3660000, 100);
	add_serve(recording, "zig", 0, 1830000, 20);
}

static void requests_have_their_costs(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	two_servers(&recording);
	text = report_of(&recording);
	assert_has(text, "serve · 20 s · ");
	assert_has(text,
		   "               requests/s   CPU µs/request   wakeups/request   syscalls/request   errors\n"
		   "  rust            183,000             4.00             0.010               2.00        0\n"
		   "  zig              91,500             4.00             0.050               2.00        0\n"
		   "  zig / rust       0.500×            1.00×             5.00×              1.00×");
	assert_has(text,
		   "               RSS MB at start   RSS MB at end   PSS MB at start   PSS MB at end\n"
		   "  rust                    20.0            30.0              15.0            25.0\n");
	assert_has(text, "Load: server on CPUs 0-1; wrk on CPUs 2-3.");
	assert_has(text, "wakeups/request   share   CPU µs/request\n");
	assert_has(text, "100 % of the CPU time, 4.00 µs a request, begins with rust");
	assert_has(text, "wakeups/request: zig against rust\n");
	assert_has_not(text, "not comparable");
	free(text);
}

/* Never printed bare, no ratio, no difference: also where it is true of one run of one server. */
static void what_must_not_be_compared_says_so_in_its_row(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	two_servers(&recording);
	recording.runs.items[1].not_comparable = mem_strdup(REASON);
	text = report_of(&recording);
	assert_has(text, "\n  rust                      183,000 ");
	assert_has(text, "\n  zig (not comparable)       91,500 ");
	assert_has(text, "\n  zig (not comparable)              20.0            30.0 ");
	assert_has(text, "not comparable: zig: " REASON "; no ratio and no verdict is given\n");
	assert_has_not(text, "×");
	assert_has_not(text, "zig against rust");
	free(text);
}

/* What is true of all is said of nobody in particular; two reasons are two lines. */
static void reasons_are_told_once(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	for (int all = 0; all < 2; all++) {
		two_servers(&recording);
		add_serve(&recording, "zig", 1, 1830000, 20)->not_comparable = mem_strdup(REASON);
		recording.runs.items[0].not_comparable = mem_strdup(all ? REASON : "forced");
		text = report_of(&recording);
		if (all)
			assert_has(text, "\nnot comparable: " REASON "; no ratio");
		else
			assert_has(text, "\nnot comparable: rust: forced; no ratio and no verdict is "
					 "given\nnot comparable: zig: " REASON "; no ratio");
		assert_has(text, "\n  rust (not comparable) ");
		free(text);
	}
}

static void reasons_from_outside_are_made_safe(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	two_servers(&recording);
	recording.runs.items[0].not_comparable = mem_strdup(SAMPLE_HOSTILE_ARG);
	free(recording.runs.items[0].conditions);
	recording.runs.items[0].conditions = mem_strdup(SAMPLE_HOSTILE_ARG);
	free(recording.runs.items[1].conditions);
	recording.runs.items[1].conditions = NULL;
	text = report_of(&recording);
	assert_has_not(text, "\x1b");
	assert_has_not(text, "\a");
	assert_has(text, "Load: rust: a");
	free(text);
}

static void requests_that_failed_are_a_doubt(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	two_servers(&recording);
	recording.runs.items[0].errors = 1200;
	text = report_of(&recording);
	assert_true(text == strstr(text, "not trusted: serve of rust: 1,200 requests failed or took "));
	assert_has(text, "(3,660,000 were\nanswered)\n");
	assert_has(text, "2.00    1,200\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_have_their_costs),
		cmocka_unit_test(what_must_not_be_compared_says_so_in_its_row),
		cmocka_unit_test(reasons_are_told_once),
		cmocka_unit_test(reasons_from_outside_are_made_safe),
		cmocka_unit_test(requests_that_failed_are_a_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
