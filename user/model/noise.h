/* Was a window quiet enough to be believed? */
#ifndef WAKEWHY_MODEL_NOISE_H
#define WAKEWHY_MODEL_NOISE_H

#include "model/capture.h"

/* Limits above which a window counts as disturbed; docs/method.md states them. */
#define NOISE_OTHERS_LIMIT 0.10 /* others' share of the CPUs that the workload was allowed on */
#define NOISE_STEAL_LIMIT  0.05

/* What disturbed it, in words ("others used 43 % of its CPUs (limit 10 %)"; several joined by "; "),
 * or NULL when nothing was above its limit. Throttling and suspension always disturb. The caller
 * frees. */
char *noise_disturbance(const struct capture_noise *noise);

#endif
