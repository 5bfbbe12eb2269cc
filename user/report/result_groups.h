/* Runs of a recording grouped by what is compared: label, workload and variant. Between the files that
 * make a result. */
#ifndef WAKEWHY_REPORT_RESULT_GROUPS_H
#define WAKEWHY_REPORT_RESULT_GROUPS_H

#include "report/result.h"

/* What is told apart: repeats of one of these are summarised together. */
struct result_key {
	const char *label, *workload, *variant; /* variant may be NULL */
};

/* Runs of one key, in the recording's order, but for those that were measured again. */
struct result_group {
	struct result_key key;
	VEC(const struct run *) runs;
	VEC(const struct why *) whys; /* same index as runs */
	VEC(const struct capture_bare *) bare;
	const char *not_comparable; /* why the first run that must not be compared must not; or NULL */
};

struct result_groups {
	VEC(struct result_group) all; /* by first appearance */
};

/* Figures of one group, each with the round it comes from. */
struct result_values {
	double *values;
	uint32_t *rounds;
	size_t n;
};

void result_group_runs(struct result_groups *ret_groups, const struct result *result);
void result_free_groups(struct result_groups *groups);
/* NULL: no runs of that label, workload and variant that count. */
const struct result_group *result_find_group(const struct result_groups *groups,
					     const struct result_key *key);
/* The metric's values of the runs that have it. */
struct result_values result_values(const struct result_group *group, const struct metric *metric);
void result_free_values(struct result_values *values);

/* The ratio of other to base where both are from results of their own, measured at different times: rounds
 * of the one have nothing to do with those of the other. Both have runs; no ratio where one of them lacks
 * the metric. */
struct stat_ratio result_compare_apart(const struct result_group *base,
				       const struct result_group *other, const struct metric *metric);

/* Both of one result, workload and variant, whose costs are known; false: one of them lacks the metric. */
bool result_compare_pair(const struct result *result, const struct result_group *base,
			 const struct result_group *other, const struct metric *metric,
			 struct result_comparison *ret_comparison);

/* Fill comparisons and costs of the result. */
void result_compare_groups(struct result *result, const struct result_groups *groups);

#endif
