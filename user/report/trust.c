/* How far the figures can be believed: doubts at the top, the account of it at the end.
 *
 *	trusted: kernel's own CPU time within 0.2 %, switches equal, nothing lost; probes cost 31
 *µs/s
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "model/trust.h"
#include "report/number.h"
#include "report/part.h"

/* Below this, a percentage of CPU time says less than the difference itself. */
#define TRUST_SHORT_NS 10e6
/* A difference that wants a word. */
#define TRUST_TELLING 0.01
/* Runs named one by one before the rest is only counted. */
#define TRUST_DOUBTS 5

/* Worst and sums over the runs of a result. */
struct trust_view {
	uint64_t threads_compared;
	bool any_long, any_short;
	double long_share; /* worst difference as a share, of runs with TRUST_SHORT_NS or more */
	double short_ns;   /* worst difference of the others */
	bool waits;	   /* a difference that the wait for a CPU explains: see docs/metrics.md */
	uint64_t switches, switches_apart;
	uint64_t lost[WK_LOST_MAX], lost_all;
	uint64_t misses;
	uint64_t inferred;
	bool probed, stepped; /* some run was counted by probes, read from /proc */
	bool timed;
	double probes_ns, timed_ns; /* spent in probes, in windows of that length */
};

static void trust_view_add(struct trust_view *view, const struct run *run)
{
	const struct run_trust *trust = &run->trust;
	const struct capture *capture = run->capture;
	double kernel_ns = (double)trust->oncpu_ns_kernel;
	double apart_ns = fabs((double)trust->oncpu_ns_own - kernel_ns);

	view->threads_compared += trust->threads_compared;
	if (trust->threads_compared && kernel_ns >= TRUST_SHORT_NS) {
		view->any_long = true;
		view->long_share = fmax(view->long_share, apart_ns / kernel_ns);
	} else if (trust->threads_compared) {
		view->any_short = true;
		view->short_ns = fmax(view->short_ns, apart_ns);
	}
	if (trust->oncpu_ns_own < trust->oncpu_ns_kernel && apart_ns > TRUST_TELLING * kernel_ns &&
	    apart_ns <= (double)trust->runq_ns)
		view->waits = true;
	view->switches += trust->switches_kernel;
	view->switches_apart += trust->switches_own > trust->switches_kernel
					? trust->switches_own - trust->switches_kernel
					: trust->switches_kernel - trust->switches_own;
	for (size_t i = 0; i < WK_LOST_MAX; i++)
		view->lost[i] += capture->lost[i];
	view->lost_all += trust->lost;
	view->misses += trust->misses;
	view->inferred += capture->inferred_switches;
	view->probed |= !capture->step_ns;
	view->stepped |= capture->step_ns != 0;
	if (capture->probes_timed) {
		view->timed = true;
		view->timed_ns += (double)run->window_ns;
		for (size_t i = 0; i < capture->probes.n; i++)
			view->probes_ns += (double)capture->probes.items[i].ns;
	}
}

static void trust_add_cpu(struct strbuf *text, const struct trust_view *view)
{
	char number[UNITS_TEXT_BYTES], share[NUMBER_BYTES];

	if (view->stepped && !view->probed) {
		strbuf_add(text, "the figures are the kernel's own; those of threads that lived shorter "
				 "than a step may be missing");
		return;
	}
	if (!view->threads_compared) {
		strbuf_add(text, "no thread ran long enough to be held against the kernel's own "
				 "figures");
		return;
	}
	strbuf_add(text, "kernel's own CPU time ");
	if (view->any_long)
		strbuf_printf(text, "within %s", number_share(share, view->long_share));
	if (view->any_long && view->any_short)
		strbuf_add(text, ", ");
	if (view->any_short)
		strbuf_printf(text, "within %s%s", units_format_duration(number, view->short_ns),
			      view->any_long ? " where it is under 10 ms" : "");
	if (view->waits)
		strbuf_add(text, " (it charges a thread that wakes an idle CPU part of its wait)");
}

static void trust_add_switches(struct strbuf *text, const struct trust_view *view)
{
	char apart[NUMBER_BYTES], all[NUMBER_BYTES];

	if (!view->threads_compared)
		return;
	if (!view->switches_apart)
		strbuf_add(text, ", switches equal");
	else
		strbuf_printf(text, ", switches differ by %s of %s",
			      number_real(apart, (double)view->switches_apart, 0),
			      number_real(all, (double)view->switches, 0));
	if (view->inferred)
		strbuf_printf(text, " (%s that the kernel did not trace taken from its accounting)",
			      number_real(apart, (double)view->inferred, 0));
}

