/* How sure a ratio of medians is: from many values by bootstrap, from few by Student's t. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/internal.h"

enum {
	FEW = 5, /* values on a side that a bootstrap needs */
	MIN = 2,
	MANY = 4000, /* values of both sides, beyond which there are fewer resamples */
};

/* Tail of a 95 % interval. */
#define TAIL 0.025
/* Standard errors that a difference must have to be told by a 95 % interval in 80 % of
 * experiments, and those that half the interval has: 1.960 + 0.842 and 1.960. */
#define TOLD_BY 2.802
#define HALF_WIDTH 1.960

double stat_divide(double other, double base)
{
	return base == 0 && other == 0 ? 1 : other / base;
}

enum stat_verdict stat_judge(double low, double high, double same_within)
{
	if (low > 1)
		return STAT_HIGHER;
	if (high < 1)
		return STAT_LOWER;
	if (low >= 1 - same_within && high <= 1 + same_within)
		return STAT_SAME;
	return STAT_UNCLEAR;
}

void stat_cut_tails(double *ratios, size_t n, double tail, double *ret_low, double *ret_high)
{
	size_t rank = (size_t)((double)(n + 1) * tail); /* from 1 */

	rank = rank < 1 ? 1 : rank > n / 2 ? n / 2 : rank;
	qsort(ratios, n, sizeof(*ratios), stat_order);
	*ret_low = ratios[rank - 1];
	*ret_high = ratios[n - rank];
}

/* ---- one side -------------------------------------------------------------------------------- */

/* Values and the ranks that sort them: a resample is how often each rank was drawn. */
struct side {
	size_t n;
	double *values; /* as given, without what is not finite */
	double *sorted;
	size_t *rank; /* of values[i] in sorted */
	uint32_t *times;
};

struct side_place {
	double value;
	size_t at;
};

static int side_order(const void *a, const void *b)
{
	const struct side_place *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Takes over values. */
static void side_init(struct side *side, double *values, size_t n)
{
	struct side_place *places = mem_calloc(n + 1, sizeof(*places));

	*side = (struct side){.n = n, .values = values};
	side->sorted = mem_calloc(n + 1, sizeof(*side->sorted));
	side->rank = mem_calloc(n + 1, sizeof(*side->rank));
	side->times = mem_calloc(n + 1, sizeof(*side->times));
	for (size_t i = 0; i < n; i++)
		places[i] = (struct side_place){values[i], i};
	qsort(places, n, sizeof(*places), side_order);
	for (size_t i = 0; i < n; i++) {
		side->sorted[i] = places[i].value;
		side->rank[places[i].at] = i;
	}
	free(places);
}

static void side_free_members(struct side *side)
{
	free(side->values);
	free(side->sorted);
	free(side->rank);
	free(side->times);
}

/* Median of what was drawn. */
static double side_median(const struct side *side)
{
	size_t n = side->n, seen = 0, rank = 0;
	double lower;

	while (seen + side->times[rank] < (n - 1) / 2 + 1)
		seen += side->times[rank++];
	lower = side->sorted[rank];
	if (n % 2)
		return lower;
	while (seen + side->times[rank] < n / 2 + 1)
		seen += side->times[rank++];
	return lower + (side->sorted[rank] - lower) / 2;
}

static bool side_has_logs(const struct side *side)
{
	return side->n && side->sorted[0] > 0;
}

/* Mean and variance of the logarithms. */
static void side_logs(const struct side *side, double *ret_mean, double *ret_variance)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < side->n; i++)
		mean += (log(side->values[i]) - mean) / (double)(i + 1);
	for (size_t i = 0; i < side->n; i++)
		squares += pow(log(side->values[i]) - mean, 2);
	*ret_mean = mean;
	*ret_variance = squares / (double)(side->n - 1);
}

/* ---- both ------------------------------------------------------------------------------------ */

static double *ratio_finite(const double *values, size_t n, size_t *ret_n)
{
	double *kept = mem_calloc(n + 1, sizeof(*kept));
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			kept[m++] = values[i];
	*ret_n = m;
	return kept;
}

/* Resamples of so many values in all. Those of a recording that holds tens of thousands of runs would
 * take minutes; of fewer resamples the ends of an interval move by a small part of its width, which is
 * narrow then. */
static size_t ratio_resamples(size_t values)
{
	size_t resamples = values > MANY ? STAT_RESAMPLES * MANY / values : STAT_RESAMPLES;

	return resamples < STAT_RESAMPLES / 10 ? STAT_RESAMPLES / 10 : resamples;
}

static void ratio_bootstrap(struct side *base, struct side *other, bool rounds, uint64_t seed,
			    double *ret_low, double *ret_high)
{
	size_t resamples = ratio_resamples(base->n + other->n);
	double *ratios = mem_calloc(resamples, sizeof(*ratios));
	struct stat_random random;

	stat_random_seed(&random, seed);
	for (size_t i = 0; i < resamples; i++) {
		memset(base->times, 0, base->n * sizeof(*base->times));
		memset(other->times, 0, other->n * sizeof(*other->times));
		for (size_t j = 0; j < base->n; j++) {
			size_t drawn = stat_random_below(&random, base->n);

			base->times[base->rank[drawn]]++;
			if (rounds)
				other->times[other->rank[drawn]]++;
		}
		for (size_t j = 0; j < other->n && !rounds; j++)
			other->times[stat_random_below(&random, other->n)]++;
		ratios[i] = stat_divide(side_median(other), side_median(base));
	}
	stat_cut_tails(ratios, resamples, TAIL, ret_low, ret_high);
	free(ratios);
}

/* Bounds of mean ± t × error, in logarithms; the ratio of medians is always inside, though it is
 * the means that this is about. */
