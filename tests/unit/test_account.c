/* What each event does to a thread's figures: every rule of bpf/account.h, one by one. */
#include "unit.h"

#include "account_driver.h"
#include "model/capture.h"

/* Times in milliseconds of a clock whose zero is the window's start; the start itself is no round
 * number, for nothing may depend on it. */
#define T0	    (50 * WK_SECOND_NS + 123456789)
#define MS(n)	    (T0 + (__s64)((n)*1000000LL))
#define NS_OF_MS(n) ((n)*1000000ULL)

/* A window of 10 s. The thread has been asleep for 20 s. */
static void sleeper_in_window(struct subject *s)
{
	subject_init(s, WK_STATE_BLOCKED, MS(-20000));
	subject_window(s, MS(0), MS(10000));
}

/* The same, on a CPU since `ms`. */
static void runner_in_window(struct subject *s, int ms)
{
	sleeper_in_window(s);
	subject_waking(s, MS(ms));
	subject_in(s, MS(ms));
}

/* Every counter that an event can touch, in one look. */
static void assert_counts(const struct subject *s, __u64 wakeups, __u64 cancelled, __u64 voluntary,
			  __u64 preempted)
{
	assert_int_equal(s->t.count.wakeups, wakeups);
	assert_int_equal(s->t.count.cancelled_sleeps, cancelled);
	assert_int_equal(s->t.count.switches_voluntary, voluntary);
	assert_int_equal(s->t.count.switches_preempted, preempted);
}

static void assert_nothing_counted(const struct subject *s)
{
	static const struct wk_counters none;
	static const struct series empty;

	assert_memory_equal(&s->t.count, &none, sizeof(none));
	assert_memory_equal(&s->series, &empty, sizeof(empty));
}

/* ---- sleeps ---------------------------------------------------------------------------------- */

static void a_completed_sleep_is_a_wakeup(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(101), WK_STATE_BLOCKED);
	subject_waking(&s, MS(200));
	assert_counts(&s, 1, 0, 1, 0);
	subject_in(&s, MS(202));
	assert_counts(&s, 2, 0, 1, 0);
	assert_int_equal(s.t.count.starts, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(1));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(2));
}

static void a_sleep_over_the_start_counts_one_over_the_end_does_not(void **state)
{
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	subject_waking(&s, MS(-1));
	subject_in(&s, MS(1));
	assert_counts(&s, 1, 0, 0, 0);
	subject_out(&s, MS(9000), WK_STATE_BLOCKED);
	subject_waking(&s, MS(9999));
	subject_in(&s, MS(10001));
	subject_out(&s, MS(10002), WK_STATE_BLOCKED);
	subject_settle(&s);
	assert_counts(&s, 1, 0, 1, 0);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(1) + NS_OF_MS(1));
	assert_int_equal(s.t.count.runq_waits, 1);
}

static void who_never_runs_again_has_not_woken_up(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(200), WK_STATE_BLOCKED);
	subject_waking(&s, MS(300));
	subject_settle(&s);
	assert_counts(&s, 1, 0, 1, 0);
}

static void events_on_the_edges_are_in_the_window(void **state)
{
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	subject_waking(&s, MS(0) - 1);
	subject_in(&s, MS(0));
	subject_out(&s, MS(10000), WK_STATE_BLOCKED);
	assert_counts(&s, 1, 0, 1, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10000));
	assert_int_equal(s.t.edge_ns, 0);

	sleeper_in_window(&s);
	subject_in(&s, MS(0) - 1);
	subject_out(&s, MS(10000) + 1, WK_STATE_BLOCKED);
	assert_counts(&s, 0, 0, 0, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10000));
	assert_int_equal(s.t.edge_ns, NS_OF_MS(10000));
}

/* ---- wakings that come early ------------------------------------------------------------------
 */

/* Woken while still running, by itself or by another: it had not left the CPU. */
static void a_waking_before_the_sleep_cancels_it(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_waking(&s, MS(110));
	subject_out(&s, MS(120), WK_STATE_READY);
	subject_in(&s, MS(130));
	assert_counts(&s, 1, 1, 0, 1);
	/* Run-queue wait of a preempted thread begins when it left, not at that waking. */
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(10));
}

