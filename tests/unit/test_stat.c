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

static void verdicts_have_names(void **state)
{
	(void)state;
	assert_string_equal(stat_verdict_name(STAT_HIGHER), "higher");
	assert_string_equal(stat_verdict_name(STAT_LOWER), "lower");
	assert_string_equal(stat_verdict_name(STAT_SAME), "same");
	assert_string_equal(stat_verdict_name(STAT_UNCLEAR), "unclear");
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
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
