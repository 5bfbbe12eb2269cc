/* Order statistics and intervals against figures of other packages. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "stat/stat.h"

static const double ten[] = {12.1, 3.4, 7.7, 9.25, 0.5, 18.0, 7.7, 2.0, 30.5, 11.0};

static void assert_near(double value, double expected)
{
	assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

/* relative or, near 0, absolute */
static void assert_close(double value, double expected, double within)
{
	assert_true(fabs(value - expected) <= within * fmax(1, fabs(expected)));
}

/* Python 3.11: statistics.quantiles(ten, n=4 and n=10, method='inclusive'), median, fmean. */
static void summary_agrees_with_python(void **state)
{
	struct stat_summary s = stat_summarise(ten, 10);
	double sorted[] = {0.5, 2.0, 3.4, 7.7, 7.7, 9.25, 11.0, 12.1, 18.0, 30.5};
	static const double deciles[] = {1.85, 3.12, 6.41, 7.7, 8.475, 9.95, 11.33, 13.28, 19.25};

	(void)state;
	assert_int_equal(s.n, 10);
	assert_near(s.median, 8.475);
	assert_near(s.q1, 4.475);
	assert_near(s.q3, 11.825);
	assert_near(s.mean, 10.215);
	assert_near(s.min, 0.5);
	assert_near(s.max, 30.5);
	assert_near(ten[0], 12.1); /* not changed */
	for (int i = 0; i < 9; i++)
		assert_near(stat_quantile(sorted, 10, (i + 1) / 10.0), deciles[i]);
	assert_near(stat_quantile(sorted, 10, 0), 0.5);
	assert_near(stat_quantile(sorted, 10, 1), 30.5);
	s = stat_summarise((double[]){4, 1, 3}, 3);
	assert_near(s.q1, 2);
	assert_near(s.median, 3);
	assert_near(s.q3, 3.5);
}

static void summary_of_none_and_one(void **state)
{
	struct stat_summary s = stat_summarise(NULL, 0);

	(void)state;
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.median) && isnan(s.min) && isnan(s.max) && isnan(s.mean));
	assert_true(isnan(s.q1) && isnan(s.q3));
	s = stat_summarise((double[]){7}, 1);
	assert_int_equal(s.n, 1);
	assert_true(s.median == 7 && s.min == 7 && s.max == 7 && s.q1 == 7 && s.q3 == 7 &&
		    s.mean == 7);
	s = stat_summarise((double[]){NAN, 2, INFINITY, 4}, 4);
	assert_int_equal(s.n, 2);
	assert_near(s.median, 3);
	s = stat_summarise((double[]){NAN}, 1);
	assert_int_equal(s.n, 0);
	s = stat_summarise((double[]){1.7e308, 1.7e308}, 2);
	assert_near(s.mean, 1.7e308);
}

/* The exact distribution of the ratio of resampled medians, from the binomial law of the rank of a
 * resampled median (Python, fractions): P(ratio <= 1.5333) = 0.0232, <= 1.6 0.0466, <= 2.5 0.9600,
 * <= 2.5455 0.9834, <= 2.6 0.9859. So 95 % lie between 1.6 and 2.5455; with 2,000 draws a bound may
 * fall one step aside. */
static void interval_agrees_with_exact_distribution(void **state)
{
	static const double base[] = {14, 10, 21, 10.5, 11, 12, 15};
	static const double other[] = {25, 20, 29, 23, 24, 26, 28};

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct stat_ratio r = stat_compare(base, 7, other, 7, 0.02, seed);

		assert_near(r.ratio, 25.0 / 12);
		assert_true(r.has_interval);
		assert_true(r.ci_low > 1.53 && r.ci_low < 1.601);
		assert_true(r.ci_high > 2.499 && r.ci_high < 2.64);
		assert_int_equal(r.verdict, STAT_HIGHER);
		r = stat_compare(other, 7, base, 7, 0.02, seed);
		assert_true(r.ci_low > 1 / 2.64 && r.ci_high < 1 / 1.53);
		assert_int_equal(r.verdict, STAT_LOWER);
	}
}

