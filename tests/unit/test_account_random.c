/* bpf/account.h against an obvious model: random lives of threads under random windows.
 *
 * The model writes down what truly happened, without a window: the stretches on a CPU, the waits
 * for one, the moments of switching. Afterwards it cuts every stretch with the window and with each
 * of its seconds, one by one, and counts the moments that lie in the window. */
#include "unit.h"

#include <stdbool.h>

#include "account_driver.h"
#include "model/capture.h"

#define SEQUENCES     20000
#define EVENTS_MAX    60
#define LATEST_SECOND 100 /* of a window, all gaps included */

struct stretch {
	__u64 from_ns, to_ns;
};

struct arrival {
	__u64 at_ns, ready_ns;
	enum wk_state from;
	__u32 cancelled;
	bool idle_exit, migration;
};

struct departure {
	__u64 at_ns;
	enum wk_state to;
	struct wk_kernel kernel;
};

/* What truly happened. */
struct history {
	struct stretch oncpu[EVENTS_MAX];
	struct arrival arrivals[EVENTS_MAX];
	struct departure departures[EVENTS_MAX];
	size_t n_oncpu, n_arrivals, n_departures;
	bool on_cpu; /* at the end, since in_ns */
	bool waits;  /* at the end, since ready_ns */
	__u64 in_ns, ready_ns;
	__u32 cancelled; /* since the last arrival */
	bool idle_exits_known; /* whom an untraced switch-in followed is not */
};

/* A life being made up: the subject that the probes see and the history behind it. */
struct life {
	struct subject s;
	struct history h;
	__u64 random;
	__u64 now_ns, start_ns, end_ns;
	bool end_known;	     /* from the start; else from the end on */
	enum wk_state state; /* the true one */
	__u64 since_ns, woken_ns;
	__u32 early, late; /* wakings before and after the switch-out */
	__u32 in_time;	   /* of these, those not after the window's end; the last one's time */
	__u64 in_time_ns;
	__u32 last_cpu;
	bool in_untraced, out_untraced;
};

