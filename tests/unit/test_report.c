/* Reports: figures as people read them, medians and ratios, threads over repeats, doubts first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/figures.h"
#include "report/merge.h"
#include "report/number.h"
#include "report/part.h"
#include "report/thread_sums.h"
#include "sample.h"

/* ---- numbers -----------------------------------------------------------------------------------
 */

static void test_real(void **state)
{
	static const struct {
		double value;
		int decimals;
		const char *text;
	} cases[] = {
		{12.1, 2, "12.10"},
		{0, 2, "0.00"},
		{-0.0, 1, "0.0"},
		{1234.5, 1, "1,234.5"},
		{1225000, 0, "1,225,000"},
		{999, 0, "999"},
		{-1234567, 0, "-1,234,567"},
		{0.004, 2, "<0.01"},
		{-0.004, 2, ">-0.01"},
		{0.4, 0, "<1"},
		{NAN, 2, "–"},
		{INFINITY, 2, "–"},
		{-INFINITY, 0, "–"},
		{1.8446744073709552e19, 0, "1.84e+19"},
		{1e308, 9, "1.00e+308"},
		{1, -4, "1"},
		{1, 99, "1.000000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buf[NUMBER_BYTES];

		assert_string_equal(number_real(buf, cases[i].value, cases[i].decimals),
				    cases[i].text);
	}
}

static void test_ratio_and_share(void **state)
{
	static const struct {
		double value;
		const char *ratio, *share;
	} cases[] = {
		{4.031, "4.03×", "403 %"},
		{0.3868, "0.387×", "39 %"},
		{12.1, "12.1×", "1,210 %"},
		{1210, "1,210×", "121,000 %"},
		{0.00021, "<0.001×", "<0.1 %"},
		{0.0813, "0.081×", "8.1 %"},
		{0, "0×", "0 %"},
		{NAN, "–", "–"},
		{INFINITY, "–", "–"},
		{0.9999, "1.00×", "100 %"},
		{99.96, "100×", "9,996 %"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buf[NUMBER_BYTES];

		assert_string_equal(number_ratio(buf, cases[i].value), cases[i].ratio);
		assert_string_equal(number_share(buf, cases[i].value), cases[i].share);
	}
}

static void test_decimals(void **state)
{
	const double rates[] = {0, 3.0, 12.1};
	const double tiny[] = {0.0012, 1.5};
	const double wide[] = {0.012, 4321.9};
	const double huge[] = {0.012, 1753204.2};
	const double none[] = {0, NAN, INFINITY};

	(void)state;
	assert_int_equal(number_decimals(rates, 3, 3), 2);
	assert_int_equal(number_decimals(tiny, 2, 3), 3);
	assert_int_equal(number_decimals(tiny, 2, 2), 2);
	assert_int_equal(number_decimals(wide, 2, 3), 1);
	assert_int_equal(number_decimals(huge, 2, 3), 0);
	assert_int_equal(number_decimals(none, 3, 2), 2);
	assert_int_equal(number_decimals(NULL, 0, 2), 2);
}

static void test_shorten(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
		const char *short_text;
	} cases[] = {
		{"sleep 1", 60, "sleep 1"},
		{"abcdef", 3, "abc…"},
		{"aéé", 3, "aé…"},
		{"aéé", 2, "a…"},
		{"\xff\xff\xff", 2, "\xff\xff…"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = part_shorten(cases[i].text, cases[i].bytes);

		assert_string_equal(text, cases[i].short_text);
		free(text);
	}
}

/* ---- recordings for the builders ---------------------------------------------------------------
 */

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

/* One idle run with one thread; counts of the whole window of 20 s. */
static struct capture *add_idle(struct recording *recording, const char *label, uint64_t wakeups,
				uint64_t oncpu_ns)
{
	struct capture *capture = sample_add_run(recording, label, "idle", NULL, 0);

	sample_add_thread(capture, SAMPLE_PID, "main", wakeups, oncpu_ns);
	for (int i = 0; i < 20; i++)
		*vec_push(&capture->seconds) = (struct wk_second){oncpu_ns / 20, wakeups / 20, 0};
	return capture;
}

static char *report_of(const struct recording *recording)
{
	return rendered_recording("text", recording, 0, 0);
}

/* ---- every metric that a column names exists --------------------------------------------------
 */

static void test_sample_whole(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = report_of(&recording);
	/* First lines: the doubt, then what failed. */
	assert_ptr_equal(strstr(text, "not trusted: run of "), text);
	assert_true(strstr(text, "not measured: idle of deno") < strstr(text, "idle · 20 s"));
	/* Columns: one metric that does not exist would be missing without a word. */
	assert_has(text, "wakeups/s         (min–max)   CPU ms/s         (min–max)   syscalls/s   idle "
			 "exits/s   active seconds   RSS MB   PSS MB\n");
	assert_has(text,
		   "to output ms   to exit ms         (min–max)   CPU ms   wakeups   syscalls   "
		   "minor faults   peak MB   program MB\n");
	assert_has(text, "ops/s   CPU ns/op   wakeups/op   switches/op   syscalls/op\n");
	assert_has(text, "wakeups   wakeups/s   CPU ms   CPU ms/s   run queue ms   max µs   "
			 "switches/s   idle exits/s   syscalls   syscalls/s   active seconds\n");
	assert_has(text,
		   "\n  zig              11.97     (11.95–12.00)      0.638     (0.638–0.638)        "
		   "16.10           5.95         20 of 20     52.0     50.0\n");
	assert_has_not(text, "major faults");
	assert_has_not(text, "nan");
	assert_has_not(text, "inf");
	free(text);
	recording_free_members(&recording);
}

static void test_idle_ratios(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_idle(&recording, "floor", 0, 0);
	add_idle(&recording, "rust", 60, 4880000);
	add_idle(&recording, "zig", 242, 14800000);
	text = report_of(&recording);
	assert_has(text,
		   "idle · 20 s · 2 CPUs · Linux 6.18.0 · x86-64\n\n"
		   "               wakeups/s   CPU ms/s   syscalls/s   idle exits/s   active "
		   "seconds\n"
		   "  floor             0.00      0.000         0.00           0.00          0 of "
		   "20\n"
		   "  rust              3.00      0.244         0.00           1.50         20 of "
		   "20\n"
		   "  zig              12.10      0.740         0.00           6.05         20 of "
		   "20\n"
		   "  zig / rust       4.03×      3.03×            –          4.03×\n");
	/* floor has nothing to divide by, and one run has no range. */
	assert_has_not(text, "/ floor");
	assert_has_not(text, "min–max");
	free(text);
	recording_free_members(&recording);
}

/* 5 wakeups against 50: a ratio of 10 that two more wakeups would make 7. */
static void test_tiny_base(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_idle(&recording, "a", 5, 4000000);
	add_idle(&recording, "b", 50, 8000000);
	text = report_of(&recording);
	assert_has(text, "  b / a           –      2.00×            –              –\n");
	free(text);
	recording_free_members(&recording);
}

static void test_one_label(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_idle(&recording, "zig", 242, 14800000);
	text = report_of(&recording);
	assert_has_not(text, "×");
	assert_has_not(text, " / zig");
	free(text);
	recording_free_members(&recording);
}

static void test_syscalls_not_counted(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	add_idle(&recording, "zig", 242, 14800000)->syscalls_counted = false;
	text = report_of(&recording);
	assert_has(text, "System calls were not counted.");
	assert_has_not(text, "syscalls/s");
	assert_has_not(text, "most called");
	free(text);
	recording_free_members(&recording);
}

static void test_remarks(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = add_idle(&recording, "zig", 242, 14800000);
	capture->settle_ns = 30 * WK_SECOND_NS;
	capture->settled = false;
	capture->partial = true;
	capture->threads.items[0].t.count.syscalls_compat = 7;
	text = report_of(&recording);
	assert_has(text, "idle · 20 s after a 30 s start-up · ");
	assert_has(text,
		   "zig: start-up was not over when the window opened, 30.0 s after it began\n");
	assert_has(text, "partial: zig ended early, by a signal or a limit");
	assert_has(text, "zig: among its system calls are 7 32-bit ones and 0 with a number that");
	free(text);
	recording_free_members(&recording);
}

static void test_window_of_seconds(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	/* Closed 300 µs late, with nothing in the 21st slot: still 20 seconds. */
	capture = add_idle(&recording, "late", 40, 4000000);
	capture->end_ns += 300000;
	*vec_push(&capture->seconds) = (struct wk_second){0};
	/* And with something in it: never "21 of 20". */
	capture = add_idle(&recording, "full", 40, 4000000);
	capture->end_ns += 300000;
	*vec_push(&capture->seconds) = (struct wk_second){5, 1, 0};
	text = report_of(&recording);
	assert_has(text, "idle · 20 s · ");
	assert_has(text, "20 of 20\n");
	assert_has(text, "21 of 21\n");
	free(text);
	recording_free_members(&recording);
}

/* ---- threads -----------------------------------------------------------------------------------
 */

/* A worker in every repeat with other ids is one row, the mean of its runs. */
static void test_threads_over_repeats(void **state)
{
	struct recording recording = {0};
	struct thread_sums sums;
	struct result result;
	struct part part;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct capture *capture = sample_add_run(&recording, "zig", "idle", NULL, i);
		struct capture_thread *thread;

		thread = sample_add_thread(capture, SAMPLE_PID + 10 * i, "main", 10, 1000);
		thread->t.pid = SAMPLE_PID + 10 * i;
		sample_add_syscall(thread, 1, 5);
		sample_add_syscall(thread, 202, 2 + i);
		thread = sample_add_thread(capture, SAMPLE_PID + 10 * i + 1, "main", 20 + i, 500);
		thread->t.pid = SAMPLE_PID + 10 * i;
		thread->t.count.runq_max_ns = 100 * (i + 1);
		sample_add_image(capture, SAMPLE_PID + 10 * i, capture->start_ns, 0, "main", NULL,
				 0);
	}
	result_init(&result, &recording);
	part_init(&part, &result, "idle");
	thread_sums_init(&sums, &part.groups.items[0], THREADS_BY_WAKEUPS);
	assert_int_equal(sums.n_runs, 3);
	assert_int_equal(sums.threads.n, 2);
	assert_string_equal(sums.threads.items[0].label, "main#2");
	assert_int_equal(sums.threads.items[0].count.wakeups, 63);
	assert_int_equal(sums.threads.items[0].count.runq_max_ns, 300);
	assert_int_equal(sums.threads.items[1].count.oncpu_ns, 3000);
	assert_int_equal(sums.threads.items[1].syscalls.n, 2);
	assert_int_equal(sums.threads.items[1].syscalls.items[0].nr, 1);
	assert_int_equal(sums.threads.items[1].syscalls.items[0].count, 15);
	assert_int_equal(sums.threads.items[1].syscalls.items[1].count, 9);
	thread_sums_free_members(&sums);
	thread_sums_init(&sums, &part.groups.items[0], THREADS_BY_CPU);
	assert_string_equal(sums.threads.items[0].label, "main");
	thread_sums_free_members(&sums);
	part_free_members(&part);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* Two threads of one run are never added up, whatever they are called. */
static void test_threads_of_one_run(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	struct thread_sums sums;
	struct result result;
	struct part part;

	(void)state;
	capture = sample_add_run(&recording, "x", "run", NULL, 0);
	sample_add_thread(capture, SAMPLE_PID, "a#2", 1, 1);
	sample_add_thread(capture, SAMPLE_PID + 1, "a", 1, 1);
	sample_add_thread(capture, SAMPLE_PID + 2, "a", 1, 1);
	result_init(&result, &recording);
	part_init(&part, &result, "run");
	thread_sums_init(&sums, &part.groups.items[0], THREADS_BY_CPU);
	assert_int_equal(sums.threads.n, 3);
	thread_sums_free_members(&sums);
	part_free_members(&part);
	result_free_members(&result);
	recording_free_members(&recording);
}

static void test_thread_rows(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	struct capture_thread *thread;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "many", "run", NULL, 0);
	thread = sample_add_thread(capture, SAMPLE_PID, "main", 100, 3000000);
	sample_add_syscall(thread, 0, 4);
	sample_add_syscall(thread, 1, 1200);
	sample_add_syscall(thread, 202, 30);
	sample_add_syscall(thread, 257, 5);
	for (uint32_t i = 1; i <= 4; i++)
		sample_add_thread(capture, SAMPLE_PID + i, "worker", 100 - i, 1000000);
	sample_add_thread(capture, SAMPLE_PID + 5, "idle", 0, 0);
	text = rendered_recording("text", &recording, 3, 0);
	/* The three most frequent calls, falling; the fourth left out. */
	assert_has(text, "   write 1,200, futex 30, openat 5\n");
	assert_has(text, "  worker#2");
	assert_has_not(text, "  worker#3");
	assert_has(text, "  … and 2 more threads\n  … and 1 more that did not run\n");
	/* One process: its pid is no column. */
	assert_has(text, "\nthreads      ");
	assert_has(text, "tid   wakeups");
	assert_has_not(text, "pid   ");
	free(text);
	recording_free_members(&recording);
}

static void test_processes(void **state)
{
	static const char *const sh[] = {"sh", "-c", "./work"}, *const work[] = {"./work"};
	struct recording recording = {0};
	struct capture *capture;
	struct capture_thread *thread;
	char *text, *shell, *child;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "sh", "run", NULL, 0);
	sample_add_image(capture, SAMPLE_PID, 5, 6, "sh", sh, 3);
	sample_add_image(capture, SAMPLE_PID, 5, 9, "work", work, 1);
	sample_add_thread(capture, SAMPLE_PID, "work", 2, 1000000);
	thread = sample_add_thread(capture, SAMPLE_PID + 1, "child", 8, 3000000);
	thread->t.pid = SAMPLE_PID + 1;
	thread = sample_add_thread(capture, SAMPLE_PID + 2, "child-2", 8, 1000000);
	thread->t.pid = SAMPLE_PID + 1;
	text = report_of(&recording);
	shell = strstr(text, "sh -c ./work → ./work\n");
	child = strstr(text, "\n  child     4712         2        16 ");
	assert_has(text, "run · sh -c ./work · 20 s · ");
	assert_non_null(shell);
	assert_non_null(child);
	assert_true(child < shell); /* the dearer one first */
	free(text);
	recording_free_members(&recording);
}