static void of_several_wakings_one_ends_the_sleep(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_waking(&s, MS(101));
	subject_waking(&s, MS(102));
	subject_waking(&s, MS(103));
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_waking(&s, MS(200));
	subject_in(&s, MS(201));
	assert_counts(&s, 2, 3, 1, 0);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(1));
	/* Judged once. */
	subject_out(&s, MS(210), WK_STATE_BLOCKED);
	subject_waking(&s, MS(220));
	subject_in(&s, MS(221));
	assert_counts(&s, 3, 3, 2, 0);
}

/* It came between the thread's being dequeued and the trace of the switch: it must not be wiped by
 * the switch-out, and the thread was ready as soon as it was out. */
static void a_waking_just_before_the_switch_may_end_the_sleep(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_waking(&s, MS(109));
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_in(&s, MS(113));
	assert_counts(&s, 2, 0, 1, 0);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(3));
	assert_int_equal(s.t.count.runq_max_ns, NS_OF_MS(3));
}

static void cancelled_sleeps_are_judged_where_the_thread_runs_again(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, -10);
	subject_waking(&s, MS(-5));
	subject_out(&s, MS(-4), WK_STATE_READY);
	subject_in(&s, MS(5));
	assert_int_equal(s.t.count.cancelled_sleeps, 1);
	subject_waking(&s, MS(9990));
	subject_out(&s, MS(9995), WK_STATE_READY);
	subject_in(&s, MS(10001));
	assert_int_equal(s.t.count.cancelled_sleeps, 2);
	subject_waking(&s, MS(10002));
	subject_settle(&s);
	assert_int_equal(s.t.count.cancelled_sleeps, 2);
}

/* Nothing else would tell of them: the thread does not leave its CPU before the window or itself ends. */
static void cancelled_sleeps_since_the_last_switch_are_counted_at_the_end(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	for (int i = 0; i < 7; i++)
		subject_waking(&s, MS(200 + i));
	subject_settle(&s);
	assert_int_equal(s.t.count.cancelled_sleeps, 7);

	runner_in_window(&s, 100);
	for (int i = 0; i < 7; i++)
		subject_waking(&s, MS(9997 + i));
	subject_settle(&s);
	assert_int_equal(s.t.count.cancelled_sleeps, 4); /* 9997 to 10000, which is the end */

	runner_in_window(&s, 100);
	subject_waking(&s, MS(200));
	subject_waking(&s, MS(201));
	subject_out(&s, MS(202), WK_STATE_BLOCKED);
	subject_waking(&s, MS(300)); /* this one ends a sleep */
	subject_settle(&s);
	assert_int_equal(s.t.count.cancelled_sleeps, 2);

	runner_in_window(&s, 100);
	subject_waking(&s, MS(200));
	subject_out(&s, MS(202), WK_STATE_DEAD);
	subject_settle(&s);
	assert_int_equal(s.t.count.cancelled_sleeps, 1);
}

/* ---- preempted and new ------------------------------------------------------------------------
 */

static void preempted_and_yielding_threads_have_not_slept(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, -1);
	for (int i = 0; i < 100; i++) {
		subject_out(&s, MS(10 * i + 6), WK_STATE_READY);
		subject_in(&s, MS(10 * i + 7));
	}
	assert_counts(&s, 0, 0, 0, 100);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(100));
	assert_int_equal(s.t.count.runq_waits, 100);
	assert_int_equal(s.t.count.runq_max_ns, NS_OF_MS(1));
	/* 6 ms, then 99 times 9 ms. */
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(6 + 99 * 9));
}

static void a_new_thread_starts_and_does_not_wake_up(void **state)
{
	struct subject s;

	(void)state;
	subject_init(&s, WK_STATE_NEW, MS(100));
	subject_window(&s, MS(0), MS(10000));
	subject_in_on(&s, MS(102), 1, 1);
	assert_counts(&s, 0, 0, 0, 0);
	assert_int_equal(s.t.count.starts, 1);
	assert_int_equal(s.t.count.migrations, 0);
	assert_int_equal(s.t.count.idle_exits, 1);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(2));
	subject_out(&s, MS(103), WK_STATE_BLOCKED);
	subject_waking(&s, MS(104));
	subject_in_on(&s, MS(105), 1, 0);
	assert_int_equal(s.t.count.starts, 1);
	assert_counts(&s, 1, 0, 1, 0);
}

