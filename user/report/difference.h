/* What one group wakes for that another does not: causes side by side, whose differences add up to
 *the difference.
 *
 *	wakeups/s: zig against rust                             rust     zig   difference   share
 *	  bun#2        its own 100 ms futex timeout                –    9.95        +9.95   109 %
 *	  …
 *	  in all                                                3.00   12.10        +9.10   100 %
 */
#ifndef WAKEWHY_REPORT_DIFFERENCE_H
#define WAKEWHY_REPORT_DIFFERENCE_H

#include "report/cause_words.h"

/* One cause on either side. Where both are NULL it is what no cause explains. */
struct difference_row {
	const struct cause_sum *base, *other; /* NULL: it has no counterpart there */
	double base_wakeups, other_wakeups;   /* of all runs of a side */
	double base_oncpu_ns, other_oncpu_ns;
};

struct difference {
	struct cause_sums base, other;
	struct cause_unit base_unit, other_unit; /* the same, but for their divisors */
	bool by_cpu; /* what differs is CPU time: of commands; of all else it is wakeups */
	VEC(struct difference_row) rows; /* by size of the difference, falling */
};

/* A figure of one side, and how the sides differ. */
struct difference_figure {
	double base, other;
};

/* Compares by the unit of the workload; NULL or differing workloads: per second. Each cause of
 * either side is in one row. */
void difference_init(struct difference *ret_difference, const char *workload_or_null,
		     const struct group *base, const struct group *other);
void difference_free_members(struct difference *difference);

/* Of a row, or of all (row NULL): wakeups, or CPU time with by_cpu, divided by the unit. */
struct difference_figure difference_figure(const struct difference *difference,
					   const struct difference_row *row, bool by_cpu);
/* The row's part of the difference of all; may be below 0 or above 1. NaN where there is none. */
double difference_share(const struct difference *difference, const struct difference_row *row,
			bool by_cpu);
/* Of whichever side has it, "BASE → OTHER" where they differ; "(not explained)" and "" where
 * neither has. The caller frees. */
char *difference_label(const struct difference *difference, const struct difference_row *row);
char *difference_text(const struct difference_row *row);

/* Adds a table and sentences, names being those of the sides. False: it added nothing, for nothing
 * woke or ran, or causes are not known. */
bool difference_tell(struct report *report, const struct difference *difference,
		     const char *base_name, const char *other_name, bool with_table,
		     size_t max_rows);

#endif
