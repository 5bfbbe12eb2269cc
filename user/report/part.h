/* One workload of a result, its runs grouped by what is to be compared: what the builders of a
 * report work on. */
#ifndef WAKEWHY_REPORT_PART_H
#define WAKEWHY_REPORT_PART_H

#include "base/strbuf.h"
#include "report/report.h"

/* Runs that repeat one another: same label and variant. All pointers are borrowed. */
struct group {
	const char *label;
	const char *variant; /* NULL: the workload has none */
	size_t look;	     /* as result_find_look() has it */
	VEC(const struct run *) runs;
	VEC(const struct why *) whys; /* why the threads of each run woke; same index as runs */
	VEC(const struct stacks *) stacks; /* where in the code; the same; NULL: nothing is known of it */
};

struct part {
	const struct result *result;
	const char *workload;
	VEC(struct group) groups; /* in order of appearance, the variants of a label together */
};

/* Captures that were `replaced` are left out; there may be no groups then. */
void part_init(struct part *ret_part, const struct result *result, const char *workload);
void part_free_members(struct part *part);
bool part_is(const struct part *part, const char *workload);
/* More than one run of something: medians rather than single figures. */
bool part_repeats(const struct part *part);
/* More than one label. */
bool part_compares(const struct part *part);
/* The workload counts operations, and costs are told for each: hash and serve. */
bool part_counts_operations(const struct part *part);
/* All figures may be compared with one another (capture.not_comparable). */
bool part_comparable(const struct part *part);
/* Owned text that names a group in notes: "bun" or "bun sync". */
char *group_name(const struct group *group);
/* Sum of the windows of its runs, ns. */
double group_window_ns(const struct group *group);
/* Why its figures must not be compared (borrowed); NULL: they may be. */
const char *group_not_comparable(const struct group *group);
double group_operations(const struct group *group);
/* Copy of text of at most `bytes` bytes, cut between characters, "…" at the end of a shortened one.
 * The caller frees. */
char *part_shorten(const char *text, size_t bytes);
/* Appends the image's arguments, set apart by spaces; nothing where they are not known. */
void part_add_command(struct strbuf *text, const struct capture_image *image);

/* Each adds its blocks to the report; none adds anything where there is nothing to say. */
void heading_build(struct report *report, const struct part *part);
void startup_build(struct report *report, const struct part *part);
void idle_build(struct report *report, const struct part *part);
void hash_build(struct report *report, const struct part *part);
void serve_build(struct report *report, const struct part *part);
void overview_build(struct report *report, const struct part *part); /* run, attach and others */
void processes_build(struct report *report, const struct part *part, size_t max_rows);
void threads_build(struct report *report, const struct part *part, size_t max_rows);
/* Why the threads of each group woke, in a table and in sentences, and where in the code. */
void why_build(struct report *report, const struct part *part, const struct report_options *options);
/* What the groups with other labels wake for that the first one (floor aside) does not. */
void differences_build(struct report *report, const struct part *part, size_t max_rows);
/* Who is higher, lower, the same: a table, each row with its interval and the verdict in words. Adds
 * nothing where nothing can be told (single runs without intervals). */
void verdicts_build(struct report *report, const struct result *result, const struct part *part);
/* What the probes cost, and what repeated runs look like: outliers, a drift, two groups of values. */
void spread_build(struct report *report, const struct part *part);
void remarks_build(struct report *report, const struct part *part);
/* What was measured again, and what the experiment says of how it went. */
void conduct_build(struct report *report, const struct part *part);

/* Of the whole result: doubts come first in a report, the rest last. */
void doubts_build(struct report *report, const struct result *result);
/* Windows that were disturbed, however often they were measured again. */
void disturbed_build(struct report *report, const struct result *result);
void failures_build(struct report *report, const struct result *result);
/* The seed of the order of runs. */
void order_build(struct report *report, const struct result *result);
void trust_build(struct report *report, const struct result *result);
void noise_build(struct report *report, const struct result *result); /* a part of trust_build */

#endif
