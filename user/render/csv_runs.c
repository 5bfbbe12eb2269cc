/* Formats csv-runs, csv-summary, csv-comparisons and csv-bare: a row for each run, and what repeats
 * come to. */
#include <math.h>

#include "render/csv.h"
#include "render/formats.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* What every run has, before its counters. */
static void csv_run_state(struct csv *csv, const struct run *run)
{
	const struct capture *capture = run->capture;

	csv_run(csv, capture);
	csv_yes_no(csv, run->trust.ok);
	csv_yes_no(csv, capture->partial);
	csv_text(csv, capture->disturbed);
	csv_yes_no(csv, capture->replaced);
	csv_text(csv, capture->not_comparable);
	csv_whole(csv, capture->start_ns);
	csv_whole(csv, run->window_ns);
	csv_whole_or_empty(csv, capture->settle_ns);
	csv_whole_or_empty(csv, capture->outer_ns);
}
#define STATE_HEADS                                                                                \
	CSV_RUN_HEADS ",trusted,partial,disturbed,replaced,not_comparable,start_ns,window_ns,"     \
		      "settle_ns,outer_ns"

/* What only some workloads have, behind its counters. */
static void csv_run_workload(struct csv *csv, const struct run *run)
{
	const struct capture *capture = run->capture;
	const struct capture_startup *startup = &capture->startup;

	if (startup->present) {
		csv_whole_or_empty(csv, startup->exec_to_first_output_ns);
		csv_whole(csv, startup->exec_to_exit_ns);
		csv_whole(csv, startup->minor_faults);
		csv_whole(csv, startup->major_faults);
		csv_whole(csv, startup->max_rss_bytes);
	} else {
		for (int i = 0; i < 5; i++)
			csv_empty(csv);
	}
	if (capture->has_result) {
		csv_whole(csv, capture->operations);
		csv_whole(csv, capture->errors);
	} else {
		csv_empty(csv);
		csv_empty(csv);
	}
	csv_whole_or_empty(csv, capture->has_memory ? capture->rss_start_bytes : 0);
	csv_whole_or_empty(csv, capture->has_memory ? capture->pss_start_bytes : 0);
	csv_whole_or_empty(csv, capture->has_memory ? capture->rss_bytes : 0);
	csv_whole_or_empty(csv, capture->has_memory ? capture->pss_bytes : 0);
}
#define WORKLOAD_HEADS                                                                             \
	"exec_to_first_output_ns,exec_to_exit_ns,minor_faults,major_faults,max_rss_bytes,"         \
	"operations,errors,rss_start_bytes,pss_start_bytes,rss_bytes,pss_bytes"

/* Where it ran, and who else did. */
static void csv_run_place(struct csv *csv, const struct capture *capture)
{
	const struct capture_runtime *runtime = &capture->runtime;

	csv_text(csv, runtime->present ? runtime->family : NULL);
	csv_text(csv, runtime->present ? runtime->version : NULL);
	csv_text(csv, runtime->present ? runtime->path : NULL);
	csv_whole_or_empty(csv, runtime->present ? runtime->size_bytes : 0);
	csv_real(csv, capture->noise.other_cpu_share);
	csv_real(csv, capture->noise.used_other_share);
	csv_real(csv, capture->noise.steal_share);
}
#define PLACE_HEADS "family,version,path,size_bytes,other_cpu_share,used_other_share,steal_share"

int csv_runs_render(FILE *out, const struct result *result, const struct report *report,
		    const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, STATE_HEADS);
	csv_counter_heads(&csv);
	csv_heads(&csv, WORKLOAD_HEADS "," PLACE_HEADS);
	csv_end_row(&csv);
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		csv_run_state(&csv, run);
		csv_counters(&csv, &run->totals, run->capture);
		csv_run_workload(&csv, run);
		csv_run_place(&csv, run->capture);
		csv_end_row(&csv);
	}
	return render_finish(out, diag);
}

/* ---- summary --------------------------------------------------------------------------------- */

int csv_summary_render(FILE *out, const struct result *result, const struct report *report,
		       const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, "workload,label,variant,metric,unit,n,median,min,max,q1,q3");
	csv_end_row(&csv);
	for (size_t i = 0; i < result->summaries.n; i++) {
		const struct result_summary *summary = &result->summaries.items[i];

		csv_text(&csv, summary->workload);
		csv_text(&csv, summary->label);
		csv_text(&csv, summary->variant);
		csv_text(&csv, summary->metric->id);
		csv_text(&csv, summary->metric->unit);
		csv_whole(&csv, summary->stat.n);
		csv_real(&csv, summary->stat.median);
		csv_real(&csv, summary->stat.min);
		csv_real(&csv, summary->stat.max);
		csv_real(&csv, summary->stat.q1);
		csv_real(&csv, summary->stat.q3);
		csv_end_row(&csv);
	}
	return render_finish(out, diag);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

int csv_comparisons_render(FILE *out, const struct result *result, const struct report *report,
			   const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, "workload,base,other,variant,metric,ratio,ci_low,ci_high,verdict,method,"
			"n_base,n_other,from,reason");
	csv_end_row(&csv);
	for (size_t i = 0; i < result->comparisons.n; i++) {
		const struct result_comparison *comparison = &result->comparisons.items[i];
		const struct stat_ratio *ratio = &comparison->ratio;

		csv_text(&csv, comparison->workload);
		csv_text(&csv, comparison->base);
		csv_text(&csv, comparison->other);
		csv_text(&csv, comparison->variant);
		csv_text(&csv, comparison->metric->id);
		csv_real(&csv, ratio->ratio);
		csv_real(&csv, ratio->has_interval ? ratio->ci_low : NAN);
		csv_real(&csv, ratio->has_interval ? ratio->ci_high : NAN);
		csv_text(&csv, stat_verdict_name(ratio->verdict));
		csv_text(&csv, ratio->has_interval ? stat_method_name(ratio->method) : NULL);
		csv_whole(&csv, comparison->n_base);
		csv_whole(&csv, comparison->n_other);
		csv_text(&csv, comparison->from_bare ? "bare" : "probed");
		csv_text(&csv, comparison->reason);
		csv_end_row(&csv);
	}
	return render_finish(out, diag);
}

/* ---- runs without probes --------------------------------------------------------------------- */

int csv_bare_render(FILE *out, const struct result *result, const struct report *report,
		    const struct render_style *style, struct diag *diag)
{
	const struct recording *recording = result->recording;
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, CSV_RUN_HEADS ",outer_ns,operations");
	csv_end_row(&csv);
	for (size_t i = 0; i < recording->bare.n; i++) {
		const struct capture_bare *bare = &recording->bare.items[i];

		csv_text(&csv, bare->workload);
		csv_text(&csv, bare->label);
		csv_text(&csv, bare->variant);
		csv_whole(&csv, bare->repeat);
		csv_whole(&csv, bare->outer_ns);
		csv_whole_or_empty(&csv, bare->operations);
		csv_end_row(&csv);
	}
	return render_finish(out, diag);
}
