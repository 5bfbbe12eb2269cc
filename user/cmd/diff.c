/* wakewhy diff: which causes make the difference between two recordings. Needs no privileges. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/recording_file.h"
#include "report/diff.h"

static const struct command_usage diff_usage = {
	.name = "diff",
	.operands = "A B",
	.summary = "Explain the difference between two recordings, cause by cause",
	.details = "B is told against A. What has the same label, workload and variant is set side "
		   "by\n"
		   "side; recordings of one run each are, whatever they are of. Causes are matched "
		   "by\n"
		   "thread, mechanism and period; the shares add up to the difference. A or B may "
		   "be -,\n"
		   "standard input. Formats are text and json.\n",
	.examples =
		"wakewhy diff before.wkw after.wkw\n"
		"wakewhy diff -f json before.wkw after.wkw | jq '.rows[] | select(.share > 0.1)'\n",
	.accepts = OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_OUTPUT),
	.min_operands = 2,
	.max_operands = 2,
};

/* Two recordings, as they are read and as they are told. */
struct diff_work {
	struct recording base, other;
	struct result base_result, other_result;
	struct diff diff;
	struct report report;
};

static bool diff_is_json(const struct format *format)
{
	return !strcmp(format->name, "json");
}

/* Formats that a difference has; any is fine where the name of a file says none. */
static bool diff_takes(const struct format *format)
{
	return !format || diff_is_json(format) || !strcmp(format->name, "text");
}

static bool diff_takes_all(const struct options *options)
{
	bool fine = diff_takes(options->format);

	for (size_t i = 0; i < options->outputs.n; i++)
		fine &= diff_takes(format_of_file(options->outputs.items[i]));
	return fine;
}

static int diff_render(FILE *out, const struct format *format, const struct render_style *style,
		       const void *what, struct diag *diag)
{
	const struct diff_work *work = what;

	if (diff_is_json(format))
		return render_diff_json(out, &work->diff, diag);
	return render_report_text(out, &work->report, style, diag);
}

/* The file's own name: directories say little and take room. Both whole where they are the same. */
static const char *diff_name(const char *path, const char *beside)
{
	const char *a = strrchr(path, '/'), *b = strrchr(beside, '/');

	a = a ? a + 1 : path;
	b = b ? b + 1 : beside;
	return strcmp(a, b) ? a : path;
}

static int diff_compare(struct diff_work *work, struct outputs *outputs, char **paths)
{
	struct diag diag = {0};
	int status;

	result_init(&work->base_result, &work->base);
	result_init(&work->other_result, &work->other);
	if (diff_init(&work->diff, &work->base_result, diff_name(paths[0], paths[1]),
		      &work->other_result, diff_name(paths[1], paths[0]), &diag)) {
		log_diag(&diag);
		return EXIT_FAILED;
	}
	diff_build(&work->report, &work->diff, outputs_max_threads(outputs));
	status = outputs_write(outputs, diff_render, work);
	if (!status && !(work->base_result.trusted && work->other_result.trusted))
		status = EXIT_NOT_TRUSTED;
	return status;
}

static int diff_run(struct diff_work *work, struct outputs *outputs, char **paths)
{
	struct diag diag = {0};
	int err = recording_file_read(paths[0], &work->base, &diag);

	if (!err)
		err = recording_file_read(paths[1], &work->other, &diag);
	if (err) {
		log_diag(&diag);
		return EXIT_FAILED;
	}
	return diff_compare(work, outputs, paths);
}

static void diff_work_free_members(struct diff_work *work)
{
	report_free_members(&work->report);
	diff_free_members(&work->diff);
	result_free_members(&work->base_result);
	result_free_members(&work->other_result);
	recording_free_members(&work->base);
	recording_free_members(&work->other);
}

int cmd_diff(int argc, char **argv)
{
	struct diff_work work = {0};
	struct outputs *outputs = NULL;
	struct options options;
	struct diag diag = {0};
	int status, err;

	if (!options_parse(&options, &diff_usage, argc, argv, &status))
		goto out;
	if (!diff_takes_all(&options)) {
		status = options_usage_error(&diff_usage, "its formats are text and json");
		goto out;
	}
	err = outputs_open(&outputs, &options, false, &diag);
	if (err == -EINVAL) {
		status = options_usage_error(&diff_usage, "%s%s%s", diag.what,
					     *diag.hint ? "; " : "", diag.hint);
	} else if (err) {
		log_diag(&diag);
		status = EXIT_FAILED;
	} else {
		status = diff_run(&work, outputs, options.operands);
	}
out:
	outputs_free(outputs);
	diff_work_free_members(&work);
	options_free_members(&options);
	return status;
}
