/* Comparisons of a result, each with how sure it is, and what the probes cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/result_groups.h"

#define FLOOR_LABEL "floor"
#define STARTUP	    "startup"
#define BARE_METRIC "exec_to_exit_ns"
/* With fewer windows on a side their seconds are looked at as well. */
#define FEW_WINDOWS 5

/* FNV-1a over text and its end. */
static uint64_t compare_hash(uint64_t hash, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	do {
		hash = (hash ^ *p) * 0x100000001b3;
	} while (*p++);
	return hash;
}

/* What is compared decides the resampling: the same recording gives the same interval, whatever
 * else is in it. */
static uint64_t compare_seed(const struct result_key *base, const struct result_key *other,
			     const char *what)
{
	uint64_t hash = 0xcbf29ce484222325;

	hash = compare_hash(hash, base->label);
	hash = compare_hash(hash, other->label);
	hash = compare_hash(hash, base->workload);
	hash = compare_hash(hash, base->variant ? base->variant : "");
	return compare_hash(hash, what);
}

/* ---- values ---------------------------------------------------------------------------------- */

struct compare_value {
	uint32_t round;
	double value;
};

static int compare_round_order(const void *a, const void *b)
{
	const struct compare_value *x = a, *y = b;

	return (x->round > y->round) - (x->round < y->round);
}

static void compare_sort(struct result_values *values)
{
	struct compare_value *sorted = mem_calloc(values->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < values->n; i++)
		sorted[i] = (struct compare_value){values->rounds[i], values->values[i]};
	qsort(sorted, values->n, sizeof(*sorted), compare_round_order);
	for (size_t i = 0; i < values->n; i++) {
		values->rounds[i] = sorted[i].round;
		values->values[i] = sorted[i].value;
	}
	free(sorted);
}

/* By rounds where both sides have the same ones, once each; sorts both. */
static struct stat_ratio compare_values(struct result_values *base, struct result_values *other,
					uint64_t seed)
{
	bool rounds = base->n == other->n;

	compare_sort(base);
	compare_sort(other);
	for (size_t i = 0; i < base->n && rounds; i++)
		rounds = base->rounds[i] == other->rounds[i] &&
			 (!i || base->rounds[i] != base->rounds[i - 1]);
	if (rounds)
		return stat_compare_rounds(base->values, other->values, base->n, RESULT_SAME_WITHIN,
					   seed);
	return stat_compare(base->values, base->n, other->values, other->n, RESULT_SAME_WITHIN,
			    seed);
}

/* ---- seconds of windows ---------------------------------------------------------------------- */

/* The metrics that a window's seconds say something about. */
static bool compare_has_seconds(const struct result_group *group, const struct metric *metric)
{
	return (!strcmp(group->key.workload, "idle") || !strcmp(group->key.workload, "attach")) &&
	       (!strcmp(metric->id, "wakeups_per_s") || !strcmp(metric->id, "cpu_ms_per_s"));
}

/* Whole seconds of all windows, one behind the other. The last one of a window is cut short by its
 * end. The caller frees values. */
static struct result_values compare_seconds(const struct result_group *group, bool wakeups)
{
	struct result_values v = {0};
	size_t n = 0;

	for (size_t i = 0; i < group->runs.n; i++)
		n += group->runs.items[i]->series.n;
	v.values = mem_calloc(n + 1, sizeof(*v.values));
	for (size_t i = 0; i < group->runs.n; i++) {
		const struct run *run = group->runs.items[i];

		for (size_t j = 0; j < run->series.n && j < run->window_ns / WK_SECOND_NS; j++) {
			const struct run_interval *second = &run->series.items[j];

			v.values[v.n++] = (double)(wakeups ? second->wakeups : second->oncpu_ns);
		}
	}
	return v;
}

/* Seconds of the longest period that is known of a group; 0: none. */
static double compare_period_s(const struct result_group *group)
{
	double longest_ns = 0;

	for (size_t i = 0; i < group->whys.n; i++) {
		const struct why *why = group->whys.items[i];

		for (size_t j = 0; j < why->causes.n; j++)
			if (why->causes.items[j].period.known)
				longest_ns = fmax(longest_ns, why->causes.items[j].period.period_ns);
	}
	return longest_ns / 1e9;
}

/* Long enough for the longest period, and for what follows from one second in the next: the cube
 * root of the series' length, as is usual. */
