/* Whether a capture can be trusted: ours against the kernel's own figures, and what was lost. */
#include "model/trust.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturated.h"
#include "base/strbuf.h"
#include "base/units.h"

/* Limits of the differences; docs/metrics.md says where they come from. */
#define ONCPU_LESS_SHARE  0.005
#define ONCPU_LESS_NS	  1e6
#define ONCPU_MORE_SHARE  0.05
#define ONCPU_MORE_NS	  5e6
#define STEAL_TICK_NS	  1e7
#define RUSAGE_LESS_NS	  5e6
#define SWITCHES_SHARE	  0.001
#define SWITCHES_AT_LEAST 2

/* The same stretch of one thread's life as both saw it. */
struct trust_pair {
	uint64_t oncpu_ns_kernel, oncpu_ns_own;
	uint64_t runq_ns, preempted;
	uint64_t switches_kernel, switches_own;
};

static uint64_t trust_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Figures only rise. One that fell is damage: the distance makes it a difference that shows. */
static struct trust_pair trust_pair(const struct wk_thread *t)
{
	uint64_t own_ns = t->count.oncpu_ns - t->edge_ns;

	return (struct trust_pair){
		.oncpu_ns_kernel = trust_distance(t->last.oncpu_ns, t->base.oncpu_ns),
		.oncpu_ns_own = trust_distance(own_ns, t->own_base.oncpu_ns),
		.runq_ns = t->count.runq_ns,
		.preempted = trust_distance(t->count.switches_preempted, t->own_base.preempted),
		.switches_kernel = trust_distance(t->last.voluntary, t->base.voluntary) +
				   trust_distance(t->last.preempted, t->base.preempted),
		.switches_own = trust_distance(t->count.switches_voluntary, t->own_base.voluntary) +
				trust_distance(t->count.switches_preempted, t->own_base.preempted),
	};
}

__attribute__((format(printf, 2, 3))) static void trust_doubt(struct run_trust *trust,
							      const char *fmt, ...)
{
	struct strbuf text = {};
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	*vec_push(&trust->reasons) = strbuf_take(&text);
	trust->ok = false;
}

double trust_allowance_ns(const struct capture *capture)
{
	double share = capture->noise.steal_share + capture->noise.irq_share;
	double window_ns = (double)(capture->end_ns - capture->start_ns);
	/* The kernel shows stolen time in ticks: of each CPU's, a part of one is not seen. */
	double unseen_ns = capture->noise.hypervisor ? STEAL_TICK_NS * capture->noise.cpus_online : 0;

	if (capture->end_ns < capture->start_ns)
		return 0;
	if (!(share > 0))
		return unseen_ns;
	return (share < 1 ? share : 1) * window_ns * capture->noise.cpus_online + unseen_ns;
}

/* The kernel charges a thread that wakes an idle CPU, or preempts another thread, from the moment of its waking,
 * not from its switch-in: it reuses the run queue's clock of that moment (rq_clock_skip_update in its
 * scheduler). So up to the whole run-queue wait may be in its figure and not in ours; and what was left of the
 * interrupt that woke it, soft interrupts included, is missing from the figure of who was preempted. */
static bool trust_oncpu_agrees(const struct trust_pair *pair, double allowance_ns)
{
	double kernel = (double)pair->oncpu_ns_kernel, difference = (double)pair->oncpu_ns_own - kernel;

	return difference >= -(ONCPU_LESS_SHARE * kernel + ONCPU_LESS_NS + (double)pair->runq_ns) &&
	       difference <= ONCPU_MORE_SHARE * kernel + ONCPU_MORE_NS +
				     TRUST_PREEMPTED_NS * (double)pair->preempted + allowance_ns;
}

static void trust_check_thread(struct run_trust *trust, const struct wk_thread *t,
			       const struct trust_pair *pair, double allowance_ns,
			       uint64_t *disagreeing)
{
	char own[UNITS_TEXT_BYTES], kernel[UNITS_TEXT_BYTES];

	if (trust_oncpu_agrees(pair, allowance_ns))
		return;
	/* One thread is named, the others are counted: a thousand sentences help nobody. */
	if ((*disagreeing)++ > 0)
		return;
	units_format_duration(own, (double)pair->oncpu_ns_own);
	units_format_duration(kernel, (double)pair->oncpu_ns_kernel);
	trust_doubt(trust, "on-CPU time of thread %u (%.*s): %s counted, %s by the kernel", t->tid,
		    WK_COMM_BYTES, t->comm, own, kernel);
}