static void the_last_switch_is_a_voluntary_one(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(150), WK_STATE_DEAD);
	subject_settle(&s);
	assert_counts(&s, 1, 0, 1, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(50));
	assert_int_equal(s.t.count.runq_ns, 0);
	assert_int_equal(s.t.edge_ns, 0);
	assert_int_equal(s.t.state, WK_STATE_DEAD);
}

static void processors_are_compared_with_the_last_one(void **state)
{
	static const struct {
		__u32 cpu;
		int from_idle;
		__u64 migrations, idle_exits;
	} steps[] = {{3, 0, 0, 0}, {1, 1, 1, 1}, {1, 0, 1, 1}, {0, 7, 2, 2}, {2, 0, 3, 2}};
	struct subject s;

	(void)state;
	/* Where it ran before it was followed is not known: the first CPU is no other one. */
	sleeper_in_window(&s);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		subject_waking(&s, MS(10 * i));
		subject_in_on(&s, MS(10 * i), steps[i].cpu, steps[i].from_idle);
		assert_int_equal(s.t.count.migrations, steps[i].migrations);
		assert_int_equal(s.t.count.idle_exits, steps[i].idle_exits);
		subject_out(&s, MS(10 * i + 5), i % 2 ? WK_STATE_READY : WK_STATE_BLOCKED);
	}
}

/* ---- run-queue wait ---------------------------------------------------------------------------
 */

/* Wait begins: at the waking of a sleeper, at the switch-out of a preempted thread, at the birth of
 * a new one; of each only what lies in the window counts. */
static void run_queue_wait_is_clipped_at_both_edges(void **state)
{
	static const struct {
		int ready_ms, in_ms;
		__u64 wait_ms, waits;
	} cases[] = {
		{-50, -10, 0, 0},     {-50, 0, 0, 1},	    {-50, 30, 30, 1},
		{0, 30, 30, 1},	      {100, 100, 0, 1},	    {100, 5100, 5000, 1},
		{9990, 10000, 10, 1}, {9990, 10001, 10, 0}, {-50, 10001, 10000, 0},
		{10000, 10005, 0, 0}, {10001, 10005, 0, 0},
	};
	static const enum wk_state states[] = {WK_STATE_BLOCKED, WK_STATE_READY, WK_STATE_NEW};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * 3; i++) {
		const int ready_ms = cases[i / 3].ready_ms, in_ms = cases[i / 3].in_ms;
		const enum wk_state from = states[i % 3];
		struct subject s;

		subject_init(&s, from, from == WK_STATE_BLOCKED ? MS(-60) : MS(ready_ms));
		subject_window(&s, MS(0), MS(10000));
		if (from == WK_STATE_BLOCKED)
			subject_waking(&s, MS(ready_ms));
		subject_in(&s, MS(in_ms));
		assert_int_equal(s.t.count.runq_ns, NS_OF_MS(cases[i / 3].wait_ms));
		assert_int_equal(s.t.count.runq_waits, cases[i / 3].waits);
		assert_int_equal(s.t.count.runq_max_ns,
				 cases[i / 3].waits ? NS_OF_MS(cases[i / 3].wait_ms) : 0);
	}
}

static void a_sleeper_without_a_waking_has_not_waited(void **state)
{
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	subject_in(&s, MS(100));
	assert_counts(&s, 1, 0, 0, 0);
	assert_int_equal(s.t.count.runq_ns, 0);
	assert_int_equal(s.t.count.runq_waits, 1);
}

static void the_maximum_is_the_longest_wait(void **state)
{
	static const int waits_ms[] = {2, 5, 3, 4};
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	for (int i = 0; i < 4; i++) {
		subject_waking(&s, MS(100 * i));
		subject_in(&s, MS(100 * i + waits_ms[i]));
		subject_out(&s, MS(100 * i + 50), WK_STATE_BLOCKED);
	}
	assert_int_equal(s.t.count.runq_max_ns, NS_OF_MS(5));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(14));
	assert_int_equal(s.t.count.runq_waits, 4);
}