static void trust_add_losses(struct strbuf *text, const struct trust_view *view)
{
	char number[NUMBER_BYTES];

	if (!view->lost_all && !view->lost[WK_LOST_STACKS] && !view->misses) {
		strbuf_add(text, ", nothing lost");
		return;
	}
	for (size_t i = 0; i < WK_LOST_MAX; i++) {
		if (view->lost[i] && i != WK_LOST_COPIES) /* they have stacks */
			strbuf_printf(text, ", lost %s %s", capture_lost_name(i),
				      number_real(number, (double)view->lost[i], 0));
	}
	if (view->misses)
		strbuf_printf(text, ", %s probe runs skipped",
			      number_real(number, (double)view->misses, 0));
}

static void trust_add_cost(struct strbuf *text, const struct trust_view *view)
{
	char cost[UNITS_TEXT_BYTES];

	if (view->timed && view->timed_ns > 0)
		strbuf_printf(
			text, "; probes cost %s/s",
			units_format_duration(cost, view->probes_ns / (view->timed_ns / 1e9)));
}

void trust_build(struct report *report, const struct result *result)
{
	struct trust_view view = {0};
	struct strbuf text = {0};

	if (!result->runs.n)
		return;
	for (size_t i = 0; i < result->runs.n; i++)
		if (!result->runs.items[i].capture->replaced)
			trust_view_add(&view, &result->runs.items[i]);
	strbuf_add(&text, result->trusted ? "trusted: " : "not trusted (see above): ");
	trust_add_cpu(&text, &view);
	trust_add_switches(&text, &view);
	trust_add_losses(&text, &view);
	trust_add_cost(&text, &view);
	report_add_note(report, result->trusted ? NOTE_TRUST_OK : NOTE_WARNING, "%s",
			strbuf_text(&text));
	strbuf_free_members(&text);
	noise_build(report, result);
}

/* What could not be seen, before any figure. */
static void steps_build(struct report *report, const struct result *result)
{
	char step[UNITS_TEXT_BYTES], number[NUMBER_BYTES];
	const char *cannot_see = "";
	uint64_t step_ns = 0, ends = 0;
	size_t n = 0;

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;

		if (!capture->step_ns)
			continue;
		n++;
		cannot_see = trust_cannot_see(capture);
		ends += capture->unseen_ends;
		step_ns = capture->step_ns > step_ns ? capture->step_ns : step_ns;
	}
	if (!n)
		return;
	units_format_duration_plain(step, (double)step_ns);
	report_add_note(report, NOTE_WARNING,
			"measured from /proc in steps of %s%s: %s", step,
			n < result->runs.n ? ", in part" : "", cannot_see);
	if (ends)
		report_add_note(report, NOTE_WARNING,
				"%s thread%s ended between two steps: what %s did in the last of them, at most %s each, "
				"is missing", number_real(number, (double)ends, 0), ends == 1 ? "" : "s",
				ends == 1 ? "it" : "they", step);
}

/* One doubtful run in a line: which, and every reason. */
static void doubts_add(struct report *report, const struct run *run)
{
	const struct capture *capture = run->capture;
	struct strbuf text = {0};

	strbuf_printf(&text, "not trusted: %s of %s", capture->workload ? capture->workload : "",
		      capture->label ? capture->label : "");
	if (capture->variant)
		strbuf_printf(&text, " %s", capture->variant);
	if (capture->repeat)
		strbuf_printf(&text, " (run %" PRIu64 ")", (uint64_t)capture->repeat + 1);
	for (size_t i = 0; i < run->trust.reasons.n; i++)
		strbuf_printf(&text, "%s %s", i ? ";" : ":", run->trust.reasons.items[i]);
	report_add_note(report, NOTE_WARNING, "%s", strbuf_text(&text));
	strbuf_free_members(&text);
}

void doubts_build(struct report *report, const struct result *result)
{
	size_t doubtful = 0;

	steps_build(report, result);
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		if (run->trust.ok || run->capture->replaced)
			continue;
		if (doubtful++ < TRUST_DOUBTS)
			doubts_add(report, run);
	}
	if (doubtful > TRUST_DOUBTS)
		report_add_note(report, NOTE_WARNING,
				"not trusted: %zu more of %zu runs; JSON has the reasons of each",
				doubtful - TRUST_DOUBTS, result->runs.n);
}
