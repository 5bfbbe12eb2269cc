/* Whether a capture can be trusted: ours against the kernel's own figures, and what was lost. */
#ifndef WAKEWHY_MODEL_TRUST_H
#define WAKEWHY_MODEL_TRUST_H

#include "model/run.h"

/* The rule is in docs/metrics.md, "Trust". Any capture is accepted. */
void trust_init(struct run_trust *ret_trust, const struct capture *capture);
/* What a capture without probes cannot tell, in words; NULL: it has seen all. Static. */
const char *trust_cannot_see(const struct capture *capture);
void trust_free_members(struct run_trust *trust);

#endif
