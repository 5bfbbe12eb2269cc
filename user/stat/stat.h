/* Numbers in, numbers out: order statistics and intervals. Knows nothing of the domain. */
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

enum stat_verdict { STAT_HIGHER, STAT_LOWER, STAT_SAME, STAT_UNCLEAR };
const char *stat_verdict_name(enum stat_verdict verdict);

struct stat_ratio {
	double ratio; /* median of other / median of base; NaN where base's is 0 */
	bool has_interval;
	double ci_low, ci_high; /* 95 %, percentile bootstrap of the ratio of medians */
	enum stat_verdict verdict;
};

/* Verdict: higher or lower when the interval excludes 1; same when it lies within 1 ± same_within;
 * unclear otherwise and where either side has fewer than 5 finite values (no interval
 * then). Where base's median is 0 there is no ratio and no interval, yet a verdict: more than zero
 * is higher, zero against zero is same. 2,000 resamples; the same seed gives the same interval. */
struct stat_ratio stat_compare(const double *base, size_t n_base, const double *other,
			       size_t n_other, double same_within, uint64_t seed);

#endif