static void the_same_seed_gives_the_same_interval(void **state)
{
	struct stat_ratio a = stat_compare(ten, 10, ten, 9, 0.02, 42), b;

	(void)state;
	b = stat_compare(ten, 10, ten, 9, 0.02, 42);
	assert_memory_equal(&a.ci_low, &b.ci_low, sizeof(a.ci_low));
	assert_memory_equal(&a.ci_high, &b.ci_high, sizeof(a.ci_high));
	assert_true(a.ci_low < 1 && a.ci_high > 1);
	assert_int_equal(a.verdict, STAT_UNCLEAR);
}

static void equal_sides_are_the_same(void **state)
{
	static const double close_a[] = {100, 100.1, 99.9, 100.2, 99.8, 100};
	static const double close_b[] = {100.1, 100, 99.95, 100.1, 99.9, 100};
	static const double five[] = {5, 5, 5, 5, 5};
	struct stat_ratio r = stat_compare(close_a, 6, close_b, 6, 0.02, 1);

	(void)state;
	assert_int_equal(r.verdict, STAT_SAME);
	r = stat_compare(close_a, 6, close_b, 6, 0.00001, 1);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_compare(five, 5, five, 5, 0, 1);
	assert_true(r.ratio == 1 && r.ci_low == 1 && r.ci_high == 1);
	assert_int_equal(r.verdict, STAT_SAME);
}

static void one_value_is_unclear(void **state)
{
	struct stat_ratio r = stat_compare(ten, 1, ten, 10, 0.02, 1);

	(void)state;
	assert_false(r.has_interval);
	assert_int_equal(r.method, STAT_BY_NOTHING);
	assert_true(isnan(r.ci_low) && isnan(r.ci_high));
	assert_false(isnan(r.ratio));
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_compare(ten, 0, ten, 10, 0.02, 1);
	assert_true(isnan(r.ratio));
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_compare(NULL, 0, NULL, 0, 0.02, 1);
	assert_true(isnan(r.ratio));
	/* Values that are all alike do not tell how they would differ. */
	r = stat_compare((double[]){1, 1, 1, 1, NAN}, 5, (double[]){2, 2}, 2, 0.02, 1);
	assert_true(r.ratio == 2);
	assert_false(r.has_interval);
	/* Nothing has a logarithm at 0 and below. */
	r = stat_compare((double[]){0, 1}, 2, (double[]){1, 2}, 2, 0.02, 1);
	assert_false(r.has_interval);
}

static void a_base_of_zero_has_no_ratio(void **state)
{
	static const double zero[] = {0, 0, 0, 0, 0, 0};
	struct stat_ratio r = stat_compare(zero, 6, ten, 10, 0.02, 1);

	(void)state;
	assert_true(isnan(r.ratio));
	assert_false(r.has_interval);
	assert_int_equal(r.verdict, STAT_HIGHER);
	r = stat_compare(zero, 6, zero, 6, 0.02, 1);
	assert_true(isnan(r.ratio));
	assert_false(r.has_interval);
	assert_int_equal(r.verdict, STAT_SAME);
	r = stat_compare(ten, 10, zero, 6, 0.02, 1);
	assert_true(r.ratio == 0);
	assert_int_equal(r.verdict, STAT_LOWER);
	/* Base's median is not 0, but that of some resamples is: the interval has no upper end. */
	r = stat_compare((double[]){0, 0, 1, 1, 1}, 5, (double[]){1, 1, 1, 1, 1}, 5, 0.02, 1);
	assert_true(r.ratio == 1);
	assert_false(r.has_interval);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* All 5⁵ resamples of whole rounds (Python, itertools): P(ratio <= 1.1635) = 0.0579, <= 1.1731 0.2595,
 * … <= 1.2273 0.9421, <= 1.2615 1. So the 2.5 % at either end are the lowest and the highest. */
static void rounds_agree_with_all_resamples(void **state)
{
	static const double base[] = {10, 10.4, 11, 11.7, 13};
	static const double other[] = {12.2, 12.1, 13.5, 13.9, 16.4};
	double apart[10];

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct stat_ratio r = stat_compare_rounds(base, other, 5, 0.02, seed);

		assert_int_equal(r.method, STAT_BY_ROUNDS);
		assert_near(r.ratio, 13.5 / 11);
		assert_near(r.ci_low, 12.1 / 10.4);
		assert_near(r.ci_high, 16.4 / 13);
	}
	/* What a round does to both does not widen the interval; drawn apart it does. */
	for (size_t i = 0; i < 10; i++)
		apart[i] = 2 * ten[i];
	assert_true(stat_compare_rounds(ten, apart, 10, 0.02, 1).ci_low == 2);
	assert_true(stat_compare_rounds(ten, apart, 10, 0.02, 1).ci_high == 2);
	assert_true(stat_compare(ten, 10, apart, 10, 0.02, 1).ci_low < 1.5);
	/* A round that lacks one side is left out. */
	apart[3] = NAN;
	assert_true(stat_compare_rounds(ten, apart, 10, 0.02, 1).ci_high == 2);
}

