/* What a measurement may come to (--max-…, --baseline), read before it and judged after it. */
#ifndef WAKEWHY_CMD_BUDGET_H
#define WAKEWHY_CMD_BUDGET_H

#include "base/diag.h"
#include "cmd/options.h"
#include "report/excess.h"

struct budget;

/* Reads the file of --baseline, so that nothing is measured in vain. *ret_budget is NULL where the options
 * limit nothing. -EINVAL: the options contradict each other; any other error: why the file cannot
 * be used. */
int budget_open(struct budget **ret_budget, const struct options *options, struct diag *diag);
/* Holds a result against it. NULL: nothing is limited, and ret_excesses is empty. */
void budget_judge(const struct budget *budget, const struct result *result,
		  struct excesses *ret_excesses);
/* Prints a line for each excess, and a warning for each thing that could not be compared. */
void budget_tell(const struct excesses *excesses);
void budget_free(struct budget *budget);

/* The options that set one; a command takes those whose figures it has. */
#define BUDGET_RATES	(OPTION_BIT(OPTION_MAX_WAKEUPS) | OPTION_BIT(OPTION_MAX_CPU))
#define BUDGET_BASELINE (OPTION_BIT(OPTION_BASELINE) | OPTION_BIT(OPTION_TOLERANCE))
#define BUDGET_ALL	(BUDGET_RATES | BUDGET_BASELINE | OPTION_BIT(OPTION_MAX_STARTUP))

#endif
