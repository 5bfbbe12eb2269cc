/* The scheduler's events: who waits, who runs, who sleeps. */

static __noinline void thread_died(struct wk_task *w, struct wk_thread *t, __u64 now_ns)
{
	__u32 slot = w->slot_plus_1 - 1;

	t->end_ns = now_ns;
	if (cfg.count_syscalls && bpf_map_update_elem(&dead_syscalls, &slot, w, BPF_ANY))
		lose(WK_LOST_SYSCALL_TABLES);
	if (__sync_fetch_and_add(&dead_waiting, 1) + 1 == cfg.recycle_at) {
		dead_waiting = 0;
		event_send(WK_EVENT_RECYCLE, slot, now_ns, BPF_RB_FORCE_WAKEUP);
	}
	if (__sync_fetch_and_add(&alive, -1) == 1)
		event_send(WK_EVENT_EMPTY, slot, now_ns, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void kernel_read(struct wk_kernel *kernel, struct task_struct *task)
{
	kernel->oncpu_ns = task->se.sum_exec_runtime;
	kernel->voluntary = task->nvcsw;
	kernel->preempted = task->nivcsw;
}

static __always_inline void switch_out(struct wk_task *w, struct task_struct *prev, int preempt,
				       __u32 state, __u64 now_ns)
{
	struct wk_thread *t = slot_of(w);
	enum wk_state to = WK_STATE_READY;
	struct account_view v;
	struct wk_kernel kernel;
	__u64 before_ns;

	if (!t)
		return;
	if (state & TASK_DEAD)
		to = WK_STATE_DEAD;
	else if (state && !preempt)
		to = WK_STATE_BLOCKED;
	kernel_read(&kernel, prev);
	view_take(&v, t);
	before_ns = t->count.oncpu_ns;
	if (account_switch_out(t, now_ns, bpf_get_smp_processor_id(), to, &kernel, &v))
		__sync_fetch_and_add(&inferred, 1);
	cause_ran(t, w, t->count.oncpu_ns - before_ns, to == WK_STATE_BLOCKED);
	if (to == WK_STATE_BLOCKED)
		sleep_note(t, prev, state, now_ns);
	if (to == WK_STATE_DEAD)
		thread_died(w, t, now_ns);
}

static __noinline void missed_out(struct wk_thread *t, struct task_struct *next, __u64 now_ns)
{
	struct account_view v;
	struct wk_kernel kernel;

	if (!t || !next)
		return;
	kernel_read(&kernel, next);
	view_take(&v, t);
	account_missed_out(t, now_ns, &kernel, &v);
	__sync_fetch_and_add(&inferred, 1);
}

static __always_inline void switch_in(struct wk_task *w, struct task_struct *next, int from_idle,
				      __u64 now_ns)
{
	struct wk_thread *t = slot_of(w);
	struct account_view v;
	struct ended_sleep sleep;
	__u64 before_ns, from_ns;
	__u32 state;

	if (!t)
		return;
	if (t->state == WK_STATE_RUNNING)
		missed_out(t, next, now_ns);
	view_take(&v, t);
	state = t->state;
	sleep.wakings = t->wakings;
	from_ns = t->since_ns > v.start_ns ? t->since_ns : v.start_ns;
	before_ns = t->count.runq_ns;
	account_switch_in(t, now_ns, bpf_get_smp_processor_id(), from_idle, &v);
	if (state == WK_STATE_BLOCKED) {
		sleep.wait_ns = t->count.runq_ns - before_ns;
		sleep.sleep_ns = now_ns - from_ns - sleep.wait_ns;
		cause_wakeup(t, &sleep, account_in_window(now_ns, &v), now_ns);
	} else if (state == WK_STATE_NEW)
		cause_first(t, WK_CONTEXT_BIRTH);
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	struct wk_task *w;
	__u64 now_ns = 0;

	w = task_lookup(prev);
	if (w) {
		now_ns = bpf_ktime_get_ns();
		switch_out(w, prev, ctx[0] & 1, compat_switch_state(ctx, prev), now_ns);
	}
	w = task_lookup(next);
	if (w)
		switch_in(w, next, prev->pid == 0, now_ns ? now_ns : bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *wakee)
{
	struct wk_thread *t = thread_lookup(wakee);
	__u64 now_ns;

	if (!t)
		return 0;
	now_ns = bpf_ktime_get_ns();
	account_waking(t, now_ns);
	waking_note(t, wakee, now_ns);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *child)
{
	struct wk_thread *t = thread_lookup(child);

	if (t && t->state == WK_STATE_NEW)
		t->since_ns = bpf_ktime_get_ns();
	return 0;
}
