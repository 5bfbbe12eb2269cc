/* Lists of CPUs as people and the kernel write them: "0,2-3". */
#ifndef WAKEWHY_BASE_CPULIST_H
#define WAKEWHY_BASE_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define CPULIST_MAX 8192 /* NR_CPUS of the largest kernels that are built */

/* All zero is an empty list. */
struct cpulist {
	uint64_t bits[CPULIST_MAX / 64];
};

/* Numbers and ranges with commas between them; one newline at the end is allowed, as /sys has it.
 * "" is an empty list for /sys, and for people an error that the caller gives: here it is allowed.
 * -EINVAL or -ERANGE (CPU number too large) with diag. */
int cpulist_parse(struct cpulist *ret_list, const char *text, struct diag *diag);
void cpulist_add(struct cpulist *list, unsigned cpu); /* numbers beyond the maximum are ignored */
bool cpulist_has(const struct cpulist *list, unsigned cpu);
size_t cpulist_count(const struct cpulist *list);
/* First CPU of the list with number >= from, or CPULIST_MAX. */
unsigned cpulist_next(const struct cpulist *list, unsigned from);
/* "0,2-3"; the caller frees. */
char *cpulist_format(const struct cpulist *list);

#endif
