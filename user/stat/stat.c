/* Order statistics, and the names of verdicts and methods. */
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stat/internal.h"

int stat_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double stat_quantile(const double *sorted, size_t n, double q)
{
	double position = q * (double)(n - 1);
	size_t low = (size_t)position;

	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (position - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* Sorted copy without what is not finite: no order holds a NaN, and an infinity is no figure. */
static double *stat_sorted(const double *values, size_t n, size_t *ret_n)
{
	double *sorted = mem_calloc(n, sizeof(*sorted));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			sorted[kept++] = values[i];
	qsort(sorted, kept, sizeof(*sorted), stat_order);
	*ret_n = kept;
	return sorted;
}

struct stat_summary stat_summarise(const double *values, size_t n)
{
	struct stat_summary s = {0, NAN, NAN, NAN, NAN, NAN, NAN};
	double *sorted = stat_sorted(values, n, &s.n);

	if (s.n > 0) {
		double mean = 0;

		/* Running mean: no sum that could overflow. */
		for (size_t i = 0; i < s.n; i++)
			mean += (sorted[i] - mean) / (double)(i + 1);
		s.mean = mean;
		s.min = sorted[0];
		s.max = sorted[s.n - 1];
		s.q1 = stat_quantile(sorted, s.n, 0.25);
		s.median = stat_quantile(sorted, s.n, 0.5);
		s.q3 = stat_quantile(sorted, s.n, 0.75);
	}
	free(sorted);
	return s;
}

const char *stat_verdict_name(enum stat_verdict verdict)
{
	static const char *const names[] = {
		[STAT_HIGHER] = "higher",
		[STAT_LOWER] = "lower",
		[STAT_SAME] = "same",
		[STAT_UNCLEAR] = "unclear",
	};

	return (size_t)verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "unclear";
}

const char *stat_method_name(enum stat_method method)
{
	static const char *const names[] = {
		[STAT_BY_NOTHING] = "none",
		[STAT_BY_ROUNDS] = "rounds",
		[STAT_BY_RUNS] = "runs",
		[STAT_BY_FEW] = "few",
		[STAT_BY_SECONDS] = "seconds",
		[STAT_BY_COUNTS] = "counts",
	};

	return (size_t)method < sizeof(names) / sizeof(names[0]) ? names[method] : "none";
}
