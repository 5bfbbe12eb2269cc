/* What a measurement may come to (--max-…, --baseline), read before it and judged after it. */
#include "cmd/budget.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/result_file.h"

#define DEFAULT_TOLERANCE 0.05

struct budget {
	struct excess_limits limits;
	struct result_file baseline;
};

static double limit_of(const struct options *options, enum option_id id, double limit)
{
	return options_given(options, id) ? limit : NAN;
}

static int open_baseline(struct budget *budget, const struct options *options, struct diag *diag)
{
	/* -EINVAL is for usage alone. */
	if (result_file_read(options->baseline, &budget->baseline, diag))
		return -EIO;
	budget->limits.baseline = &budget->baseline.result;
	budget->limits.baseline_name = options->baseline;
	budget->limits.tolerance = options_given(options, OPTION_TOLERANCE) ? options->tolerance
									    : DEFAULT_TOLERANCE;
	return 0;
}

int budget_open(struct budget **ret_budget, const struct options *options, struct diag *diag)
{
	struct budget *budget;
	int err = 0;

	*ret_budget = NULL;
	if (options_given(options, OPTION_TOLERANCE) && !options->baseline)
		return diag_set(diag, -EINVAL, "--tolerance goes with --baseline");
	if (!(options->given & BUDGET_ALL))
		return 0;
	budget = mem_zalloc(sizeof(*budget));
	budget->limits = (struct excess_limits){
		.wakeups_per_s = limit_of(options, OPTION_MAX_WAKEUPS, options->max_wakeups),
		.cpu_ms_per_s = limit_of(options, OPTION_MAX_CPU, options->max_cpu),
		.startup_ns = limit_of(options, OPTION_MAX_STARTUP, (double)options->max_startup_ns),
	};
	if (options->baseline)
		err = open_baseline(budget, options, diag);
	if (err)
		budget_free(budget);
	else
		*ret_budget = budget;
	return err;
}

void budget_judge(const struct budget *budget, const struct result *result,
		  struct excesses *ret_excesses)
{
	*ret_excesses = (struct excesses){};
	if (budget)
		excesses_init(ret_excesses, result, &budget->limits);
}

void budget_tell(const struct excesses *excesses)
{
	for (size_t i = 0; i < excesses->all.n; i++) {
		const struct excess *excess = &excesses->all.items[i];

		if (excess->over)
			log_error("over budget: %s", excess->text);
		else
			log_warn("%s", excess->text);
	}
}

void budget_free(struct budget *budget)
{
	if (!budget)
		return;
	result_file_free_members(&budget->baseline);
	free(budget);
}
