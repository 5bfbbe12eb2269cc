/* Charts of a report: each builder adds blocks with the points that are drawn and a table of the
 * same figures, or nothing where there is nothing to see.
 *
 * Amounts of data are bounded whatever a recording holds: CHART_GROUPS series, CHART_POINTS points
 * in each (seconds, runs and ticks beyond that are joined, and the chart says so). All points are
 * finite. Names from outside are cut to a sensible length and otherwise as they came. */
#ifndef WAKEWHY_REPORT_CHART_H
#define WAKEWHY_REPORT_CHART_H

#include "report/cause_tree.h"
#include "report/difference.h"

#define CHART_GROUPS	   RESULT_LOOKS
#define CHART_POINTS	   600
#define CHART_NAME_BYTES   40 /* of a group or thread */
#define CHART_TEXT_BYTES   72 /* of a cause in words */
#define CHART_REASON_BYTES 120

/* Starts, hash, serve: a dot for each run, in run order, with the median. */
void chart_dots_build(struct report *report, const struct part *part);
/* idle, attach, run beyond three seconds: CPU time as it adds up, CPU time and wakeups of each
 * second. Of repeats the one with the median CPU time is shown. */
void chart_seconds_build(struct report *report, const struct part *part);
/* How long waits for a CPU and stretches on one were. */
void chart_spans_build(struct report *report, const struct part *part);
/* Of one group: causes and roots with bars, its wakes on a time line, who wakes whom. In text only
 * where everything is wanted (the table says the same). */
void chart_causes_build(struct report *report, const struct part *part, const struct group *group,
			const struct cause_sums *sums, const struct cause_tree *tree, bool in_text);
void chart_lanes_build(struct report *report, const struct group *group);
void chart_handoffs_build(struct report *report, const struct part *part, const struct group *group,
			  const struct cause_sums *sums);
/* From base's total to other's, row by row: the last bar is the sum of all before it, but for the
 * rounding of doubles. */
void chart_waterfall_build(struct report *report, const struct difference *difference,
			   const char *base_name, const char *other_name, bool in_text);

/* ---- pieces of the builders ------------------------------------------------------------------ */

/* Adds a point with a copy of the name; leaves it out where x or y is not finite. */
void chart_add_point(struct chart_series *series, double x, double y, const char *name_or_null);
/* A series of a group, with the group's look where it has one. */
struct chart_series *chart_add_group(struct chart *chart, const char *name, size_t look);
/* group_name() cut to CHART_NAME_BYTES; the caller frees. */
char *chart_group_name(const struct group *group);
/* The run of a group that stands for its repeats: the one with the median CPU time (of an even
 * number the lower middle). knows_why: only runs whose causes are known. SIZE_MAX: there is none.
 */
size_t chart_typical_run(const struct group *group, bool knows_why);
/* "zig", or "zig (run 2 of 5)" where it has repeats; the caller frees. */
char *chart_run_name(const struct group *group, size_t run);

#endif
