/* Results in JSON, schema wakewhy/1, read back: for comparisons with what was measured before.
 *
 * JSON holds what was made of the evidence, not the evidence: runs and causes come out derived, as
 * run_init() and why_init() derive them from a recording. Not taken over is what a comparison does not
 * need: arguments of processes, system calls by number, edges, herds, spins, spans, probes, claims. */
#ifndef WAKEWHY_RECORD_JSON_RESULT_H
#define WAKEWHY_RECORD_JSON_RESULT_H

#include <stdio.h>

#include "base/diag.h"
#include "model/run.h"
#include "model/why.h"

struct json_result {
	struct recording recording; /* as far as JSON has it */
	struct run *runs;	    /* one for each of recording.runs, pointing into it */
	struct why *whys;	    /* the same, pointing into runs */
	VEC(char *) names;	    /* texts that whys borrow */
};

/* Reads one, whole. Nothing in it is believed. On failure *ret_result is untouched and diag names `name`
 * and what is wrong. -EINVAL: no result, or damaged; -EIO: could not read; -ENOTSUP: of another
 * version. */
int json_result_read(FILE *in, const char *name, struct json_result *ret_result, struct diag *diag);
void json_result_free_members(struct json_result *result);

#endif
