/* Periods and phases of one cause, from the times or the intervals of its wakes. */
#ifndef WAKEWHY_MODEL_PERIOD_H
#define WAKEWHY_MODEL_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#include "model/why.h"

/* An interval that came so many times. */
struct period_interval {
	double ns;
	double count;
};

/* A period is known when there are three intervals or more, and three quarters of them lie within
 * 15 % of their median: it is the mean of those. So a period longer than a third of the window is
 * never known. intervals is sorted by this function. */
struct why_period period_of_intervals(struct period_interval *intervals, size_t n);

/* The same from the exact times of the wakes, rising. */
struct why_period period_of_times(const uint64_t *times_ns, size_t n);

/* The same from a histogram, which knows intervals to 6 %, and from the cause's own sums: where all
 * intervals support the period, mean and spread come from the sums and are exact. */
struct why_period period_of_cause(const struct capture_cause *cause);

/* Looks for one lasting change of rate: the split into two constant rates that explains the times
 * best (largest likelihood ratio of Poisson counts). Known when it explains them much better than one
 * rate (log ratio of 8 or more), the rates differ by two or more, and neither part is shorter than
 * a tenth of the window; one of them may be empty, with a rate of 0. Times are rising and lie in
 * start_ns..end_ns. */
struct why_phase period_phase(const uint64_t *times_ns, size_t n, uint64_t start_ns,
			      uint64_t end_ns);

#endif
