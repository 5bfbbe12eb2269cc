/* Is a result within what is allowed: of a budget, and of what an earlier result has come to?
 *
 *	over budget: idle of zig: wakeups/s 12.1, allowed 10 (--max-wakeups)
 *	over budget: startup of zig: exec to exit 7.58 ms, in old.json 2.93 ms: 2.59× (2.51×–2.66×),
 *		allowed 1.05× (--baseline)
 *	not compared with old.json: idle of node is not in it
 */
#ifndef WAKEWHY_REPORT_EXCESS_H
#define WAKEWHY_REPORT_EXCESS_H

#include "report/report.h"
#include "report/result_groups.h"

/* Shares of 1, in the units of the metrics; NaN: no limit. */
struct excess_limits {
	double wakeups_per_s;
	double cpu_ms_per_s;
	double startup_ns;	       /* of the median from exec to exit */
	const struct result *baseline; /* NULL: none */
	const char *baseline_name;
	double tolerance; /* how much worse than baseline it may be: 0.05 */
};

struct excess {
	bool over;		     /* false: something could not be compared, which is no excess */
	char *text;		     /* a sentence without its full stop; names from outside */
	const char *option;	     /* "--max-wakeups", …, "--baseline" */
	struct result_key key;	     /* whose figure it is, borrowed; label NULL: of all of them */
	const struct metric *metric; /* NULL: not over, no figure by itself */
	/* In the metric's unit: the median, and the worst that it may be; of a metric that is better
	 * higher the least. NaN without a metric. */
	double value, allowed;
};

struct excesses {
	VEC(struct excess) all; /* what is over first */
};

/* Each label, variant and workload of the result by itself. With a baseline it is judged by the
 * workload's main metrics, and is over where the ratio of the medians is worse than 1 + tolerance,
 * with its whole interval where it has one. For what is better higher the ratio is turned over. */
void excesses_init(struct excesses *ret_excesses, const struct result *result,
		   const struct excess_limits *limits);
void excesses_free_members(struct excesses *excesses);
bool excesses_any_over(const struct excesses *excesses);

/* Adds a warning for each that is over, a note for each other. */
void excesses_build(struct report *report, const struct excesses *excesses);

#endif