/* ---- few values ------------------------------------------------------------------------------ */

/* The article's idle ratios, one a round, by scipy 1.10: exp(mean ± t.ppf(0.975, 2) · sd / √3) of
 * their logarithms is 5.6611 to 19.1571. */
static void three_ratios_that_dance_get_an_honest_interval(void **state)
{
	static const double base[] = {1, 1, 1}, other[] = {8.8, 9.3, 13.8};
	struct stat_ratio r = stat_compare_rounds(base, other, 3, 0.02, 1);

	(void)state;
	assert_int_equal(r.method, STAT_BY_FEW);
	assert_near(r.ratio, 9.3);
	assert_close(r.ci_low, 5.661100976680521, 1e-9);
	assert_close(r.ci_high, 19.157061934192377, 1e-9);
	assert_int_equal(r.verdict, STAT_HIGHER);
}

/* Welch's t of the logarithms: 4.400173 degrees of freedom (scipy 1.10). */
static void few_values_agree_with_welch(void **state)
{
	static const double base[] = {10.1, 10.9, 10.4}, other[] = {11.8, 12.5, 12.9, 12.2};
	struct stat_ratio r = stat_compare(base, 3, other, 4, 0.02, 1);

	(void)state;
	assert_close(r.ci_low, 1.0912933619169367, 1e-9);
	assert_close(r.ci_high, 1.2756801362379158, 1e-9);
	assert_int_equal(r.verdict, STAT_HIGHER);
}

/* ---- seconds of one window ------------------------------------------------------------------- */

/* scipy 1.10, beta.ppf: Clopper and Pearson's interval of one count given the sum of both, as odds; for
 * bursts k = (Σx)² / Σx², times their sizes and windows. */
static void small_counts_agree_with_scipy(void **state)
{
	static const double three[20] = {[2] = 1, [9] = 1, [17] = 1};
	static const double x[] = {1, 0, 0, 2, 0, 3, 0, 0, 0, 0};
	static const double y[] = {0, 4, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0};
	static const double zero[20];
	double nine[20] = {0};
	struct stat_ratio r;

	(void)state;
	for (size_t i = 0; i < 9; i++)
		nine[2 * i] = 1;
	r = stat_compare_seconds(three, 20, nine, 20, 1, 0.02, 1);
	assert_int_equal(r.method, STAT_BY_COUNTS);
	assert_near(r.ratio, 3);
	assert_close(r.ci_low, 0.7486844501970641, 1e-9);
	assert_close(r.ci_high, 17.22800312689997, 1e-9);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_compare_seconds(x, 10, y, 12, 1, 0.02, 1);
	assert_close(r.ci_low, 0.12892268945485305, 1e-9);
	assert_close(r.ci_high, 11.706459587456791, 1e-9);
	/* Nothing against nine: no end above, and yet the lower end (0.025^(1/9) as odds: 1.97) tells. */
	r = stat_compare_seconds(zero, 20, nine, 20, 1, 0.02, 1);
	assert_true(isnan(r.ratio) && !r.has_interval);
	assert_int_equal(r.verdict, STAT_HIGHER);
	r = stat_compare_seconds(nine, 20, zero, 20, 1, 0.02, 1);
	assert_true(r.ratio == 0 && r.ci_low == 0);
	assert_close(r.ci_high, pow(0.025, -1 / 9.0) - 1, 1e-9);
	assert_int_equal(r.verdict, STAT_LOWER);
	/* One wake against none says nothing, nor does none against none. */
	r = stat_compare_seconds(zero, 20, &nine[18], 2, 1, 0.02, 1);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_compare_seconds(zero, 20, zero, 20, 1, 0.02, 1);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	assert_int_equal(stat_compare_seconds(NULL, 0, nine, 20, 1, 0.02, 1).verdict, STAT_UNCLEAR);
}