/* ---- chance -----------------------------------------------------------------------------------
 */

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static __u64 chance(struct life *l)
{
	__u64 z = l->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static __u64 chance_below(struct life *l, __u64 n)
{
	return chance(l) % n;
}

static bool chance_of(struct life *l, unsigned int percent)
{
	return chance_below(l, 100) < percent;
}

/* A later time: often at the very edges, for it is there that mistakes live. */
static void time_pass(struct life *l)
{
	__u64 to_ns = l->now_ns, second;

	switch (chance_below(l, 10)) {
	case 0:
		break;
	case 1:
		to_ns += chance_below(l, 3);
		break;
	case 2:
		to_ns = l->start_ns - 1 + chance_below(l, 3);
		break;
	case 3:
		to_ns = l->end_ns - 1 + chance_below(l, 3);
		break;
	case 4:
	case 5: /* on a second of the window, or beside it */
		second = to_ns > l->start_ns ? (to_ns - l->start_ns) / WK_SECOND_NS : 0;
		second += 1 + (chance_of(l, 20) ? chance_below(l, 12) : 0);
		to_ns = l->start_ns + second * WK_SECOND_NS - 1 + chance_below(l, 3);
		break;
	case 6:
		to_ns += chance_below(l, 2 * WK_SECOND_NS);
		break;
	default:
		to_ns += chance_below(l, 300 * 1000000ULL);
	}
	if (to_ns > l->now_ns)
		l->now_ns = to_ns;
}

/* ---- a life -----------------------------------------------------------------------------------
 */

/* What a probe sees of the window now. */
static void view_now(struct life *l)
{
	bool ended = l->now_ns >= l->end_ns;

	subject_window(&l->s, l->now_ns >= l->start_ns ? l->start_ns : WK_NEVER,
		       l->end_known || ended ? l->end_ns : WK_NEVER);
}

static void life_begin(struct life *l)
{
	static const enum wk_state states[] = {WK_STATE_NEW, WK_STATE_RUNNING, WK_STATE_READY,
					       WK_STATE_BLOCKED};
	static const __u64 lengths_ns[] = {1, WK_SECOND_NS / 2, WK_SECOND_NS, 3 * WK_SECOND_NS};

	l->now_ns = 1 + chance_below(l, 100 * WK_SECOND_NS);
	l->start_ns = l->now_ns + (chance_of(l, 30) ? 0 : chance_below(l, 3 * WK_SECOND_NS));
	if (chance_of(l, 20)) /* born in an open window */
		l->start_ns -= chance_below(l, l->now_ns < WK_SECOND_NS ? l->now_ns : WK_SECOND_NS);
	l->end_ns = l->start_ns + (chance_of(l, 40) ? lengths_ns[chance_below(l, 4)]
						    : chance_below(l, 20 * WK_SECOND_NS));
	l->end_known = chance_of(l, 50);
	l->state = states[chance_below(l, 4)];
	l->since_ns = l->now_ns;
	l->last_cpu = chance_below(l, 3);
	l->h.idle_exits_known = true;
	subject_init(&l->s, l->state, l->now_ns);
	l->s.cpu = l->last_cpu;
	if (chance_of(l, 50))
		l->s.t.cpu = l->last_cpu;
	else
		l->last_cpu = WK_CPU_NONE;
}

static __u64 ready_since(const struct life *l)
{
	if (l->state != WK_STATE_BLOCKED)
		return l->since_ns;
	if (l->late)
		return l->woken_ns;
	return l->early ? l->since_ns : WK_NEVER;
}

static void life_woken(struct life *l)
{
	l->woken_ns = l->now_ns;
	if (l->now_ns <= l->end_ns) {
		l->in_time++;
		l->in_time_ns = l->now_ns;
	}
	subject_waking(&l->s, l->now_ns);
}

/* What was woken in the window and not judged there by a switch-in: all have cancelled a sleep, but one that came to
 * a sleeper. */
static __u32 cancelled_at_end(const struct life *l)
{
	bool ends = l->late ? l->in_time_ns == l->woken_ns : l->in_time_ns >= l->since_ns;

	if (!l->in_time || l->in_time_ns < l->start_ns)
		return 0;
	return l->state == WK_STATE_BLOCKED && ends ? l->in_time - 1 : l->in_time;
}

/* A waking of a thread that runs or is preempted cancels a sleep, unless the thread is out before
 * it takes effect; a thread that is out is woken once. */
static void life_waking(struct life *l)
{
	if (l->state == WK_STATE_NEW || (l->state == WK_STATE_BLOCKED && (l->early || l->late)) ||
	    (l->state == WK_STATE_RUNNING && l->in_untraced))
		return;
	if (l->state == WK_STATE_BLOCKED)
		l->late = 1;
	else
		l->early++;
	life_woken(l);
}

/* After early wakings that all cancelled, a sleeper is woken once more. */
static void life_waking_again(struct life *l)
{
	if (l->state != WK_STATE_BLOCKED || !l->early || l->late)
		return;
	l->late = 1;
	life_woken(l);
}

static void life_in(struct life *l)
{
	__u32 cpu = l->last_cpu, wakings;
	struct arrival *a = &l->h.arrivals[l->h.n_arrivals++];
	int from_idle = chance_of(l, 50);

	if (cpu == WK_CPU_NONE || chance_of(l, 40))
		cpu = chance_below(l, 3);
	l->in_untraced = !l->out_untraced && l->state != WK_STATE_RUNNING && chance_of(l, 10);
	if (l->in_untraced)
		l->h.idle_exits_known = false;
	wakings = l->early + l->late;
	*a = (struct arrival){
		.at_ns = l->now_ns,
		.ready_ns = ready_since(l),
		.from = l->state,
		.cancelled = l->now_ns > l->end_ns ? cancelled_at_end(l)
			     : l->state == WK_STATE_BLOCKED && wakings ? wakings - 1 : wakings,
		.idle_exit = from_idle,
		.migration = l->last_cpu != WK_CPU_NONE && cpu != l->last_cpu,
	};
	if (l->in_untraced) {
		subject_in_untraced(&l->s, l->now_ns);
		l->s.cpu = cpu; /* known when it leaves */
	} else {
		subject_in_on(&l->s, l->now_ns, cpu, from_idle);
	}
	l->state = WK_STATE_RUNNING;
	l->since_ns = l->now_ns;
	l->last_cpu = cpu;
	l->early = l->late = l->in_time = 0;
	l->out_untraced = false;
}

static void life_out(struct life *l)
{
	enum wk_state to = chance_of(l, 60) ? WK_STATE_BLOCKED : WK_STATE_READY;

	if (chance_of(l, 2))
		to = WK_STATE_DEAD;
	l->out_untraced = !l->in_untraced && to != WK_STATE_DEAD && chance_of(l, 10);
	if (l->out_untraced)
		subject_out_untraced(&l->s, l->now_ns, to);
	else
		assert_int_equal(subject_out(&l->s, l->now_ns, to), l->in_untraced);
	l->h.oncpu[l->h.n_oncpu++] = (struct stretch){l->since_ns, l->now_ns};
	l->h.departures[l->h.n_departures++] = (struct departure){l->now_ns, to, l->s.kernel};
	l->state = to;
	l->since_ns = l->now_ns;
	l->in_untraced = false;
}

static void life_step(struct life *l)
{
	time_pass(l);
	view_now(l);
	if (chance_of(l, 30))
		life_waking(l);
	else if (chance_of(l, 10))
		life_waking_again(l);
	else if (l->state == WK_STATE_RUNNING)
		life_out(l);
	else
		life_in(l);
}

/* Closes the books behind the window's end, as the pass over the tasks does. What that pass cannot
 * know is brought to a state that it can: a switch-out that was not traced is found by the next
 * switch-in, a switch-in of a new thread by its switch-out. */
static void life_end(struct life *l)
{
	if (l->now_ns < l->end_ns)
		l->now_ns = l->end_ns;
	view_now(l);
	if (l->state == WK_STATE_RUNNING && l->in_untraced && l->s.t.state == WK_STATE_NEW)
		life_out(l);
	if (l->out_untraced)
		life_in(l);
	if (l->state == WK_STATE_RUNNING && l->in_untraced) {
		struct wk_kernel kernel = l->s.kernel;

		kernel.oncpu_ns += l->now_ns - l->since_ns;
		account_missed_in(&l->s.t, l->now_ns, l->last_cpu, &kernel, &l->s.view);
	}
	l->h.on_cpu = l->state == WK_STATE_RUNNING;
	l->h.in_ns = l->since_ns;
	/* Whether early wakings alone have ended the last sleep only its end would show: they have
	 * not, unless one of them came in the very nanosecond. */
	l->h.waits = l->state == WK_STATE_NEW || l->state == WK_STATE_READY ||
		     (l->state == WK_STATE_BLOCKED &&
		      (l->late || (l->early && l->woken_ns == l->since_ns)));
	l->h.ready_ns = ready_since(l);
	l->h.cancelled = cancelled_at_end(l);
	subject_settle(&l->s);
}

/* ---- what the history means under the window ---------------------------------------------------
 */

struct answer {
	struct wk_counters count;
	__u64 edge_ns;
	__u64 oncpu_ns[SERIES_SECONDS], wakeups[SERIES_SECONDS];
	bool based;
	struct wk_kernel base, own_base, last;
	struct wk_spans spans;
};

static __u64 cut(__u64 from_ns, __u64 to_ns, __u64 low_ns, __u64 high_ns)
{
	__u64 from = from_ns > low_ns ? from_ns : low_ns, to = to_ns < high_ns ? to_ns : high_ns;

	return to > from ? to - from : 0;
}

/* The highest bucket that begins at ns or below. */
static void answer_span(__u64 *spans, __u64 ns)
{
	__u32 bucket = WK_SPAN_BUCKETS - 1;

	while (span_low_ns(bucket) > ns)
		bucket--;
	spans[bucket]++;
}

static void answer_oncpu(struct answer *a, const struct life *l, struct stretch run)
{
	__u64 ns = cut(run.from_ns, run.to_ns, l->start_ns, l->end_ns);

	a->count.oncpu_ns += ns;
	if (run.to_ns > l->end_ns)
		a->edge_ns += ns;
	/* A stretch of nothing counts where its switch does, but not as one that the end has cut. */
	if (run.to_ns > l->end_ns ? ns > 0 : run.to_ns >= l->start_ns)
		answer_span(a->spans.oncpu, ns);
	for (size_t i = 0; i < SERIES_SECONDS; i++) {
		__u64 low_ns = l->start_ns + i * WK_SECOND_NS, high_ns = low_ns + WK_SECOND_NS;

		if (high_ns > l->end_ns)
			high_ns = l->end_ns;
		a->oncpu_ns[i] += cut(run.from_ns, run.to_ns, low_ns, high_ns);
	}
}

static void answer_arrival(struct answer *a, const struct life *l, const struct arrival *in)
{
	__u64 wait_ns =
		in->ready_ns == WK_NEVER ? 0 : cut(in->ready_ns, in->at_ns, l->start_ns, l->end_ns);

	a->count.runq_ns += wait_ns;
	if (in->at_ns < l->start_ns)
		return;
	a->count.cancelled_sleeps += in->cancelled;
	if (in->at_ns > l->end_ns)
		return;
	a->count.runq_waits++;
	answer_span(a->spans.runq, wait_ns);
	if (wait_ns > a->count.runq_max_ns)
		a->count.runq_max_ns = wait_ns;
	a->count.starts += in->from == WK_STATE_NEW;
	a->count.idle_exits += in->idle_exit;
	a->count.migrations += in->migration;
	if (in->from == WK_STATE_BLOCKED) {
		a->count.wakeups++;
		a->wakeups[(in->at_ns - l->start_ns) / WK_SECOND_NS]++;
	}
}

/* Called in order: the first one in the window is the base. */
static void answer_departure(struct answer *a, const struct life *l, const struct departure *out)
{
	bool in_window = out->at_ns >= l->start_ns && out->at_ns <= l->end_ns;

	if (out->at_ns <= l->end_ns)
		a->last = out->kernel;
	if (!in_window)
		return;
	if (out->to == WK_STATE_READY)
		a->count.switches_preempted++;
	else
		a->count.switches_voluntary++;
	if (a->based)
		return;
	a->based = true;
	a->base = out->kernel;
	a->own_base.voluntary = a->count.switches_voluntary;
	a->own_base.preempted = a->count.switches_preempted;
	for (size_t i = 0; i < l->h.n_oncpu && l->h.oncpu[i].to_ns <= out->at_ns; i++)
		a->own_base.oncpu_ns +=
			cut(l->h.oncpu[i].from_ns, l->h.oncpu[i].to_ns, l->start_ns, l->end_ns);
}

static void answer_find(struct answer *a, const struct life *l)
{
	memset(a, 0, sizeof(*a));
	a->last = (struct wk_kernel){.oncpu_ns = 7777, .voluntary = 70, .preempted = 30};
	for (size_t i = 0; i < l->h.n_oncpu; i++)
		answer_oncpu(a, l, l->h.oncpu[i]);
	if (l->h.on_cpu)
		answer_oncpu(a, l, (struct stretch){l->h.in_ns, WK_NEVER});
	for (size_t i = 0; i < l->h.n_arrivals; i++)
		answer_arrival(a, l, &l->h.arrivals[i]);
	a->count.cancelled_sleeps += l->h.cancelled;
	if (l->h.waits)
		a->count.runq_ns += cut(l->h.ready_ns, WK_NEVER, l->start_ns, l->end_ns);
	for (size_t i = 0; i < l->h.n_departures; i++)
		answer_departure(a, l, &l->h.departures[i]);
	for (size_t i = 0; i < SERIES_SECONDS; i++)
		a->count.active_seconds += a->oncpu_ns[i] > 0;
}

/* ---- comparison --------------------------------------------------------------------------------
 */

static void compare(unsigned int sequence, const char *what, __u64 have, __u64 want)
{
	if (have != want)
		fail_msg("sequence %u: %s is %llu, should be %llu", sequence, what, have, want);
}

static void compare_counts(unsigned int sequence, const struct wk_counters *have,
			   const struct wk_counters *want)
{
	static const char *const names[] = {
		"wakeups",
		"cancelled_sleeps",
		"starts",
		"oncpu_ns",
		"runq_ns",
		"runq_waits",
		"runq_max_ns",
		"switches_voluntary",
		"switches_preempted",
		"idle_exits",
		"migrations",
		"syscalls",
		"syscalls_compat",
		"syscalls_invalid",
		"active_seconds",
	};
	const __u64 *h = (const __u64 *)have, *w = (const __u64 *)want;

	_Static_assert(sizeof(names) / sizeof(names[0]) * 8 == sizeof(*have), "all of them");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		compare(sequence, names[i], h[i], w[i]);
}

static void compare_kernel(unsigned int sequence, const char *what, const struct wk_kernel *have,
			   const struct wk_kernel *want)
{
	compare(sequence, what, have->oncpu_ns, want->oncpu_ns);
	compare(sequence, what, have->voluntary, want->voluntary);
	compare(sequence, what, have->preempted, want->preempted);
}

/* Ours and the kernel's figures agree between the first and the last switch-out of the window: what
 * every report checks. */
static void compare_with_kernel(unsigned int sequence, const struct wk_thread *t)
{
	if (!(t->flags & WK_FLAG_BASED))
		return;
	compare(sequence, "on-CPU time beside the kernel's",
		t->count.oncpu_ns - t->edge_ns - t->own_base.oncpu_ns,
		t->last.oncpu_ns - t->base.oncpu_ns);
	compare(sequence, "voluntary switches beside the kernel's",
		t->count.switches_voluntary - t->own_base.voluntary,
		t->last.voluntary - t->base.voluntary);
	compare(sequence, "preempted switches beside the kernel's",
		t->count.switches_preempted - t->own_base.preempted,
		t->last.preempted - t->base.preempted);
}

static void compare_spans(unsigned int sequence, const struct life *l, const struct answer *a)
{
	const struct wk_spans *have = &l->s.series.spans;
	const struct wk_counters *count = &l->s.t.count;
	__u64 oncpu = 0, runq = 0;

	for (size_t i = 0; i < WK_SPAN_BUCKETS; i++) {
		compare(sequence, "a bucket of stretches", have->oncpu[i], a->spans.oncpu[i]);
		compare(sequence, "a bucket of waits", have->runq[i], a->spans.runq[i]);
		oncpu += have->oncpu[i];
		runq += have->runq[i];
	}
	compare(sequence, "stretches", oncpu,
		count->switches_voluntary + count->switches_preempted + !!l->s.t.edge_ns);
	compare(sequence, "waits", runq, count->runq_waits);
}

static void compare_life(unsigned int sequence, const struct life *l)
{
	const struct wk_thread *t = &l->s.t;
	struct answer a;

	answer_find(&a, l);
	if (!l->h.idle_exits_known)
		a.count.idle_exits = t->count.idle_exits;
	compare_counts(sequence, &t->count, &a.count);
	compare(sequence, "edge_ns", t->edge_ns, a.edge_ns);
	for (size_t i = 0; i < SERIES_SECONDS; i++) {
		compare(sequence, "a second's oncpu_ns", series_oncpu_ns(&l->s.series, i),
			a.oncpu_ns[i]);
		compare(sequence, "a second's wakeups", l->s.series.seconds[i].wakeups,
			a.wakeups[i]);
	}
	compare(sequence, "based", !!(t->flags & WK_FLAG_BASED), a.based);
	compare_kernel(sequence, "base", &t->base, &a.base);
	compare_kernel(sequence, "own_base", &t->own_base, &a.own_base);
	compare_kernel(sequence, "last", &t->last, &a.last);
	compare_with_kernel(sequence, t);
	compare_spans(sequence, l, &a);
}

/* What the sequences went through: a generator that avoids the hard cases would prove nothing. */
struct coverage {
	unsigned int wakeups, cancelled, starts, waits, edges, long_runs, inferred, based, empty;
};

static void coverage_add(struct coverage *c, const struct life *l)
{
	const struct wk_counters *n = &l->s.t.count;

	c->wakeups += n->wakeups > 0;
	c->cancelled += n->cancelled_sleeps > 0;
	c->starts += n->starts > 0;
	c->waits += n->runq_ns > 0;
	c->edges += l->s.t.edge_ns > 0;
	c->long_runs += n->active_seconds > 3;
	c->inferred += !l->h.idle_exits_known;
	c->based += !!(l->s.t.flags & WK_FLAG_BASED);
	c->empty += n->oncpu_ns == 0;
}

static void figures_equal_those_of_an_obvious_model(void **state)
{
	struct coverage c = {};

	(void)state;
	for (unsigned int sequence = 0; sequence < SEQUENCES; sequence++) {
		struct life l = {.random = sequence};
		__u64 steps = 1 + chance_below(&l, EVENTS_MAX - 4);

		life_begin(&l);
		while (steps-- && l.state != WK_STATE_DEAD &&
		       l.now_ns < l.start_ns + LATEST_SECOND * WK_SECOND_NS)
			life_step(&l);
		life_end(&l);
		compare_life(sequence, &l);
		coverage_add(&c, &l);
	}
	assert_true(c.wakeups > SEQUENCES / 4 && c.cancelled > SEQUENCES / 10);
	assert_true(c.starts > SEQUENCES / 50 && c.waits > SEQUENCES / 4);
	assert_true(c.edges > SEQUENCES / 10 && c.long_runs > SEQUENCES / 20);
	assert_true(c.inferred > SEQUENCES / 10 && c.based > SEQUENCES / 4);
	assert_true(c.empty > SEQUENCES / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_equal_those_of_an_obvious_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