static void test_whole_machine(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "all", "attach", NULL, 0);
	for (uint32_t i = 0; i < 30; i++) {
		struct capture_thread *thread =
			sample_add_thread(capture, SAMPLE_PID + i, "proc", i < 25 ? 10 : 0,
					  i < 25 ? 1000 * (i + 1) : 0);

		thread->t.pid = SAMPLE_PID + i;
		sample_add_image(capture, SAMPLE_PID + i, 1, 0, "proc", NULL, 0);
	}
	text = rendered_recording("text", &recording, 20, 0);
	assert_has(text, "  … and 5 more\n  … and 5 more that did not run\n");
	assert_has(text, "30 threads in all: -v lists them, JSON and CSV hold them.\n");
	assert_has_not(text, "\nthreads ");
	free(text);
	text = rendered_recording("text", &recording, 0, 0);
	assert_has(text, "\nthreads ");
	assert_has_not(text, "in all");
	free(text);
	recording_free_members(&recording);
}

static void test_hash_styles(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = report_of(&recording);
	assert_has(text, "  webcrypto / sync\n    node      0.100×       14.7×            –");
	/* Alone, the sync main thread would repeat the table above it. */
	assert_has(text, "  node webcrypto\n    node ");
	assert_has_not(text, "  node sync\n");
	free(text);
	recording_free_members(&recording);
}