/* Fills the sums; returns the sum of the threads' differences in switches, in which an excess here
 * does not hide a lack there. */
static uint64_t trust_compare_threads(struct run_trust *trust, const struct capture *capture,
				      double allowance_ns)
{
	uint64_t switches_diff = 0, disagreeing = 0;

	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;
		struct trust_pair pair;
		uint64_t diff;

		if (!(t->flags & WK_FLAG_BASED))
			continue;
		pair = trust_pair(t);
		trust->threads_compared++;
		trust->oncpu_ns_kernel += pair.oncpu_ns_kernel;
		trust->oncpu_ns_own += pair.oncpu_ns_own;
		trust->runq_ns = add_saturated(trust->runq_ns, pair.runq_ns);
		trust->preempted = add_saturated(trust->preempted, pair.preempted);
		trust->switches_kernel += pair.switches_kernel;
		trust->switches_own += pair.switches_own;
		diff = trust_distance(pair.oncpu_ns_own, pair.oncpu_ns_kernel);
		if (diff > trust->worst_oncpu_diff_ns)
			trust->worst_oncpu_diff_ns = diff;
		diff = trust_distance(pair.switches_own, pair.switches_kernel);
		if (diff > trust->worst_switches_diff)
			trust->worst_switches_diff = diff;
		switches_diff = add_saturated(switches_diff, diff);
		trust_check_thread(trust, t, &pair, allowance_ns, &disagreeing);
	}
	if (disagreeing > 1)
		trust_doubt(trust, "on-CPU time of %" PRIu64 " more %s differs from the kernel's",
			    disagreeing - 1, disagreeing == 2 ? "thread" : "threads");
	return switches_diff;
}

static void trust_check_sums(struct run_trust *trust, uint64_t switches_diff,
			     double allowance_ns)
{
	char own[UNITS_TEXT_BYTES], kernel[UNITS_TEXT_BYTES];
	double limit = SWITCHES_SHARE * (double)trust->switches_kernel;
	struct trust_pair sum = {.oncpu_ns_own = trust->oncpu_ns_own,
				 .oncpu_ns_kernel = trust->oncpu_ns_kernel,
				 .runq_ns = trust->runq_ns,
				 .preempted = trust->preempted};

	if (!trust_oncpu_agrees(&sum, allowance_ns))
		trust_doubt(trust, "on-CPU time of all threads: %s counted, %s by the kernel",
			    units_format_duration(own, (double)trust->oncpu_ns_own),
			    units_format_duration(kernel, (double)trust->oncpu_ns_kernel));
	if (limit < SWITCHES_AT_LEAST)
		limit = SWITCHES_AT_LEAST;
	if ((double)switches_diff > limit)
		trust_doubt(trust,
			    "context switches: %s counted, %s by the kernel, %" PRIu64
			    " apart when taken thread by thread",
			    units_format_count(own, trust->switches_own),
			    units_format_count(kernel, trust->switches_kernel), switches_diff);
}

/* The kernel's sum over the command and what it waited for. It holds at most what we followed when
 * children are followed and the window is the command's whole life; what ran before its exec is
 * in it as well. */
static void trust_check_rusage(struct run_trust *trust, const struct capture *capture)
{
	double kernel_ns = (double)capture->rusage_oncpu_ns, own_ns = 0, runq_ns = 0;
	char own[UNITS_TEXT_BYTES], kernel[UNITS_TEXT_BYTES];

	if (!capture->rusage_oncpu_ns || capture->partial || capture->exit_status == -1 ||
	    !capture->workload ||
	    (strcmp(capture->workload, "run") != 0 && strcmp(capture->workload, "startup") != 0))
		return;
	for (size_t i = 0; i < capture->threads.n; i++) {
		if (!(capture->threads.items[i].t.flags & WK_FLAG_FOLLOW))
			return;
		own_ns += (double)capture->threads.items[i].t.count.oncpu_ns;
		runq_ns += (double)capture->threads.items[i].t.count.runq_ns;
	}
	if (own_ns < kernel_ns - ONCPU_LESS_SHARE * kernel_ns - RUSAGE_LESS_NS - runq_ns)
		trust_doubt(trust, "on-CPU time of the command: %s counted, %s by its rusage",
			    units_format_duration(own, own_ns),
			    units_format_duration(kernel, kernel_ns));
}

