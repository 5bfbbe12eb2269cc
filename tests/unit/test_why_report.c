/* Reports of why threads woke: tables of roots and chains, and the sentences after them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "report/cause_tree.h"
#include "sample.h"

/* The text of a whole report, and the recording it was made of, freed. */
static char *report_of(struct recording *recording)
{
	char *text = rendered_recording("text", recording, 20, 0);

	recording_free_members(recording);
	return text;
}

/* Words match across line ends: prose is wrapped. */
static bool has(const char *text, const char *part)
{
	for (; *text; text++) {
		const char *a = text, *b = part;

		while (*b && (*a == *b || (*b == ' ' && *a == '\n'))) {
			a++;
			b++;
		}
		if (!*b)
			return true;
	}
	return false;
}

static void assert_has(const char *text, const char *part)
{
	if (!has(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	if (has(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

/* One idle run of 20 s whose causes are known. */
static struct capture *idle_run(struct recording *recording)
{
	struct capture *capture;

	*recording = (struct recording){};
	sample_tool(recording);
	capture = sample_add_run(recording, "app", "idle", NULL, 0);
	capture->causes_counted = true;
	return capture;
}

/* Adds a cause and lets its thread have what it did. */
static struct wk_cause *add(struct capture *capture, uint32_t serial, enum wk_context context,
			    uint64_t wakeups, uint64_t oncpu_ns, uint32_t root)
{
	struct wk_thread *t = &capture->threads.items[serial - 1].t;

	t->count.wakeups += wakeups;
	t->count.oncpu_ns += oncpu_ns;
	return sample_add_cause(capture, serial, context, wakeups, oncpu_ns, root);
}

/* ---- the sample ------------------------------------------------------------------------------ */

static void the_sample_says_why(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = report_of(&recording);
	assert_has(text,
		   "why zig wakes                                                     wakeups/s   "
		   "share   CPU ms/s\n"
		   "  bun#2            its own 100 ms futex timeout, every 100 ms          9.95    "
		   "83 %      0.458\n"
		   "  bun              timerfd through epoll, every 1.00 s                 1.02   "
		   "8.6 %      0.160\n"
		   "    └ HeapHelper   futex wake by bun, every 1.00 s, futile 95 %        1.00   "
		   "8.4 %      0.020\n");
	assert_has(text,
		   "72 % of the CPU time, 0.458 ms a second, begins with bun#2: its own 100 ms "
		   "futex timeout (9.95 wakeups a second).");
	assert_has(text,
		   "28 % of the CPU time, 0.180 ms a second, begins with bun: timerfd through "
		   "epoll (1.02 wakeups a second); it leads to HeapHelper (1.00 wakeups a "
		   "second, futile 95 %).");
	assert_has(text, "Not explained: 0 of 479 wakeups.");
	assert_has(text, "Not explained: 1 of 4 wakeups, 25 %.");
	free(text);
}

static void hash_tells_rounds_or_silence(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = report_of(&recording);
	assert_has(text, "node sync woke 4 times in 20,000,000 operations: no operation needs a "
			 "wakeup.");
	assert_has_not(text, "why node sync wakes");
	assert_has(text, "  node and libuv-worker    hand work to and fro\n");
	assert_has(text,
		   "100 % of the CPU time, 14,000 ns an operation, is a hand-off loop of node "
		   "and libuv-worker, 100,000 rounds a second (1.00 an operation): a round takes "
		   "14.0 µs of CPU, 8.20 µs of waiting to run, 2.00 wakeups and 1.05 system "
		   "calls.");
	free(text);
}

static void startup_tells_where_time_went(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = report_of(&recording);
	assert_has(text,
		   "Of the 10.6 ms from exec to exit, on average, the main thread, bun, was "
		   "10.0 ms on CPU, 12.3 µs waiting to run and 500 µs asleep: 500 µs until disk "
		   "(softirq BLOCK) in pread64.");
	free(text);
}

/* A recording made before there were causes says nothing about them, not that there are none. */
static void unknown_causes_are_not_told(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 20, 1000000);
	capture->causes_counted = false;
	text = report_of(&recording);
	assert_has_not(text, "why app wakes");
	assert_has_not(text, "never woke");
	assert_has_not(text, "Not explained");
	free(text);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void check_tree(const struct group *group, double least)
{
	double wakeups = 0, oncpu_ns = 0, futile = 0, roots = 0;
	struct cause_sums sums;
	struct cause_tree tree;

	cause_sums_init(&sums, group);
	cause_tree_init(&tree, &sums, least, 3);
	for (size_t i = 0; i < tree.rows.n; i++) {
		wakeups += tree.rows.items[i].wakeups;
		oncpu_ns += tree.rows.items[i].oncpu_ns;
		futile += tree.rows.items[i].futile;
		if (!tree.rows.items[i].depth)
			roots += tree.rows.items[i].all_oncpu_ns;
		assert_true(tree.rows.items[i].depth <= (i ? tree.rows.items[i - 1].depth + 1 : 0));
	}
	assert_true(wakeups == (double)sums.wakeups);
	assert_true(oncpu_ns == (double)sums.oncpu_ns);
	assert_true(roots == (double)sums.oncpu_ns);
	assert_true(least > 0 || futile <= wakeups);
	cause_tree_free_members(&tree);
	cause_sums_free_members(&sums);
}

/* Whatever is folded, joined or put under a loop: every wakeup and nanosecond is in one row. */
static void rows_add_up_to_the_totals(void **state)
{
	static const char *const workloads[] = {"idle", "startup", "hash", "run"};
	struct recording recording;
	struct result result;

	(void)state;
	sample_recording(&recording);
	result_init(&result, &recording);
	for (size_t w = 0; w < 4; w++) {
		struct part part;

		part_init(&part, &result, workloads[w]);
		assert_true(part.groups.n > 0);
		for (size_t i = 0; i < part.groups.n; i++) {
			check_tree(&part.groups.items[i], 0);
			check_tree(&part.groups.items[i], 0.3);
		}
		part_free_members(&part);
	}
	result_free_members(&result);
	recording_free_members(&recording);
}

static void small_roots_are_folded_with_their_sums(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 2000, 200000000, 0), 202, 10000000);
	for (uint16_t i = 0; i < 5; i++)
		add(capture, 1, WK_CONTEXT_IRQ, 2, 20000, 0)->key.waker = 10u + i;
	text = report_of(&recording);
	assert_has(text,
		   "  … and 5 more   each below 1 %                     0.50   0.5 %      0.005\n");
	assert_has_not(text, "interrupt 11");
	free(text);
}

/* A rest of one is a row. */
static void a_single_small_root_is_shown(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 2000, 200000000, 0), 202, 10000000);
	add(capture, 1, WK_CONTEXT_IRQ, 2, 20000, 0)->key.waker = 11;
	text = report_of(&recording);
	assert_has(text, "interrupt 11 (?)");
	assert_has_not(text, "and 1 more");
	free(text);
}

static void chains_from_before_the_window_stand_apart(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 1, "helper", 0, 0);
	sample_set_waker(add(capture, 2, WK_CONTEXT_THREAD, 40, 4000000, 0), 1, 202, 202);
	capture->charges.items[0].root = 77; /* of another run, or never seen */
	text = report_of(&recording);
	assert_has(text, "(earlier)     what began before the window\n");
	assert_has(text,
		   "    └ helper    futex wake by app                   2.00   100 %      0.200\n");
	free(text);
}