/* ---- trust -------------------------------------------------------------------------------------
 */

static void test_trusted(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = add_idle(&recording, "zig", 242, 400000000);
	capture->noise.governor[0] = 0;
	text = report_of(&recording);
	assert_ptr_equal(strstr(text, "idle · "), text);
	assert_has(text,
		   "\ntrusted: kernel's own CPU time within 0.1 %, switches equal, nothing lost; "
		   "probes cost 195 µs/s\n"
		   "wakewhy itself: 2 wakeups and 310 µs of CPU in the window; other processes "
		   "used 1.2 % of the CPUs,\ninterrupts 0 %, steal 0.1 %.\n");
	assert_has_not(text, "busy machine");
	free(text);
	capture->noise.other_cpu_share = 0.31;
	capture->noise.steal_share = 0.02;
	capture->inferred_switches = 4;
	text = report_of(&recording);
	assert_has(text, "switches equal (4 that the kernel did not trace taken\nfrom "
			 "its accounting), nothing lost");
	assert_has(text, "busy machine: others used up to 31 % of the CPUs");
	assert_has(text, "stolen time: the hypervisor took up to 2.0 % of the CPUs");
	free(text);
	recording_free_members(&recording);
}

static void test_not_trusted(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	add_idle(&recording, "rust", 60, 400000000);
	capture = add_idle(&recording, "zig", 242, 400000000);
	capture->repeat = 1;
	capture->lost[WK_LOST_THREADS] = 3;
	capture->threads.items[0].t.last.voluntary += 40;
	text = report_of(&recording);
	assert_ptr_equal(
		strstr(text, "not trusted: idle of zig (run 2): 3 threads were not followed"),
		text);
	assert_has(text, "\nnot trusted (see above): kernel's own CPU time within 0.1 %, switches "
			 "differ by 40 of 342, lost\nthreads 3;");
	assert_has_not(text, "\ntrusted:");
	free(text);
	recording_free_members(&recording);
}

