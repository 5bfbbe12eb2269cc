/* Pure accounting of one thread: what each scheduler event does to its slot. No map, no helper, no
 * clock: compiled into the probes and, as is, into the unit tests and the reader of slots.
 *
 * Whoever includes this defines two functions first: series_add() adds to one second of the window,
 * span_add() counts a stretch on a CPU (runq 0) or a wait for one (runq 1) in a bucket of the
 * histograms. Both get the view's `series`.
 *
 * A thread's states and what moves it between them:
 *
 *	NEW ──switch_in──▶ RUNNING ──switch_out──▶ BLOCKED | READY ──switch_in──▶ RUNNING … DEAD
 *
 * A waking may come while the thread is still on its CPU. If the thread then leaves the CPU
 * blocked and returns with no other waking, that early one ended the sleep (it came after the
 * thread was dequeued and before the switch was traced); if another follows, or if the thread left
 * the CPU runnable, the early one cancelled a sleep. So wakings are only counted here, and judged
 * at the next switch-in.
 */
#ifndef WAKEWHY_ACCOUNT_H
#define WAKEWHY_ACCOUNT_H

#include "bpf/abi.h"

#ifndef ACCOUNT_INLINE
#define ACCOUNT_INLINE static inline __attribute__((always_inline, unused))
#endif
/* What is rare: the probes make these functions that the verifier checks once, on their own,
 * instead of along every path that calls them. Such functions return a number. */
#ifndef ACCOUNT_RARE
#define ACCOUNT_RARE static __attribute__((noinline, unused)) int
#endif

/* The window as one event sees it, and where its seconds and spans are added up. */
struct account_view {
	__u64 start_ns;
	__u64 end_ns;
	void *series;
};

/* `step`, where v has bits above its lowest `step` ones, else 0: a step of a logarithm. Arithmetic alone,
 * for branches would make dozens of paths of every switch for the verifier to go; the empty asm keeps the
 * compiler from making branches of it. */
ACCOUNT_INLINE __u32 account_log2_step(__u32 v, __u32 step)
{
	__u64 below = (1ULL << step) - 1 - v; /* its highest bit is set where v is larger */

	asm("" : "+r"(below));
	return (below >> 63) * step;
}

/* The bucket of struct wk_spans that a length falls into. */
ACCOUNT_INLINE __u32 account_span_bucket(__u64 ns)
{
	__u32 v = ns >> 7, log = 0;

	/* Rare: minutes, which v does not hold. */
	if (ns >> 39)
		return ns >> 38 >= 3 ? WK_SPAN_BUCKETS - 1 : WK_SPAN_BUCKETS - 2;
	for (__u32 step = 16; step; step /= 2)
		log += account_log2_step(v >> log, step);
	/* v lies between 2^log and twice that; the bit below the highest tells its half. */
	return log ? 2 * (log - 1) + (v >> (log - 1) & 1) : 0;
}

/* Is a time within the window? False before it is opened (start is WK_NEVER). */
ACCOUNT_INLINE int account_in_window(__u64 now_ns, const struct account_view *v)
{
	return now_ns >= v->start_ns && now_ns <= v->end_ns;
}

ACCOUNT_INLINE void account_second_flush(struct wk_thread *t, void *series)
{
	if (!t->second_end_ns)
		return;
	if (t->second_oncpu_ns || t->second_wakeups)
		series_add(series, t->second, t->second_oncpu_ns, t->second_wakeups, 0);
	if (t->second_oncpu_ns)
		t->count.active_seconds++;
	t->second_oncpu_ns = 0;
	t->second_wakeups = 0;
}

/* Moves the thread's current second on to the one that holds to_ns, when to_ns lies beyond it.
 * from_ns..to_ns was spent on CPU (empty at a switch-in). At most once a second for each thread. */
ACCOUNT_RARE account_second_roll(struct wk_thread *t, __u64 from_ns, __u64 to_ns,
				 const struct account_view *v)
{
	__u64 first, last;

	if (!t || !v)
		return 0;
	if (t->second_end_ns && from_ns < t->second_end_ns) {
		t->second_oncpu_ns += t->second_end_ns - from_ns;
		from_ns = t->second_end_ns;
	}
	account_second_flush(t, v->series);

	first = (from_ns - v->start_ns) / WK_SECOND_NS;
	last = (to_ns - v->start_ns) / WK_SECOND_NS;
	if (first < last) {
		series_add(v->series, first, v->start_ns + (first + 1) * WK_SECOND_NS - from_ns, 0,
			   0);
		if (last - first > 1) {
			series_add(v->series, first + 1, 0, 0, 1);
			series_add(v->series, last, 0, 0, -1);
		}
		t->count.active_seconds += last - first;
		from_ns = v->start_ns + last * WK_SECOND_NS;
	}
	t->second = last;
	t->second_end_ns = v->start_ns + (last + 1) * WK_SECOND_NS;
	t->second_oncpu_ns = to_ns - from_ns;
	return 0;
}