/* ---- threads of one name --------------------------------------------------------------------- */

/* A timer on the main thread that rouses seven helpers each second, which find nothing to do;
 * another thread has the main thread's name. */
static struct capture *herd_run(struct recording *recording)
{
	struct capture *capture = idle_run(recording);

	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	for (uint32_t i = 1; i <= 7; i++)
		sample_add_thread(capture, SAMPLE_PID + i, "HeapHelper", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 8, "app", 0, 0);
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 20, 2000000, 0), 232, WK_SECOND_NS);
	for (uint32_t i = 0; i < 8; i++) {
		sample_set_waker(add(capture, 2 + i, WK_CONTEXT_THREAD, 20, 200000, 1), 1, 202,
				 202);
		capture->charges.items[i + 1].futile = i < 7 ? 18 : 0;
	}
	capture->threads.items[0].t.herds = 20;
	capture->threads.items[0].t.herd_woken = 160;
	capture->threads.items[0].t.herd_max = 8;
	return capture;
}

static void threads_of_one_name_share_a_row(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	herd_run(&recording);
	text = report_of(&recording);
	assert_has(text, "    └ HeapHelper ×7   futex wake by app, futile 90 %        7.00    78 % "
			 "     0.070\n");
	assert_has(text, "    └ app#2           futex wake by app                     1.00    11 % "
			 "     0.010\n");
	assert_has(text, "it leads to HeapHelper ×7 (7.00 wakeups a second, futile 90 %) and app#2 "
			 "(1.00 wakeups a second).");
	free(text);
}

static void a_main_thread_keeps_its_own_row(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 1, "app", 0, 0);
	for (uint32_t serial = 1; serial <= 2; serial++)
		sample_set_timeout(add(capture, serial, WK_CONTEXT_HRTIMER, 20, 200000, 0), 202,
				   WK_SECOND_NS);
	text = report_of(&recording);
	assert_has(text, "  app           its own 1 s futex timeout        1.00    50 %      0.010\n");
	assert_has(text, "  app#2         its own 1 s futex timeout        1.00    50 %      0.010\n");
	free(text);
}

static void herds_are_told(void **state)
{
	struct recording recording;
	char *text;

	(void)state;
	herd_run(&recording);
	text = report_of(&recording);
	assert_has(text,
		   "app rouses 8.0 threads at once (at most 8), 1.00 times a second; 79 % of its "
		   "wakes are futile.");
	free(text);
}

