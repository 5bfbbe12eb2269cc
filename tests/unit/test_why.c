/* Rows of causes, what is charged to each root, periods, spins: from captures made by hand. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/why.h"
#include "sample.h"

#define MS 1000000ull

enum { READ = 0, WRITE = 1, EPOLL = 232, FUTEX = 202, GETTIME = 228, YIELD = 24 }; /* x86-64 */

struct made {
	struct recording recording;
	struct run run;
	struct why why;
};

static struct capture *make(struct made *made)
{
	memset(made, 0, sizeof(*made));
	sample_add_run(&made->recording, "x", "run", NULL, 0)->causes_counted = true;
	return &made->recording.runs.items[0];
}

static const struct why *explain(struct made *made)
{
	run_init(&made->run, &made->recording.runs.items[0]);
	why_init(&made->why, &made->run, "x86-64");
	return &made->why;
}

static void unmake(struct made *made)
{
	why_free_members(&made->why);
	run_free_members(&made->run);
	recording_free_members(&made->recording);
}

static const struct why_cause *row_with(const struct why *why, const char *text)
{
	const struct why_cause *found = NULL;

	for (size_t i = 0; i < why->causes.n; i++) {
		if (strcmp(why->causes.items[i].text, text) != 0)
			continue;
		assert_null(found);
		found = &why->causes.items[i];
	}
	if (!found)
		fail_msg("no row reads '%s'", text);
	return found;
}

/* A timeout of thread 1 in epoll_wait, in a class of its own. */
static void add_timeout(struct capture *capture, uint64_t timeout_ns, uint16_t class,
			uint64_t wakeups)
{
	struct wk_cause *cause =
		sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, wakeups, wakeups * 1000, 0);

	sample_set_timeout(cause, EPOLL, timeout_ns);
	cause->key.timeout_class = class;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void timeouts_that_a_class_boundary_parted_are_one(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why_cause *row;
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 34, 34000);
	add_timeout(capture, 104 * MS, 108, 10);
	add_timeout(capture, 100 * MS, 107, 20);
	add_timeout(capture, 150 * MS, 109, 3);
	add_timeout(capture, 0, 0, 1); /* had expired before it could be looked at */
	why = explain(&made);
	assert_int_equal(why->causes.n, 2);
	row = row_with(why, "its own 101 ms epoll timeout");
	assert_int_equal(row->wakeups, 31);
	assert_int_equal(row->oncpu_ns, 31000);
	assert_int_equal(row->timeout_ns, (104 * MS * 10 + 100 * MS * 20) / 30);
	assert_string_equal(row->mechanism, "epoll");
	assert_string_equal(row->rule->id, "timeout");
	row = row_with(why, "its own 150 ms epoll timeout");
	assert_int_equal(row->wakeups, 3);
	unmake(&made);
}

static void timeouts_of_different_calls_stay_apart(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 20, 20000);
	add_timeout(capture, 100 * MS, 107, 10);
	sample_set_timeout(sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 10, 10000, 0), FUTEX,
			   100 * MS);
	why = explain(&made);
	assert_int_equal(why->causes.n, 2);
	row_with(why, "its own 100 ms epoll timeout");
	row_with(why, "its own 100 ms futex timeout");
	unmake(&made);
}

static struct wk_cause *add_timerfd(struct capture *capture, uint64_t object, uint64_t wakeups)
{
	struct wk_cause *cause =
		sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, wakeups, wakeups * 1000, 0);

	sample_set_timeout(cause, EPOLL, 0);
	strcpy(cause->name, "timerfd_tmrproc");
	cause->key.object = object;
	return cause;
}

static void two_periodic_timers_are_two_rows(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 440, 440000);
	add_timerfd(capture, 0xffff888000001000, 280);
	sample_set_period(capture, 1, 0, 70 * MS);
	add_timerfd(capture, 0xffff888000002000, 160);
	sample_set_period(capture, 2, 35 * MS, 110 * MS);
	why = explain(&made);
	assert_int_equal(why->causes.n, 2);
	assert_int_equal(why->causes.items[0].wakeups, 280);
	assert_true(why->causes.items[0].period.known);
	assert_true(fabs(why->causes.items[0].period.period_ns - 70e6) < 1);
	assert_int_equal(why->causes.items[1].wakeups, 160);
	assert_true(fabs(why->causes.items[1].period.period_ns - 110e6) < 1);
	assert_true(why->timeline_whole);
	unmake(&made);
}

