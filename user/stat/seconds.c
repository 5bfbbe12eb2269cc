/* How sure a ratio of two rates is that were seen in one window each: from its seconds. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stat/internal.h"

enum {
	MIN_ACTIVE = 10, /* seconds that are not 0 */
	MIN_BLOCKS = 5,
	MAX_BLOCKS = 500, /* more make an interval no better, and a window of days slow */
};

/* What a series comes to. */
struct rate {
	const double *seconds;
	size_t n;
	double sum;
	double mean;
	size_t active;
	double bursts; /* of equal size, that would vary as much: (Σx)² / Σx² */
};

static struct rate rate_of(const double *seconds, size_t n)
{
	struct rate rate = {.seconds = seconds, .n = n};
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		rate.sum += seconds[i];
		squares += seconds[i] * seconds[i];
		rate.active += seconds[i] > 0;
	}
	rate.mean = n ? rate.sum / (double)n : NAN;
	rate.bursts = squares > 0 ? rate.sum * rate.sum / squares : 0;
	return rate;
}

/* Sums of the first 0 … n seconds: what a block holds is a difference of two, however long it is. The
 * caller frees. */
static double *rate_sums(const struct rate *rate)
{
	double *sums = mem_calloc(rate->n + 1, sizeof(*sums));

	for (size_t i = 0; i < rate->n; i++)
		sums[i + 1] = sums[i] + rate->seconds[i];
	return sums;
}

static size_t rate_block(const struct rate *rate, size_t block)
{
	size_t least = (rate->n + MAX_BLOCKS - 1) / MAX_BLOCKS;

	return block < least ? least : block;
}

/* Mean of n seconds that are drawn in blocks of at most n; what lies beyond the end goes on at the
 * beginning. */
static double rate_resample(const struct rate *rate, const double *sums, size_t block,
			    struct stat_random *random)
{
	double sum = 0;

	for (size_t done = 0; done < rate->n; done += block) {
		size_t at = stat_random_below(random, rate->n);
		size_t end = at + (block < rate->n - done ? block : rate->n - done);

		if (end <= rate->n)
			sum += sums[end] - sums[at];
		else
			sum += sums[rate->n] - sums[at] + sums[end - rate->n];
	}
	return sum / (double)rate->n;
}

/* With few blocks a bootstrap is too sure of itself: it lacks the factor B / (B - 1) of a variance and
 * the wider tails of Student's t. The normal tail beyond t √(B / (B - 1)) makes up for both
 * (the expanded percentile interval of Hesterberg, 2015). */
static double seconds_tail(size_t blocks)
{
	double b = (double)blocks;

	return stat_normal(-stat_student_975(b - 1) * sqrt(b / (b - 1)));
}

static void seconds_bootstrap(const struct rate *base, const struct rate *other, size_t block,
			      uint64_t seed, double *ret_low, double *ret_high)
{
	double *ratios = mem_calloc(STAT_RESAMPLES, sizeof(*ratios));
	double *base_sums = rate_sums(base), *other_sums = rate_sums(other);
	size_t base_block = rate_block(base, block), other_block = rate_block(other, block);
	size_t base_blocks = base->n / base_block, other_blocks = other->n / other_block;
	struct stat_random random;

	stat_random_seed(&random, seed);
	for (int i = 0; i < STAT_RESAMPLES; i++) {
		double b = rate_resample(base, base_sums, base_block, &random);

		ratios[i] = stat_divide(rate_resample(other, other_sums, other_block, &random), b);
	}
	stat_cut_tails(ratios, STAT_RESAMPLES,
		       seconds_tail(base_blocks < other_blocks ? base_blocks : other_blocks), ret_low,
		       ret_high);
	free(other_sums);
	free(base_sums);
	free(ratios);
}

/* Given the sum of two Poisson counts, one of them is binomial. */
static void seconds_count(const struct rate *base, const struct rate *other, double *ret_low,
			  double *ret_high)
{
	double b = base->bursts, o = other->bursts;
	double low = o > 0 ? stat_beta_quantile(0.025, o, b + 1) : 0;
	double high = b > 0 ? stat_beta_quantile(0.975, o + 1, b) : 1;
	/* From a ratio of bursts to one of amounts a second; a side without bursts may have had some as
	 * large as the other's. */
	double b_size = b > 0 ? base->sum / b : other->sum / o;
	double o_size = o > 0 ? other->sum / o : base->sum / b;
	double scale = o_size / b_size * (double)base->n / (double)other->n;

	*ret_low = low / (1 - low) * scale;
	*ret_high = high < 1 ? high / (1 - high) * scale : INFINITY;
}

struct stat_ratio stat_compare_seconds(const double *base, size_t n_base, const double *other,
				       size_t n_other, size_t block, double same_within,
				       uint64_t seed)
{
	struct stat_ratio r = {NAN, false, NAN, NAN, STAT_UNCLEAR, STAT_BY_NOTHING};
	struct rate b = rate_of(base, n_base), o = rate_of(other, n_other);
	bool blocks = b.active >= MIN_ACTIVE && o.active >= MIN_ACTIVE &&
		      n_base / block >= MIN_BLOCKS && n_other / block >= MIN_BLOCKS;
	double low, high;

	if (!n_base || !n_other || !isfinite(b.sum) || !isfinite(o.sum))
		return r;
	if (b.sum > 0)
		r.ratio = o.mean / b.mean;
	if (!(b.sum > 0) && !(o.sum > 0))
		return r;
	if (blocks)
		seconds_bootstrap(&b, &o, block, seed, &low, &high);
	else
		seconds_count(&b, &o, &low, &high);
	r.verdict = stat_judge(low, high, same_within);
	if (isfinite(r.ratio) && isfinite(low) && isfinite(high)) {
		r.has_interval = true;
		r.ci_low = low;
		r.ci_high = high;
		r.method = blocks ? STAT_BY_SECONDS : STAT_BY_COUNTS;
	}
	return r;
}
