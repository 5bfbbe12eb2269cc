/* Whether a capture can be trusted: ours against the kernel's own figures, and what was lost. */
#ifndef WAKEWHY_MODEL_TRUST_H
#define WAKEWHY_MODEL_TRUST_H

#include "model/run.h"

/* The rule is in docs/metrics.md, "Trust". Any capture is accepted. */
void trust_init(struct run_trust *ret_trust, const struct capture *capture);
/* What a capture without probes cannot tell, in words; NULL: it has seen all. Static. */
const char *trust_cannot_see(const struct capture *capture);
void trust_free_members(struct run_trust *trust);

/* What a preemption shifts at most between the kernel's figure of a thread's on-CPU time and ours. */
#define TRUST_PREEMPTED_NS 5e4
/* ns of interrupts and stolen time that are in our figures and may be missing from the kernel's. At worst all that
 * the machine had of them in the capture's window fell on one thread. */
double trust_allowance_ns(const struct capture *capture);

#endif