/* Of 400,000 resamples by numpy: with blocks of 4 s the tails of 0.855 % (Student's t with 9 degrees of
 * freedom, times √(10/9)) end at 0.3067 and 0.6328, with those of 5 s (0.574 %) at 0.3088 and 0.6154. A
 * bound of 2,000 resamples is that of a tail between 0.6 and 1.5 times as large. */
static void blocks_agree_with_numpy(void **state)
{
	static const double b[] = {3, 3, 4, 3, 9, 3, 3, 3, 2, 3};
	static const double o[] = {1, 1, 0, 1, 5, 1, 2, 1, 1, 6, 1, 0, 1, 1, 1, 1, 1, 7, 0, 1};
	double base[40], other[40];

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		base[i] = b[i % 10];
		other[i] = o[i % 20];
	}
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct stat_ratio r = stat_compare_seconds(base, 40, other, 40, 4, 0.02, seed);

		assert_int_equal(r.method, STAT_BY_SECONDS);
		assert_near(r.ratio, 33 / 20.0 / 3.6);
		assert_true(r.ci_low > 0.29 && r.ci_low < 0.32);
		assert_true(r.ci_high > 0.615 && r.ci_high < 0.655);
		r = stat_compare_seconds(base, 40, other, 40, 5, 0.02, seed);
		assert_true(r.ci_low > 0.29 && r.ci_low < 0.32);
		assert_true(r.ci_high > 0.60 && r.ci_high < 0.64);
	}
	/* Blocks as long as the period always hold the same. */
	assert_true(stat_compare_seconds(base, 40, base, 40, 10, 0.02, 1).method == STAT_BY_COUNTS);
	for (size_t i = 0; i < 40; i++)
		other[i] = i % 4 ? 0 : 8;
	assert_true(stat_compare_seconds(other, 40, other, 40, 4, 0.02, 1).ci_low == 1);
	assert_true(stat_compare_seconds(other, 40, other, 40, 1, 0.02, 1).ci_low < 0.5);
}

/* ---- how often it errs ------------------------------------------------------------------------- */

/* Numbers of a test's own, so that it does not depend on those of the bootstrap. */
static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 12) + 0.5) / 4503599627370496.0;
}

/* A start-up of about 10 ms as machines give them: skewed to the right, one in twenty with a spike of
 * 10 to 60 %, on a machine that gets 6 % slower over the experiment. */
static double startup(uint64_t *state, size_t run, size_t runs)
{
	double ms = 10 * (1 - 0.02 * log(uniform(state)));

	if (uniform(state) < 0.05)
		ms *= 1.1 + 0.5 * uniform(state);
	return ms * (1 + 0.06 * (double)run / (double)runs);
}

struct tally {
	int n, false_verdicts, worst_of_20, found;
};

static struct tally tally_of(int experiments, size_t runs, double factor)
{
	struct tally tally = {experiments, 0, 0, 0};
	uint64_t state = 20261130;
	int of_20 = 0;

	for (int e = 0; e < experiments; e++) {
		double base[60], other[60];
		struct stat_ratio r;

		for (size_t i = 0; i < runs; i++) {
			base[i] = startup(&state, i, runs);
			other[i] = startup(&state, i, runs) * factor;
		}
		r = stat_compare_rounds(base, other, runs, 0.02, (uint64_t)e);
		if (e % 20 == 0)
			of_20 = 0;
		of_20 += r.verdict == STAT_HIGHER || r.verdict == STAT_LOWER;
		tally.false_verdicts += r.ci_low > factor || r.ci_high < factor;
		tally.worst_of_20 = of_20 > tally.worst_of_20 ? of_20 : tally.worst_of_20;
		tally.found += r.verdict == STAT_HIGHER;
	}
	return tally;
}

/* A against A: the interval leaves the truth out in one of twenty experiments at most. With 500 of
 * them, three standard errors above 5 % are 7.9 %; docs/method.md has figures from more. */
static void a_against_a_ties(void **state)
{
	static const size_t runs[] = {10, 20, 60};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tally tally = tally_of(500, runs[i], 1);

		assert_true(tally.false_verdicts <= 30);
	}
	assert_true(tally_of(20, 20, 1).worst_of_20 <= 2);
	/* And what differs is found: 3 % by 20 runs of this noise in most experiments. */
	assert_true(tally_of(200, 20, 1.03).found >= 160);
}

/* Width falls with √n: an interval of ±2 % in logarithms, from 20 runs of each, must shrink by
 * 1.96 / 2.802 for 2 %: 20 · (2.802 / 1.96)² = 40.9. */
