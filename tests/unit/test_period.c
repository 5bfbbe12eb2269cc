/* Periods and phases: where the rule draws its lines, and how seldom chance crosses them. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "model/period.h"

#define MS    1000000.0
#define START (1000 * WK_SECOND_NS)

/* ---- periods --------------------------------------------------------------------------------- */

static void three_intervals_are_enough_and_two_are_not(void **state)
{
	const uint64_t times[] = {0, 100000000, 200000000, 300000000, 400000000};
	struct period_interval one[] = {{100 * MS, 2}}, two[] = {{100 * MS, 3}};

	(void)state;
	for (size_t n = 0; n <= 3; n++)
		assert_false(period_of_times(times, n).known);
	assert_true(period_of_times(times, 4).known);
	assert_true(period_of_times(times, 5).known);
	assert_true(period_of_times(times, 5).period_ns == 100 * MS);
	assert_true(period_of_times(times, 5).jitter_ns == 0);
	assert_false(period_of_intervals(one, 1).known);
	assert_true(period_of_intervals(two, 1).known);
	assert_false(period_of_intervals(NULL, 0).known);
}

static void three_quarters_must_lie_around_the_median(void **state)
{
	struct period_interval enough[] = {{100 * MS, 75}, {500 * MS, 25}};
	struct period_interval less[] = {{100 * MS, 74}, {500 * MS, 26}};
	struct why_period period;

	(void)state;
	period = period_of_intervals(enough, 2);
	assert_true(period.known);
	/* The others are no part of the mean, nor of its spread. */
	assert_true(period.period_ns == 100 * MS);
	assert_true(period.jitter_ns == 0);
	assert_false(period_of_intervals(less, 2).known);
}

static void fifteen_per_cent_off_the_median_is_near_enough(void **state)
{
	struct period_interval near[] = {{85.01 * MS, 1}, {100 * MS, 2}, {114.99 * MS, 1}};
	struct period_interval far[] = {{84.9 * MS, 1}, {100 * MS, 2}, {115.1 * MS, 1}};
	struct why_period period = period_of_intervals(near, 3);

	(void)state;
	assert_true(period.known);
	assert_true(fabs(period.period_ns - 100 * MS) < 1);
	/* Standard deviation of those four. */
	assert_true(fabs(period.jitter_ns - 14.99 * MS / sqrt(2)) < 10);
	assert_false(period_of_intervals(far, 3).known);
}

static void intervals_may_come_in_any_order(void **state)
{
	struct period_interval intervals[] = {
		{130 * MS, 1}, {99 * MS, 2}, {1 * MS, 1}, {101 * MS, 2}, {100 * MS, 4}};
	struct why_period period = period_of_intervals(intervals, 5);

	(void)state;
	assert_true(period.known);
	assert_true(fabs(period.period_ns - 100 * MS) < 1);
	for (size_t i = 1; i < 5; i++)
		assert_true(intervals[i - 1].ns < intervals[i].ns);
}

static void wakes_at_one_moment_have_no_period(void **state)
{
	const uint64_t times[] = {7, 7, 7, 7, 7, 7};

	(void)state;
	assert_false(period_of_times(times, 6).known);
}

/* ---- a generator of chances, the same each time ---------------------------------------------- */

static double chance(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Wakes at random with a constant rate, rate_per_s of them on average. Returns how many. */
static size_t poisson(uint64_t *seed, double rate_per_s, double window_s, uint64_t *ret_times,
		      size_t max)
{
	double at_s = 0;
	size_t n = 0;

	for (;;) {
		at_s -= log(chance(seed)) / rate_per_s;
		if (at_s >= window_s || n == max)
			return n;
		ret_times[n++] = START + (uint64_t)(at_s * 1e9);
	}
}

/* ---- histogram and times --------------------------------------------------------------------- */

static uint32_t bucket_of(uint64_t ns)
{
	uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns);

	return (octave - WK_HIST_LOW) * WK_HIST_SUB +
	       (uint32_t)(ns >> (octave - 4) & (WK_HIST_SUB - 1));
}