/* Each tick another object: one row, whose period comes from all of them together. */
static void a_timer_made_anew_each_time_is_one_row(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 50, 50000);
	for (uint32_t i = 0; i < 50; i++) {
		struct wk_cause *cause = add_timerfd(capture, 0xffff888000001000 + 64 * i, 1);

		cause->first_ns = cause->last_ns = capture->start_ns + i * 100 * MS;
		*vec_push(&capture->timeline) =
			(struct wk_wake_event){cause->first_ns, i + 1, i + 1};
	}
	why = explain(&made);
	assert_int_equal(why->causes.n, 1);
	assert_int_equal(why->causes.items[0].wakeups, 50);
	assert_int_equal(why->causes.items[0].root_wakeups, 50);
	assert_int_equal(why->causes.items[0].chained_wakeups, 0);
	assert_true(why->causes.items[0].period.known);
	assert_true(fabs(why->causes.items[0].period.period_ns - 100e6) < 1);
	unmake(&made);
}

static void wakers_have_their_labels(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why_cause *row;
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 10, 10000);
	sample_add_thread(capture, SAMPLE_PID + 1, "app", 5, 5000);
	sample_add_thread(capture, 9000, "other", 2, 2000)->t.pid = 9000;
	sample_set_waker(sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 5, 5000, 0), 2, FUTEX,
			 FUTEX);
	sample_set_waker(sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 3, 3000, 0), 3, WRITE,
			 EPOLL);
	sample_set_waker(sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 2, 2000, 0), 77, FUTEX,
			 FUTEX); /* not in this capture */
	why = explain(&made);
	row = row_with(why, "futex wake by app#2");
	assert_string_equal(row->rule->id, "thread");
	assert_int_equal(row->waker->seen->t.tid, SAMPLE_PID + 1);
	row = row_with(why, "write by other in epoll_wait");
	assert_string_equal(row->rule->id, "process");
	assert_int_equal(row->waker->seen->t.tid, 9000);
	row = row_with(why, "futex wake by a thread that has ended");
	assert_null(row->waker);
	unmake(&made);
}

static void what_did_nothing_in_the_window_is_no_row(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 3, 3000);
	sample_add_cause(capture, 1, WK_CONTEXT_BEFORE, 0, 0, 0);
	add_timeout(capture, 100 * MS, 107, 3);
	why = explain(&made);
	assert_int_equal(why->causes.n, 1);
	assert_int_equal(why->charges.n, 1);
	assert_int_equal(why->charges.items[0].cause, 0);
	assert_int_equal(why->charges.items[0].root, 0);
	unmake(&made);
}

/* ---- roots and sums -------------------------------------------------------------------------- */

static void a_chain_is_charged_to_its_root(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why_cause *root;
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "a", 20, 9000);
	sample_add_thread(capture, SAMPLE_PID + 1, "b", 25, 7000);
	sample_add_thread(capture, SAMPLE_PID + 2, "c", 20, 5000);
	sample_set_timeout(sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 20, 9000, 0), FUTEX,
			   WK_SECOND_NS);
	sample_set_waker(sample_add_cause(capture, 2, WK_CONTEXT_THREAD, 20, 6000, 1), 1, FUTEX,
			 FUTEX);
	sample_set_waker(sample_add_cause(capture, 3, WK_CONTEXT_THREAD, 20, 5000, 1), 2, FUTEX,
			 FUTEX);
	/* The same hand-off in a chain that began before the window. */
	*vec_push(&capture->charges) =
		(struct wk_charge){.cause = 2, .root = 0, .wakeups = 5, .oncpu_ns = 1000};
	why = explain(&made);
	root = row_with(why, "its own 1 s futex timeout");
	assert_int_equal(root->wakeups, 20);
	assert_int_equal(root->root_wakeups, 60);
	assert_int_equal(root->chained_wakeups, 40);
	assert_int_equal(root->root_oncpu_ns, 20000);
	assert_ptr_equal(root, &why->causes.items[0]); /* it costs most */
	assert_int_equal(row_with(why, "futex wake by a")->wakeups, 25);
	assert_int_equal(row_with(why, "futex wake by a")->root_wakeups, 0);
	/* By root, then by time. */
	assert_int_equal(why->charges.n, 4);
	assert_int_equal(why->charges.items[0].root, 0);
	assert_int_equal(why->charges.items[0].oncpu_ns, 9000);
	assert_int_equal(why->charges.items[1].oncpu_ns, 6000);
	assert_int_equal(why->charges.items[2].oncpu_ns, 5000);
	assert_true(why->charges.items[3].root == SIZE_MAX);
	assert_int_equal(why->charges.items[3].wakeups, 5);
	assert_int_equal(why->unknown_wakeups, 0);
	assert_int_equal(why->unknown_oncpu_ns, 0);
	unmake(&made);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Whatever the probes saw, rows add up to what they counted, and roots to the same. */