static void ratio_bounds(double ratio, double mean, double error, double freedom, double *ret_low,
			 double *ret_high)
{
	double reach = stat_student_975(freedom) * error;

	*ret_low = fmin(ratio, exp(mean - reach));
	*ret_high = fmax(ratio, exp(mean + reach));
}

/* Student's t of the logarithms: of each round's quotient, or Welch's of both sides. */
static bool ratio_few(const struct side *base, const struct side *other, bool rounds, double ratio,
		      double *ret_low, double *ret_high)
{
	double b, o, b_variance, o_variance, b_part, o_part, sum;

	if (base->n < MIN || other->n < MIN || !side_has_logs(base) || !side_has_logs(other))
		return false;
	if (rounds) {
		struct side quotients = {.n = base->n};

		quotients.values = mem_calloc(base->n, sizeof(*quotients.values));
		for (size_t i = 0; i < base->n; i++)
			quotients.values[i] = other->values[i] / base->values[i];
		side_logs(&quotients, &o, &o_variance);
		free(quotients.values);
		if (!(o_variance > 0))
			return false;
		ratio_bounds(ratio, o, sqrt(o_variance / (double)base->n), (double)(base->n - 1),
			     ret_low, ret_high);
		return true;
	}
	side_logs(base, &b, &b_variance);
	side_logs(other, &o, &o_variance);
	b_part = b_variance / (double)base->n;
	o_part = o_variance / (double)other->n;
	sum = b_part + o_part;
	if (!(sum > 0))
		return false;
	ratio_bounds(ratio, o - b, sqrt(sum),
		     sum * sum /
			     (b_part * b_part / (double)(base->n - 1) +
			      o_part * o_part / (double)(other->n - 1)),
		     ret_low, ret_high);
	return true;
}

/* Takes over both arrays. */
static struct stat_ratio ratio_compare(double *base, size_t n_base, double *other, size_t n_other,
				       bool rounds, double same_within, uint64_t seed)
{
	struct stat_ratio r = {NAN, false, NAN, NAN, STAT_UNCLEAR, STAT_BY_NOTHING};
	bool many = n_base >= FEW && n_other >= FEW, known = many;
	double low = NAN, high = NAN;
	struct side b, o;

	side_init(&b, base, n_base);
	side_init(&o, other, n_other);
	if (n_base && n_other && stat_quantile(b.sorted, n_base, 0.5) != 0)
		r.ratio = stat_quantile(o.sorted, n_other, 0.5) /
			  stat_quantile(b.sorted, n_base, 0.5);
	if (many)
		ratio_bootstrap(&b, &o, rounds, seed, &low, &high);
	else
		known = ratio_few(&b, &o, rounds, r.ratio, &low, &high);
	if (known)
		r.verdict = stat_judge(low, high, same_within);
	/* Beyond a base of 0 an interval has no end; the verdict still stands. */
	if (known && isfinite(r.ratio) && isfinite(low) && isfinite(high)) {
		r.has_interval = true;
		r.ci_low = low;
		r.ci_high = high;
		r.method = !many ? STAT_BY_FEW : rounds ? STAT_BY_ROUNDS : STAT_BY_RUNS;
	}
	side_free_members(&b);
	side_free_members(&o);
	return r;
}

struct stat_ratio stat_compare(const double *base, size_t n_base, const double *other,
			       size_t n_other, double same_within, uint64_t seed)
{
	double *b = ratio_finite(base, n_base, &n_base);
	double *o = ratio_finite(other, n_other, &n_other);

	return ratio_compare(b, n_base, o, n_other, false, same_within, seed);
}

struct stat_ratio stat_compare_rounds(const double *base, const double *other, size_t n,
				      double same_within, uint64_t seed)
{
	double *b = mem_calloc(n + 1, sizeof(*b)), *o = mem_calloc(n + 1, sizeof(*o));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(base[i]) || !isfinite(other[i]))
			continue;
		b[kept] = base[i];
		o[kept++] = other[i];
	}
	return ratio_compare(b, kept, o, kept, true, same_within, seed);
}

struct stat_ratio stat_ratio_join(const struct stat_ratio *a, const struct stat_ratio *b,
				  double same_within)
{
	struct stat_ratio wider = a->has_interval ? *a : *b;

	wider.ratio = a->ratio;
	if (!isfinite(a->ratio)) {
		wider.has_interval = false;
		wider.ci_low = wider.ci_high = NAN;
		wider.method = STAT_BY_NOTHING;
	}
	if (!wider.has_interval)
		return wider;
	if (a->has_interval && b->has_interval) {
		if (b->ci_high - b->ci_low > a->ci_high - a->ci_low)
			wider.method = b->method;
		wider.ci_low = fmin(a->ci_low, b->ci_low);
		wider.ci_high = fmax(a->ci_high, b->ci_high);
	}
	wider.ci_low = fmin(wider.ci_low, wider.ratio);
	wider.ci_high = fmax(wider.ci_high, wider.ratio);
	wider.verdict = stat_judge(wider.ci_low, wider.ci_high, same_within);
	return wider;
}

size_t stat_runs_needed(const struct stat_ratio *ratio, size_t n_base, size_t n_other,
			double difference)
{
	double n, width, needed;

	if (!ratio->has_interval || !(ratio->ci_low > 0) || !n_base || !n_other ||
	    !(difference > 0))
		return 0;
	/* The harmonic mean: variances fall with n, and add up. */
	n = 2 / (1 / (double)n_base + 1 / (double)n_other);
	width = log(ratio->ci_high / ratio->ci_low) / 2;
	needed = ceil(n * pow(width / HALF_WIDTH * TOLD_BY / log1p(difference), 2));
	return needed < 2 ? 2 : needed > 1e9 ? 1000000000 : (size_t)needed;
}
