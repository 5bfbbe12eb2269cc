/* Pure accounting of one thread: what each scheduler event does to its slot. No map, no helper, no
 * clock: compiled into the probes and, as is, into the unit tests and the reader of slots.
 *
 * Whoever includes this defines series_add() first: it adds to one second of the window.
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
#ifndef ACCOUNT_NOINLINE
#define ACCOUNT_NOINLINE static __attribute__((noinline, unused))
#endif

/* Is a time within the window? False before it is opened (start is WK_NEVER). */
ACCOUNT_INLINE int account_in_window(__u64 now_ns, __u64 start_ns, __u64 end_ns)
{
	return now_ns >= start_ns && now_ns <= end_ns;
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
ACCOUNT_NOINLINE void account_second_roll(struct wk_thread *t, __u64 from_ns, __u64 to_ns,
					  __u64 start_ns, void *series)
{
	__u64 first, last;

	if (t->second_end_ns && from_ns < t->second_end_ns) {
		t->second_oncpu_ns += t->second_end_ns - from_ns;
		from_ns = t->second_end_ns;
	}
	account_second_flush(t, series);

	first = (from_ns - start_ns) / WK_SECOND_NS;
	last = (to_ns - start_ns) / WK_SECOND_NS;
	if (first < last) {
		series_add(series, first, start_ns + (first + 1) * WK_SECOND_NS - from_ns, 0, 0);
		if (last - first > 1) {
			series_add(series, first + 1, 0, 0, 1);
			series_add(series, last, 0, 0, -1);
		}
		t->count.active_seconds += last - first;
		from_ns = start_ns + last * WK_SECOND_NS;
	}
	t->second = last;
	t->second_end_ns = start_ns + (last + 1) * WK_SECOND_NS;
	t->second_oncpu_ns = to_ns - from_ns;
}

/* Adds the part of since_ns..now_ns that lies in the window to the on-CPU time. Returns it. */
ACCOUNT_INLINE __u64 account_oncpu(struct wk_thread *t, __u64 now_ns, __u64 start_ns, __u64 end_ns,
				   void *series)
{
	__u64 from = t->since_ns > start_ns ? t->since_ns : start_ns;
	__u64 to = now_ns < end_ns ? now_ns : end_ns;

	if (to <= from)
		return 0;
	t->count.oncpu_ns += to - from;
	if (to < t->second_end_ns)
		t->second_oncpu_ns += to - from;
	else
		account_second_roll(t, from, to, start_ns, series);
	return to - from;
}

/* Adds the part of ready_ns..now_ns that lies in the window to the run-queue wait. Returns it. */
ACCOUNT_INLINE __u64 account_runq(struct wk_thread *t, __u64 ready_ns, __u64 now_ns, __u64 start_ns,
				  __u64 end_ns)
{
	__u64 from = ready_ns > start_ns ? ready_ns : start_ns;
	__u64 to = now_ns < end_ns ? now_ns : end_ns;

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

/* The thread gets a CPU. Returns 0, or 1 when that does not follow from its state. */
ACCOUNT_INLINE int account_switch_in(struct wk_thread *t, __u64 now_ns, __u32 cpu, int from_idle,
				     __u64 start_ns, __u64 end_ns, void *series)
{
	int counted = account_in_window(now_ns, start_ns, end_ns);
	int unordered = t->state == WK_STATE_RUNNING || t->state == WK_STATE_DEAD;

	if (!unordered && start_ns != WK_NEVER) {
		__u64 wait = account_runq(t, account_ready_since(t, now_ns), now_ns, start_ns,
					  end_ns);

		if (counted) {
			t->count.runq_waits++;
			if (wait > t->count.runq_max_ns)
				t->count.runq_max_ns = wait;
		}
	}
	if (counted) {
		__u32 cancelled = t->wakings;

		if (now_ns >= t->second_end_ns)
			account_second_roll(t, now_ns, now_ns, start_ns, series);
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
		t->count.migrations += t->state != WK_STATE_NEW && cpu != t->cpu;
	}
	t->state = WK_STATE_RUNNING;
	t->since_ns = now_ns;
	t->wakings = 0;
	t->cpu = cpu;
	return unordered && counted;
}

/* The thread leaves its CPU for `to` (BLOCKED, READY or DEAD); `voluntary` is the kernel's own
 * classification, `kernel` its figures now. Returns 0, or 1 when that does not follow from its state. */
ACCOUNT_INLINE int account_switch_out(struct wk_thread *t, __u64 now_ns, enum wk_state to,
				      int voluntary, const struct wk_kernel *kernel,
				      __u64 start_ns, __u64 end_ns, void *series)
{
	int counted = account_in_window(now_ns, start_ns, end_ns);
	int unordered = t->state != WK_STATE_RUNNING;

	if (!unordered && start_ns != WK_NEVER) {
		__u64 ns = account_oncpu(t, now_ns, start_ns, end_ns, series);

		if (!counted)
			t->edge_ns += ns;
	}
	if (counted) {
		if (voluntary)
			t->count.switches_voluntary++;
		else
			t->count.switches_preempted++;
		t->last = *kernel;
		if (!(t->flags & WK_FLAG_BASED)) {
			t->flags |= WK_FLAG_BASED;
			t->base = *kernel;
			t->own_base.oncpu_ns = t->count.oncpu_ns;
			t->own_base.voluntary = t->count.switches_voluntary;
			t->own_base.preempted = t->count.switches_preempted;
		}
	}
	t->state = to;
	t->since_ns = now_ns;
	return unordered && counted;
}

/* Closes the books of a thread at the window's end, for whatever it was doing then. Once. */
ACCOUNT_INLINE void account_settle(struct wk_thread *t, __u64 start_ns, __u64 end_ns, void *series)
{
	if (t->state == WK_STATE_RUNNING)
		t->edge_ns += account_oncpu(t, end_ns, start_ns, end_ns, series);
	else if (t->state != WK_STATE_DEAD)
		account_runq(t, account_ready_since(t, end_ns), end_ns, start_ns, end_ns);
	account_second_flush(t, series);
}

#endif