/* ---- seconds ----------------------------------------------------------------------------------
 */

static void assert_series(const struct subject *s, const int *want_ms, size_t n)
{
	__u64 sum = 0, active = 0;

	for (size_t i = 0; i < SERIES_SECONDS; i++) {
		__u64 ns = series_oncpu_ns(&s->series, i);

		assert_int_equal(ns, i < n ? NS_OF_MS(want_ms[i]) : 0);
		sum += ns;
		active += ns > 0;
	}
	assert_int_equal(s->t.count.oncpu_ns, sum);
	assert_int_equal(s->t.count.active_seconds, active);
}

static void a_stretch_on_cpu_is_cut_into_seconds(void **state)
{
	static const struct {
		int from_ms, to_ms;
		int want_ms[12];
	} cases[] = {
		{0, 0, {0}},
		{100, 300, {200}},
		{0, 1000, {1000}},
		{1000, 2000, {0, 1000}},
		{999, 1000, {1}},
		{1000, 1001, {0, 1}},
		{900, 1100, {100, 100}},
		{900, 2000, {100, 1000}},
		{1000, 3000, {0, 1000, 1000}},
		{2500, 4500, {0, 0, 500, 1000, 500}},
		{100, 9999, {900, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 999}},
		{0, 10000, {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}},
		{-500, 10500, {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}},
		{-500, 0, {0}},
		{-500, 1, {1}},
		{9999, 10001, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		{10000, 10001, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;

		runner_in_window(&s, cases[i].from_ms);
		subject_out(&s, MS(cases[i].to_ms), WK_STATE_BLOCKED);
		subject_settle(&s);
		assert_series(&s, cases[i].want_ms, 12);
		/* The same, still on its CPU when the books are closed. */
		if (cases[i].to_ms < 10000)
			continue;
		runner_in_window(&s, cases[i].from_ms);
		subject_settle(&s);
		assert_series(&s, cases[i].want_ms, 12);
	}
}

static void a_second_is_active_once(void **state)
{
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	for (int i = 0; i < 50; i++) {
		subject_waking(&s, MS(3000 + 10 * i));
		subject_in(&s, MS(3000 + 10 * i));
		subject_out(&s, MS(3001 + 10 * i), WK_STATE_BLOCKED);
	}
	subject_waking(&s, MS(8000));
	subject_in(&s, MS(8000));
	subject_out(&s, MS(8007), WK_STATE_BLOCKED);
	subject_settle(&s);
	assert_series(&s, (int[]){0, 0, 0, 50, 0, 0, 0, 0, 7}, 9);
	assert_int_equal(s.t.count.active_seconds, 2);
	assert_int_equal(s.series.seconds[3].wakeups, 50);
	assert_int_equal(s.series.seconds[8].wakeups, 1);
}

/* The switch-in is the wakeup: it belongs to the second in which the thread runs again. */
static void wakeups_belong_to_the_second_of_the_switch_in(void **state)
{
	static const int in_ms[] = {0, 999, 1000, 1001, 5000, 9999};
	static const __u64 want[] = {2, 2, 0, 0, 0, 1, 0, 0, 0, 1};
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	for (size_t i = 0; i < sizeof(in_ms) / sizeof(in_ms[0]); i++) {
		subject_waking(&s, MS(in_ms[i] - 1));
		subject_in(&s, MS(in_ms[i]));
		subject_out(&s, MS(in_ms[i]), WK_STATE_BLOCKED);
	}
	subject_settle(&s);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(s.series.seconds[i].wakeups, want[i]);
	/* It got the CPU and left it in the same nanosecond: no second was used. */
	assert_int_equal(s.t.count.active_seconds, 0);
}

/* ---- switches that were not traced ------------------------------------------------------------
 */

static void a_missed_switch_in_is_found_by_the_kernels_time(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	assert_int_equal(subject_out(&s, MS(110), WK_STATE_BLOCKED), 0);
	subject_waking(&s, MS(1990));
	subject_in_untraced(&s, MS(1995));
	assert_int_equal(subject_out(&s, MS(2003), WK_STATE_BLOCKED), 1);
	subject_settle(&s);
	assert_counts(&s, 2, 0, 2, 0);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(5));
	assert_int_equal(s.t.count.migrations, 0);
	assert_series(&s, (int[]){10, 5, 3}, 3);
}

/* The kernel's figure may be late: the thread cannot have run before it was ready. */
static void a_missed_switch_in_lies_behind_the_waking(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_waking(&s, MS(200));
	subject_in_untraced(&s, MS(190));
	subject_out(&s, MS(210), WK_STATE_BLOCKED);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 10));
	assert_int_equal(s.t.count.runq_ns, 0);
	/* Nor before it left, where no waking was seen. */
	subject_in_untraced(&s, MS(150));
	subject_out(&s, MS(215), WK_STATE_BLOCKED);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 10 + 5));
	/* Nor later than now, where the kernel says that it has not run. */
	s.kernel.oncpu_ns = 0;
	account_missed_in(&s.t, MS(220), 0, &s.kernel, &s.view);
	account_switch_out(&s.t, MS(220), WK_STATE_BLOCKED, &s.kernel, &s.view);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 10 + 5));
	assert_counts(&s, 4, 0, 4, 0);
}

