/* Sentences after a table of causes: what costs most, and what the table cannot show. */
#ifndef WAKEWHY_REPORT_EXPLAIN_H
#define WAKEWHY_REPORT_EXPLAIN_H

#include "report/cause_tree.h"

/* Adds notes for one group. The tree is that of sums. */
void explain_build(struct report *report, const struct part *part, const struct group *group,
		   const struct cause_sums *sums, const struct cause_tree *tree);

/* The same where nothing is worth a table: what is busy without sleeping. */
void explain_silence(struct report *report, const struct part *part, const struct group *group);

/* Adds one note: where the time of the main thread of the group's commands went; nothing where it
 * was not started by wakewhy. */
void main_thread_build(struct report *report, const struct group *group);

#endif