static void test_many_doubts(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	for (int i = 0; i < 9; i++)
		add_idle(&recording, "zig", 1, 1000)->lost[WK_LOST_EVENTS] = 1;
	text = report_of(&recording);
	assert_has(text, "\nnot trusted: 4 more of 9 runs; JSON has the reasons of each\n");
	free(text);
	recording_free_members(&recording);
}

/* A damaged recording may hold any number: nothing of it may be shown as one. */
static void test_absurd_figures(void **state)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	(void)state;
	sample_tool(&recording);
	capture = add_idle(&recording, "x", UINT64_MAX, UINT64_MAX);
	capture->noise.other_cpu_share = INFINITY;
	capture->noise.steal_share = INFINITY;
	capture->observer_oncpu_ns = UINT64_MAX;
	capture->exit_status = INT32_MAX;
	capture = sample_add_run(&recording, "y", "idle", NULL, 0);
	capture->end_ns = 0;
	sample_add_run(&recording, "z", "startup", NULL, 0);
	sample_add_run(&recording, "z", "hash", NULL, 0);
	sample_add_run(&recording, "z", "unheard of", NULL, 0);
	text = report_of(&recording);
	assert_has(text, "used at most –");
	assert_has_not(text, "nan");
	assert_has_not(text, "inf ");
	free(text);
	recording_free_members(&recording);
	text = report_of(&recording); /* nothing at all */
	assert_string_equal(text, "Nothing was measured: there is no run in it.\n");
	free(text);
}