/* The number of a waker among its like says nothing; that of a second main thread does. */
static void wakers_of_one_name_are_one(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 1, "pool", 0, 0);
	sample_add_thread(capture, SAMPLE_PID + 2, "pool", 0, 0);
	sample_set_waker(add(capture, 1, WK_CONTEXT_THREAD, 10, 100000, 0), 2, 1, 232);
	sample_set_waker(add(capture, 1, WK_CONTEXT_THREAD, 30, 300000, 0), 3, 1, 232);
	text = report_of(&recording);
	assert_has(text, "write by pool in epoll_wait        2.00   100 %      0.020\n");
	assert_has_not(text, "pool#2 in");
	free(text);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void spins_are_told(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_syscall(&capture->threads.items[0], 1, 200000);
	sample_add_syscall(&capture->threads.items[0], 232, 19800000);
	add(capture, 1, WK_CONTEXT_BEFORE, 0, 19000000000, 0);
	add(capture, 1, WK_CONTEXT_KERNEL, 1, 1000, 0);
	text = report_of(&recording);
	assert_has(text,
		   "app is busy without sleeping: on CPU 95 % of the time, it calls epoll_wait "
		   "990,000 times a second, 99 % of its system calls.");
	free(text);
}

static void spins_that_never_sleep_are_told(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_add_syscall(&capture->threads.items[0], 232, 20000000);
	add(capture, 1, WK_CONTEXT_BEFORE, 0, 20000000000, 0);
	text = report_of(&recording);
	assert_has(text, "app never woke. app is busy without sleeping: on CPU 100 % of the time, it "
			 "calls epoll_wait 1,000,000 times a second, 100 % of its system calls.");
	free(text);
}

static void a_rate_that_changes_is_two_phases(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 110, 1100000, 0), 232, 100000000);
	for (uint64_t i = 0; i < 110; i++)
		*vec_push(&capture->timeline) = (struct wk_wake_event){
			capture->start_ns + (i < 100 ? (i + 1) * 100000000
						     : 10000000000 + (i - 99) * WK_SECOND_NS),
			1, 1};
	text = report_of(&recording);
	assert_has(text, "10.0/s until 10.0 s, then 1.00/s");
	assert_has(text, "app changed for good 10.0 s into the window, from 10.0 to 1.00 wakeups a "
			 "second");
	free(text);
}

static void a_window_that_is_too_short_says_so(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 1, 100000, 0), 232,
			   30 * WK_SECOND_NS);
	/* Of 5 s, three times: there are intervals to judge by. */
	sample_set_timeout(add(capture, 1, WK_CONTEXT_HRTIMER, 4, 100000, 0), 202,
			   5 * WK_SECOND_NS);
	text = report_of(&recording);
	assert_has(text,
		   "app: its own 30 s epoll timeout came too rarely to tell a period; a window "
		   "of 90 s would show whether it repeats.");
	assert_has_not(text, "5 s futex timeout came too rarely");
	free(text);
}

static void a_partial_timeline_says_so(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	add(capture, 1, WK_CONTEXT_IRQ, 20, 1000, 0);
	capture->timeline_left_out = 1234;
	text = report_of(&recording);
	assert_has(text, "The timeline lacks 1,234 wakeups");
	free(text);
}

/* What no cause holds is not explained either, though nothing is marked unknown. */
static void what_was_lost_is_not_explained(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	add(capture, 1, WK_CONTEXT_IRQ, 995, 1000000, 0);
	capture->threads.items[0].t.count.wakeups += 5;
	text = report_of(&recording);
	assert_has(text, "Not explained: 5 of 1,000 wakeups, 0.5 %.");
	free(text);
}

static void silence_is_told(void **state)
{
	struct recording recording;
	struct capture *capture = idle_run(&recording);
	char *text;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 0, 0);
	text = report_of(&recording);
	assert_has(text, "app never woke.");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_says_why),
		cmocka_unit_test(hash_tells_rounds_or_silence),
		cmocka_unit_test(startup_tells_where_time_went),
		cmocka_unit_test(unknown_causes_are_not_told),
		cmocka_unit_test(rows_add_up_to_the_totals),
		cmocka_unit_test(small_roots_are_folded_with_their_sums),
		cmocka_unit_test(a_single_small_root_is_shown),
		cmocka_unit_test(chains_from_before_the_window_stand_apart),
		cmocka_unit_test(threads_of_one_name_share_a_row),
		cmocka_unit_test(a_main_thread_keeps_its_own_row),
		cmocka_unit_test(herds_are_told),
		cmocka_unit_test(wakers_of_one_name_are_one),
		cmocka_unit_test(spins_are_told),
		cmocka_unit_test(spins_that_never_sleep_are_told),
		cmocka_unit_test(a_rate_that_changes_is_two_phases),
		cmocka_unit_test(a_window_that_is_too_short_says_so),
		cmocka_unit_test(a_partial_timeline_says_so),
		cmocka_unit_test(what_was_lost_is_not_explained),
		cmocka_unit_test(silence_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
