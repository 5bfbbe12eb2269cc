/* Order statistics, and how sure a ratio of medians is. */
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	MIN_VALUES = 5,
	RESAMPLES = 2000,
	/* The (RESAMPLES + 1) × 2.5 % and 97.5 % ranks, from 0. */
	RANK_LOW = 49,
	RANK_HIGH = 1950,
};

static int stat_order(const void *a, const void *b)
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

/* xoshiro256** of Blackman and Vigna (2018), seeded through splitmix64 as they advise. */
struct stat_random {
	uint64_t s[4];
};

static uint64_t stat_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t stat_rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t stat_next(struct stat_random *random)
{
	uint64_t *s = random->s, result = stat_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = stat_rotate(s[3], 45);
	return result;
}

/* Median of n draws with replacement. Drawing is counting how often each rank comes up, so nothing
 * has to be sorted. */
static double stat_resampled_median(const double *sorted, uint32_t *times, size_t n,
				    struct stat_random *random)
{
	size_t seen = 0, rank = 0;
	double lower;

	memset(times, 0, n * sizeof(*times));
	for (size_t i = 0; i < n; i++)
		times[(size_t)((unsigned __int128)stat_next(random) * n >> 64)]++;
	while (seen + times[rank] < (n - 1) / 2 + 1)
		seen += times[rank++];
	lower = sorted[rank];
	if (n % 2)
		return lower;
	while (seen + times[rank] < n / 2 + 1)
		seen += times[rank++];
	return lower + (sorted[rank] - lower) / 2;
}

/* Two zeros are as large as each other; anything is infinitely larger than zero. */
static double stat_divide(double other, double base)
{
	return base == 0 && other == 0 ? 1 : other / base;
}

static void stat_bootstrap(const double *base, size_t n_base, const double *other, size_t n_other,
			   uint64_t seed, double *ret_low, double *ret_high)
{
	uint32_t *times = mem_calloc(n_base > n_other ? n_base : n_other, sizeof(*times));
	double *ratios = mem_calloc(RESAMPLES, sizeof(*ratios));
	struct stat_random random;

	for (int i = 0; i < 4; i++)
		random.s[i] = stat_splitmix(&seed);
	for (int i = 0; i < RESAMPLES; i++) {
		double b = stat_resampled_median(base, times, n_base, &random);

		ratios[i] = stat_divide(stat_resampled_median(other, times, n_other, &random), b);
	}
	qsort(ratios, RESAMPLES, sizeof(*ratios), stat_order);
	*ret_low = ratios[RANK_LOW];
	*ret_high = ratios[RANK_HIGH];
	free(ratios);
	free(times);
}

static enum stat_verdict stat_judge(double low, double high, double same_within)
{
	if (low > 1)
		return STAT_HIGHER;
	if (high < 1)
		return STAT_LOWER;
	if (low >= 1 - same_within && high <= 1 + same_within)
		return STAT_SAME;
	return STAT_UNCLEAR;
}

struct stat_ratio stat_compare(const double *base, size_t n_base, const double *other,
			       size_t n_other, double same_within, uint64_t seed)
{
	struct stat_ratio r = {NAN, false, NAN, NAN, STAT_UNCLEAR};
	double *b = stat_sorted(base, n_base, &n_base);
	double *o = stat_sorted(other, n_other, &n_other);

	if (n_base > 0 && n_other > 0) {
		double median = stat_quantile(b, n_base, 0.5);

		if (median != 0)
			r.ratio = stat_quantile(o, n_other, 0.5) / median;
	}
	if (n_base >= MIN_VALUES && n_other >= MIN_VALUES) {
		double low, high;

		stat_bootstrap(b, n_base, o, n_other, seed, &low, &high);
		r.verdict = stat_judge(low, high, same_within);
		/* Beyond a base of 0 an interval has no end; the verdict still stands. */
		if (isfinite(r.ratio) && isfinite(low) && isfinite(high)) {
			r.has_interval = true;
			r.ci_low = low;
			r.ci_high = high;
		}
	}
	free(b);
	free(o);
	return r;
}
