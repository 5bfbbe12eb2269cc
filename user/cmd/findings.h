/* What doctor found: facts in tables, and problems with what mends them.
 *
 *	this kernel
 *	  release            6.18.44                      ok
 *	  type information   /sys/kernel/btf/vmlinux      ok
 *
 *	! the governor is powersave: cpupower frequency-set -g performance
 */
#ifndef WAKEWHY_CMD_FINDINGS_H
#define WAKEWHY_CMD_FINDINGS_H

#include <stdbool.h>

#include "base/mem.h"
#include "report/report.h"

struct problem {
	char *what;  /* a sentence without a full stop */
	char *mend;  /* the command that mends it, or what to do; "" where nothing can be done */
	bool blocks; /* nothing can be measured with it */
};

/* All zero is an empty one. */
struct findings {
	struct report report;
	struct table *table; /* the one that facts go to; valid until the next block is added */
	VEC(struct problem) problems;
};

/* Begins a table. */
void findings_section(struct findings *findings, const char *title);
/* Adds a row that was checked: its state is "ok", or "see below" once a problem is added before the
 * next row. */
__attribute__((format(printf, 3, 4))) void findings_fact(struct findings *findings,
							 const char *name, const char *fmt, ...);
/* Adds a row that is only told: nothing about it can be right or wrong. */
__attribute__((format(printf, 3, 4))) void findings_tell(struct findings *findings,
							 const char *name, const char *fmt, ...);
/* Adds a problem with the fact before it. what and mend may be printf'ed: both are copied. */
void findings_problem(struct findings *findings, bool blocks, const char *mend, const char *fmt,
		      ...) __attribute__((format(printf, 4, 5)));
/* Does a problem stop all measuring? */
bool findings_block(const struct findings *findings);
/* Adds the problems, those that block first, and the last word. Call it once, at the end. */
void findings_conclude(struct findings *findings);
void findings_free_members(struct findings *findings);

#endif
