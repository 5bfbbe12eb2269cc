/* wakewhy diff: which causes make the difference between two results. Needs no privileges. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/result_file.h"
#include "report/diff.h"

static const struct command_usage diff_usage = {
	.name = "diff",
	.operands = "A B",
	.summary = "Explain the difference between two recordings or results, cause by cause",
	.details =
		"A and B are recordings (.wkw), or results in JSON. B is told against A. What has the\n"
		"same label, workload and variant is set side by side; files of one run each are,\n"
		"whatever they are of. Causes are matched by thread, mechanism and period; the shares\n"
		"add up to the difference. A or B may be -, standard input. Formats are text, markdown\n"
		"and json.\n",
	.examples =
		"wakewhy diff before.wkw after.wkw\n"
		"wakewhy diff -f json before.wkw after.json | jq '.rows[] | select(.share > 0.1)'\n",
	.accepts = OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_OUTPUT),
	.min_operands = 2,
	.max_operands = 2,
};

/* Two results, as they are read and as they are told. */
struct diff_work {
	struct result_file base, other;
	struct diff diff;
	struct report report;
};

static bool diff_is(const struct format *format, const char *name)
{
	return !strcmp(format->name, name);
}

static int diff_render(FILE *out, const struct format *format, const struct render_style *style,
		       const void *what, struct diag *diag)
{
	const struct diff_work *work = what;

	if (diff_is(format, "json"))
		return render_diff_json(out, &work->diff, diag);
	if (diff_is(format, "markdown"))
		return render_report_markdown(out, &work->report, diag);
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
	const struct result *base = &work->base.result, *other = &work->other.result;
	struct diag diag = {0};
	int status;

	if (diff_init(&work->diff, base, diff_name(paths[0], paths[1]), other,
		      diff_name(paths[1], paths[0]), &diag)) {
		log_diag(&diag);
		return EXIT_FAILED;
	}
	diff_build(&work->report, &work->diff, outputs_max_threads(outputs));
	status = outputs_write(outputs, diff_render, work);
	if (!status && !(base->trusted && other->trusted))
		status = EXIT_NOT_TRUSTED;
	return status;
}

static int diff_run(struct diff_work *work, struct outputs *outputs, char **paths)
{
	struct diag diag = {0};
	int err = result_file_read(paths[0], &work->base, &diag);

	if (!err)
		err = result_file_read(paths[1], &work->other, &diag);
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
	result_file_free_members(&work->base);
	result_file_free_members(&work->other);
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
	if (!outputs_of_report(&options)) {
		status = options_usage_error(&diff_usage, "its formats are text, markdown and json");
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