/* What the probes keep of such wakes. */
static void observe(struct capture_cause *ret_cause, const uint64_t *times, size_t n)
{
	uint32_t counts[WK_HIST_BUCKETS] = {0};
	struct wk_cause *c = &ret_cause->c;

	*ret_cause = (struct capture_cause){.c = {.wakeups = n}};
	c->first_ns = times[0];
	c->last_ns = times[n - 1];
	for (size_t i = 1; i < n; i++) {
		uint64_t ns = times[i] - times[i - 1], apart;

		if (ns < 1 << WK_HIST_LOW)
			continue;
		if (!c->interval_ns)
			c->interval_ns = ns;
		apart = ns > c->interval_ns ? ns - c->interval_ns : c->interval_ns - ns;
		c->interval_square += (apart >> 5) * (apart >> 5);
		counts[bucket_of(ns)]++;
	}
	for (uint32_t b = 0; b < WK_HIST_BUCKETS; b++)
		if (counts[b])
			*vec_push(&ret_cause->intervals) = (struct capture_interval){b, counts[b]};
}

/* Periods from 100 µs to minutes, with a spread of 1 %: the sums of the probes give mean and spread
 * as exactly as the times do. */
static void a_histogram_and_exact_times_agree(void **state)
{
	uint64_t seed = 20240229, times[200];

	(void)state;
	for (double period_ns = 100e3; period_ns < 300e9; period_ns *= 1.7) {
		struct why_period exact, kept;
		struct capture_cause cause;

		times[0] = START;
		for (size_t i = 1; i < 200; i++)
			times[i] = times[i - 1] +
				   (uint64_t)(period_ns * (0.99 + 0.02 * chance(&seed)));
		observe(&cause, times, 200);
		exact = period_of_times(times, 200);
		kept = period_of_cause(&cause);
		assert_true(exact.known && kept.known);
		assert_true(fabs(kept.period_ns - exact.period_ns) <= 1);
		assert_true(fabs(kept.jitter_ns - exact.jitter_ns) <= 0.01 * exact.jitter_ns + 100);
		free(cause.intervals.items);
	}
}

/* With strays in it, the histogram knows the period to its own 6 %. */
static void a_histogram_leaves_strays_out(void **state)
{
	uint64_t times[101];
	struct capture_cause cause;
	struct why_period period;

	(void)state;
	times[0] = START;
	for (size_t i = 1; i <= 100; i++)
		times[i] = times[i - 1] + (i % 10 ? 100000000 : 1700000000);
	observe(&cause, times, 101);
	period = period_of_cause(&cause);
	assert_true(period.known);
	assert_true(fabs(period.period_ns - 100 * MS) < 6 * MS);
	assert_true(period_of_times(times, 101).period_ns == 100 * MS);
	free(cause.intervals.items);
}

static void a_histogram_that_lacks_the_short_intervals_claims_nothing(void **state)
{
	uint64_t times[101];
	struct capture_cause cause;

	(void)state;
	/* Most intervals are below what is entered; the few that are would make a fine period. */
	times[0] = START;
	for (size_t i = 1; i <= 100; i++)
		times[i] = times[i - 1] + (i % 10 ? 1000 : 1000000);
	observe(&cause, times, 101);
	assert_false(period_of_cause(&cause).known);
	free(cause.intervals.items);
	observe(&cause, times, 1);
	assert_false(period_of_cause(&cause).known);
	/* From a file that somebody made up. */
	cause = (struct capture_cause){.c = {.wakeups = 0, .last_ns = 1}};
	*vec_push(&cause.intervals) = (struct capture_interval){UINT32_MAX, UINT32_MAX};
	period_of_cause(&cause);
	free(cause.intervals.items);
}

/* A sum of squares that did not fit is not taken for a spread. */
static void a_spread_that_is_not_known_is_the_histograms(void **state)
{
	uint64_t times[11];
	struct capture_cause cause;
	struct why_period period;

	(void)state;
	for (size_t i = 0; i <= 10; i++)
		times[i] = START + i * 60 * WK_SECOND_NS;
	observe(&cause, times, 11);
	cause.c.interval_square = WK_NEVER;
	period = period_of_cause(&cause);
	assert_true(period.known);
	assert_true(period.period_ns == 60e9);
	assert_true(period.jitter_ns < 0.06 * 60e9);
	free(cause.intervals.items);
}