static void trust_check_lost(struct run_trust *trust, const struct capture *capture)
{
	static const char *const sentences[WK_LOST_MAX][2] = {
		[WK_LOST_THREADS] = {"%s thread was not followed, nor what it started: no slot was free "
				     "(--max-threads makes room)",
				     "%s threads were not followed, nor what they started: no slot was free "
				     "(--max-threads makes room)"},
		[WK_LOST_STORAGE] =
			{"%s thread was not followed: the kernel refused task storage",
			 "%s threads were not followed: the kernel refused task storage"},
		[WK_LOST_SYSCALL_TABLES] =
			{"the calls by number of %s dead thread could not be kept",
			 "the calls by number of %s dead threads could not be kept"},
		[WK_LOST_SERIES] = {"%s second fell beyond the end of the per-second series",
				    "%s seconds fell beyond the end of the per-second series"},
		[WK_LOST_EVENTS] = {"%s event was lost: an exec or its arguments may be missing",
				    "%s events were lost: execs or their arguments may be missing"},
		[WK_LOST_CAUSES] = {"%s cause found no room: its wakes are counted as unknown "
				    "(--max-threads makes room)",
				    "%s causes found no room: their wakes are counted as unknown "
				    "(--max-threads makes room)"},
		/* A stack that is missing is told beside the stacks: no figure suffers. */
		[WK_LOST_STACKS] = {NULL},
		[WK_LOST_COPIES] = {NULL},
	};

	for (size_t i = 0; i < WK_LOST_MAX; i++) {
		char count[UNITS_TEXT_BYTES];
		uint64_t n = capture->lost[i];

		if (!n || !sentences[i][0])
			continue;
		trust->lost = add_saturated(trust->lost, n);
		trust_doubt(trust, sentences[i][n != 1], units_format_count(count, n));
	}
}

static void trust_check_misses(struct run_trust *trust, const struct capture *capture)
{
	struct strbuf names = {};

	for (size_t i = 0; i < capture->probes.n; i++) {
		const struct capture_probe *probe = &capture->probes.items[i];

		if (!probe->misses)
			continue;
		trust->misses = add_saturated(trust->misses, probe->misses);
		strbuf_printf(&names, "%s%s %" PRIu64, names.n ? ", " : "",
			      probe->name ? probe->name : "?", probe->misses);
	}
	if (trust->misses)
		trust_doubt(trust, "the kernel skipped %" PRIu64 " %s (%s)", trust->misses,
			    trust->misses == 1 ? "probe run" : "probe runs", strbuf_text(&names));
	strbuf_free_members(&names);
}

/* Requests that failed are no requests served, and may have cost the server more or less. */
static void trust_check_errors(struct run_trust *trust, const struct capture *capture)
{
	char errors[UNITS_TEXT_BYTES], all[UNITS_TEXT_BYTES];

	if (!capture->has_result || !capture->errors)
		return;
	trust_doubt(trust, "%s %s failed or took more than two seconds (%s were answered)",
		    units_format_count(errors, capture->errors),
		    capture->errors == 1 ? "request" : "requests",
		    units_format_count(all, capture->operations));
}

void trust_init(struct run_trust *ret_trust, const struct capture *capture)
{
	double allowance_ns = trust_allowance_ns(capture);
	struct run_trust trust = {.ok = true};
	uint64_t switches_diff;

	trust_check_lost(&trust, capture);
	trust_check_misses(&trust, capture);
	switches_diff = trust_compare_threads(&trust, capture, allowance_ns);
	trust_check_sums(&trust, switches_diff, allowance_ns);
	trust_check_rusage(&trust, capture);
	trust_check_errors(&trust, capture);
	*ret_trust = trust;
}

const char *trust_cannot_see(const struct capture *capture)
{
	if (!capture->step_ns)
		return NULL;
	return "no causes, no system calls, wakeups are voluntary switches, threads that lived shorter than "
	       "a step may be missing";
}

void trust_free_members(struct run_trust *trust)
{
	if (!trust)
		return;
	for (size_t i = 0; i < trust->reasons.n; i++)
		free(trust->reasons.items[i]);
	free(trust->reasons.items);
	memset(trust, 0, sizeof(*trust));
}