/* A thread that is woken while it runs, again and again, ran since before. */
static void wakings_of_a_running_thread_do_not_move_its_missed_switch_in(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(110), WK_STATE_READY);
	subject_in_untraced(&s, MS(120));
	subject_waking(&s, MS(125));
	subject_out(&s, MS(130), WK_STATE_BLOCKED);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 10));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(10));
	subject_waking(&s, MS(200));
	subject_in_untraced(&s, MS(202));
	subject_waking(&s, MS(205));
	subject_waking(&s, MS(208));
	subject_out(&s, MS(210), WK_STATE_BLOCKED);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 10 + 8));
}

static void a_missed_switch_out_is_found_by_the_kernels_time(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_waking(&s, MS(200));
	subject_in(&s, MS(200));
	subject_out_untraced(&s, MS(203), WK_STATE_BLOCKED);
	subject_waking(&s, MS(300));
	subject_in(&s, MS(304));
	assert_counts(&s, 3, 0, 2, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(13));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(4));
	/* The same, preempted: it waits from the moment it was out. */
	subject_out_untraced(&s, MS(306), WK_STATE_READY);
	subject_in(&s, MS(309));
	assert_counts(&s, 3, 0, 2, 1);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(15));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(7));
	/* Never later than it is seen again, whatever the kernel says. */
	s.kernel.oncpu_ns += NS_OF_MS(100000);
	s.kernel.voluntary++;
	subject_in(&s, MS(310));
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(16));
}

static void a_thread_is_settled_where_its_switch_in_was_missed(void **state)
{
	struct subject s;
	struct wk_kernel kernel;

	(void)state;
	runner_in_window(&s, 100);
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_waking(&s, MS(9000));
	/* Running since 9,002 ms; looked at after the window, at 10,050 ms. */
	kernel = s.kernel;
	kernel.oncpu_ns += NS_OF_MS(1048);
	account_missed_in(&s.t, MS(10050), 0, &kernel, &s.view);
	subject_settle(&s);
	assert_counts(&s, 2, 0, 1, 0);
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(10 + 998));
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(2));
	assert_int_equal(s.t.edge_ns, NS_OF_MS(998));
}

/* ---- the window's end -------------------------------------------------------------------------
 */

