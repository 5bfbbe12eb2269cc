/* A recording with all that follows from it: runs, summaries over repeats, comparisons. */
#include "report/result.h"

#include <stdlib.h>
#include <string.h>

/* An interval within this of 1 counts as the same. */
#define SAME_WITHIN 0.02
#define FLOOR_LABEL "floor"

/* What is told apart: repeats of one of these are summarised together. */
struct result_key {
	const char *label, *workload, *variant;
};

static const char *result_text(const char *text)
{
	return text ? text : "";
}

static struct result_key result_key(const struct capture *capture)
{
	return (struct result_key){result_text(capture->label), result_text(capture->workload),
				   capture->variant};
}

static bool result_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool result_same_case(const struct result_key *a, const struct result_key *b)
{
	return result_same_text(a->workload, b->workload) &&
	       result_same_text(a->variant, b->variant);
}

static bool result_same_key(const struct result_key *a, const struct result_key *b)
{
	return result_same_case(a, b) && result_same_text(a->label, b->label);
}

/* Runs of one key, in the recording's order. */
struct result_group {
	struct result_key key;
	VEC(const struct run *) runs;
};

struct result_groups {
	VEC(struct result_group) all; /* by first appearance */
};

static void result_group_runs(struct result_groups *groups, const struct result *result)
{
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];
		struct result_key key = result_key(run->capture);
		struct result_group *group = NULL;

		for (size_t j = 0; j < groups->all.n && !group; j++)
			if (result_same_key(&groups->all.items[j].key, &key))
				group = &groups->all.items[j];
		if (!group) {
			group = vec_push(&groups->all);
			group->key = key;
		}
		*vec_push(&group->runs) = run;
	}
}

static void result_free_groups(struct result_groups *groups)
{
	for (size_t i = 0; i < groups->all.n; i++)
		free(groups->all.items[i].runs.items);
	free(groups->all.items);
}

/* The metric's values of the runs that have it; room for all of them. */
static size_t result_values(const struct result_group *group, const struct metric *metric,
			    double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < group->runs.n; i++)
		if (metric->get(group->runs.items[i], &values[n]))
			n++;
	return n;
}

static void result_summarise(struct result *result, const struct result_group *group)
{
	double *values = mem_calloc(group->runs.n, sizeof(*values));

	for (const struct metric *metric = metrics; metric->id; metric++) {
		struct result_summary *summary;
		size_t n;

		if (!metric_applies(metric, group->key.workload))
			continue;
		n = result_values(group, metric, values);
		if (!n)
			continue;
		summary = vec_push(&result->summaries);
		summary->label = group->key.label;
		summary->workload = group->key.workload;
		summary->variant = group->key.variant;
		summary->metric = metric;
		summary->stat = stat_summarise(values, n);
	}
	free(values);
}

/* FNV-1a over text and its end. */
static uint64_t result_hash(uint64_t hash, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	do {
		hash = (hash ^ *p) * 0x100000001b3;
	} while (*p++);
	return hash;
}

/* What is compared decides the resampling: the same recording gives the same interval, whatever
 * else is in it. */
static uint64_t result_seed(const struct result_key *base, const struct result_key *other,
			    const struct metric *metric)
{
	uint64_t hash = 0xcbf29ce484222325;

	hash = result_hash(hash, base->label);
	hash = result_hash(hash, other->label);
	hash = result_hash(hash, base->workload);
	hash = result_hash(hash, result_text(base->variant));
	return result_hash(hash, metric->id);
}

static void result_compare(struct result *result, const struct result_group *base,
			   const struct result_group *other)
{
	double *b = mem_calloc(base->runs.n, sizeof(*b));
	double *o = mem_calloc(other->runs.n, sizeof(*o));

	for (const struct metric *metric = metrics; metric->id; metric++) {
		struct result_comparison *comparison;
		size_t n_base, n_other;

		if (!metric_applies(metric, base->key.workload))
			continue;
		n_base = result_values(base, metric, b);
		n_other = result_values(other, metric, o);
		if (!n_base || !n_other)
			continue;
		comparison = vec_push(&result->comparisons);
		comparison->base = base->key.label;
		comparison->other = other->key.label;
		comparison->workload = base->key.workload;
		comparison->variant = base->key.variant;
		comparison->metric = metric;
		comparison->ratio = stat_compare(b, n_base, o, n_other, SAME_WITHIN,
						 result_seed(&base->key, &other->key, metric));
	}
	free(o);
	free(b);
}