/* ---- merging -----------------------------------------------------------------------------------
 */

static struct claim claim_from(const char *source)
{
	return (struct claim){.source = mem_strdup(source), .value = 2, .low = NAN, .high = NAN};
}

static void test_merge(void **state)
{
	struct recording a, b, other = {0};
	struct diag diag = {0};
	size_t runs;

	(void)state;
	sample_recording(&a);
	sample_recording(&b);
	*vec_push(&a.claims) = claim_from("one");
	*vec_push(&b.claims) = claim_from("one");
	*vec_push(&b.claims) = claim_from("another");
	free(b.tool.kernel);
	b.tool.kernel = mem_strdup("6.1.0");
	free(b.tool.started);
	b.tool.started = mem_strdup("2024-01-01T00:00:00Z");
	runs = a.runs.n;
	assert_int_equal(recording_merge(&a, &b, &diag), 0);
	assert_int_equal(a.runs.n, 2 * runs);
	assert_int_equal(b.runs.n, 0);
	assert_int_equal(a.failures.n, 2);
	/* Those of both files stand once. */
	assert_int_equal(a.claims.n, 2);
	assert_string_equal(a.claims.items[1].source, "another");
	/* idle of floor was there as repeats 0 and 1. */
	assert_int_equal(a.runs.items[runs].repeat, 2);
	assert_int_equal(a.runs.items[runs + 3].repeat, 3);
	assert_string_equal(a.tool.kernel, "6.18.0 + 6.1.0");
	assert_string_equal(a.tool.version, "0.1.0");
	assert_string_equal(a.tool.started, "2024-01-01T00:00:00Z");
	assert_int_equal(a.tool.command.n, 13);
	assert_string_equal(a.tool.command.items[6], ";");
	recording_free_members(&b);

	/* "6.1" is not in "6.18.0 + 6.1.0", and 6.1.0 is there already. */
	sample_tool(&b);
	free(b.tool.kernel);
	b.tool.kernel = mem_strdup("6.1");
	assert_int_equal(recording_merge(&a, &b, &diag), 0);
	assert_string_equal(a.tool.kernel, "6.18.0 + 6.1.0 + 6.1");
	recording_free_members(&b);

	sample_tool(&other);
	free(other.tool.arch);
	other.tool.arch = mem_strdup("arm64");
	assert_int_equal(recording_merge(&a, &other, &diag), -EINVAL);
	assert_string_equal(diag.what, "it was measured on arm64, the ones before on x86-64");
	assert_int_equal(a.runs.n, 2 * runs);
	recording_free_members(&other);
	recording_free_members(&a);
}

