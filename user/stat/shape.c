/* What a series looks like: values far out, a trend, two groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/internal.h"

enum {
	MIN_OUTLIERS = 8,
	MIN_TREND = 8,
	MIN_MODES = 10,
	MAX_VALUES = 2000, /* pairs of values are looked at */
};

#define FAR_FENCE 3
#define TREND_P 0.01
#define MODES_SHARE 0.2

size_t stat_outliers(const double *values, size_t n, size_t *ret_places)
{
	struct stat_summary s = stat_summarise(values, n);
	double reach = FAR_FENCE * (s.q3 - s.q1);
	size_t found = 0;

	for (size_t i = 0; i < n && n >= MIN_OUTLIERS; i++)
		if (values[i] < s.q1 - reach || values[i] > s.q3 + reach)
			ret_places[found++] = i;
	return found;
}

/* Of how many values one is looked at. */
static size_t shape_step(size_t n)
{
	return n ? (n + MAX_VALUES - 1) / MAX_VALUES : 1;
}

/* Every k-th value, so that few enough are left. The caller frees. */
static double *shape_thin(const double *values, size_t *n)
{
	size_t step = shape_step(*n), kept = 0;
	double *thin = mem_calloc(*n / step + 1, sizeof(*thin));

	for (size_t i = 0; i < *n; i += step)
		thin[kept++] = values[i];
	*n = kept;
	return thin;
}

/* ---- trend ----------------------------------------------------------------------------------- */

/* Sum over groups of t equal values of t (t - 1) (2t + 5). */
static double trend_ties(const double *values, size_t n)
{
	double *sorted = mem_calloc(n, sizeof(*sorted)), sum = 0;

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), stat_order);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && sorted[end] == sorted[i]; end++)
			;
		t = (double)(end - i);
		sum += t * (t - 1) * (2 * t + 5);
	}
	free(sorted);
	return sum;
}

/* Mann and Kendall's test with continuity correction, normal approximation. */
static double trend_p(const double *values, size_t n)
{
	double s = 0, m = (double)n;
	double variance = (m * (m - 1) * (2 * m + 5) - trend_ties(values, n)) / 18;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			s += (values[j] > values[i]) - (values[j] < values[i]);
	if (!(variance > 0) || s == 0)
		return 1;
	return 2 * stat_normal(-(fabs(s) - 1) / sqrt(variance));
}

/* Median of the slopes of all pairs (Theil and Sen). */
static double trend_slope(const double *values, size_t n)
{
	double *slopes = mem_calloc(n * (n - 1) / 2, sizeof(*slopes)), slope;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[m++] = (values[j] - values[i]) / (double)(j - i);
	qsort(slopes, m, sizeof(*slopes), stat_order);
	slope = stat_quantile(slopes, m, 0.5);
	free(slopes);
	return slope;
}

struct stat_trend stat_trend(const double *values, size_t n)
{
	struct stat_trend trend = {false, 0, 0, 1};
	size_t all = n;
	double *thin, slope;
	struct stat_summary rest;