static void the_books_are_closed_on_whatever_a_thread_does(void **state)
{
	static const struct {
		enum wk_state state;
		int since_ms, waking_ms; /* waking 0: none */
		__u64 oncpu_ms, runq_ms, active;
	} cases[] = {
		{WK_STATE_RUNNING, 4000, 0, 6000, 0, 6},
		{WK_STATE_RUNNING, -4000, 0, 10000, 0, 10},
		{WK_STATE_RUNNING, 10000, 0, 0, 0, 0},
		{WK_STATE_RUNNING, 10001, 0, 0, 0, 0},
		{WK_STATE_READY, 9998, 0, 0, 2, 0},
		{WK_STATE_READY, -4000, 0, 0, 10000, 0},
		{WK_STATE_READY, 10001, 0, 0, 0, 0},
		{WK_STATE_NEW, 9997, 0, 0, 3, 0},
		{WK_STATE_BLOCKED, 4000, 0, 0, 0, 0},
		{WK_STATE_BLOCKED, 4000, 9995, 0, 5, 0},
		{WK_STATE_BLOCKED, 4000, 10001, 0, 0, 0},
		{WK_STATE_DEAD, 4000, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;

		subject_init(&s, cases[i].state, MS(cases[i].since_ms));
		subject_window(&s, MS(0), MS(10000));
		if (cases[i].waking_ms)
			subject_waking(&s, MS(cases[i].waking_ms));
		subject_settle(&s);
		assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(cases[i].oncpu_ms));
		assert_int_equal(s.t.edge_ns, NS_OF_MS(cases[i].oncpu_ms));
		assert_int_equal(s.t.count.runq_ns, NS_OF_MS(cases[i].runq_ms));
		assert_int_equal(s.t.count.active_seconds, cases[i].active);
		/* Whoever waits has not run: it is no wait that has ended. */
		assert_int_equal(s.t.count.runq_waits, 0);
		assert_int_equal(s.t.count.runq_max_ns, 0);
		assert_counts(&s, 0, 0, 0, 0);
	}
}

/* The early waking has cancelled the sleep before; asleep, the thread waits for no CPU. */
static void a_sleeper_with_a_cancelled_sleep_behind_it_waits_for_nothing(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 100);
	subject_waking(&s, MS(105));
	subject_out(&s, MS(110), WK_STATE_BLOCKED);
	subject_settle(&s);
	assert_counts(&s, 1, 1, 1, 0);
	assert_int_equal(s.t.count.runq_ns, 0);
}

static void what_a_second_carries_is_handed_over_at_the_end(void **state)
{
	struct subject s;

	(void)state;
	runner_in_window(&s, 2100);
	subject_out(&s, MS(2130), WK_STATE_BLOCKED);
	assert_int_equal(s.t.count.active_seconds, 0);
	assert_int_equal(s.series.seconds[2].oncpu_ns, 0);
	subject_settle(&s);
	assert_series(&s, (int[]){0, 0, 30}, 3);
	assert_int_equal(s.series.seconds[2].wakeups, 1);
}

static void nothing_counts_while_the_window_is_not_open(void **state)
{
	struct subject s;

	(void)state;
	subject_init(&s, WK_STATE_NEW, MS(-100));
	subject_in_on(&s, MS(-90), 3, 1);
	subject_waking(&s, MS(-85));
	subject_out(&s, MS(-80), WK_STATE_READY);
	subject_in_on(&s, MS(-70), 1, 1);
	subject_out(&s, MS(-60), WK_STATE_BLOCKED);
	subject_waking(&s, MS(-50));
	subject_in_untraced(&s, MS(-49));
	subject_out(&s, MS(-40), WK_STATE_BLOCKED);
	assert_nothing_counted(&s);
	assert_false(s.t.flags & WK_FLAG_BASED);
	/* It knows what it is doing all the same. */
	subject_window(&s, MS(0), MS(10000));
	subject_waking(&s, MS(5));
	subject_in_on(&s, MS(6), 1, 0);
	assert_counts(&s, 1, 0, 0, 0);
	assert_int_equal(s.t.count.starts, 0);
	assert_int_equal(s.t.count.migrations, 0);
	assert_int_equal(s.t.count.runq_ns, NS_OF_MS(1));
}

static void nothing_counts_after_the_window(void **state)
{
	struct subject s;

	(void)state;
	subject_init(&s, WK_STATE_NEW, MS(10001));
	subject_window(&s, MS(0), MS(10000));
	subject_in_on(&s, MS(10002), 1, 1);
	subject_out(&s, MS(10003), WK_STATE_READY);
	subject_in_on(&s, MS(10004), 0, 1);
	subject_waking(&s, MS(10005));
	subject_out(&s, MS(10006), WK_STATE_BLOCKED);
	subject_waking(&s, MS(10007));
	subject_in(&s, MS(10008));
	subject_out(&s, MS(13000), WK_STATE_BLOCKED);
	subject_settle(&s);
	assert_nothing_counted(&s);
	assert_int_equal(s.t.edge_ns, 0);
	assert_false(s.t.flags & WK_FLAG_BASED);
}

