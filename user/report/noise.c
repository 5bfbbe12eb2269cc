/* What went on around the workload, and what the machine is for it: each with its effect on the figures.
 *
 *	wakewhy itself: 2 wakeups and 310 µs of CPU in the window; other processes used 1.2 % of the CPUs,
 *	interrupts 0 %, steal 0.1 %.
 *	! busy machine: others used up to 43 % of the workload's CPUs; sleepers wake more and later, …
 *	Machine: the 4 CPUs used are 2 physical cores, so busy threads slow one another; …
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "model/noise.h"
#include "report/number.h"
#include "report/part.h"

/* CPU times hold part of what was stolen: worth a word long before it makes a window useless. */
#define NOISE_STEAL_TELLING 0.01
/* Windows below this are too short for others' share (docs/metrics.md). */
#define NOISE_SHORT_NS 500e6

/* Sums and worst over the runs of a result. */
struct noise_view {
	size_t runs;	  /* that count: what was measured again is none of them */
	uint64_t wakeups; /* of wakewhy itself */
	double oncpu_ns;
	size_t known;	  /* runs whose shares are */
	bool any_short;   /* some are not because of their length */
	bool any_apart;   /* some used a part of the CPUs only */
	double other_share, used_share, steal_share, irq_share;
};

static void noise_view_add(struct noise_view *view, const struct run *run)
{
	const struct capture *capture = run->capture;
	const struct capture_noise *noise = &capture->noise;

	view->runs++;
	view->wakeups += capture->observer_wakeups;
	view->oncpu_ns += (double)capture->observer_oncpu_ns;
	if (isnan(noise->other_cpu_share) || isnan(noise->used_other_share)) {
		view->any_short |= (double)run->window_ns < NOISE_SHORT_NS;
		return;
	}
	view->known++;
	view->any_apart |= noise->cpus_used < noise->cpus_online;
	view->other_share = fmax(view->other_share, noise->other_cpu_share);
	view->used_share = fmax(view->used_share, noise->used_other_share);
	view->steal_share = fmax(view->steal_share, noise->steal_share);
	view->irq_share = fmax(view->irq_share, noise->irq_share);
}

static void noise_add_others(struct strbuf *text, const struct noise_view *view, size_t n_runs)
{
	char other[NUMBER_BYTES], used[NUMBER_BYTES], steal[NUMBER_BYTES], irq[NUMBER_BYTES];

	if (!view->known) {
		strbuf_printf(text, "what others used is not known%s",
			      view->any_short ? ": the kernel's ticks are too coarse for windows "
						"under half a second"
					      : "");
		return;
	}
	strbuf_printf(text, "other processes used %s%s of the CPUs", n_runs > 1 ? "at most " : "",
		      number_share(other, view->other_share));
	if (view->any_apart)
		strbuf_printf(text, " (%s of the workload's)", number_share(used, view->used_share));
	strbuf_printf(text, ", interrupts %s, steal %s", number_share(irq, view->irq_share),
		      number_share(steal, view->steal_share));
	if (view->known < n_runs)
		strbuf_printf(text, ", as far as known (%zu of %zu runs)", view->known, n_runs);
}

static void noise_add_surroundings(struct report *report, const struct noise_view *view,
				   size_t n_runs)
{
	char wakeups[NUMBER_BYTES], oncpu[UNITS_TEXT_BYTES];
	struct strbuf others = {0};

	noise_add_others(&others, view, n_runs);
	report_add_note(report, NOTE_TEXT, "wakewhy itself: %s wakeup%s and %s of CPU in %s; %s.",
			number_real(wakeups, (double)view->wakeups, 0), view->wakeups == 1 ? "" : "s",
			units_format_duration(oncpu, view->oncpu_ns),
			n_runs > 1 ? "all windows" : "the window", strbuf_text(&others));
	strbuf_free_members(&others);
}