	if (n < MIN_TREND)
		return trend;
	thin = shape_thin(values, &n);
	trend.p = trend_p(thin, n);
	slope = trend_slope(thin, n);
	trend.change = slope * (double)(all - 1) / (double)shape_step(all);
	for (size_t i = 0; i < n; i++)
		thin[i] -= slope * (double)i;
	rest = stat_summarise(thin, n);
	trend.spread = rest.q3 - rest.q1;
	trend.known = trend.p < TREND_P && fabs(trend.change) > trend.spread;
	free(thin);
	return trend;
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* Distinct values, with the empirical distribution before and at each, as shares of 1. */
struct steps {
	size_t n;
	double *x, *before, *at;
	double *below, *above; /* greatest convex minorant and least concave majorant */
};

static void steps_init(struct steps *steps, const double *sorted, size_t n)
{
	double *all = mem_calloc(5 * n, sizeof(*all));

	*steps = (struct steps){0, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
	for (size_t i = 0; i < n; i++) {
		if (!steps->n || sorted[i] != steps->x[steps->n - 1]) {
			steps->x[steps->n] = sorted[i];
			steps->before[steps->n++] = (double)i / (double)n;
		}
		steps->at[steps->n - 1] = (double)(i + 1) / (double)n;
	}
}

/* Hull of the points (x, y) from low to high, below them (sign 1) or above (sign -1), as values at each
 * x; corner[i] says where it bends. */
static void steps_hull(const struct steps *steps, const double *y, size_t low, size_t high,
		       double sign, double *hull, bool *corner)
{
	const double *x = steps->x;
	size_t at = low;

	memset(corner + low, 0, (high - low + 1) * sizeof(*corner));
	corner[low] = true;
	hull[low] = y[low];
	while (at < high) {
		size_t next = at + 1;
		double steepest = (y[next] - y[at]) / (x[next] - x[at]);

		for (size_t i = at + 2; i <= high; i++) {
			double slope = (y[i] - y[at]) / (x[i] - x[at]);

			if (sign * slope <= sign * steepest) {
				steepest = slope;
				next = i;
			}
		}
		for (size_t i = at + 1; i <= next; i++)
			hull[i] = y[at] + steepest * (x[i] - x[at]);
		corner[next] = true;
		at = next;
	}
}

/* The corner of the hulls where they are furthest apart, and the corners of the other hull beside
 * it: the interval that the mode must lie in. Returns the distance. */
static double steps_narrow(const struct steps *steps, const bool *below, const bool *above,
			   size_t low, size_t high, size_t *ret_low, size_t *ret_high)
{
	double most = -1;
	size_t widest = low, left, right;

	for (size_t i = low; i <= high; i++) {
		double apart = steps->above[i] - steps->below[i];

		if ((below[i] || above[i]) && apart > most) {
			most = apart;
			widest = i;
		}
	}
	/* Of the convex hull the part left of the mode is kept, of the concave one the part right of it. */
	left = right = widest;
	if (below[widest])
		while (right < high && !above[right])
			right++;
	else
		while (left > low && !below[left])
			left--;
	*ret_low = left;
	*ret_high = right;
	return most;
}

/* Twice the dip: Hartigan and Hartigan (1985), section 3, with ties as steps of their height. */
static double steps_dip(struct steps *steps, size_t n)
{
	bool *below = mem_calloc(steps->n, sizeof(*below));
	bool *above = mem_calloc(steps->n, sizeof(*above));
	size_t low = 0, high = steps->n - 1, new_low, new_high;
	double dip = 1 / (double)n; /* no sample's is less */

	while (low < high) {
		double apart;

		steps_hull(steps, steps->before, low, high, 1, steps->below, below);
		steps_hull(steps, steps->at, low, high, -1, steps->above, above);
		apart = steps_narrow(steps, below, above, low, high, &new_low, &new_high);
		if (apart <= dip)
			break;
		/* The step at the mode itself costs nothing: a unimodal distribution may have it. */
		for (size_t i = low; i < new_low; i++)
			dip = fmax(dip, steps->at[i] - steps->below[i]);
		for (size_t i = new_high + 1; i <= high; i++)
			dip = fmax(dip, steps->above[i] - steps->before[i]);
		low = new_low;
		high = new_high;
	}
	free(below);
	free(above);
	return dip;
}

/* Fitted to 100,000 samples each of 10 to 2,000 values, within 1 % of their quantiles. */
double stat_dip_limit(size_t n)
{
	double root = sqrt((double)n);

	return (0.634 - 0.41 / root) / root;
}

/* The split of sorted values into two groups that leaves the least squares within them; returns
 * how many are in the lower one. */
static size_t modes_split(const double *sorted, size_t n)
{
	double sum = 0, total = 0, best = -1;
	size_t split = 1;

	for (size_t i = 0; i < n; i++)
		total += sorted[i] - sorted[0];
	for (size_t i = 1; i < n; i++) {
		double between;

		sum += sorted[i - 1] - sorted[0];
		between = pow(sum / (double)i - (total - sum) / (double)(n - i), 2) * (double)i *
			  (double)(n - i);
		if (between > best) {
			best = between;
			split = i;
		}
	}
	return split;
}

static double modes_spread(const double *sorted, size_t n)
{
	return stat_quantile(sorted, n, 0.75) - stat_quantile(sorted, n, 0.25);
}

struct stat_modes stat_modes(const double *values, size_t n)
{
	struct stat_modes modes = {0};
	size_t split, high, all = n;
	struct steps steps;
	double *sorted, gap;

	if (n < MIN_MODES)
		return modes;
	sorted = shape_thin(values, &n);
	qsort(sorted, n, sizeof(*sorted), stat_order);
	steps_init(&steps, sorted, n);
	modes.dip = steps_dip(&steps, n) / 2;
	modes.limit = stat_dip_limit(n);
	free(steps.x);
	split = modes_split(sorted, n);
	high = n - split;
	gap = sorted[split] - sorted[split - 1];
	for (size_t i = 0; i < all; i++) /* also of those that were thinned out */
		modes.n_low += values[i] < sorted[split - 1] + gap / 2;
	modes.n_high = all - modes.n_low;
	modes.low = stat_quantile(sorted, split, 0.5);
	modes.high = stat_quantile(sorted + split, high, 0.5);
	modes.known = modes.dip > modes.limit && (double)split >= MODES_SHARE * (double)n &&
		      (double)high >= MODES_SHARE * (double)n &&
		      gap > modes_spread(sorted, split) &&
		      gap > modes_spread(sorted + split, high);
	free(sorted);
	return modes;
}