/* ---- the kernel's own figures -----------------------------------------------------------------
 */

static void figures_are_paired_at_the_first_and_the_last_switch_out(void **state)
{
	struct subject s;
	struct wk_kernel first, last;

	(void)state;
	runner_in_window(&s, -200);
	subject_out(&s, MS(-100), WK_STATE_BLOCKED);
	assert_false(s.t.flags & WK_FLAG_BASED);
	assert_memory_equal(&s.t.last, &s.kernel, sizeof(s.kernel));
	subject_waking(&s, MS(-1));
	subject_in(&s, MS(-1));
	subject_out(&s, MS(3), WK_STATE_READY);
	first = s.kernel;
	assert_true(s.t.flags & WK_FLAG_BASED);
	assert_memory_equal(&s.t.base, &first, sizeof(first));
	/* Ours at the same moment, that switch included. */
	assert_int_equal(s.t.own_base.oncpu_ns, NS_OF_MS(3));
	assert_int_equal(s.t.own_base.voluntary, 0);
	assert_int_equal(s.t.own_base.preempted, 1);
	subject_in(&s, MS(4));
	subject_out(&s, MS(9), WK_STATE_BLOCKED);
	last = s.kernel;
	subject_waking(&s, MS(9000));
	subject_in(&s, MS(9000));
	subject_out(&s, MS(10001), WK_STATE_BLOCKED);
	assert_memory_equal(&s.t.base, &first, sizeof(first));
	assert_memory_equal(&s.t.last, &last, sizeof(last));
	assert_int_equal(s.t.count.oncpu_ns - s.t.edge_ns - s.t.own_base.oncpu_ns,
			 last.oncpu_ns - first.oncpu_ns);
}