static void sums_hold_for_random_captures(void **state)
{
	static const enum wk_context contexts[] = {WK_CONTEXT_THREAD,  WK_CONTEXT_PROCESS,
						   WK_CONTEXT_HRTIMER, WK_CONTEXT_SOFTIRQ,
						   WK_CONTEXT_BIRTH,   WK_CONTEXT_NONE};
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t wakeups = 0, oncpu_ns = 0, unknown = 0;
		uint64_t rows[2] = {0}, roots[2] = {0}, charges[2] = {0};
		struct made made;
		struct capture *capture = make(&made);
		const struct why *why;

		for (uint32_t i = 0; i < 5; i++)
			sample_add_thread(capture, SAMPLE_PID + i, "t", 0, 0);
		for (uint32_t i = 0; i < 40; i++) {
			enum wk_context context = contexts[next_random(&seed) % 6];
			uint64_t n = next_random(&seed) % 100, ns = next_random(&seed) % 100000;
			uint32_t serial = 1 + (uint32_t)(next_random(&seed) % 5);
			struct wk_thread *t = &capture->threads.items[serial - 1].t;
			struct wk_cause *cause =
				sample_add_cause(capture, serial, context, n, ns,
						 (uint32_t)(next_random(&seed) % 41));

			cause->key.sleep_call = next_random(&seed) % 3 ? FUTEX : EPOLL;
			cause->key.waker = (uint32_t)(next_random(&seed) % 7);
			if (context == WK_CONTEXT_HRTIMER)
				sample_set_timeout(cause, cause->key.sleep_call,
						   next_random(&seed) % 4 * 30 * MS);
			t->count.wakeups += n;
			t->count.oncpu_ns += ns;
			wakeups += n;
			oncpu_ns += ns;
			unknown += context == WK_CONTEXT_NONE ? n : 0;
		}
		why = explain(&made);
		for (size_t i = 0; i < why->causes.n; i++) {
			rows[0] += why->causes.items[i].wakeups;
			rows[1] += why->causes.items[i].oncpu_ns;
			roots[0] += why->causes.items[i].root_wakeups;
			roots[1] += why->causes.items[i].root_oncpu_ns;
		}
		for (size_t i = 0; i < why->charges.n; i++) {
			assert_true(why->charges.items[i].cause < why->causes.n);
			assert_true(why->charges.items[i].root < why->causes.n);
			charges[0] += why->charges.items[i].wakeups;
			charges[1] += why->charges.items[i].oncpu_ns;
		}
		assert_int_equal(rows[0], wakeups);
		assert_int_equal(rows[1], oncpu_ns);
		assert_int_equal(roots[0], wakeups);
		assert_int_equal(roots[1], oncpu_ns);
		assert_int_equal(charges[0], wakeups);
		assert_int_equal(charges[1], oncpu_ns);
		assert_int_equal(why->unknown_wakeups, unknown);
		unmake(&made);
	}
}

static void what_has_no_cause_is_unknown_and_counted(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 50, 90000);
	add_timeout(capture, 100 * MS, 107, 30);
	sample_add_cause(capture, 1, WK_CONTEXT_NONE, 5, 10000, 0);
	why = explain(&made);
	/* Five with a row that says so, and fifteen that found no room in the kernel. */
	assert_int_equal(why->unknown_wakeups, 20);
	assert_int_equal(why->unknown_oncpu_ns, 60000);
	assert_string_equal(row_with(why, "unknown: no waking was seen")->rule->id, "unknown");
	unmake(&made);
}

