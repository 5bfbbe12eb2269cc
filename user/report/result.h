/* A recording with all that follows from it: what the JSON contract holds, and what reports are
 * built from. */
#ifndef WAKEWHY_REPORT_RESULT_H
#define WAKEWHY_REPORT_RESULT_H

#include "model/metric.h"
#include "model/run.h"
#include "model/stacks.h"
#include "model/why.h"
#include "stat/stat.h"

struct result_summary {
	const char *label, *workload, *variant; /* borrowed from the recording; variant may be NULL */
	const struct metric *metric;
	struct stat_summary stat;
};

struct result_comparison {
	const char *base, *other, *workload, *variant;
	const struct metric *metric;
	struct stat_ratio ratio;
	size_t n_base, n_other; /* runs that it is made of */
	bool from_bare;		/* of the runs without probes, by our own clock */
	size_t block_s;		/* STAT_BY_SECONDS: seconds in a block; else 0 */
	/* Why these figures must not be compared (borrowed); NULL: they may be. With a reason there is no
	 * ratio and no interval, and the verdict is unclear. */
	const char *reason;
};

/* What the probes cost: the same work with them and without, by our own clock (struct capture_bare). */
struct result_cost {
	const char *label, *workload, *variant;
	size_t n_probed, n_bare;
	double probed_ns, bare_ns; /* medians, of one start or one operation */
	struct stat_ratio ratio;   /* probed / bare */
};

struct result {
	const struct recording *recording; /* not owned */
	VEC(struct run) runs;		   /* one for each capture, in its order */
	VEC(struct why) whys;		   /* why the threads of each run woke; points into runs */
	VEC(struct stacks) stacks;	   /* of each run; points into runs and whys */
	VEC(const char *) labels; /* by first appearance; see result_find_look() */
	/* Captures that were `replaced` are in runs and in nothing below. */
	VEC(struct result_summary) summaries;
	/* Each label against the first of its workload and variant that is not floor, and against floor. */
	VEC(struct result_comparison) comparisons;
	VEC(struct result_cost) costs;
	bool trusted; /* every run is that counts */
};

/* An interval within this of 1 counts as the same. */
#define RESULT_SAME_WITHIN 0.02
/* What others are shown beside, and what no other is held against first. */
#define RESULT_FLOOR_LABEL "floor"
/* What result_seed takes for the cost of probes. */
#define RESULT_COST_SEED "probe_cost"

/* The rules that --until must share with the report, or it would end too early or too late.
 * Seed of the bootstrap: what is compared decides it, so that the same figures give the same interval,
 * whatever else is in the recording. what: a metric's id, or RESULT_COST_SEED with base for both. */
uint64_t result_seed(const char *base, const char *other, const char *workload, const char *variant,
		     const char *what);
/* Do probes change a start by more than chance? cost: probed / bare. Where that is so for one of two
 * labels, they are compared by their starts without probes. */
bool result_cost_shows(const struct stat_ratio *cost);

void result_init(struct result *ret_result, const struct recording *recording);
/* The same of what is derived already (record/json_result.h): one run and one why for each capture of
 * the recording, in its order. The result owns what is in both arrays from now on, and the arrays. */
void result_init_derived(struct result *ret_result, const struct recording *recording,
			 struct run *runs, struct why *whys);
void result_free_members(struct result *result);

/* Labels that can be told apart by their looks; with more, none has one of its own. */
#define RESULT_LOOKS 12
/* Place of the label among all of the result, below RESULT_LOOKS; SIZE_MAX: there are more. */
size_t result_find_look(const struct result *result, const char *label);

/* Of a label (variant NULL: without one), or of `other` against `base` in that direction; NULL: there
 * is none. */
const struct stat_summary *result_find_summary(const struct result *result, const char *label,
					       const char *workload, const char *variant,
					       const char *metric);
const struct result_comparison *result_find_comparison(const struct result *result,
						       const char *base, const char *other,
						       const char *workload, const char *variant,
						       const char *metric);
const struct stat_ratio *result_find_ratio(const struct result *result, const char *base,
					   const char *other, const char *workload,
					   const char *variant, const char *metric);
const struct result_cost *result_find_cost(const struct result *result, const char *label,
					   const char *workload, const char *variant);

#endif
