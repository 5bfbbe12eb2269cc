/* Schedules: order, when enough is known, and playing with a workload that only takes notes. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/schedule.h"
#include "cmd/signals.h"
#include "collect/internal.h"

/* ---- order ------------------------------------------------------------------------------------- */

/* Made by another implementation, in Python, whose generator gives the published first numbers of
 * SplitMix64 for the seed 1234567. */
static void a_seed_gives_the_order_that_is_written_down(void **state)
{
	static const size_t expected[3][7] = {
		{3, 5, 4, 1, 2, 6, 0}, {1, 6, 5, 2, 4, 3, 0}, {6, 0, 2, 5, 3, 4, 1}};
	static const size_t of_two[7] = {1, 3, 6, 0, 5, 2, 4};
	size_t order[7];

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		schedule_order(1, round, 7, order);
		assert_memory_equal(order, expected[round], sizeof(order));
	}
	schedule_order(2, 0, 7, order);
	assert_memory_equal(order, of_two, sizeof(order));
	schedule_order(1, 0, 0, order);
	schedule_order(1, 0, 1, order);
	assert_int_equal(order[0], 0);
}

/* Each of the six orders of three is as likely as the others: 1,000 of 6,000, and the standard
 * deviation of that is 29. */
static void all_orders_are_alike(void **state)
{
	unsigned count[27] = {0};

	(void)state;
	for (uint32_t round = 0; round < 6000; round++) {
		size_t order[3];

		schedule_order(42, round, 3, order);
		count[order[0] * 9 + order[1] * 3 + order[2]]++;
	}
	for (size_t i = 0; i < 27; i++) {
		size_t a = i / 9, b = i / 3 % 3, c = i % 3;

		if (a == b || b == c || a == c)
			assert_int_equal(count[i], 0);
		else
			assert_in_range(count[i], 1000 - 5 * 29, 1000 + 5 * 29);
	}
}

/* ---- a workload that takes notes --------------------------------------------------------------- */

struct note {
	char label;
	uint32_t repeat;
	bool warm_up;
};

/* What the fake workload does at a call, by its number. */
struct script {
	size_t fail_at;	    /* with error; 0: never (calls are counted from 1) */
	int error;
	size_t signal_at;   /* a signal comes while it plays */
	bool cut;	    /* … and the window that it cuts is reported */
	size_t noisy_from, noisy_to; /* these windows are disturbed */
	VEC(struct note) notes;
	/* keeper */
	size_t keeps, keep_fails_at;
	VEC(size_t) news; /* captures that were new at each keep */
	bool has_first_round;
};

static struct script script;

static void append(struct experiment *experiment, const struct bout *bout)
{
	struct capture *capture = vec_push(&experiment->session.recording.runs);

	capture->label = mem_strdup(bout->contestant->runtime.label);
	capture->workload = mem_strdup("idle");
	capture->variant = bout->variant ? mem_strdup(bout->variant) : NULL;
	capture->repeat = bout->repeat;
	capture->start_ns = script.notes.n;
	capture->end_ns = capture->start_ns + WK_SECOND_NS;
	capture->partial = script.cut && script.notes.n == script.signal_at;
	if (script.notes.n >= script.noisy_from && script.notes.n <= script.noisy_to)
		capture->disturbed = mem_strdup("others were busy");
}

static int fake_play(struct experiment *experiment, const struct bout *bout, struct diag *diag)
{
	struct note *note = vec_push(&script.notes);

	note->label = bout->contestant->runtime.label[0];
	note->repeat = bout->repeat;
	note->warm_up = bout->warm_up;
	if (script.notes.n == script.signal_at)
		raise(SIGINT);
	if (script.notes.n == script.signal_at && !script.cut)
		return diag_set(diag, -EINTR, "cut");
	if (script.notes.n == script.fail_at)
		return diag_set(diag, script.error, "it failed");
	if (!bout->warm_up)
		append(experiment, bout);
	return 0;
}

static uint64_t fake_estimate(const struct experiment *experiment, const struct bout *bout)
{
	(void)experiment;
	(void)bout;
	return 1000;
}