static void a_thread_born_in_the_window_begins_at_nothing(void **state)
{
	static const struct wk_kernel zero;
	struct subject s;

	(void)state;
	subject_init(&s, WK_STATE_NEW, MS(100));
	s.kernel = s.t.last = zero;
	s.t.flags |= WK_FLAG_BASED; /* as the fork probe does */
	subject_window(&s, MS(0), MS(10000));
	subject_in(&s, MS(101));
	subject_out(&s, MS(105), WK_STATE_BLOCKED);
	assert_memory_equal(&s.t.base, &zero, sizeof(zero));
	assert_memory_equal(&s.t.own_base, &zero, sizeof(zero));
	assert_int_equal(s.t.last.oncpu_ns, NS_OF_MS(4));
	assert_int_equal(s.t.count.oncpu_ns, NS_OF_MS(4));
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void buckets_begin_where_the_capture_says(void **state)
{
	(void)state;
	assert_int_equal(account_span_bucket(0), 0);
	for (__u32 bucket = 1; bucket < WK_SPAN_BUCKETS; bucket++) {
		assert_int_equal(account_span_bucket(span_low_ns(bucket) - 1), bucket - 1);
		assert_int_equal(account_span_bucket(span_low_ns(bucket)), bucket);
	}
	assert_int_equal(account_span_bucket(383), 0);
	assert_int_equal(account_span_bucket(384), 1);
	assert_int_equal(account_span_bucket(1ULL << 40), WK_SPAN_BUCKETS - 1);
	assert_int_equal(account_span_bucket(~0ULL), WK_SPAN_BUCKETS - 1);
}

static void a_stretch_and_a_wait_are_one_span_each(void **state)
{
	struct wk_spans want = {};
	struct subject s;

	(void)state;
	sleeper_in_window(&s);
	subject_waking(&s, MS(100));
	subject_in(&s, MS(102));
	want.runq[account_span_bucket(NS_OF_MS(2))] = 1;
	assert_memory_equal(&s.series.spans, &want, sizeof(want));
	subject_out(&s, MS(109), WK_STATE_READY);
	want.oncpu[account_span_bucket(NS_OF_MS(7))] = 1;
	assert_memory_equal(&s.series.spans, &want, sizeof(want));
}

/* The end cuts both: the stretch is entered with what lies in the window, once; the wait, which no
 * switch-in of the window has ended, is not. */
static void spans_are_cut_with_the_window(void **state)
{
	struct wk_spans want = {};
	struct subject s;

	(void)state;
	runner_in_window(&s, -300);
	subject_out(&s, MS(1), WK_STATE_READY);
	want.oncpu[account_span_bucket(NS_OF_MS(1))]++;
	assert_memory_equal(&s.series.spans, &want, sizeof(want));
	subject_in(&s, MS(9996));
	want.runq[account_span_bucket(NS_OF_MS(9995))]++;
	subject_out(&s, MS(10500), WK_STATE_READY);
	assert_memory_equal(&s.series.spans, &want, sizeof(want));
	subject_in(&s, MS(10600));
	subject_settle(&s);
	want.oncpu[account_span_bucket(NS_OF_MS(4))]++;
	assert_memory_equal(&s.series.spans, &want, sizeof(want));

	runner_in_window(&s, 9000);
	subject_out(&s, MS(9001), WK_STATE_READY);
	want = s.series.spans;
	subject_settle(&s);
	assert_memory_equal(&s.series.spans, &want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_completed_sleep_is_a_wakeup),
		cmocka_unit_test(a_sleep_over_the_start_counts_one_over_the_end_does_not),
		cmocka_unit_test(who_never_runs_again_has_not_woken_up),
		cmocka_unit_test(events_on_the_edges_are_in_the_window),
		cmocka_unit_test(a_waking_before_the_sleep_cancels_it),
		cmocka_unit_test(of_several_wakings_one_ends_the_sleep),
		cmocka_unit_test(a_waking_just_before_the_switch_may_end_the_sleep),
		cmocka_unit_test(cancelled_sleeps_are_judged_where_the_thread_runs_again),
		cmocka_unit_test(cancelled_sleeps_since_the_last_switch_are_counted_at_the_end),
		cmocka_unit_test(preempted_and_yielding_threads_have_not_slept),
		cmocka_unit_test(a_new_thread_starts_and_does_not_wake_up),
		cmocka_unit_test(the_last_switch_is_a_voluntary_one),
		cmocka_unit_test(processors_are_compared_with_the_last_one),
		cmocka_unit_test(run_queue_wait_is_clipped_at_both_edges),
		cmocka_unit_test(a_sleeper_without_a_waking_has_not_waited),
		cmocka_unit_test(the_maximum_is_the_longest_wait),
		cmocka_unit_test(a_stretch_on_cpu_is_cut_into_seconds),
		cmocka_unit_test(a_second_is_active_once),
		cmocka_unit_test(wakeups_belong_to_the_second_of_the_switch_in),
		cmocka_unit_test(a_missed_switch_in_is_found_by_the_kernels_time),
		cmocka_unit_test(a_missed_switch_in_lies_behind_the_waking),
		cmocka_unit_test(wakings_of_a_running_thread_do_not_move_its_missed_switch_in),
		cmocka_unit_test(a_missed_switch_out_is_found_by_the_kernels_time),
		cmocka_unit_test(a_thread_is_settled_where_its_switch_in_was_missed),
		cmocka_unit_test(the_books_are_closed_on_whatever_a_thread_does),
		cmocka_unit_test(a_sleeper_with_a_cancelled_sleep_behind_it_waits_for_nothing),
		cmocka_unit_test(what_a_second_carries_is_handed_over_at_the_end),
		cmocka_unit_test(nothing_counts_while_the_window_is_not_open),
		cmocka_unit_test(nothing_counts_after_the_window),
		cmocka_unit_test(figures_are_paired_at_the_first_and_the_last_switch_out),
		cmocka_unit_test(a_thread_born_in_the_window_begins_at_nothing),
		cmocka_unit_test(buckets_begin_where_the_capture_says),
		cmocka_unit_test(a_stretch_and_a_wait_are_one_span_each),
		cmocka_unit_test(spans_are_cut_with_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
