/* Periods and phases of one cause, from the times or the intervals of its wakes. */
#include "model/period.h"

#include <math.h>
#include <stdlib.h>

#define INTERVALS_MIN 3
#define WITHIN	      0.15
#define SUPPORT_SHARE 0.75
#define PHASE_EVENTS  10
#define PHASE_LOG     8.0
#define PHASE_RATIO   2.0
#define PHASE_PART    0.1

static int interval_order(const void *a, const void *b)
{
	double x = ((const struct period_interval *)a)->ns;
	double y = ((const struct period_interval *)b)->ns;

	return (x > y) - (x < y);
}

static double interval_median(const struct period_interval *intervals, size_t n, double total)
{
	double below = 0;

	for (size_t i = 0; i < n; i++) {
		below += intervals[i].count;
		if (below * 2 >= total)
			return intervals[i].ns;
	}
	return 0;
}

struct why_period period_of_intervals(struct period_interval *intervals, size_t n)
{
	double total = 0, support = 0, sum = 0, squares = 0, median, mean;

	for (size_t i = 0; i < n; i++)
		total += intervals[i].count;
	if (total < INTERVALS_MIN)
		return (struct why_period){};
	qsort(intervals, n, sizeof(*intervals), interval_order);
	median = interval_median(intervals, n, total);
	for (size_t i = 0; i < n; i++) {
		if (fabs(intervals[i].ns - median) > WITHIN * median)
			continue;
		support += intervals[i].count;
		sum += intervals[i].count * intervals[i].ns;
	}
	if (support < INTERVALS_MIN || support < SUPPORT_SHARE * total || !(median > 0))
		return (struct why_period){};
	mean = sum / support;
	for (size_t i = 0; i < n; i++)
		if (fabs(intervals[i].ns - median) <= WITHIN * median)
			squares += intervals[i].count * (intervals[i].ns - mean) *
				   (intervals[i].ns - mean);
	return (struct why_period){
		.known = true,
		.period_ns = mean,
		.jitter_ns = sqrt(squares / support),
	};
}

struct why_period period_of_times(const uint64_t *times_ns, size_t n)
{
	struct period_interval *intervals;
	struct why_period period;

	if (n < INTERVALS_MIN + 1)
		return (struct why_period){};
	intervals = mem_calloc(n - 1, sizeof(*intervals));
	for (size_t i = 1; i < n; i++) {
		intervals[i - 1].ns = (double)(times_ns[i] - times_ns[i - 1]);
		intervals[i - 1].count = 1;
	}
	period = period_of_intervals(intervals, n - 1);
	free(intervals);
	return period;
}

static double bucket_middle_ns(uint32_t bucket)
{
	double octave = ldexp(1, WK_HIST_LOW + (int)(bucket / WK_HIST_SUB));

	return octave * (1 + (bucket % WK_HIST_SUB + 0.5) / WK_HIST_SUB);
}

struct why_period period_of_cause(const struct capture_cause *cause)
{
	size_t n = cause->intervals.n;
	double entered = 0, in_period = 0, count = (double)cause->c.wakeups - 1;
	struct period_interval *intervals;
	struct why_period period;

	if (!n || count < INTERVALS_MIN)
		return (struct why_period){};
	intervals = mem_calloc(n, sizeof(*intervals));
	for (size_t i = 0; i < n; i++) {
		intervals[i].ns = bucket_middle_ns(cause->intervals.items[i].bucket);
		intervals[i].count = cause->intervals.items[i].count;
		entered += intervals[i].count;
	}
	period = period_of_intervals(intervals, n);
	for (size_t i = 0; i < n && period.known; i++)
		if (fabs(intervals[i].ns - period.period_ns) <= WITHIN * period.period_ns)
			in_period += intervals[i].count;
	free(intervals);
	if (period.known && entered == count && in_period == count) {
		double mean = (double)(cause->c.last_ns - cause->c.first_ns) / count;
		double shift = mean - (double)cause->c.interval_ns;
		double variance =
			ldexp((double)cause->c.interval_square, 10) / count - shift * shift;

		period.period_ns = mean;
		if (cause->c.interval_square != WK_NEVER)
			period.jitter_ns = variance > 0 ? sqrt(variance) : 0;
	} else if (period.known && entered < SUPPORT_SHARE * count) {
		period.known = false; /* most intervals were too short to be entered */
	}
	return period;
}

/* n ln(n/t), the part of a Poisson log likelihood that depends on the split. */
static double log_part(double n, double t)
{
	return n > 0 && t > 0 ? n * log(n / t) : 0;
}

/* The window as two constant rates: n wakes in it, k of them in the first t of its w ns. */
struct split {
	double n, w;
	double k, t;
};

static double split_gain(const struct split *s)
{
	return log_part(s->k, s->t) + log_part(s->n - s->k, s->w - s->t) - log_part(s->n, s->w);
}

static bool split_has_room(const struct split *s)
{
	return s->t >= PHASE_PART * s->w && s->w - s->t >= PHASE_PART * s->w;
}

struct why_phase period_phase(const uint64_t *times_ns, size_t n, uint64_t start_ns,
			      uint64_t end_ns)
{
	struct split s = {.n = (double)n, .w = (double)(end_ns - start_ns)};
	struct why_phase phase = {};
	double best = 0;

	if (n < PHASE_EVENTS || end_ns <= start_ns)
		return phase;
	/* The first part ends with a wake; or it is empty, and ends ahead of the first one. */
	for (size_t k = 0; k <= n; k++) {
		uint64_t at_ns = times_ns[k ? k - 1 : 0] - start_ns;
		double gain;

		s.k = (double)k;
		s.t = (double)at_ns;
		gain = split_has_room(&s) ? split_gain(&s) : 0;
		if (gain <= best)
			continue;
		best = gain;
		phase.at_ns = at_ns;
		phase.before_per_s = s.k / s.t * 1e9;
		phase.after_per_s = (s.n - s.k) / (s.w - s.t) * 1e9;
	}
	phase.known = best >= PHASE_LOG && (phase.before_per_s >= PHASE_RATIO * phase.after_per_s ||
					    phase.after_per_s >= PHASE_RATIO * phase.before_per_s);
	return phase;
}