static const struct bout_kind fake = {
	.workload = WORKLOAD_IDLE,
	.play = fake_play,
	.estimate_ns = fake_estimate,
	.may_retry = true,
	.metric = "wakeups_per_s",
};

static bool fake_has(void *context, const struct bout *bout)
{
	if (!script.has_first_round || bout->repeat)
		return false;
	append(context, bout);
	return true;
}

static int fake_keep(void *context, const struct bout *bout, size_t first_run, size_t first_bare,
		     struct diag *diag)
{
	struct experiment *experiment = context;

	(void)bout;
	(void)first_bare;
	*vec_push(&script.news) = experiment->session.recording.runs.n - first_run;
	return ++script.keeps == script.keep_fails_at ? diag_set(diag, -EIO, "the disk is full") : 0;
}

/* An experiment of contestants a, b, c with probes that are attached already. */
struct stage {
	struct experiment experiment;
	struct collector collector;
	struct schedule schedule;
};

static struct stage *stage_set(uint32_t runs, uint32_t warmup)
{
	static const char *const labels[] = {"a", "b", "c"};
	struct stage *stage = calloc(1, sizeof(*stage));
	struct diag diag;

	memset(&script, 0, sizeof(script));
	log_set_level(LOG_LEVEL_QUIET);
	/* Of the test before; nobody else ever takes a signal back. */
	signals_end();
	*(volatile int *)(uintptr_t)signals_stop() = 0;
	assert_int_equal(signals_begin(&diag), 0);
	stage->experiment.session.collector = &stage->collector;
	stage->experiment.collector_for = WORKLOAD_IDLE;
	stage->experiment.session.options.seed = 7;
	for (size_t i = 0; i < 3; i++)
		vec_push(&stage->experiment.contestants)->runtime.label = mem_strdup(labels[i]);
	schedule_init(&stage->schedule, &stage->experiment, &fake, runs, warmup);
	schedule_add_all(&stage->schedule, &stage->experiment);
	return stage;
}

static void stage_clear(struct stage *stage)
{
	schedule_free_members(&stage->schedule);
	for (size_t i = 0; i < stage->experiment.contestants.n; i++)
		free(stage->experiment.contestants.items[i].runtime.label);
	free(stage->experiment.contestants.items);
	recording_free_members(&stage->experiment.session.recording);
	free(script.notes.items);
	free(script.news.items);
	free(stage);
}

static const struct recording *played(struct stage *stage)
{
	schedule_play(&stage->experiment, &stage->schedule);
	return &stage->experiment.session.recording;
}

/* ---- rounds ------------------------------------------------------------------------------------ */

static void each_round_has_each_entry_in_the_drawn_order(void **state)
{
	struct stage *stage = stage_set(4, 2);
	size_t at = 0;

	(void)state;
	played(stage);
	assert_int_equal(script.notes.n, 6 * 3);
	for (uint32_t round = 0; round < 6; round++) {
		size_t order[3];

		schedule_order(7, round, 3, order);
		for (size_t i = 0; i < 3; i++, at++) {
			assert_int_equal(script.notes.items[at].label, 'a' + order[i]);
			assert_int_equal(script.notes.items[at].warm_up, round < 2);
			assert_int_equal(script.notes.items[at].repeat,
					 round < 2 ? round : round - 2);
		}
	}
	stage_clear(stage);
}

static void the_recording_is_in_order_of_entries_and_has_the_seed(void **state)
{
	struct stage *stage = stage_set(3, 0);
	const struct recording *recording = played(stage);
	bool shuffled = false;

	(void)state;
	assert_int_equal(recording->seed, 7);
	assert_int_equal(recording->runs.n, 9);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(recording->runs.items[i].label[0], 'a' + i % 3);
		assert_int_equal(recording->runs.items[i].repeat, i / 3);
		shuffled = shuffled || (i && recording->runs.items[i].start_ns <
						     recording->runs.items[i - 1].start_ns);
	}
	assert_true(shuffled);
	assert_int_equal(stage->experiment.status, 0);
	stage_clear(stage);
}

