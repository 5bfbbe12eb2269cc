/* Tables of metrics over labels: a column for each figure, a row for each group, ratios below.
 *
 *	               wakeups/s   CPU ms/s   active seconds
 *	  rust              3.00      0.244         20 of 20     figures_add_group
 *	  zig              12.10      0.740         20 of 20
 *	  zig / rust       4.03×      3.03×                      figures_add_ratios
 */
#ifndef WAKEWHY_REPORT_FIGURES_H
#define WAKEWHY_REPORT_FIGURES_H

#include "report/part.h"

/* What a median is multiplied with to know how much was seen in all: the number of runs, the
 * seconds of all windows; nothing for operations, which are millions. */
enum figure_per { FIGURE_PER_RUN, FIGURE_PER_SECOND, FIGURE_PER_OPERATION };

enum figure_flags {
	FIGURE_RANGE = 1 << 0,	/* a column with minimum–maximum where runs repeat */
	FIGURE_WINDOW = 1 << 1, /* a number of seconds, shown as "20 of 20" */
	FIGURE_RARE = 1 << 2,	/* left out where its median is 0 for every group */
};

struct figure {
	const char *metric; /* id in the table of metrics; NULL ends a list */
	const char *title;  /* with the unit shown */
	double scale;	    /* from the metric's unit to the one shown */
	int decimals;	    /* at most */
	enum figure_per per;
	/* A base that comes to less (in the unit shown) gives no ratio: quotients of two tiny
	 * numbers say nothing. */
	double least;
	unsigned int flags; /* enum figure_flags */
};

#define FIGURES_MAX 16

struct figures {
	const struct part *part;
	const struct figure *list;
	bool shown[FIGURES_MAX]; /* some group has a value */
	int decimals[FIGURES_MAX];
	bool ranges;
	bool intervals; /* some ratio has one */
	bool bare;	/* some ratio is of the runs without probes */
	struct table *table;
};

/* Adds the table with its columns. Figures that no group has are left out. The table must be filled
 * before another block is added. */
void figures_begin(struct figures *ret_figures, struct report *report, const struct part *part,
		   const struct figure *list);
void figures_add_group(struct figures *figures, const struct group *group, int depth);
/* Adds a row for each comparison of this variant that has a ratio. */
void figures_add_ratios(struct figures *figures, const char *variant, int depth);
/* Adds one row named `name` with the ratios of other's medians to base's; false: there were none.
 */
bool figures_add_ratio(struct figures *figures, const char *name, const struct group *base,
		       const struct group *other, int depth);
/* Adds the notes that the table's columns need. */
void figures_end(const struct figures *figures, struct report *report);

#endif
