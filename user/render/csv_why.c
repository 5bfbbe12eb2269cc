/* Formats csv-causes, csv-series and csv-timeline: why threads woke, and when. */
#include <math.h>

#include "render/csv.h"
#include "render/formats.h"

/* ---- causes ---------------------------------------------------------------------------------- */

/* How a cause is called: CAUSE_HEADS; empty for NULL. */
static void csv_cause_name(struct csv *csv, const struct why_cause *cause)
{
	csv_thread(csv, cause ? cause->thread : NULL);
	csv_text(csv, cause ? cause->rule->id : NULL);
	csv_text(csv, cause ? cause->mechanism : NULL);
	csv_text(csv, cause ? cause->text : NULL);
}
#define CAUSE_HEADS CSV_THREAD_HEADS ",cause,mechanism,text"

static void csv_cause(struct csv *csv, const struct why_cause *cause)
{
	const struct why_period *period = &cause->period;

	csv_cause_name(csv, cause);
	csv_whole(csv, cause->wakeups);
	csv_whole(csv, cause->chained_wakeups);
	csv_whole(csv, cause->root_wakeups);
	csv_whole(csv, cause->oncpu_ns);
	csv_whole(csv, cause->root_oncpu_ns);
	csv_whole(csv, cause->runq_ns);
	csv_whole(csv, cause->sleep_ns);
	csv_whole(csv, cause->futile);
	csv_real(csv, period->known ? period->period_ns : NAN);
	csv_real(csv, period->known ? period->jitter_ns : NAN);
	csv_whole_or_empty(csv, cause->timeout_ns);
	csv_thread(csv, cause->waker);
}

int csv_causes_render(FILE *out, const struct result *result, const struct report *report,
		      const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, CSV_RUN_HEADS ",window_ns," CAUSE_HEADS
				      ",wakeups,chained_wakeups,root_wakeups,oncpu_ns,root_oncpu_ns,"
				      "runq_ns,sleep_ns,futile,period_ns,jitter_ns,"
				      "requested_timeout_ns,waker_pid,waker_tid,waker_thread");
	csv_end_row(&csv);
	for (size_t i = 0; i < result->whys.n; i++) {
		const struct run *run = &result->runs.items[i];
		const struct why *why = &result->whys.items[i];

		for (size_t j = 0; j < why->causes.n; j++) {
			csv_run(&csv, run->capture);
			csv_whole(&csv, run->window_ns);
			csv_cause(&csv, &why->causes.items[j]);
			csv_end_row(&csv);
		}
	}
	return render_finish(out, diag);
}

/* ---- seconds --------------------------------------------------------------------------------- */

int csv_series_render(FILE *out, const struct result *result, const struct report *report,
		      const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};
	uint64_t oncpu_ns, wakeups;

	(void)report;
	(void)style;
	csv_heads(&csv, CSV_RUN_HEADS ",second,oncpu_ns,wakeups");
	csv_end_row(&csv);
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		for (size_t j = 0; run_second(run, j, &oncpu_ns, &wakeups); j++) {
			csv_run(&csv, run->capture);
			csv_whole(&csv, j);
			csv_whole(&csv, oncpu_ns);
			csv_whole(&csv, wakeups);
			csv_end_row(&csv);
		}
	}
	return render_finish(out, diag);
}

/* ---- timeline -------------------------------------------------------------------------------- */

static const struct why_cause *csv_cause_of(const struct why *why, uint32_t number)
{
	size_t row = why_row_of(why, number);

	return row == SIZE_MAX ? NULL : &why->causes.items[row];
}

/* A wake that came before the window by the clock of its CPU is put at its beginning. */
static uint64_t csv_after_start_ns(const struct capture *capture, uint64_t time_ns)
{
	return time_ns > capture->start_ns ? time_ns - capture->start_ns : 0;
}

int csv_timeline_render(FILE *out, const struct result *result, const struct report *report,
			const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, CSV_RUN_HEADS ",at_ns," CAUSE_HEADS ",root_pid,root_tid,root_thread,"
				      "root_cause,root_mechanism,root_text");
	csv_end_row(&csv);
	for (size_t i = 0; i < result->whys.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;
		const struct why *why = &result->whys.items[i];

		for (size_t j = 0; j < capture->timeline.n; j++) {
			const struct wk_wake_event *event = &capture->timeline.items[j];

			csv_run(&csv, capture);
			csv_whole(&csv, csv_after_start_ns(capture, event->time_ns));
			csv_cause_name(&csv, csv_cause_of(why, event->cause));
			csv_cause_name(&csv, csv_cause_of(why, event->root));
			csv_end_row(&csv);
		}
	}
	return render_finish(out, diag);
}
