/* The table of metrics: every output and comparison follows it. Adding a row adds a metric. */
#ifndef WAKEWHY_MODEL_METRIC_H
#define WAKEWHY_MODEL_METRIC_H

#include "model/run.h"

enum metric_better { METRIC_LOWER, METRIC_HIGHER, METRIC_NEITHER };

struct metric {
	const char *id;	   /* as JSON spells it: "wakeups_per_s" */
	const char *title; /* column head: "wakeups/s" */
	const char *unit;  /* "1/s" "ns" "ms/s" "bytes" "1" … as JSON spells it */
	const char *meaning; /* one line for `list metrics` */
	enum metric_better better;
	const char *workloads; /* space-separated names it is summarised for */
	/* Writes the value and returns true, or returns false where the run has none. */
	bool (*get)(const struct run *run, double *ret_value);
};

/* All metrics, ended by a row whose id is NULL. */
extern const struct metric metrics[];
const struct metric *metric_find(const char *id); /* NULL: no such metric */
bool metric_applies(const struct metric *metric, const char *workload);
/* What the workload is measured for: verdicts and baselines are about these. */
bool metric_is_main(const struct metric *metric, const char *workload);

/* One counter of struct wk_counters: the names of totals and threads in JSON and CSV. */
struct counter_field {
	const char *id;
	const char *unit;
	size_t offset; /* of the uint64_t in struct wk_counters */
	const char *meaning;
};
extern const struct counter_field counter_fields[]; /* ended by id NULL */
uint64_t counter_get(const struct wk_counters *counters, const struct counter_field *field);
/* False where the capture does not tell it: a 0 would be a figure. */
bool counter_is_known(const struct counter_field *field, const struct capture *capture);

#endif
