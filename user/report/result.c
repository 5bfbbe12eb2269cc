/* A recording with all that follows from it: runs, summaries over repeats, comparisons. */
#include "report/result.h"

#include <stdlib.h>
#include <string.h>

#include "report/result_groups.h"

static const char *result_text(const char *text)
{
	return text ? text : "";
}

static bool result_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool result_same_key(const struct result_key *a, const struct result_key *b)
{
	return !strcmp(a->workload, b->workload) && result_same_text(a->variant, b->variant) &&
	       !strcmp(a->label, b->label);
}

static struct result_group *result_group(struct result_groups *groups, struct result_key key)
{
	struct result_group *group;

	for (size_t i = 0; i < groups->all.n; i++)
		if (result_same_key(&groups->all.items[i].key, &key))
			return &groups->all.items[i];
	group = vec_push(&groups->all);
	group->key = key;
	return group;
}

void result_group_runs(struct result_groups *ret_groups, const struct result *result)
{
	const struct recording *recording = result->recording;
	struct result_groups groups = {};

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;
		struct result_group *group;

		if (capture->replaced)
			continue;
		group = result_group(&groups, (struct result_key){result_text(capture->label),
								  result_text(capture->workload),
								  capture->variant});
		*vec_push(&group->runs) = &result->runs.items[i];
		*vec_push(&group->whys) = &result->whys.items[i];
		if (!group->not_comparable)
			group->not_comparable = capture->not_comparable;
	}
	for (size_t i = 0; i < recording->bare.n; i++) {
		const struct capture_bare *bare = &recording->bare.items[i];
		struct result_key key = {result_text(bare->label), result_text(bare->workload),
					 bare->variant};

		*vec_push(&result_group(&groups, key)->bare) = bare;
	}
	*ret_groups = groups;
}

void result_free_groups(struct result_groups *groups)
{
	for (size_t i = 0; i < groups->all.n; i++) {
		free(groups->all.items[i].runs.items);
		free(groups->all.items[i].whys.items);
		free(groups->all.items[i].bare.items);
	}
	free(groups->all.items);
}

const struct result_group *result_find_group(const struct result_groups *groups,
					     const struct result_key *key)
{
	for (size_t i = 0; i < groups->all.n; i++)
		if (groups->all.items[i].runs.n &&
		    result_same_key(&groups->all.items[i].key, key))
			return &groups->all.items[i];
	return NULL;
}

struct result_values result_values(const struct result_group *group, const struct metric *metric)
{
	struct result_values v = {.values = mem_calloc(group->runs.n + 1, sizeof(*v.values)),
				  .rounds = mem_calloc(group->runs.n + 1, sizeof(*v.rounds))};

	for (size_t i = 0; i < group->runs.n; i++) {
		v.rounds[v.n] = group->runs.items[i]->capture->repeat;
		v.n += metric->get(group->runs.items[i], &v.values[v.n]);
	}
	return v;
}

void result_free_values(struct result_values *values)
{
	free(values->values);
	free(values->rounds);
}

/* ---- labels ---------------------------------------------------------------------------------- */

size_t result_find_look(const struct result *result, const char *label)
{
	for (size_t i = 0; i < result->labels.n && result->labels.n <= RESULT_LOOKS; i++)
		if (!strcmp(result->labels.items[i], label))
			return i;
	return SIZE_MAX;
}

/* One more than can be told apart is enough to know that there are too many. */
static void result_find_labels(struct result *result)
{
	for (size_t i = 0; i < result->runs.n && result->labels.n <= RESULT_LOOKS; i++) {
		const struct capture *capture = result->runs.items[i].capture;
		const char *label = result_text(capture->label);

		if (!capture->replaced && result_find_look(result, label) == SIZE_MAX)
			*vec_push(&result->labels) = label;
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void result_summarise(struct result *result, const struct result_group *group)
{
	for (const struct metric *metric = metrics; metric->id; metric++) {
		struct result_summary *summary;
		struct result_values values;

		if (!metric_applies(metric, group->key.workload))
			continue;
		values = result_values(group, metric);
		if (values.n) {
			summary = vec_push(&result->summaries);
			summary->label = group->key.label;
			summary->workload = group->key.workload;
			summary->variant = group->key.variant;
			summary->metric = metric;
			summary->stat = stat_summarise(values.values, values.n);
		}
		result_free_values(&values);
	}
}

/* What follows from runs and whys. */
static void result_conclude(struct result *result)
{
	struct result_groups groups = {};

	result->trusted = true;
	for (size_t i = 0; i < result->runs.n; i++)
		result->trusted &= result->runs.items[i].trust.ok ||
				   result->runs.items[i].capture->replaced;
	result_find_labels(result);
	result_group_runs(&groups, result);
	for (size_t i = 0; i < groups.all.n; i++)
		result_summarise(result, &groups.all.items[i]);
	result_compare_groups(result, &groups);
	result_free_groups(&groups);
}

static void result_stacks(struct result *result)
{
	for (size_t i = 0; i < result->runs.n; i++)
		stacks_init(vec_push(&result->stacks), &result->whys.items[i],
			    &result->runs.items[i]);
}

void result_init(struct result *ret_result, const struct recording *recording)
{
	struct result result = {.recording = recording};

	for (size_t i = 0; i < recording->runs.n; i++)
		run_init(vec_push(&result.runs), &recording->runs.items[i]);
	/* Only now: runs have moved while there came more of them. */
	for (size_t i = 0; i < result.runs.n; i++)
		why_init(vec_push(&result.whys), &result.runs.items[i], recording->tool.arch);
	result_stacks(&result);
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
	result_stacks(&result);
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
	for (size_t i = 0; i < result->stacks.n; i++)
		stacks_free_members(&result->stacks.items[i]);
	free(result->runs.items);
	free(result->whys.items);
	free(result->stacks.items);
	free(result->labels.items);
	free(result->summaries.items);
	free(result->comparisons.items);
	free(result->costs.items);
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

const struct result_comparison *result_find_comparison(const struct result *result,
						       const char *base, const char *other,
						       const char *workload, const char *variant,
						       const char *metric)
{
	for (size_t i = 0; i < result->comparisons.n; i++) {
		const struct result_comparison *c = &result->comparisons.items[i];

		if (!strcmp(c->base, base) && !strcmp(c->other, other) &&
		    !strcmp(c->workload, workload) && result_same_text(c->variant, variant) &&
		    !strcmp(c->metric->id, metric))
			return c;
	}
	return NULL;
}

const struct stat_ratio *result_find_ratio(const struct result *result, const char *base,
					   const char *other, const char *workload,
					   const char *variant, const char *metric)
{
	const struct result_comparison *found =
		result_find_comparison(result, base, other, workload, variant, metric);

	return found ? &found->ratio : NULL;
}

const struct result_cost *result_find_cost(const struct result *result, const char *label,
					   const char *workload, const char *variant)
{
	for (size_t i = 0; i < result->costs.n; i++) {
		const struct result_cost *c = &result->costs.items[i];

		if (!strcmp(c->label, label) && !strcmp(c->workload, workload) &&
		    result_same_text(c->variant, variant))
			return c;
	}
	return NULL;
}