static void one_that_fails_is_out_and_the_others_go_on(void **state)
{
	struct stage *stage = stage_set(3, 0);
	const struct recording *recording;
	char failed;

	(void)state;
	script.fail_at = 5;
	script.error = -EIO;
	recording = played(stage);
	failed = script.notes.items[4].label;
	assert_int_equal(script.notes.n, 8);
	assert_int_equal(recording->runs.n, 7);
	assert_int_equal(recording->failures.n, 1);
	assert_int_equal(recording->failures.items[0].label[0], failed);
	assert_string_equal(recording->failures.items[0].reason, "it failed");
	assert_int_equal(stage->experiment.status, 1);
	stage_clear(stage);
}

static void a_variant_that_is_not_there_is_no_failure_unless_asked_for(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		struct stage *stage = stage_set(2, 0);

		for (size_t i = 0; i < 3; i++)
			stage->schedule.entries.items[i].variant = "sync";
		stage->experiment.session.options.variants = asked ? "sync" : NULL;
		script.fail_at = 1;
		script.error = -ENOTSUP;
		assert_int_equal(played(stage)->failures.n, asked);
		assert_int_equal(script.notes.n, 5);
		assert_int_equal(stage->experiment.status, asked);
		stage_clear(stage);
	}
}

/* ---- signals ----------------------------------------------------------------------------------- */

static void a_signal_ends_it_and_what_is_missing_is_told(void **state)
{
	struct stage *stage = stage_set(2, 0);
	const struct recording *recording;

	(void)state;
	script.signal_at = 5;
	recording = played(stage);
	assert_int_equal(script.notes.n, 5);
	assert_int_equal(recording->runs.n, 4);
	assert_int_equal(recording->failures.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(recording->failures.items[i].reason,
				    "interrupted after 1 of 2 runs");
	stage_clear(stage);
}

static void a_window_that_a_signal_cut_is_shown_but_not_kept(void **state)
{
	struct stage *stage = stage_set(1, 0);
	const struct recording *recording;

	(void)state;
	script.signal_at = 3;
	script.cut = true;
	stage->schedule.keeper = (struct keeper){&stage->experiment, NULL, fake_keep};
	recording = played(stage);
	assert_int_equal(recording->runs.n, 3);
	assert_int_equal(recording->failures.n, 0);
	assert_int_equal(script.keeps, 2);
	stage_clear(stage);
}

/* ---- keeping ----------------------------------------------------------------------------------- */

static void what_was_kept_is_not_played_again(void **state)
{
	struct stage *stage = stage_set(2, 1);
	const struct recording *recording;

	(void)state;
	script.has_first_round = true;
	stage->schedule.keeper = (struct keeper){&stage->experiment, fake_has, fake_keep};
	recording = played(stage);
	assert_int_equal(recording->runs.n, 6);
	assert_int_equal(script.notes.n, 3 + 3); /* a warm-up, and the second round */
	for (size_t i = 0; i < script.notes.n; i++)
		assert_int_equal(script.notes.items[i].repeat, i < 3 ? 0 : 1);
	assert_int_equal(script.keeps, 3);
	stage_clear(stage);
}

static void with_all_kept_nothing_is_warmed_up(void **state)
{
	struct stage *stage = stage_set(1, 3);

	(void)state;
	script.has_first_round = true;
	stage->schedule.keeper = (struct keeper){&stage->experiment, fake_has, fake_keep};
	assert_int_equal(played(stage)->runs.n, 3);
	assert_int_equal(script.notes.n, 0);
	stage_clear(stage);
}

static void a_keeper_that_fails_ends_it(void **state)
{
	struct stage *stage = stage_set(5, 0);

	(void)state;
	script.keep_fails_at = 2;
	stage->schedule.keeper = (struct keeper){&stage->experiment, NULL, fake_keep};
	played(stage);
	assert_int_equal(script.notes.n, 2);
	assert_int_equal(stage->experiment.status, 1);
	played(stage); /* the next schedule of a study: it is not begun, and its runs are missing */
	assert_int_equal(script.notes.n, 2);
	assert_int_equal(stage->experiment.session.recording.failures.n, 3 + 3);
	stage_clear(stage);
}

/* ---- disturbed windows ------------------------------------------------------------------------- */

static void a_disturbed_window_is_measured_again(void **state)
{
	struct stage *stage = stage_set(1, 0);
	const struct recording *recording;
	size_t replaced = 0;

	(void)state;
	script.noisy_from = script.noisy_to = 2;
	stage->schedule.keeper = (struct keeper){&stage->experiment, NULL, fake_keep};
	recording = played(stage);
	assert_int_equal(recording->runs.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct capture *capture = &recording->runs.items[i];

		assert_int_equal(capture->replaced, capture->disturbed != NULL);
		if (!capture->replaced)
			continue;
		replaced++;
		assert_string_equal(capture->label, recording->runs.items[i + 1].label);
		assert_false(recording->runs.items[i + 1].replaced);
	}
	assert_int_equal(replaced, 1);
	assert_int_equal(script.keeps, 3);
	assert_int_equal(script.news.items[1], 2);
	stage_clear(stage);
}

static void after_all_retries_the_last_one_stays_with_its_doubt(void **state)
{
	struct stage *stage = stage_set(1, 0);
	const struct recording *recording;
	size_t replaced = 0, doubtful = 0;

	(void)state;
	script.noisy_from = 1;
	script.noisy_to = 3;
	recording = played(stage);
	assert_int_equal(recording->runs.n, 5);
	for (size_t i = 0; i < 5; i++) {
		replaced += recording->runs.items[i].replaced;
		doubtful += recording->runs.items[i].disturbed && !recording->runs.items[i].replaced;
	}
	assert_int_equal(replaced, 2);
	assert_int_equal(doubtful, 1);
	assert_int_equal(stage->experiment.status, 0);
	stage_clear(stage);
}

/* A signal in the second attempt: the first, whole, stays and is not called replaced. */
static void a_retry_that_a_signal_cuts_replaces_nothing(void **state)
{
	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		struct stage *stage = stage_set(1, 0);
		const struct recording *recording;

		script.noisy_from = script.noisy_to = 1;
		script.signal_at = 2;
		script.cut = cut;
		recording = played(stage);
		assert_int_equal(recording->runs.n, 1);
		assert_non_null(recording->runs.items[0].disturbed);
		assert_false(recording->runs.items[0].replaced);
		assert_false(recording->runs.items[0].partial);
		stage_clear(stage);
	}
}