/* Adds the part of since_ns..now_ns that lies in the window to the on-CPU time. Returns it. */
ACCOUNT_INLINE __u64 account_oncpu(struct wk_thread *t, __u64 now_ns, const struct account_view *v)
{
	__u64 from = t->since_ns > v->start_ns ? t->since_ns : v->start_ns;
	__u64 to = now_ns < v->end_ns ? now_ns : v->end_ns;

	if (to <= from)
		return 0;
	t->count.oncpu_ns += to - from;
	if (to < t->second_end_ns)
		t->second_oncpu_ns += to - from;
	else
		account_second_roll(t, from, to, v);
	return to - from;
}

/* Adds the part of ready_ns..now_ns that lies in the window to the run-queue wait. Returns it. */
ACCOUNT_INLINE __u64 account_runq(struct wk_thread *t, __u64 ready_ns, __u64 now_ns,
				  const struct account_view *v)
{
	__u64 from = ready_ns > v->start_ns ? ready_ns : v->start_ns;
	__u64 to = now_ns < v->end_ns ? now_ns : v->end_ns;

	if (to <= from)
		return 0;
	t->count.runq_ns += to - from;
	return to - from;
}

/* Since when the thread has been waiting to run; now_ns where no waking was seen. */
ACCOUNT_INLINE __u64 account_ready_since(const struct wk_thread *t, __u64 now_ns)
{
	if (t->state != WK_STATE_BLOCKED)
		return t->since_ns;
	if (!t->wakings)
		return now_ns;
	return t->wake_ns > t->since_ns ? t->wake_ns : t->since_ns;
}

/* A waking of this thread (sched_waking), whatever it is doing. */
ACCOUNT_INLINE void account_waking(struct wk_thread *t, __u64 now_ns)
{
	t->wake_ns = now_ns;
	t->wakings++;
}

/* So many wakings since the last switch-in have cancelled sleeps, if the last of them lies in the window. */
ACCOUNT_INLINE void account_cancelled(struct wk_thread *t, __u32 cancelled, const struct account_view *v)
{
	if (!cancelled || t->wake_ns < v->start_ns || t->wake_ns > v->end_ns)
		return;
	t->count.cancelled_sleeps += cancelled;
	t->wakings -= cancelled;
}

/* Where no switch-in in the window judges them: the thread runs to the window's end, or to its own. Of a sleeper, the
 * last one ends its sleep, when it gets a CPU. */
ACCOUNT_INLINE void account_cancelled_settle(struct wk_thread *t, const struct account_view *v)
{
	__u32 ends = t->state == WK_STATE_BLOCKED && t->wake_ns >= t->since_ns;

	if (t->wakings)
		account_cancelled(t, t->wakings - ends, v);
}

/* Comes before a waking on top of others: none of them has ended a sleep, and those in the window must not be
 * mixed with those behind it. */
ACCOUNT_INLINE void account_waking_again(struct wk_thread *t, __u64 now_ns, const struct account_view *v)
{
	if (now_ns > v->end_ns)
		account_cancelled(t, t->wakings, v);
}

/* The thread gets a CPU. When it was on one already as far as we know, account_missed_out() comes
 * first. */
ACCOUNT_INLINE void account_switch_in(struct wk_thread *t, __u64 now_ns, __u32 cpu, int from_idle,
				      const struct account_view *v)
{
	int counted = account_in_window(now_ns, v);

	if (v->start_ns != WK_NEVER) {
		__u64 wait = account_runq(t, account_ready_since(t, now_ns), now_ns, v);

		if (counted) {
			t->count.runq_waits++;
			span_add(v->series, 1, account_span_bucket(wait));
			if (wait > t->count.runq_max_ns)
				t->count.runq_max_ns = wait;
		}
	}
	if (counted) {
		__u32 cancelled = t->wakings;

		if (now_ns >= t->second_end_ns)
			account_second_roll(t, now_ns, now_ns, v);
		if (t->state == WK_STATE_BLOCKED) {
			t->count.wakeups++;
			t->second_wakeups++;
			if (cancelled)
				cancelled--;
		} else if (t->state == WK_STATE_NEW) {
			t->count.starts++;
		}
		t->count.cancelled_sleeps += cancelled;
		t->count.idle_exits += !!from_idle;
		t->count.migrations += t->cpu != WK_CPU_NONE && cpu != t->cpu;
	} else if (t->wakings) {
		account_cancelled_settle(t, v);
	}
	t->state = WK_STATE_RUNNING;
	t->since_ns = now_ns;
	t->wakings = 0;
	t->cpu = cpu;
}