static void runs_needed_follow_the_width(void **state)
{
	struct stat_ratio r = {1, true, 1 / 1.02, 1.02, STAT_UNCLEAR, STAT_BY_ROUNDS};

	(void)state;
	assert_int_equal(stat_runs_needed(&r, 20, 20, 0.02), 41);
	assert_int_equal(stat_runs_needed(&r, 80, 80, 0.02), 164);
	/* One side of 10 and one of 30 are as good as 15 of each. */
	assert_int_equal(stat_runs_needed(&r, 10, 30, 0.02), 31);
	r.has_interval = false;
	assert_int_equal(stat_runs_needed(&r, 20, 20, 0.02), 0);
	r.has_interval = true;
	assert_int_equal(stat_runs_needed(&r, 20, 20, 0), 0);
	r.ci_high = 1e300;
	assert_int_equal(stat_runs_needed(&r, 20, 20, 1e-9), 1000000000);
}

/* ---- joined ------------------------------------------------------------------------------------ */

static void joined_intervals_hold_both(void **state)
{
	struct stat_ratio none = {4, false, NAN, NAN, STAT_UNCLEAR, STAT_BY_NOTHING};
	struct stat_ratio few = {4, true, 3.9, 4.1, STAT_HIGHER, STAT_BY_FEW};
	struct stat_ratio counts = {4.4, true, 0.8, 4.0, STAT_UNCLEAR, STAT_BY_COUNTS};
	struct stat_ratio r = stat_ratio_join(&few, &counts, 0.02);

	(void)state;
	assert_true(r.ratio == 4 && r.ci_low == 0.8 && r.ci_high == 4.1);
	assert_int_equal(r.method, STAT_BY_COUNTS);
	assert_int_equal(r.verdict, STAT_UNCLEAR);
	r = stat_ratio_join(&none, &counts, 0.02);
	assert_true(r.ratio == 4 && r.ci_low == 0.8 && r.ci_high == 4);
	r = stat_ratio_join(&few, &none, 0.02);
	assert_true(r.ci_low == 3.9 && r.method == STAT_BY_FEW);
	none.ratio = NAN;
	r = stat_ratio_join(&none, &few, 0.02);
	assert_true(isnan(r.ratio) && !r.has_interval);
}

/* ---- shape --------------------------------------------------------------------------------------- */

static void far_values_are_named(void **state)
{
	/* numpy: quartiles 10.125 and 10.675, so the fences are 8.475 and 12.325. */
	static const double values[] = {10.0, 10.3, 12.33, 10.1, 10.6, 10.2, 10.7, 8.47, 10.4, 12.32};
	size_t places[10];

	(void)state;
	assert_int_equal(stat_outliers(values, 10, places), 2);
	assert_int_equal(places[0], 2);
	assert_int_equal(places[1], 7);
	assert_int_equal(stat_outliers(values, 7, places), 0);
	assert_int_equal(stat_outliers(NULL, 0, places), 0);
}

/* scipy 1.10, theilslopes: 11 steps of the slope are 1.1, quartiles of the rest are 0.325 apart; R 4.2,
 * cor.test by Kendall's method with continuity correction: p = 0.00193274023182834. */
static void trends_agree_with_scipy_and_r(void **state)
{
	static const double values[] = {10.0, 10.3, 10.1, 10.6, 10.2, 10.7,
					11.0, 10.6, 10.9, 11.3, 11.1, 11.0};
	double shuffled[12], long_one[4001];
	struct stat_trend t = stat_trend(values, 12);

	(void)state;
	assert_true(t.known);
	assert_close(t.change, 1.1, 1e-9);
	assert_close(t.spread, 0.325, 1e-9);
	assert_close(t.p, 0.00193274023182834, 1e-9);
	for (size_t i = 0; i < 12; i++)
		shuffled[i] = values[i * 5 % 12];
	assert_false(stat_trend(shuffled, 12).known);
	assert_false(stat_trend(values, 7).known);
	assert_false(stat_trend((double[12]){0}, 12).known);
	for (size_t i = 0; i < 4001; i++)
		long_one[i] = (double)i;
	assert_close(stat_trend(long_one, 4001).change, 4000, 1e-9);
}

