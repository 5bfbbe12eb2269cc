/* Several recordings as one, to be reported together. */
#ifndef WAKEWHY_REPORT_MERGE_H
#define WAKEWHY_REPORT_MERGE_H

#include "base/diag.h"
#include "model/capture.h"

/* Moves the runs, those without probes too, failures and remarks of `more` behind those of `into` and
 * leaves `more` empty; the seed stays where both have the same. Runs of a label, workload and variant
 * that `into` has already become further repeats. Where the tools differ, `into` names both: every
 * format then shows that the figures come from two places. -EINVAL, with both untouched, when they
 * are of different architectures: system calls would get wrong names. */
int recording_merge(struct recording *into, struct recording *more, struct diag *diag);

#endif
