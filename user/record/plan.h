/* The plan of a study that is kept in a directory: what is measured, where and how. study.json. */
#ifndef WAKEWHY_RECORD_PLAN_H
#define WAKEWHY_RECORD_PLAN_H

#include <stdio.h>

#include "base/diag.h"
#include "model/capture.h"

struct plan_runtime {
	char *label, *family, *version;
	char *path; /* "" of floor, which is another file each time */
	uint64_t size_bytes;
};

struct plan {
	char *tool;    /* version of wakewhy */
	char *kernel, *arch;
	char *started; /* RFC 3339, of the first invocation */
	char *size;    /* "quick", "default", "full" and what else decides how things are measured */
	uint64_t seed;
	VEC(struct plan_runtime) runtimes;
};

/* -EIO with the reason in diag when out cannot take it. */
int plan_write(FILE *out, const struct plan *plan, struct diag *diag);
/* Reads one; nothing in it is believed. On failure *ret_plan is untouched and diag names `name` and
 * what is wrong: -EINVAL, -EIO. */
int plan_read(FILE *in, const char *name, struct plan *ret_plan, struct diag *diag);
/* -EINVAL, with the first difference in diag, where figures of the two must not stand in one table.
 * When it was started makes no difference, nor does the seed of `now` where it is 0. */
int plan_compare(const struct plan *kept, const struct plan *now, struct diag *diag);
void plan_free_members(struct plan *plan);

#endif