/* Dips by R 4.2, package diptest 0.76; the first are its own example, qualities of 63 faculties. */
static void dips_agree_with_r(void **state)
{
	static const double faculty[] = {
		30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44,
		44, 45, 45, 46, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53,
		54, 54, 57, 57, 59, 60, 60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72};
	static const double two[] = {1, 2, 3, 4, 10, 11, 12, 13, 14, 30};
	static const double ties[] = {1, 1, 1, 2, 2, 9, 9, 9, 10, 10};
	struct stat_modes m;

	(void)state;
	assert_close(stat_modes(faculty, 63).dip, 0.0595238095238095, 1e-12);
	assert_close(stat_modes(two, 10).dip, 0.133333333333333, 1e-12);
	assert_close(stat_modes(ten, 10).dip, 0.0895833333333333, 1e-12);
	m = stat_modes(ties, 10);
	assert_close(m.dip, 0.21875, 1e-12);
	/* R's table: 1 in 100 uniform samples of 10 exceeds 0.15968, of 100 0.05902. */
	assert_close(m.limit, 0.159684159, 1e-3);
	assert_close(stat_modes(faculty, 63).limit, 0.0731, 1e-3);
	assert_true(m.known && m.n_low == 5 && m.n_high == 5 && m.low == 1 && m.high == 9);
}

static void two_groups_need_distance_and_size(void **state)
{
	double values[40], wide[400];
	uint64_t random = 5;

	(void)state;
	/* 7 of 40 are no fifth of them, 8 are. */
	for (size_t i = 0; i < 40; i++)
		values[i] = 10 + 0.01 * (double)(i * 7 % 40) + (i < 8 ? 5 : 0);
	assert_true(stat_modes(values, 40).known);
	assert_int_equal(stat_modes(values, 40).n_high, 8);
	values[7] -= 5;
	assert_false(stat_modes(values, 40).known);
	/* A dip alone is no gap: 200 values over one unit, 0.4 of nothing, 200 over the next unit. */
	for (size_t i = 0; i < 400; i++)
		wide[i] = (double)i / 200 + (i < 200 ? 0 : 0.4);
	assert_true(stat_modes(wide, 400).dip > stat_modes(wide, 400).limit);
	assert_false(stat_modes(wide, 400).known);
	for (size_t i = 200; i < 400; i++)
		wide[i] += 0.2;
	assert_true(stat_modes(wide, 400).known);
	/* Skewed start-ups with their spikes are one group. */
	for (size_t i = 0; i < 40; i++)
		values[i] = startup(&random, 0, 1);
	assert_false(stat_modes(values, 40).known);
	assert_false(stat_modes((double[40]){0}, 40).known);
	assert_false(stat_modes(values, 9).known);
}

static void verdicts_have_names(void **state)
{
	(void)state;
	assert_string_equal(stat_verdict_name(STAT_HIGHER), "higher");
	assert_string_equal(stat_verdict_name(STAT_LOWER), "lower");
	assert_string_equal(stat_verdict_name(STAT_SAME), "same");
	assert_string_equal(stat_verdict_name(STAT_UNCLEAR), "unclear");
	assert_string_equal(stat_method_name(STAT_BY_NOTHING), "none");
	assert_string_equal(stat_method_name(STAT_BY_COUNTS), "counts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_agrees_with_python),
		cmocka_unit_test(summary_of_none_and_one),
		cmocka_unit_test(interval_agrees_with_exact_distribution),
		cmocka_unit_test(the_same_seed_gives_the_same_interval),
		cmocka_unit_test(equal_sides_are_the_same),
		cmocka_unit_test(one_value_is_unclear),
		cmocka_unit_test(a_base_of_zero_has_no_ratio),
		cmocka_unit_test(rounds_agree_with_all_resamples),
		cmocka_unit_test(three_ratios_that_dance_get_an_honest_interval),
		cmocka_unit_test(few_values_agree_with_welch),
		cmocka_unit_test(small_counts_agree_with_scipy),
		cmocka_unit_test(blocks_agree_with_numpy),
		cmocka_unit_test(a_against_a_ties),
		cmocka_unit_test(runs_needed_follow_the_width),
		cmocka_unit_test(joined_intervals_hold_both),
		cmocka_unit_test(far_values_are_named),
		cmocka_unit_test(trends_agree_with_scipy_and_r),
		cmocka_unit_test(dips_agree_with_r),
		cmocka_unit_test(two_groups_need_distance_and_size),
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