static size_t compare_block_s(const struct result_group *base, const struct result_group *other,
			      size_t n)
{
	/* A period of 1.002 s is one of a second. */
	double period_s = fmax(compare_period_s(base), compare_period_s(other)) - 0.05;
	size_t block_s = 1;

	while (block_s * block_s * block_s < n)
		block_s++;
	/* A damaged recording may claim any period: one block is all there is. */
	return (size_t)fmax((double)block_s, fmin(ceil(period_s), (double)(n + 1)));
}

/* Seconds of one window cannot know how windows differ, and two windows hardly: of both intervals the
 * wider one. */
static void compare_windows(struct result_comparison *comparison, const struct result_group *base,
			    const struct result_group *other, uint64_t seed)
{
	bool wakeups = !strcmp(comparison->metric->id, "wakeups_per_s");
	struct result_values b = compare_seconds(base, wakeups);
	struct result_values o = compare_seconds(other, wakeups);
	size_t block_s = compare_block_s(base, other, b.n < o.n ? b.n : o.n);
	struct stat_ratio ratio = stat_compare_seconds(b.values, b.n, o.values, o.n, block_s,
						       RESULT_SAME_WITHIN, seed);

	comparison->ratio = stat_ratio_join(&comparison->ratio, &ratio, RESULT_SAME_WITHIN);
	if (comparison->ratio.method == STAT_BY_SECONDS)
		comparison->block_s = block_s;
	result_free_values(&b);
	result_free_values(&o);
}

/* ---- without probes -------------------------------------------------------------------------- */

static double compare_per_operation(uint64_t outer_ns, uint64_t operations)
{
	return operations ? (double)outer_ns / (double)operations : (double)outer_ns;
}

static struct result_values compare_bare_values(const struct result_group *group)
{
	struct result_values v = {.values = mem_calloc(group->bare.n + 1, sizeof(*v.values)),
				  .rounds = mem_calloc(group->bare.n + 1, sizeof(*v.rounds))};

	for (size_t i = 0; i < group->bare.n; i++) {
		const struct capture_bare *bare = group->bare.items[i];

		if (!bare->outer_ns)
			continue;
		v.rounds[v.n] = bare->repeat;
		v.values[v.n++] = compare_per_operation(bare->outer_ns, bare->operations);
	}
	return v;
}

static struct result_values compare_probed_values(const struct result_group *group)
{
	struct result_values v = {.values = mem_calloc(group->runs.n + 1, sizeof(*v.values)),
				  .rounds = mem_calloc(group->runs.n + 1, sizeof(*v.rounds))};

	for (size_t i = 0; i < group->runs.n; i++) {
		const struct capture *capture = group->runs.items[i]->capture;

		if (!capture->outer_ns)
			continue;
		v.rounds[v.n] = capture->repeat;
		v.values[v.n++] =
			compare_per_operation(capture->outer_ns,
					      capture->has_result ? capture->operations : 0);
	}
	return v;
}

static void compare_add_cost(struct result *result, const struct result_group *group)
{
	struct result_values probed = compare_probed_values(group);
	struct result_values bare = compare_bare_values(group);

	if (probed.n && bare.n) {
		struct result_cost *cost = vec_push(&result->costs);

		cost->label = group->key.label;
		cost->workload = group->key.workload;
		cost->variant = group->key.variant;
		cost->n_probed = probed.n;
		cost->n_bare = bare.n;
		cost->probed_ns = stat_summarise(probed.values, probed.n).median;
		cost->bare_ns = stat_summarise(bare.values, bare.n).median;
		cost->ratio = compare_values(&bare, &probed,
					     compare_seed(&group->key, &group->key, "probe_cost"));
	}
	result_free_values(&probed);
	result_free_values(&bare);
}

/* Probed and bare times of a label differ by more than chance. */
static bool compare_is_slowed(const struct result *result, const struct result_key *key)
{
	const struct result_cost *cost =
		result_find_cost(result, key->label, key->workload, key->variant);

	return cost && cost->ratio.has_interval && (cost->ratio.ci_low > 1 || cost->ratio.ci_high < 1);
}