static bool result_is_floor(const struct result_group *group)
{
	return strcmp(group->key.label, FLOOR_LABEL) == 0;
}

/* First group of the same workload and variant that is floor, or that is not; NULL: none. */
static const struct result_group *result_base(const struct result_groups *groups,
					      const struct result_group *like, bool is_floor)
{
	for (size_t i = 0; i < groups->all.n; i++) {
		const struct result_group *group = &groups->all.items[i];

		if (result_same_case(&group->key, &like->key) && result_is_floor(group) == is_floor)
			return group;
	}
	return NULL;
}

static void result_compare_groups(struct result *result, const struct result_groups *groups)
{
	for (size_t i = 0; i < groups->all.n; i++) {
		const struct result_group *group = &groups->all.items[i];
		const struct result_group *first = result_base(groups, group, false);
		const struct result_group *floor = result_base(groups, group, true);

		if (result_is_floor(group))
			continue;
		if (first && first != group)
			result_compare(result, first, group);
		if (floor)
			result_compare(result, floor, group);
	}
}

/* What follows from runs and whys. */
static void result_conclude(struct result *result)
{
	struct result_groups groups = {};

	result->trusted = true;
	for (size_t i = 0; i < result->runs.n; i++)
		result->trusted = result->trusted && result->runs.items[i].trust.ok;
	result_group_runs(&groups, result);
	for (size_t i = 0; i < groups.all.n; i++)
		result_summarise(result, &groups.all.items[i]);
	result_compare_groups(result, &groups);
	result_free_groups(&groups);
}

void result_init(struct result *ret_result, const struct recording *recording)
{
	struct result result = {.recording = recording};

	for (size_t i = 0; i < recording->runs.n; i++)
		run_init(vec_push(&result.runs), &recording->runs.items[i]);
	/* Only now: runs have moved while there came more of them. */
	for (size_t i = 0; i < result.runs.n; i++)
		why_init(vec_push(&result.whys), &result.runs.items[i], recording->tool.arch);
	result_conclude(&result);
	*ret_result = result;
}

void result_init_derived(struct result *ret_result, const struct recording *recording,
			 struct run *runs, struct why *whys)
{
	struct result result = {.recording = recording};

	result.runs.items = runs;
	result.whys.items = whys;
	result.runs.n = result.runs.cap = recording->runs.n;
	result.whys.n = result.whys.cap = recording->runs.n;
	result_conclude(&result);
	*ret_result = result;
}

void result_free_members(struct result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->runs.n; i++)
		run_free_members(&result->runs.items[i]);
	for (size_t i = 0; i < result->whys.n; i++)
		why_free_members(&result->whys.items[i]);
	free(result->runs.items);
	free(result->whys.items);
	free(result->summaries.items);
	free(result->comparisons.items);
	memset(result, 0, sizeof(*result));
}

const struct stat_summary *result_find_summary(const struct result *result, const char *label,
					       const char *workload, const char *variant,
					       const char *metric)
{
	for (size_t i = 0; i < result->summaries.n; i++) {
		const struct result_summary *s = &result->summaries.items[i];

		if (!strcmp(s->label, label) && !strcmp(s->workload, workload) &&
		    result_same_text(s->variant, variant) && !strcmp(s->metric->id, metric))
			return &s->stat;
	}
	return NULL;
}

const struct stat_ratio *result_find_ratio(const struct result *result, const char *base,
					   const char *other, const char *workload,
					   const char *variant, const char *metric)
{
	for (size_t i = 0; i < result->comparisons.n; i++) {
		const struct result_comparison *c = &result->comparisons.items[i];

		if (!strcmp(c->base, base) && !strcmp(c->other, other) &&
		    !strcmp(c->workload, workload) && result_same_text(c->variant, variant) &&
		    !strcmp(c->metric->id, metric))
			return &c->ratio;
	}
	return NULL;
}
