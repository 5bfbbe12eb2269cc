/* Where in the code, in a report: rows under causes, what was taken, what the threads ran. */
#ifndef WAKEWHY_REPORT_STACKS_H
#define WAKEWHY_REPORT_STACKS_H

#include "report/stack_words.h"

/* Adds rows that say where threads of a cause slept, and from where they were woken:
 *
 *	  bun#2   its own 100 ms futex timeout, every 100.1 ms (±0.2 ms)       the row of the cause
 *	    in    pthread_cond_timedwait ← bun+0x5c7bc86                       depth 1
 *
 * all_frames: a row for each frame of the stack that came most often. */
void stack_rows_add(struct table *table, const struct group *group, const struct stack_ways *ways,
		    size_t sum, int depth, bool all_frames);
/* At how many wakeups stacks were taken, and how many were lost; nothing where none were wanted. */
void stack_notes_build(struct report *report, const struct part *part);
/* Functions that the group's threads were found in when they were sampled; max_rows as in report_options. */
void stack_samples_build(struct report *report, const struct group *group, size_t max_rows);
/* Pictures of both, for formats that draw. */
void chart_flame_build(struct report *report, const struct group *group);

#endif
