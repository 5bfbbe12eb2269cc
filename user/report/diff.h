/* Two results side by side: what is in both is paired, and each pair is a difference. */
#ifndef WAKEWHY_REPORT_DIFF_H
#define WAKEWHY_REPORT_DIFF_H

#include "report/difference.h"

/* One side. */
struct diff_side {
	const struct result *result;
	const char *name; /* of its file */
	VEC(struct part) parts;
};

struct diff_pair {
	const struct group *base, *other;
	const char *base_workload, *other_workload;
	const char *base_name,
		*other_name; /* for people: labels, or files where the labels are one */
	struct difference difference;
};

struct diff {
	struct diff_side base, other;
	VEC(struct diff_pair) pairs;
	VEC(char *) remarks; /* sentences: what else differs, what has no counterpart */
};

/* Pairs what has the same workload, variant and label; the one group of a workload with the one on
 * the other side, whatever their labels; and where each side has but one group, these. -EINVAL:
 * nothing can be paired, or a side holds no causes. Results and names must outlive ret_diff. */
int diff_init(struct diff *ret_diff, const struct result *base, const char *base_name,
	      const struct result *other, const char *other_name, struct diag *diag);
void diff_free_members(struct diff *diff);
/* Doubts about either side come first. max_rows as in report_options. */
void diff_build(struct report *ret_report, const struct diff *diff, size_t max_rows);

#endif