/* The thread leaves its CPU for `to` (BLOCKED, READY or DEAD); `kernel` holds the kernel's figures
 * now. When it was on none as far as we know, account_missed_in() comes first. */
ACCOUNT_INLINE void account_switch_out(struct wk_thread *t, __u64 now_ns, enum wk_state to,
					    const struct wk_kernel *kernel,
					    const struct account_view *v)
{
	__u64 ns = 0;

	if (v->start_ns != WK_NEVER) {
		ns = account_oncpu(t, now_ns, v);
		if (now_ns > v->end_ns)
			t->edge_ns += ns;
	}
	if (account_in_window(now_ns, v)) {
		span_add(v->series, 0, account_span_bucket(ns));
		if (to != WK_STATE_READY)
			t->count.switches_voluntary++;
		else
			t->count.switches_preempted++;
		if (!(t->flags & WK_FLAG_BASED)) {
			t->flags |= WK_FLAG_BASED;
			t->base = *kernel;
			t->own_base.oncpu_ns = t->count.oncpu_ns;
			t->own_base.voluntary = t->count.switches_voluntary;
			t->own_base.preempted = t->count.switches_preempted;
		}
	}
	if (now_ns <= v->end_ns)
		t->last = *kernel;
	t->state = to;
	t->since_ns = now_ns;
}

/* On-CPU time by the kernel's accounting since the last switch-out that was seen. */
ACCOUNT_INLINE __u64 account_kernel_ran(const struct wk_thread *t, const struct wk_kernel *kernel)
{
	return kernel->oncpu_ns > t->last.oncpu_ns ? kernel->oncpu_ns - t->last.oncpu_ns : 0;
}

/* The thread is on a CPU, but its switch-in was not traced: some kernels trace no switch away from
 * certain tasks, so the thread that follows such a task appears from nowhere. The kernel's own
 * accounting says how long it has run, hence when that was. */
ACCOUNT_RARE account_missed_in(struct wk_thread *t, __u64 now_ns, __u32 cpu,
			       const struct wk_kernel *kernel, const struct account_view *v)
{
	__u64 in_ns;

	if (!t || !kernel || !v)
		return 0;
	in_ns = now_ns - account_kernel_ran(t, kernel);
	if (in_ns < t->since_ns || in_ns > now_ns)
		in_ns = t->since_ns;
	/* A sleeper cannot have run before it was woken. Of several wakings the last one may have come
	 * while it ran already, and one that was preempted needs none. */
	if (t->state == WK_STATE_BLOCKED && t->wakings == 1 && in_ns < t->wake_ns &&
	    t->wake_ns < now_ns)
		in_ns = t->wake_ns;
	account_switch_in(t, in_ns, cpu, 0, v);
	return 0;
}

/* The thread is about to get a CPU, but was on one as far as we know: its switch-out was not
 * traced. The kernel's accounting, in `kernel`, says how long it had run and in which way it left.
 */
ACCOUNT_RARE account_missed_out(struct wk_thread *t, __u64 now_ns, const struct wk_kernel *kernel,
				const struct account_view *v)
{
	enum wk_state to;
	__u64 out_ns;

	if (!t || !kernel || !v)
		return 0;
	to = kernel->voluntary > t->last.voluntary ? WK_STATE_BLOCKED : WK_STATE_READY;
	out_ns = t->since_ns + account_kernel_ran(t, kernel);
	account_switch_out(t, out_ns < now_ns ? out_ns : now_ns, to, kernel, v);
	return 0;
}

/* Does the thread wait to run, as far as can be known before it does? Of a sleeper, only a waking
 * since it left the CPU says so: an earlier one has most likely cancelled a sleep before this one. */
ACCOUNT_INLINE int account_is_ready(const struct wk_thread *t)
{
	if (t->state == WK_STATE_BLOCKED)
		return t->wakings && t->wake_ns >= t->since_ns;
	return t->state == WK_STATE_READY || t->state == WK_STATE_NEW;
}

/* Closes the books of a thread at the window's end, for whatever it was doing then. Once. A stretch
 * that the end has cut is entered here alone, however late the thread left its CPU: the probes go on,
 * and nobody could tell whether they had entered it already. A wait that the end has cut is in no
 * histogram, just as it is not in runq_waits. */
ACCOUNT_INLINE void account_settle(struct wk_thread *t, const struct account_view *v)
{
	if (t->state == WK_STATE_RUNNING)
		t->edge_ns += account_oncpu(t, v->end_ns, v);
	else if (account_is_ready(t))
		account_runq(t, account_ready_since(t, v->end_ns), v->end_ns, v);
	account_cancelled_settle(t, v);
	if (t->edge_ns)
		span_add(v->series, 0, account_span_bucket(t->edge_ns));
	account_second_flush(t, v->series);
}

#endif