/* ---- containers --------------------------------------------------------------------------------
 */

static void test_containers(void **state)
{
	struct report report = {0};
	struct table *table;

	(void)state;
	report_add_heading(&report, "%s %d", "long enough to be grown into", 7);
	report_add_note(&report, NOTE_WARNING, "%s", "note");
	table = report_add_table(&report, NULL);
	table_add_column(table, "a", true);
	row_add_number(table_add_row(table), CELL_REAL, 3.14159, 0);
	row_add_number(table_add_row(table), CELL_REAL, 300, 0);
	row_add_text(table_add_row(table), "text");
	row_add_empty(table_add_row(table));
	table_set_decimals(table, 0, 9);
	table_set_decimals(table, 5, 9);
	assert_string_equal(report.blocks.items[0].text, "long enough to be grown into 7");
	assert_int_equal(report.blocks.items[1].note, NOTE_WARNING);
	assert_int_equal(table->rows.items[0].cells.items[0].decimals, 2);
	assert_int_equal(table->rows.items[1].cells.items[0].decimals, 2);
	report_remove_last(&report);
	assert_int_equal(report.blocks.n, 2);
	report_free_members(&report);
	assert_int_equal(report.blocks.n, 0);
	report_free_members(&report);
	report_free_members(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_ratio_and_share),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_sample_whole),
		cmocka_unit_test(test_idle_ratios),
		cmocka_unit_test(test_tiny_base),
		cmocka_unit_test(test_one_label),
		cmocka_unit_test(test_syscalls_not_counted),
		cmocka_unit_test(test_remarks),
		cmocka_unit_test(test_window_of_seconds),
		cmocka_unit_test(test_threads_over_repeats),
		cmocka_unit_test(test_threads_of_one_run),
		cmocka_unit_test(test_thread_rows),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_whole_machine),
		cmocka_unit_test(test_hash_styles),
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_not_trusted),
		cmocka_unit_test(test_many_doubts),
		cmocka_unit_test(test_absurd_figures),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