/* ---- --until ----------------------------------------------------------------------------------- */

/* With another stride the values of two entries do not go together. */
static void set_values(struct entry *entry, size_t n, double value, double step, size_t stride)
{
	for (size_t i = 0; i < n; i++)
		*vec_push(&entry->values[ENTRY_METRIC]) = value + step * (double)(i * stride % 5);
}

static void pairs_are_the_first_that_is_not_floor_against_each_other(void **state)
{
	static const struct family floor_family = {.name = "floor", .builtin = true};
	struct stage *stage = stage_set(3, 0);
	struct contestant *contestants = stage->experiment.contestants.items;
	struct entry *entries = stage->schedule.entries.items;

	(void)state;
	/* The label tells, as in the report: floor may take part under other names. */
	contestants[1].runtime.family = &floor_family;
	free(contestants[0].runtime.label);
	contestants[0].runtime.label = mem_strdup("floor");
	set_values(&entries[0], 20, 100, 0, 1);
	set_values(&entries[1], 20, 100, 1, 2);
	set_values(&entries[2], 20, 100, 20, 3);
	assert_ptr_equal(schedule_widest(&stage->schedule).base, &entries[1]);
	assert_ptr_equal(schedule_widest(&stage->schedule).other, &entries[2]);
	assert_true(schedule_widest(&stage->schedule).half_width > 0.01);
	entries[2].out = true;
	assert_ptr_equal(schedule_widest(&stage->schedule).other, &entries[0]);
	entries[2].out = false;
	entries[2].variant = "other"; /* nothing to be held against */
	assert_ptr_equal(schedule_widest(&stage->schedule).other, &entries[0]);
	entries[1].out = true;
	assert_null(schedule_widest(&stage->schedule).base);
	assert_true(schedule_widest(&stage->schedule).half_width == 0);
	stage_clear(stage);
}

