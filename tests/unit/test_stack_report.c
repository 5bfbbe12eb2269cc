/* Where in the code, in reports: words for stacks, rows under causes, what was sampled, nested boxes. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/chart.h"
#include "report/stacks.h"
#include "sample.h"
#include "sample_stacks.h"

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

/* The whole report as text; whole lines, however long. */
static char *text_of(const struct recording *recording, bool all_frames, size_t width)
{
	struct report_options options = {.max_threads = 20, .all_frames = all_frames};
	struct result result;
	struct report report;
	char *text;

	result_init(&result, recording);
	report_build(&report, &result, &options);
	text = rendered_report(&report, width);
	report_free_members(&report);
	result_free_members(&result);
	return text;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void names_lose_their_arguments(void **state)
{
	static const char *const names[][2] = {
		{"uv_run", "uv_run"},
		{"server::Loop::run(std::chrono::duration<long>)", "server::Loop::run"},
		{"a::b(int (*)(char), long) const", "a::b"},
		{"a::operator()(int) const", "a::operator()"},
		{"a::operator()", "a::operator()"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"a::(anonymous namespace)", "a::(anonymous namespace)"},
		{"JS:*tick file:///srv/app.mjs:7:1", "JS:*tick file:///srv/app.mjs:7:1"},
		{"f)", "f)"},
		{")", ")"},
		{"", ""},
		{" const", " const"},
		{"node::crypto::CryptoJob<node::crypto::HashTraits>::AsyncThreadPoolWork()",
		 "node::crypto::CryptoJob<…>::AsyncThreadPoo…"},
		{"void std::vector<std::pair<v8::internal::Global*, int>, std::allocator<int> >::grow<int>(int&&)",
		 "std::vector<…>::grow<…>"},
		{"std::pair<a, b> (*some_very_long_function_name_here)(int, long, char const*)(x)",
		 "std::pair<…> (*some_very_long_function_nam…"},
		{"some_very_long_function_name_of_this_kind::operator<(a const&)",
		 "some_very_long_function_name_of_this_kind::o…"},
		{"a_function_of_more_than_forty_four_letters->x<y>(int)",
		 "a_function_of_more_than_forty_four_letters->…"},
		{"JS:*a_function with <b>spaces</b> in its very long name file:///x.js:1:2",
		 "JS:*a_function with <b>spaces</b> in its ver…"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *words = stack_frame_words(names[i][0], STACK_FRAME_BYTES);

		assert_string_equal(words, names[i][1]);
		free(words);
	}
}

/* ---- under causes ---------------------------------------------------------------------------- */

static void rows_stand_under_their_cause(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	text = text_of(&recording, false, 0);
	assert_has(text,
		   "  server                  its own 100 ms epoll timeout, every 100 ms       10.00    "
		   "77 %      0.450\n"
		   "    in                    92 %: epoll_wait ← server::Loop::run ← main (2 ways)\n"
		   "    └ server#2            futex wake by server, every 500 ms                2.00    "
		   "15 %      0.040\n"
		   "      in                  95 %: pthread_cond_timedwait ← server+0x4788c15 (2 ways)\n"
		   "      from                futex ← JS:*tick file:///srv/app.mjs:7:1 ← "
		   "server::Loop::run ← main\n");
	assert_has(text, "  server#2 (server+0x4788c15)        2.00 ");
	assert_has(text, "\nStacks were taken at 259 of 260 wakeups.\n"
			 "2 stacks were lost: there was no room for them. No other figure suffers.\n");
	assert_null(strchr(text, '\x1b'));
	free(text);
	recording_free_members(&recording);
}

static void rows_end_where_the_terminal_does(void **state)
{
	struct recording recording;
	char *text, *line, *save;

	(void)state;
	sample_stacks_recording(&recording);
	text = text_of(&recording, false, 80);
	assert_has(text, "in                 95 %: pthread_cond_timedwait ← server+0x4788c15 (2 way…\n");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t columns = 0;

		for (const char *p = line; *p; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		assert_in_range(columns, 0, 80);
	}
	free(text);
	recording_free_members(&recording);
}

static void whole_stacks_are_shown_on_demand(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	recording.runs.items[0].stacks.items[2].truncated = true;
	text = text_of(&recording, true, 0);
	assert_has(text, "    in                    schedule (kernel), 92 % (2 ways)\n"
			 "                          __x64_sys_epoll_wait (kernel)\n"
			 "                          entry_SYSCALL_64_after_hwframe (kernel)\n"
			 "                          epoll_wait (libc.so.6)\n"
			 "                          server::Loop::run(std::chrono::duration<long>) (server)\n"
			 "                          main (server)\n"
			 "                          __libc_start_main (libc.so.6)\n"
			 "                          server+0x1025\n"
			 "    └ server#2 ");
	assert_has(text, "                          __clone3 (libc.so.6)\n"
			 "                          … it goes on, but could not be followed\n"
			 "      from                __x64_sys_futex (kernel)\n");
	free(text);
	recording_free_members(&recording);
}

static void without_stacks_nothing_is_said_of_them(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = text_of(&recording, true, 0);
	assert_has_not(text, "tacks");
	assert_has_not(text, "    in ");
	free(text);
	recording_free_members(&recording);
}

/* Repeats have frames and stacks in another order; what reads the same is the same. */
static void repeats_are_added_up(void **state)
{
	struct recording recording;
	struct capture *capture;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	for (size_t i = 0; i < recording.runs.items[0].wake_stacks.n; i++)
		if (recording.runs.items[0].wake_stacks.items[i].sleeper == 0)
			recording.runs.items[0].wake_stacks.items[i].wakeups = 84;
	capture = sample_add_run(&recording, "server", "idle", NULL, 1);
	capture->settled = true;
	capture->stacks_mode = WK_STACKS_USER;
	sample_add_thread(capture, SAMPLE_PID, "server", 100, 4500000);
	sample_set_timeout(sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 100, 4500000, 0), 232,
			   100000000);
	sample_set_period(capture, 1, 61000000, 100000000);
	{
		uint32_t file = sample_add_module(capture, "/opt/server/bin/server", "");
		uint32_t libc = sample_add_module(capture, "/usr/lib/libc.so.6", "");
		uint32_t main = sample_add_file_frame(capture, file, 0x9999, "main");
		uint32_t loop = sample_add_file_frame(capture, file, 0x8888, "server::Loop::run()");
		uint32_t start = sample_add_file_frame(capture, file, 0x1025, "_start");
		uint32_t epoll = sample_add_file_frame(capture, libc, 0x10, "epoll_wait");
		uint32_t stack = SAMPLE_STACK(capture, SAMPLE_PID, 0, epoll, loop, main, start);

		sample_add_wake_stack(capture, 1, stack, STACK_NONE, 100);
	}
	text = text_of(&recording, false, 0);
	/* 84 and 100 of 84 + 16 + 100 */
	assert_has(text, "92 %: epoll_wait ← server::Loop::run ← main (2 ways)\n");
	free(text);
	recording_free_members(&recording);
}

static void a_share_is_told_where_stacks_are_limited(void **state)
{
	struct recording recording;
	struct capture *capture;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	capture = &recording.runs.items[0];
	capture->wake_stacks.items[0].wakeups = 4;
	capture->lost[WK_LOST_STACKS] = 1;
	text = text_of(&recording, false, 0);
	assert_has(text, "\nStacks were taken at 79 of 260 wakeups, 30 %: a thread takes only so many in a "
			 "second\n(--stack-limit).\n1 stack was lost: there was no room for it. No other figure suffers.\n");
	assert_null(strstr(text, "frame pointers alone"));
	free(text);
	capture->lost[WK_LOST_COPIES] = 2;
	text = text_of(&recording, false, 0);
	assert_has(text, "\n2 stacks were taken by frame pointers alone, which end in libc: there was no room for "
			 "their copies.\n");
	free(text);
	recording_free_members(&recording);
}

static void a_sleep_that_began_before_is_no_limit(void **state)
{
	struct recording recording;
	struct capture *capture;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	capture = &recording.runs.items[0];
	capture->lost[WK_LOST_STACKS] = 0;
	for (size_t i = 0; i < capture->threads.n; i++)
		capture->threads.items[i].t.flags |= WK_FLAG_SEEDED;
	text = text_of(&recording, false, 0);
	assert_has(text, "\nStacks were taken at 259 of 260 wakeups; the others ended sleeps that had begun "
			 "before wakewhy came.\n");
	free(text);
	recording_free_members(&recording);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void samples_are_told_by_function(void **state)
{
	struct recording recording;
	struct capture *capture;
	uint32_t again[3];
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	text = text_of(&recording, false, 0);
	assert_has(text, "what server runs: 10 samples         in       self   total\n"
			 "  JS:*tick file:///srv/app.mjs:7:1   jit      70 %    70 %\n"
			 "  server::Loop::run                  server   10 %    90 %\n"
			 "  __x64_sys_epoll_wait               kernel   10 %    10 %\n"
			 "  (no stack)                                  10 %    10 %\n");
	free(text);
	/* A function that calls itself is there once, at whatever places. */
	capture = &recording.runs.items[0];
	for (size_t i = 0; i < 3; i++)
		again[i] = sample_add_file_frame(capture, 1, 0x700 + i, "recurse");
	sample_add_sample(capture, 2,
			  SAMPLE_STACK(capture, SAMPLE_PID, 0, again[0], again[1], again[2]), 90);
	text = text_of(&recording, false, 0);
	assert_has(text, "  recurse                            server    90 %    90 %\n");
	free(text);
	recording_free_members(&recording);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* A box ends where or before its parent does, and what stands in it is no wider than it. */
static void assert_nested(const struct chart *chart)
{
	const struct chart_box *open[128];
	double used[128];

	for (size_t i = 0; i < chart->boxes.n; i++) {
		const struct chart_box *box = &chart->boxes.items[i];

		assert_in_range(box->depth, i ? 1 : 0, i ? 59 : 0);
		assert_true(box->width > 0);
		assert_in_range(box->series, 0, chart->series.n - 1);
		open[box->depth] = box;
		used[box->depth] = box->begin;
		if (!i)
			continue;
		assert_true(box->begin >= used[box->depth - 1] - 1e-6);
		used[box->depth - 1] = box->begin + box->width;
		assert_true(used[box->depth - 1] <=
			    open[box->depth - 1]->begin + open[box->depth - 1]->width + 1e-6);
	}
}

static const struct chart *flame_of(const struct report *report, const char *title)
{
	for (size_t i = 0; i < report->blocks.n; i++)
		if (report->blocks.items[i].kind == BLOCK_CHART &&
		    report->blocks.items[i].chart->kind == CHART_FLAME &&
		    strstr(report->blocks.items[i].chart->title, title))
			return report->blocks.items[i].chart;
	fail_msg("no picture says '%s'", title);
	return NULL;
}

static double width_of(const struct chart *chart, const char *name, size_t depth)
{
	double width = 0;

	for (size_t i = 0; i < chart->boxes.n; i++)
		if (chart->boxes.items[i].depth == depth &&
		    !strcmp(chart->boxes.items[i].name, name))
			width += chart->boxes.items[i].width;
	return width;
}

static void boxes_are_wakeups_and_samples(void **state)
{
	struct report_options options = {.max_threads = 20};
	struct recording recording;
	struct result result;
	struct report report;
	const struct chart *chart;

	(void)state;
	sample_stacks_recording(&recording);
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	chart = flame_of(&report, "Where in its code server sleeps: 259 wakeups by stack");
	assert_nested(chart);
	assert_true(fabs(chart->boxes.items[0].width - 259) < 1e-9);
	assert_true(fabs(width_of(chart, "server", 1) - 239) < 1e-9);
	assert_true(fabs(width_of(chart, "main", 4) - 200) < 1e-9);
	assert_true(fabs(width_of(chart, "JS:*tick file:///srv/app.mjs:7:1", 6) - 16) < 1e-9);
	assert_true(fabs(width_of(chart, "its own 100 ms epoll timeout", 10) - 184) < 1e-9);
	assert_string_equal(chart->table.rows.items[0].cells.items[1].text,
			    "epoll_wait ← server::Loop::run ← main");
	assert_true(fabs(chart->table.rows.items[0].cells.items[2].number - 184) < 1e-9);
	chart = flame_of(&report, "What server runs: 9 samples by stack");
	assert_nested(chart);
	assert_true(fabs(width_of(chart, "server::Loop::run(std::chrono::duration<long>)", 5) - 9) < 1e-9);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
}

/* Many deep stacks of like weight: no box can be told from its neighbours, and there is still an end. */
static void boxes_are_bounded(void **state)
{
	struct report_options options = {.max_threads = 20};
	struct recording recording;
	struct result result;
	struct report report;
	struct capture *capture;
	const struct chart *chart;
	uint32_t random = 7, frames[WK_STACK_FRAMES];
	size_t deepest = 0;

	(void)state;
	sample_stacks_recording(&recording);
	capture = &recording.runs.items[0];
	capture->samples.n = 0;
	for (uint32_t i = 0; i < 64; i++) {
		char *name = mem_printf("function_%u", i);

		frames[i] = sample_add_file_frame(capture, 1, 0x10000 + i, name);
		free(name);
	}
	for (size_t i = 0; i < 3000; i++) {
		uint32_t stack[WK_STACK_FRAMES];

		for (size_t j = 0; j < WK_STACK_FRAMES; j++)
			stack[j] = frames[j > 120 ? 0 : next_random(&random) % 8];
		sample_add_sample(capture, 1,
				  sample_add_stack(capture, SAMPLE_PID, 0, stack, WK_STACK_FRAMES), 1);
	}
	for (size_t i = 0; i < 900; i++) {
		uint32_t stack[WK_STACK_FRAMES];

		for (size_t j = 0; j < WK_STACK_FRAMES; j++)
			stack[j] = frames[(i + j) % 64];
		sample_add_sample(capture, 1,
				  sample_add_stack(capture, SAMPLE_PID, 0, stack, WK_STACK_FRAMES), 30);
	}
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	chart = flame_of(&report, "What server runs");
	assert_nested(chart);
	assert_in_range(chart->boxes.n, 100, 2000);
	for (size_t i = 0; i < chart->boxes.n; i++)
		deepest = chart->boxes.items[i].depth > deepest ? chart->boxes.items[i].depth : deepest;
	assert_in_range(deepest, 20, 59); /* the inner ones have gone, for all are as wide */
	assert_in_range(chart->table.rows.n, 1, 21);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lose_their_arguments),
		cmocka_unit_test(rows_stand_under_their_cause),
		cmocka_unit_test(rows_end_where_the_terminal_does),
		cmocka_unit_test(whole_stacks_are_shown_on_demand),
		cmocka_unit_test(without_stacks_nothing_is_said_of_them),
		cmocka_unit_test(repeats_are_added_up),
		cmocka_unit_test(a_share_is_told_where_stacks_are_limited),
		cmocka_unit_test(a_sleep_that_began_before_is_no_limit),
		cmocka_unit_test(samples_are_told_by_function),
		cmocka_unit_test(boxes_are_wakeups_and_samples),
		cmocka_unit_test(boxes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
