/* What the figures of the known subjects must be. */
#ifndef WAKEWHY_CMD_SELFTEST_CHECKS_H
#define WAKEWHY_CMD_SELFTEST_CHECKS_H

#include "model/why.h"
#include "report/selftest.h"
#include "runtime/selftest.h"

/* Adds the figures of a subject that has done its work to result. */
void selftest_check_subject(struct selftest_result *result, enum selftest_id id,
			    const struct selftest_told *told, const struct run *run,
			    const struct why *why);
/* Adds those of the measurement as a whole. */
void selftest_check_run(struct selftest_result *result, const struct run *run, const struct why *why);

#endif