static void a_recording_without_causes_says_nothing(void **state)
{
	struct made made;
	const struct why *why;

	(void)state;
	sample_add_thread(make(&made), SAMPLE_PID, "app", 50, 90000);
	made.recording.runs.items[0].causes_counted = false;
	why = explain(&made);
	assert_false(why->known);
	assert_int_equal(why->causes.n, 0);
	assert_int_equal(why->unknown_wakeups, 0);
	unmake(&made);
}

/* ---- periods --------------------------------------------------------------------------------- */

/* One thread is too busy for the timeline: it alone falls back on its histogram. */
static void a_busy_thread_does_not_take_the_times_of_others(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why_cause *row;
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 120, 120000);
	sample_add_thread(capture, SAMPLE_PID + 1, "busy", 100000, 5000000);
	add_timeout(capture, 100 * MS, 107, 120);
	sample_set_period(capture, 1, 0, 40 * MS);
	/* It slows down after 4 s. */
	for (uint64_t i = 100; i < 120; i++)
		capture->timeline.items[i].time_ns =
			capture->start_ns + 4 * WK_SECOND_NS + (i - 99) * 700 * MS;
	sample_set_waker(sample_add_cause(capture, 2, WK_CONTEXT_THREAD, 100000, 5000000, 0), 1,
			 FUTEX, FUTEX);
	sample_set_period(capture, 2, 0, 200000);
	capture->timeline.n -= 1000;
	capture->timeline_left_out = 1000;
	why = explain(&made);
	row = row_with(why, "its own 100 ms epoll timeout");
	assert_true(row->phase.known);
	assert_true(row->phase.before_per_s > 24 && row->phase.before_per_s < 26);
	row = row_with(why, "futex wake by app");
	assert_false(row->phase.known);
	assert_true(row->period.known);
	assert_true(fabs(row->period.period_ns - 200000) < 1);
	assert_false(why->timeline_whole);
	unmake(&made);
}

static void events_out_of_order_are_not_used(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	const struct why *why;

	(void)state;
	sample_add_thread(capture, SAMPLE_PID, "app", 50, 50000);
	add_timeout(capture, 100 * MS, 107, 50);
	sample_set_period(capture, 1, 0, 100 * MS);
	capture->timeline.items[10].time_ns = capture->timeline.items[40].time_ns;
	why = explain(&made);
	assert_false(why->timeline_whole);
	assert_true(why->causes.items[0].period.known); /* by its histogram */
	assert_false(why->causes.items[0].phase.known);
	unmake(&made);
}

/* ---- spins ----------------------------------------------------------------------------------- */

/* A thread that made `calls` calls of a number in a window of 20 s. */
static size_t spins_of(uint16_t nr, uint64_t calls, uint64_t others, uint64_t oncpu_ns,
		       uint64_t wakeups)
{
	struct made made;
	struct capture *capture = make(&made);
	struct capture_thread *thread =
		sample_add_thread(capture, SAMPLE_PID, "app", wakeups, oncpu_ns);
	const struct why *why;
	size_t n;

	if (others)
		sample_add_syscall(thread, READ, others);
	sample_add_syscall(thread, nr, calls);
	why = explain(&made);
	n = why->spins.n;
	if (n) {
		assert_true(fabs(why->spins.items[0].calls_per_s - (double)calls / 20) < 1e-6);
		assert_true(fabs(why->spins.items[0].share -
				 (double)calls / (double)(calls + others)) < 1e-12);
		assert_true(fabs(why->spins.items[0].oncpu_share - (double)oncpu_ns / 20e9) <
			    1e-12);
		assert_true(why->spins.items[0].thread->seen->t.tid == SAMPLE_PID);
	}
	unmake(&made);
	return n;
}