/* 100 values around `value`, which of two entries do not go together. */
static void set_starts(struct entry *entry, enum entry_value which, double value, double step,
		       size_t stride)
{
	entry->values[which].n = 0;
	for (size_t i = 0; i < 100; i++)
		*vec_push(&entry->values[which]) = value + step * (double)(i * stride % 7);
}

/* Starts with probes are known to a hair, those without are not. Only where probes cost something do the
 * latter make the report's verdict. */
static void starts_without_probes_count_where_the_verdict_is_made_of_them(void **state)
{
	static const struct bout_kind kind = {
		.workload = WORKLOAD_STARTUP, .metric = "exec_to_exit_ns", .bare_decides = true};
	struct stage *stage = stage_set(3, 0);
	struct schedule *schedule = &stage->schedule;
	struct entry *entries = schedule->entries.items;

	(void)state;
	schedule->kind = &kind;
	entries[2].out = true;
	for (size_t i = 0; i < 2; i++) {
		set_starts(&entries[i], ENTRY_METRIC, 1e6, 0, 1);
		set_starts(&entries[i], ENTRY_OUTER, 2e6, 1e5, i + 1);
		set_starts(&entries[i], ENTRY_BARE, 2e6, 1e5, i + 2);
	}
	assert_true(schedule_widest(schedule).half_width == 0); /* there are no bare bouts */
	schedule->bare = true;
	assert_true(schedule_widest(schedule).half_width == 0);
	set_starts(&entries[1], ENTRY_OUTER, 3e6, 1e5, 1); /* one of the two is enough */
	assert_true(schedule_widest(schedule).half_width > 0.01);
	stage_clear(stage);
}

static void a_ratio_to_nothing_is_not_waited_for(void **state)
{
	struct stage *stage = stage_set(3, 0);
	struct entry *entries = stage->schedule.entries.items;

	(void)state;
	entries[2].out = true;
	set_values(&entries[0], 20, 0, 0, 1);
	set_values(&entries[1], 20, 5, 1, 2);
	assert_true(schedule_widest(&stage->schedule).half_width == 0);
	stage_clear(stage);
	stage = stage_set(3, 0);
	stage->schedule.entries.items[2].out = true;
	set_values(&stage->schedule.entries.items[0], 1, 10, 1, 1);
	set_values(&stage->schedule.entries.items[1], 1, 10, 1, 2);
	assert_true(isinf(schedule_widest(&stage->schedule).half_width));
	stage_clear(stage);
}

static void until_stops_where_it_is_narrow_and_at_the_cap(void **state)
{
	struct stage *stage = stage_set(3, 0);
	struct schedule *schedule = &stage->schedule;
	double half;

	(void)state;
	schedule->entries.items[2].out = true;
	set_values(&schedule->entries.items[0], 20, 100, 2, 1);
	set_values(&schedule->entries.items[1], 20, 100, 2, 2);
	half = schedule_widest(schedule).half_width;
	assert_true(half > 0 && half < 0.2);
	schedule->until = half;
	assert_int_equal(until_rounds(schedule, 20), 20);
	schedule->until = half / 2; /* half as wide: four times as many */
	assert_in_range(until_rounds(schedule, 20), 79, 80);
	schedule->until = half * 0.999;
	assert_int_equal(until_rounds(schedule, 20), 21);
	schedule->until = half / 1000;
	assert_int_equal(until_rounds(schedule, 20), schedule->max_runs);
	assert_int_equal(schedule->max_runs, 300);
	stage_clear(stage);
}