static void noise_add_warnings(struct report *report, const struct noise_view *view)
{
	bool on_ours = view->used_share > NOISE_OTHERS_LIMIT;
	double share = on_ours ? view->used_share : view->other_share;
	char number[NUMBER_BYTES];

	if (share > NOISE_OTHERS_LIMIT)
		report_add_note(
			report, NOTE_WARNING,
			"busy machine: others used up to %s of the %sCPUs; sleepers wake more and "
			"later, and times grow",
			number_share(number, share), on_ours && view->any_apart ? "workload's " : "");
	if (view->steal_share > NOISE_STEAL_TELLING)
		report_add_note(
			report, NOTE_WARNING,
			"stolen time: the hypervisor took up to %s of the CPUs; CPU times hold "
			"part of it",
			number_share(number, view->steal_share));
}

__attribute__((format(printf, 2, 3))) static void noise_add_fact(struct strbuf *text,
								 const char *fmt, ...)
{
	va_list args;

	if (text->n)
		strbuf_add(text, "; ");
	va_start(args, fmt);
	strbuf_vprintf(text, fmt, args);
	va_end(args);
}

static void noise_add_cores(struct strbuf *text, const struct capture_noise *noise)
{
	if (noise->hypervisor)
		noise_add_fact(text, "virtual, so what a core is and when it runs is up to the host");
	if (noise->cores_used && noise->cores_used < noise->cpus_used)
		noise_add_fact(text,
			       "the %u CPUs used are %u physical core%s, so busy threads slow one "
			       "another",
			       noise->cpus_used, noise->cores_used, noise->cores_used == 1 ? "" : "s");
	else if (noise->siblings_shared)
		noise_add_fact(text,
			       "%u of the %u CPUs used %s a core with a sibling, where others slow "
			       "the workload",
			       noise->siblings_shared, noise->cpus_used,
			       noise->siblings_shared == 1 ? "shares" : "share");
	if (noise->numa_nodes > 1)
		noise_add_fact(text, "the CPUs used are on %u NUMA nodes, and memory of another is slower",
			       noise->numa_nodes);
	if (noise->isolated_used)
		noise_add_fact(text, "%u of the %u CPUs used %s isolated from other work",
			       noise->isolated_used, noise->cpus_used,
			       noise->isolated_used == 1 ? "is" : "are");
}

static void noise_add_clocks(struct strbuf *text, const struct capture_noise *noise)
{
	if (noise->governor && *noise->governor)
		noise_add_fact(text, "frequency governor %s%s", noise->governor,
			       strcmp(noise->governor, "performance")
				       ? ", so short and rare work runs at low clocks"
				       : "");
	if (noise->turbo > 0)
		noise_add_fact(text, "turbo on, so clocks depend on heat and on the other cores");
	else if (noise->turbo < 0)
		noise_add_fact(text, "turbo off");
}

/* What the machine is, as far as figures depend on it: the first run's, for one invocation
 * measures on one machine. */
static void noise_add_machine(struct report *report, const struct capture_noise *noise)
{
	struct strbuf text = {0};
	char cpus[NUMBER_BYTES];

	noise_add_cores(&text, noise);
	noise_add_clocks(&text, noise);
	if (noise->quota_cpus > 0)
		noise_add_fact(&text, "its cgroup may use %s CPUs and is held back beyond that",
			       number_real(cpus, noise->quota_cpus, 2));
	if (text.n)
		report_add_note(report, NOTE_TEXT, "Machine: %s.", strbuf_text(&text));
	strbuf_free_members(&text);
}

void noise_build(struct report *report, const struct result *result)
{
	struct noise_view view = {0};

	if (!result->runs.n)
		return;
	/* What others did to a window that was measured again is told beside it, and in no figure. */
	for (size_t i = 0; i < result->runs.n; i++)
		if (!result->runs.items[i].capture->replaced)
			noise_view_add(&view, &result->runs.items[i]);
	noise_add_surroundings(report, &view, view.runs);
	noise_add_warnings(report, &view);
	noise_add_machine(report, &result->runs.items[0].capture->noise);
}