static void a_spin_waits_often_and_sleeps_seldom(void **state)
{
	(void)state;
	assert_int_equal(spins_of(EPOLL, 2000000, 0, 19000000000, 0), 1);
	assert_int_equal(spins_of(YIELD, 2000000, 0, 19000000000, 0), 1);
	/* a fifth of the window on CPU */
	assert_int_equal(spins_of(EPOLL, 2000000, 0, 4000000000, 0), 1);
	assert_int_equal(spins_of(EPOLL, 2000000, 0, 3900000000, 0), 0);
	/* half of its calls */
	assert_int_equal(spins_of(EPOLL, 1000000, 1000000, 19000000000, 0), 0);
	assert_int_equal(spins_of(EPOLL, 1000001, 999999, 19000000000, 0), 1);
	/* a hundred for each sleep */
	assert_int_equal(spins_of(EPOLL, 2000000, 0, 19000000000, 19999), 1);
	assert_int_equal(spins_of(EPOLL, 2000000, 0, 19000000000, 20000), 0);
	/* not more than 100 µs on CPU for each */
	assert_int_equal(spins_of(EPOLL, 190000, 0, 19000000000, 0), 1);
	assert_int_equal(spins_of(EPOLL, 189999, 0, 19000000000, 0), 0);
	/* one that reads, or looks at the clock, gets on with something */
	assert_int_equal(spins_of(WRITE, 2000000, 0, 19000000000, 0), 0);
	assert_int_equal(spins_of(GETTIME, 2000000, 0, 19000000000, 0), 0);
	assert_int_equal(spins_of(WK_SYSCALLS, 2000000, 0, 19000000000, 0), 0);
}

/* ---- anything -------------------------------------------------------------------------------- */

/* From a file that somebody made up: no crash, and nothing points outside. */
static void any_capture_is_accepted(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct made made;
		struct capture *capture = make(&made);
		const struct why *why;

		for (uint32_t i = 0; i < 3; i++) {
			sample_add_thread(capture, 1 + i, "\x1b\xff", 1, 1);
			capture->threads.items[i].t.serial = (uint32_t)(next_random(&seed) % 4);
			capture->threads.items[i].t.herds = next_random(&seed);
			capture->threads.items[i].t.burst = (uint32_t)next_random(&seed);
		}
		for (uint32_t i = 0; i < 12; i++) {
			struct capture_cause *cause = vec_push(&capture->causes);
			unsigned char *bytes = (unsigned char *)&cause->c;

			cause->number = 1 + i * (uint32_t)(next_random(&seed) % 2 + 1);
			for (size_t j = 0; j < sizeof(cause->c); j++)
				bytes[j] = (unsigned char)next_random(&seed);
			cause->c.key.serial = (uint32_t)(next_random(&seed) % 5);
			*vec_push(&cause->intervals) = (struct capture_interval){
				(uint32_t)next_random(&seed), (uint32_t)next_random(&seed)};
			*vec_push(&capture->charges) =
				(struct wk_charge){(uint32_t)(next_random(&seed) % 30),
						   (uint32_t)(next_random(&seed) % 30),
						   next_random(&seed),
						   next_random(&seed),
						   next_random(&seed),
						   next_random(&seed),
						   0};
			*vec_push(&capture->timeline) = (struct wk_wake_event){
				next_random(&seed), (uint32_t)next_random(&seed) % 30, 0};
		}
		why = explain(&made);
		for (size_t i = 0; i < why->charges.n; i++) {
			assert_true(why->charges.items[i].cause < why->causes.n);
			assert_true(why->charges.items[i].root < why->causes.n ||
				    why->charges.items[i].root == SIZE_MAX);
		}
		unmake(&made);
	}
	why_free_members(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timeouts_that_a_class_boundary_parted_are_one),
		cmocka_unit_test(timeouts_of_different_calls_stay_apart),
		cmocka_unit_test(two_periodic_timers_are_two_rows),
		cmocka_unit_test(a_timer_made_anew_each_time_is_one_row),
		cmocka_unit_test(wakers_have_their_labels),
		cmocka_unit_test(what_did_nothing_in_the_window_is_no_row),
		cmocka_unit_test(a_chain_is_charged_to_its_root),
		cmocka_unit_test(sums_hold_for_random_captures),
		cmocka_unit_test(what_has_no_cause_is_unknown_and_counted),
		cmocka_unit_test(a_recording_without_causes_says_nothing),
		cmocka_unit_test(a_busy_thread_does_not_take_the_times_of_others),
		cmocka_unit_test(events_out_of_order_are_not_used),
		cmocka_unit_test(a_spin_waits_often_and_sleeps_seldom),
		cmocka_unit_test(any_capture_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