/* ---- phases ---------------------------------------------------------------------------------- */

static size_t regular(uint64_t *times, size_t n, uint64_t from_ns, uint64_t to_ns,
		      uint64_t period_ns)
{
	for (uint64_t at = from_ns + period_ns; at <= to_ns; at += period_ns)
		times[n++] = START + at;
	return n;
}

static struct why_phase phase_of(const uint64_t *times, size_t n, uint64_t window_ns)
{
	return period_phase(times, n, START, START + window_ns);
}

static void a_timer_that_slows_is_two_phases(void **state)
{
	uint64_t times[200];
	/* As bun's collection timer: 30 times each second, then each 30 s. */
	size_t n = regular(times, 0, 0, 30 * WK_SECOND_NS, WK_SECOND_NS);
	struct why_phase phase;

	(void)state;
	n = regular(times, n, 30 * WK_SECOND_NS, 180 * WK_SECOND_NS, 30 * WK_SECOND_NS);
	phase = phase_of(times, n, 180 * WK_SECOND_NS);
	assert_true(phase.known);
	assert_int_equal(phase.at_ns, 30 * WK_SECOND_NS);
	assert_true(fabs(phase.before_per_s - 1) < 0.01);
	assert_true(fabs(phase.after_per_s - 5 / 150.0) < 0.001);
}

static void a_timer_that_quickens_is_two_phases(void **state)
{
	uint64_t times[200];
	size_t n = regular(times, 0, 0, 2 * WK_SECOND_NS, 200000000);
	struct why_phase phase;

	(void)state;
	n = regular(times, n, 2 * WK_SECOND_NS, 4 * WK_SECOND_NS, 20000000);
	phase = phase_of(times, n, 4 * WK_SECOND_NS);
	assert_true(phase.known);
	assert_true(fabs((double)phase.at_ns - 2e9) < 0.05e9);
	assert_true(fabs(phase.before_per_s - 5) < 0.3);
	assert_true(fabs(phase.after_per_s - 50) < 1);
}

/* What ends or begins in the window has a rate of 0 on one side. */
static void a_timer_that_ends_or_begins_is_two_phases(void **state)
{
	uint64_t times[200];
	size_t n = regular(times, 0, 0, 3 * WK_SECOND_NS, 100000000);
	struct why_phase phase = phase_of(times, n, 60 * WK_SECOND_NS);

	(void)state;
	assert_false(phase.known); /* shorter than a tenth of the window */
	phase = phase_of(times, n, 10 * WK_SECOND_NS);
	assert_true(phase.known);
	assert_int_equal(phase.at_ns, 3 * WK_SECOND_NS);
	assert_true(phase.before_per_s == 10);
	assert_true(phase.after_per_s == 0);
	n = regular(times, 0, 7 * WK_SECOND_NS, 10 * WK_SECOND_NS, 100000000);
	phase = phase_of(times, n, 10 * WK_SECOND_NS);
	assert_true(phase.known);
	assert_int_equal(phase.at_ns, 7100000000);
	assert_true(phase.before_per_s == 0);
	assert_true(phase.after_per_s > 10);
}

static void what_does_not_change_has_no_phases(void **state)
{
	static const double periods_ms[] = {1, 10, 100, 1000, 1900};
	uint64_t *times = calloc(20001, sizeof(*times));
	size_t n;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		n = regular(times, 0, 0, 20 * WK_SECOND_NS, (uint64_t)(periods_ms[i] * MS));
		assert_false(phase_of(times, n, 20 * WK_SECOND_NS).known);
	}
	free(times);
}

static void less_than_twice_the_rate_is_no_phase(void **state)
{
	uint64_t times[2000];
	size_t n = regular(times, 0, 0, 10 * WK_SECOND_NS, 10000000);

	(void)state;
	n = regular(times, n, 10 * WK_SECOND_NS, 20 * WK_SECOND_NS, 19000000);
	assert_false(phase_of(times, n, 20 * WK_SECOND_NS).known);
	n = regular(times, 1000, 10 * WK_SECOND_NS, 20 * WK_SECOND_NS, 21000000);
	assert_true(phase_of(times, n, 20 * WK_SECOND_NS).known);
}

