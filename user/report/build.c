/* The whole report of a result: doubts first, a part for each workload, trust last. */
#include <string.h>

#include "report/chart.h"
#include "report/excess.h"
#include "report/study.h"

static const char *build_workload(const struct result *result, size_t at)
{
	const char *workload = result->runs.items[at].capture->workload;

	return workload ? workload : "";
}

static bool build_is_first(const struct result *result, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (!strcmp(build_workload(result, i), build_workload(result, at)))
			return false;
	}
	return true;
}

/* Processes of one attach beyond which its threads are shown only where all rows are wanted. */
#define BUILD_MANY_PROCESSES 16

static bool build_has_many_processes(const struct part *part)
{
	return part_is(part, "attach") &&
	       part->groups.items[0].runs.items[0]->processes.n > BUILD_MANY_PROCESSES;
}

/* Not of starts, which have the same few each, and not in a study, which is long without them: JSON
 * and CSV hold them. */
static bool build_wants_threads(const struct part *part, const struct report_options *options)
{
	return !part_is(part, "startup") && (!study_is(part->result) || !options->max_threads);
}

static void build_part(struct report *report, const struct part *part,
		       const struct report_options *options)
{
	heading_build(report, part);
	if (part_is(part, "startup"))
		startup_build(report, part);
	else if (part_is(part, "idle"))
		idle_build(report, part);
	else if (part_is(part, "hash"))
		hash_build(report, part);
	else if (part_is(part, "serve"))
		serve_build(report, part);
	else
		overview_build(report, part);
	verdicts_build(report, part->result, part);
	chart_dots_build(report, part);
	chart_seconds_build(report, part);
	if (part_is(part, "run") || part_is(part, "attach"))
		processes_build(report, part, options->max_threads);
	if (build_has_many_processes(part) && options->max_threads)
		report_add_note(report, NOTE_TEXT,
				"%zu threads in all: -v lists them, JSON and CSV hold them.",
				part->groups.items[0].runs.items[0]->threads.n);
	else if (build_wants_threads(part, options))
		threads_build(report, part, options->max_threads);
	why_build(report, part, options);
	if (part_comparable(part))
		differences_build(report, part, options->max_threads);
	spread_build(report, part);
	chart_spans_build(report, part);
	remarks_build(report, part);
	conduct_build(report, part);
}

void report_build(struct report *ret_report, const struct result *result,
		  const struct report_options *options)
{
	struct report report = {.excesses = options->excesses};

	if (options->excesses)
		excesses_build(&report, options->excesses);
	doubts_build(&report, result);
	disturbed_build(&report, result);
	failures_build(&report, result);
	if (study_is(result))
		study_build(&report, result);
	claims_build(&report, result);
	for (size_t i = 0; i < result->runs.n; i++) {
		struct part part;

		if (!build_is_first(result, i))
			continue;
		part_init(&part, result, build_workload(result, i));
		if (part.groups.n) /* not only windows that were measured again */
			build_part(&report, &part, options);
		part_free_members(&part);
	}
	report.trust_at = report.blocks.n;
	order_build(&report, result);
	trust_build(&report, result);
	if (!report.blocks.n) /* an output that is empty looks like one that failed */
		report_add_note(&report, NOTE_TEXT, "Nothing was measured: there is no run in it.");
	*ret_report = report;
}
