/* A recording with all that follows from it: what the JSON contract holds, and what reports are
 * built from. */
#ifndef WAKEWHY_REPORT_RESULT_H
#define WAKEWHY_REPORT_RESULT_H

#include "model/metric.h"
#include "model/run.h"
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
};

struct result {
	const struct recording *recording; /* not owned */
	VEC(struct run) runs;		   /* one for each capture, in its order */
	VEC(struct why) whys;		   /* why the threads of each run woke; points into runs */
	VEC(struct result_summary) summaries;
	/* Each label against the first of its workload and variant that is not floor, and against floor. */
	VEC(struct result_comparison) comparisons;
	bool trusted; /* every run is */
};

void result_init(struct result *ret_result, const struct recording *recording);
/* The same of what is derived already (record/json_result.h): one run and one why for each capture of
 * the recording, in its order. The result owns what is in both arrays from now on, and the arrays. */
void result_init_derived(struct result *ret_result, const struct recording *recording,
			 struct run *runs, struct why *whys);
void result_free_members(struct result *result);

/* Of a label (variant NULL: without one), or of `other` against `base` in that direction; NULL: there
 * is none. */
const struct stat_summary *result_find_summary(const struct result *result, const char *label,
					       const char *workload, const char *variant,
					       const char *metric);
const struct stat_ratio *result_find_ratio(const struct result *result, const char *base,
					   const char *other, const char *workload,
					   const char *variant, const char *metric);

#endif
