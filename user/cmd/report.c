/* wakewhy report: renders saved recordings again. Needs no privileges. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/recording_file.h"
#include "report/merge.h"

static const struct command_usage report_usage = {
	.name = "report",
	.operands = "FILE...",
	.summary = "Render saved recordings again; needs no privileges",
	.details =
		"Several recordings become one report, in the order given; runs of the same label\n"
		"and workload count as repeats. They must be of one architecture. A FILE of - is\n"
		"standard input.\n",
	.examples = "wakewhy report idle.wkw\n"
		    "wakewhy report -f json idle.wkw | jq .summary\n"
		    "wakewhy report startup.wkw idle.wkw hash.wkw -o all.csv\n",
	.accepts = OPTION_BIT(OPTION_ALL_FRAMES) | OPTION_BIT(OPTION_FORMAT) |
		   OPTION_BIT(OPTION_OUTPUT) | BUDGET_ALL,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
};

/* Reads all files into one recording. On failure ret_recording may hold some of them. */
static int report_read_all(const struct options *options, struct recording *ret_recording,
			   struct diag *diag)
{
	for (size_t i = 0; i < options->n_operands; i++) {
		const char *path = options->operands[i];
		struct recording recording = {0};
		struct diag why;
		int err = recording_file_read(path, i ? &recording : ret_recording, diag);

		if (!err && i) {
			err = recording_merge(ret_recording, &recording, &why);
			if (err)
				diag_set(diag, err, "%s cannot join the others: %s", path,
					 why.what);
			recording_free_members(&recording);
		}
		if (err)
			return err;
	}
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct recording recording = {0};
	struct outputs *outputs = NULL;
	struct options options;
	struct diag diag = {0};
	int status, err;

	if (!options_parse(&options, &report_usage, argc, argv, &status))
		goto out;
	err = outputs_open(&outputs, &options, false, &diag);
	if (err == -EINVAL) {
		status = options_usage_error(&report_usage, "%s%s%s", diag.what,
					     *diag.hint ? "; " : "", diag.hint);
		goto out;
	}
	if (!err)
		err = report_read_all(&options, &recording, &diag);
	if (err) {
		log_diag(&diag);
		status = EXIT_FAILED;
		goto out;
	}
	status = outputs_publish(outputs, &recording);
out:
	outputs_free(outputs);
	recording_free_members(&recording);
	options_free_members(&options);
	return status;
}