/* Start-up is judged by what users see, where the probes change it: replaces the ratio. */
static void compare_bare(const struct result *result, struct result_comparison *comparison,
			 const struct result_group *base, const struct result_group *other,
			 uint64_t seed)
{
	struct result_values b, o;

	if (strcmp(base->key.workload, STARTUP) || strcmp(comparison->metric->id, BARE_METRIC) ||
	    (!compare_is_slowed(result, &base->key) && !compare_is_slowed(result, &other->key)))
		return;
	b = compare_bare_values(base);
	o = compare_bare_values(other);
	if (b.n && o.n) {
		comparison->ratio = compare_values(&b, &o, seed);
		comparison->n_base = b.n;
		comparison->n_other = o.n;
		comparison->from_bare = true;
	}
	result_free_values(&b);
	result_free_values(&o);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void compare_metric(struct result *result, const struct result_group *base,
			   const struct result_group *other, const struct metric *metric)
{
	uint64_t seed = compare_seed(&base->key, &other->key, metric->id);
	struct result_values b = result_values(base, metric), o = result_values(other, metric);
	const char *reason = base->not_comparable ? base->not_comparable : other->not_comparable;

	if (b.n && o.n) {
		struct result_comparison *comparison = vec_push(&result->comparisons);

		*comparison = (struct result_comparison){
			.base = base->key.label,
			.other = other->key.label,
			.workload = base->key.workload,
			.variant = base->key.variant,
			.metric = metric,
			.ratio = {NAN, false, NAN, NAN, STAT_UNCLEAR, STAT_BY_NOTHING},
			.n_base = b.n,
			.n_other = o.n,
			.reason = reason,
		};
		if (!reason) {
			comparison->ratio = compare_values(&b, &o, seed);
			if (compare_has_seconds(base, metric) &&
			    (b.n < FEW_WINDOWS || o.n < FEW_WINDOWS))
				compare_windows(comparison, base, other, seed);
			compare_bare(result, comparison, base, other, seed);
		}
	}
	result_free_values(&b);
	result_free_values(&o);
}

struct stat_ratio result_compare_apart(const struct result_group *base,
				       const struct result_group *other, const struct metric *metric)
{
	uint64_t seed = compare_seed(&base->key, &other->key, metric->id);
	struct result_values b = result_values(base, metric), o = result_values(other, metric);
	struct result_comparison comparison = {
		.metric = metric, .ratio = {NAN, false, NAN, NAN, STAT_UNCLEAR, STAT_BY_NOTHING}};

	if (b.n && o.n) {
		comparison.ratio = stat_compare(b.values, b.n, o.values, o.n, RESULT_SAME_WITHIN,
						seed);
		if (compare_has_seconds(base, metric) &&
		    (b.n < FEW_WINDOWS || o.n < FEW_WINDOWS))
			compare_windows(&comparison, base, other, seed);
	}
	result_free_values(&b);
	result_free_values(&o);
	return comparison.ratio;
}

static void compare_pair(struct result *result, const struct result_group *base,
			 const struct result_group *other)
{
	for (const struct metric *metric = metrics; metric->id; metric++)
		if (metric_applies(metric, base->key.workload))
			compare_metric(result, base, other, metric);
}

static bool compare_is_floor(const struct result_group *group)
{
	return strcmp(group->key.label, FLOOR_LABEL) == 0;
}

static bool compare_same_case(const struct result_key *a, const struct result_key *b)
{
	return !strcmp(a->workload, b->workload) && !a->variant == !b->variant &&
	       (!a->variant || !strcmp(a->variant, b->variant));
}

/* First group of the same workload and variant that is floor, or that is not; NULL: none. */
static const struct result_group *compare_first(const struct result_groups *groups,
						const struct result_group *like, bool is_floor)
{
	for (size_t i = 0; i < groups->all.n; i++) {
		const struct result_group *group = &groups->all.items[i];

		if (compare_same_case(&group->key, &like->key) &&
		    compare_is_floor(group) == is_floor && group->runs.n)
			return group;
	}
	return NULL;
}

void result_compare_groups(struct result *result, const struct result_groups *groups)
{
	for (size_t i = 0; i < groups->all.n; i++)
		compare_add_cost(result, &groups->all.items[i]);
	for (size_t i = 0; i < groups->all.n; i++) {
		const struct result_group *group = &groups->all.items[i];
		const struct result_group *first = compare_first(groups, group, false);
		const struct result_group *floor = compare_first(groups, group, true);

		if (compare_is_floor(group) || !group->runs.n)
			continue;
		if (first && first != group)
			compare_pair(result, first, group);
		if (floor)
			compare_pair(result, floor, group);
	}
}
