/* Numbers in, numbers out: order statistics, intervals of ratios, and the shape of a series. Knows
 * nothing of the domain. docs/method.md says why each rule is what it is, and how often it errs. */
#ifndef WAKEWHY_STAT_STAT_H
#define WAKEWHY_STAT_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat_summary {
	size_t n;
	double median, min, max, q1, q3, mean;
};

/* Quantile of n sorted values by linear interpolation between order statistics (type 7 of Hyndman
 * and Fan, 1996, as R and numpy do by default); q from 0 to 1, n at least 1. */
double stat_quantile(const double *sorted, size_t n, double q);
/* values is not changed. What is not finite in it is left out and not counted in n; where nothing
 * is left, n is 0 and all figures are NaN. */
struct stat_summary stat_summarise(const double *values, size_t n);

/* ---- ratios ---------------------------------------------------------------------------------- */

enum stat_verdict { STAT_HIGHER, STAT_LOWER, STAT_SAME, STAT_UNCLEAR };
const char *stat_verdict_name(enum stat_verdict verdict);

/* What an interval was made from. */
enum stat_method {
	STAT_BY_NOTHING, /* there is none */
	STAT_BY_ROUNDS,	 /* bootstrap, both sides of a round drawn together */
	STAT_BY_RUNS,	 /* bootstrap, each side drawn for itself */
	STAT_BY_FEW,	 /* Student's t of the logarithms: 2 to 4 values on a side */
	STAT_BY_SECONDS, /* bootstrap of blocks of seconds */
	STAT_BY_COUNTS,	 /* exact interval of the ratio of two Poisson rates */
};
const char *stat_method_name(enum stat_method method); /* "rounds", … ; "none" */

struct stat_ratio {
	double ratio; /* median of other / median of base; NaN where base's is 0 */
	bool has_interval;
	double ci_low, ci_high; /* 95 % */
	enum stat_verdict verdict;
	enum stat_method method;
};

/* Verdict: higher or lower when the interval excludes 1; same when it lies within 1 ± same_within;
 * unclear otherwise. With 5 finite values or more on both sides the interval is the percentile
 * bootstrap of the ratio of medians, 2,000 resamples; the same seed gives the same interval. With 2 to 4 on
 * a side it is Student's t of the logarithms, where all values are above 0 and not all of a side
 * alike. With one there is no interval, and the verdict is unclear. Where base's median is 0 there
 * is no ratio and no interval, yet with 5 values a verdict: more than zero is higher, zero against
 * zero is same. */
struct stat_ratio stat_compare(const double *base, size_t n_base, const double *other,
			       size_t n_other, double same_within, uint64_t seed);
/* The same for n rounds, base[i] and other[i] being of one round: rounds are drawn as a whole (t: the
 * quotient of each round), so that what a round did to both does not widen the interval. Rounds
 * where either is not finite are left out. */
struct stat_ratio stat_compare_rounds(const double *base, const double *other, size_t n,
				      double same_within, uint64_t seed);

/* One long window, or several, as amounts in each second, none below 0. ratio: of the means. Blocks of
 * `block` seconds, or of a 500th of the series if that is more, are drawn with replacement (circular
 * block bootstrap, the tails cut further out the fewer blocks there are). That holds where what a block
 * holds does not depend on the one before, and the window is typical of what is asked about. Where a
 * side has fewer than 10 seconds that are not 0, or fewer than 5 blocks, the interval is that of two
 * Poisson counts (conditional on their sum, Clopper and Pearson, 1934) of k = (Σx)² / Σx² bursts each:
 * it holds where bursts come independently of each other, and is too wide where they come evenly. Two
 * sides without any are unclear; no interval has its end at a base of 0, but a verdict may stand. block
 * at least 1. */
struct stat_ratio stat_compare_seconds(const double *base, size_t n_base, const double *other,
				       size_t n_other, size_t block, double same_within,
				       uint64_t seed);
/* One interval that holds two intervals of the same ratio, and the ratio, which is a's; where one of them
 * has none, that of the other. */
struct stat_ratio stat_ratio_join(const struct stat_ratio *a, const struct stat_ratio *b,
				  double same_within);

/* How many values each side needs for a true difference of `difference` (0.02: 2 %) to be told in four of
 * five experiments, by the width that the interval had with n_base and n_other values: widths fall with the
 * square root of n. 0: not known, for there is no interval. No more than 1,000,000,000. */
size_t stat_runs_needed(const struct stat_ratio *ratio, size_t n_base, size_t n_other,
			double difference);

/* ---- the shape of a series ------------------------------------------------------------------- */

/* All take finite values and leave them as they are. Series of more than 2,000 values are thinned to
 * every k-th for the trend and the modes. */

/* Values beyond Tukey's far fences: more than 3 (q3 - q1) below q1 or above q3. Writes up to n places to
 * ret_places, rising, and returns how many. None with fewer than 8 values. */
size_t stat_outliers(const double *values, size_t n, size_t *ret_places);

struct stat_trend {
	bool known;    /* p below 0.01, and the change is greater than the spread */
	double change; /* from the first value to the last, by Theil and Sen's slope */
	double spread; /* q3 - q1 of what is left when the slope is taken off */
	double p;      /* of Mann and Kendall's test, two-sided, with its corrections for ties */
};
/* Needs 8 values. */
struct stat_trend stat_trend(const double *values, size_t n);

struct stat_modes {
	bool known;		/* the values fall into two groups */
	size_t n_low, n_high;	/* of the values: how many are in each */
	double low, high;	/* their medians */
	double dip;		/* Hartigan and Hartigan's (1985) statistic */
	double limit;		/* that one in 100 samples of a uniform distribution exceeds */
};
/* Known where the dip exceeds its limit, and the two groups that leave the least squares within them
 * have a fifth of the values each and a gap between them that is wider than q3 - q1 of either. Needs
 * 10 values. */
struct stat_modes stat_modes(const double *values, size_t n);

#endif