/* All figures of the fake are 0: nothing to wait for; without any the cap ends it, and that is told. */
static void until_ends_a_schedule(void **state)
{
	struct stage *stage = stage_set(3, 0);
	const struct recording *recording;

	(void)state;
	stage->schedule.until = 0.01;
	assert_int_equal(played(stage)->runs.n, 9);
	assert_int_equal(stage->experiment.session.recording.remarks.n, 0);
	stage_clear(stage);
	stage = stage_set(3, 0);
	stage->schedule.until = 0.01;
	stage->schedule.max_runs = 6;
	for (size_t i = 0; i < 3; i++) /* values that never come together */
		set_values(&stage->schedule.entries.items[i], 40, 1, 100, i + 1);
	recording = played(stage);
	assert_int_equal(recording->runs.n, 18);
	assert_int_equal(recording->remarks.n, 1);
	assert_string_equal(recording->remarks.items[0].workload, "idle");
	assert_non_null(strstr(recording->remarks.items[0].text,
			       "ended after 6 rounds, before --until 1 % was reached"));
	stage_clear(stage);
}

/* ---- time -------------------------------------------------------------------------------------- */

static void the_estimate_is_a_sum_and_learns(void **state)
{
	struct stage *stage = stage_set(4, 2);
	struct schedule *schedule = &stage->schedule;

	(void)state;
	assert_int_equal(schedule_estimate_ns(&stage->experiment, schedule), 3 * 6 * 1000);
	schedule->bare = true;
	assert_int_equal(schedule_estimate_ns(&stage->experiment, schedule), 3 * 10 * 1000);
	schedule->entries.items[0] = (struct entry){
		.contestant = schedule->entries.items[0].contestant,
		.warm = 2, .done = {1, 1}, .played = {3, 1}, .spent_ns = {1500, 200}};
	assert_int_equal(schedule_left_ns(&stage->experiment, schedule, 4),
			 2 * 10 * 1000 + 3 * 500 + 3 * 200);
	schedule->entries.items[1].out = true;
	assert_int_equal(schedule_left_ns(&stage->experiment, schedule, 4),
			 10 * 1000 + 3 * 500 + 3 * 200);
	stage_clear(stage);
}

static void a_plan_of_several_keeps_what_is_not_of_this_one(void **state)
{
	struct stage *stage = stage_set(2, 0);
	struct session *session = &stage->experiment.session;

	(void)state;
	session->plan_done_ns = 500;
	session->plan_total_ns = 500 + 6 * 1000 + 123456789012;
	played(stage);
	/* The bouts took what they took; the rest of the plan is as long as before. */
	assert_true(session->plan_total_ns >= session->plan_done_ns + 123456789012 - 1);
	assert_true(session->plan_total_ns < 2 * 123456789012);
	stage_clear(stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_gives_the_order_that_is_written_down),
		cmocka_unit_test(all_orders_are_alike),
		cmocka_unit_test(each_round_has_each_entry_in_the_drawn_order),
		cmocka_unit_test(the_recording_is_in_order_of_entries_and_has_the_seed),
		cmocka_unit_test(one_that_fails_is_out_and_the_others_go_on),
		cmocka_unit_test(a_variant_that_is_not_there_is_no_failure_unless_asked_for),
		cmocka_unit_test(what_was_kept_is_not_played_again),
		cmocka_unit_test(with_all_kept_nothing_is_warmed_up),
		cmocka_unit_test(a_keeper_that_fails_ends_it),
		cmocka_unit_test(a_disturbed_window_is_measured_again),
		cmocka_unit_test(after_all_retries_the_last_one_stays_with_its_doubt),
		cmocka_unit_test(pairs_are_the_first_that_is_not_floor_against_each_other),
		cmocka_unit_test(starts_without_probes_count_where_the_verdict_is_made_of_them),
		cmocka_unit_test(a_ratio_to_nothing_is_not_waited_for),
		cmocka_unit_test(until_stops_where_it_is_narrow_and_at_the_cap),
		cmocka_unit_test(until_ends_a_schedule),
		cmocka_unit_test(the_estimate_is_a_sum_and_learns),
		cmocka_unit_test(a_plan_of_several_keeps_what_is_not_of_this_one),
		cmocka_unit_test(a_signal_ends_it_and_what_is_missing_is_told),
		cmocka_unit_test(a_window_that_a_signal_cut_is_shown_but_not_kept),
		cmocka_unit_test(a_retry_that_a_signal_cuts_replaces_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