static void nine_wakes_are_too_few_and_an_empty_window_is_none(void **state)
{
	uint64_t times[20];
	size_t n = regular(times, 0, 0, 2 * WK_SECOND_NS, 200000000);

	(void)state;
	assert_int_equal(n, 10);
	assert_true(phase_of(times, 10, 10 * WK_SECOND_NS).known);
	assert_false(phase_of(times, 9, 10 * WK_SECOND_NS).known);
	assert_false(phase_of(times, 10, 0).known);
	assert_false(period_phase(times, 10, START, START - 1).known);
	/* Times outside the window: no crash, whatever comes out. */
	period_phase(times, 10, START + WK_SECOND_NS, START + 2 * WK_SECOND_NS);
}

/* 2,000 series at random, of a constant rate: at most one in a hundred may look like two phases, or
 * have a period. Seen: 7 of 2,000 at the worst rate have a phase, none a period. */
static void chance_seldom_looks_like_a_phase_or_a_period(void **state)
{
	static const double rates_per_s[] = {1, 5, 50};
	uint64_t seed = 88172645463325252, times[2000];

	(void)state;
	for (size_t r = 0; r < 3; r++) {
		size_t phases = 0, periods = 0;

		for (size_t i = 0; i < 2000; i++) {
			size_t n = poisson(&seed, rates_per_s[r], 20, times, 2000);

			phases += phase_of(times, n, 20 * WK_SECOND_NS).known;
			periods += period_of_times(times, n).known;
		}
		print_message("%g/s: %zu of 2000 have a phase, %zu a period\n", rates_per_s[r],
			      phases, periods);
		assert_true(phases <= 20);
		assert_true(periods <= 20);
	}
}

/* And of 2,000 that do change, by a factor of four, nearly all are found. */
static void a_change_by_four_is_found_in_random_wakes(void **state)
{
	uint64_t seed = 362436069, times[2000];
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t n = poisson(&seed, 20, 10, times, 1000);
		size_t more = poisson(&seed, 5, 10, times + n, 1000);
		struct why_phase phase;

		for (size_t j = n; j < n + more; j++)
			times[j] += 10 * WK_SECOND_NS;
		phase = phase_of(times, n + more, 20 * WK_SECOND_NS);
		found += phase.known && phase.at_ns > 7 * WK_SECOND_NS &&
			 phase.at_ns < 13 * WK_SECOND_NS;
	}
	print_message("%zu of 2000 found\n", found);
	assert_true(found >= 1980);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_intervals_are_enough_and_two_are_not),
		cmocka_unit_test(three_quarters_must_lie_around_the_median),
		cmocka_unit_test(fifteen_per_cent_off_the_median_is_near_enough),
		cmocka_unit_test(intervals_may_come_in_any_order),
		cmocka_unit_test(wakes_at_one_moment_have_no_period),
		cmocka_unit_test(a_histogram_and_exact_times_agree),
		cmocka_unit_test(a_histogram_leaves_strays_out),
		cmocka_unit_test(a_histogram_that_lacks_the_short_intervals_claims_nothing),
		cmocka_unit_test(a_spread_that_is_not_known_is_the_histograms),
		cmocka_unit_test(a_timer_that_slows_is_two_phases),
		cmocka_unit_test(a_timer_that_quickens_is_two_phases),
		cmocka_unit_test(a_timer_that_ends_or_begins_is_two_phases),
		cmocka_unit_test(what_does_not_change_has_no_phases),
		cmocka_unit_test(less_than_twice_the_rate_is_no_phase),
		cmocka_unit_test(nine_wakes_are_too_few_and_an_empty_window_is_none),
		cmocka_unit_test(chance_seldom_looks_like_a_phase_or_a_period),
		cmocka_unit_test(a_change_by_four_is_found_in_random_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
