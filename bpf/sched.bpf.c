/* The scheduler's events: who waits, who runs, who sleeps. */

/* Not to be called by switch_out(): 6.1 takes no value of a map from memory that a global function was handed. */
static __noinline void thread_died(struct wk_task *w, __u64 now_ns)
{
	__u32 slot = w->slot_plus_1 - 1;
	struct wk_thread *t = slot_of(w);

	if (!t)
		return;
	if (cfg.count_syscalls && bpf_map_update_elem(&dead_syscalls, &slot, w, BPF_ANY))
		lose(WK_LOST_SYSCALL_TABLES);
	/* Not before: user space takes a slot with an end, and then the table. */
	t->end_ns = now_ns;
	if (__sync_fetch_and_add(&dead_waiting, 1) + 1 == cfg.recycle_at) {
		dead_waiting = 0;
		event_send(WK_EVENT_RECYCLE, slot, now_ns, BPF_RB_FORCE_WAKEUP);
	}
	if (__sync_fetch_and_add(&alive, -1) == 1)
		event_send(WK_EVENT_EMPTY, slot, now_ns, BPF_RB_FORCE_WAKEUP);
}

/* One side of a switch, as read from the task that leaves or comes. */
struct switch_side {
	__u64 now_ns;
	struct wk_kernel kernel;
	__u32 state; /* that it leaves with: enum wk_state */
	__u32 task_state; /* the kernel's: TASK_… */
	__u32 from_idle;
	__u32 reserved;
};

static __always_inline void side_read(struct switch_side *ret_side, struct task_struct *task,
				      __u64 now_ns)
{
	ret_side->now_ns = now_ns;
	ret_side->kernel.oncpu_ns = task->se.sum_exec_runtime;
	ret_side->kernel.voluntary = task->nvcsw;
	ret_side->kernel.preempted = task->nivcsw;
}

static __always_inline __u32 state_left_with(__u32 task_state, int preempt)
{
	if (task_state & TASK_DEAD)
		return WK_STATE_DEAD;
	return task_state && !preempt ? WK_STATE_BLOCKED : WK_STATE_READY;
}

/* The two sides are functions of their own for the verifier: it checks each once, not the one after
 * every path through the other, which made loading five times as long. */
__noinline int switch_out(struct wk_task *w, const struct switch_side *side)
{
	struct account_view v;
	struct wk_thread *t;
	__u64 before_ns;

	if (!w || !side)
		return 0;
	t = slot_of(w);
	if (!t)
		return 0;
	view_take(&v, t);
	if (t->state != WK_STATE_RUNNING)
		missed_in(t, side->now_ns, bpf_get_smp_processor_id(), &side->kernel, &v);
	before_ns = t->count.oncpu_ns;
	account_switch_out(t, side->now_ns, side->state, &side->kernel, &v);
	cause_ran(t, w, t->count.oncpu_ns - before_ns, side->state == WK_STATE_BLOCKED);
	if (side->state == WK_STATE_BLOCKED)
		sleep_note(t, bpf_get_current_task_btf(), side->task_state, side->now_ns);
	return 0;
}

__noinline int switch_in(struct wk_task *w, const struct switch_side *side)
{
	struct ended_sleep sleep;
	struct account_view v;
	struct wk_thread *t;

	if (!w || !side)
		return 0;
	t = slot_of(w);
	if (!t)
		return 0;
	view_take(&v, t);
	if (t->state == WK_STATE_RUNNING) {
		__u64 before_ns = t->count.oncpu_ns;

		account_missed_out(t, side->now_ns, &side->kernel, &v);
		cause_ran(t, w, t->count.oncpu_ns - before_ns, 0);
		if (cfg.stacks)
			t->sleep_stack = 0;
		__sync_fetch_and_add(&inferred, 1);
	}
	sleep_read(&sleep, t, v.start_ns);
	account_switch_in(t, side->now_ns, bpf_get_smp_processor_id(), side->from_idle, &v);
	cause_switch_in(t, &sleep, &v, side->now_ns);
	return 0;
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	struct switch_side side = {};
	struct wk_task *w;
	__u64 now_ns = 0;

	w = task_lookup(prev);
	if (w) {
		now_ns = bpf_ktime_get_ns();
		side_read(&side, prev, now_ns);
		side.task_state = compat_switch_state(ctx, prev);
		side.state = state_left_with(side.task_state, ctx[0] & 1);
		switch_out(w, &side);
		if (cfg.stacks && side.state == WK_STATE_BLOCKED)
			stack_of_sleeper(ctx, w, now_ns);
		if (side.state == WK_STATE_DEAD)
			thread_died(w, now_ns);
	}
	w = task_lookup(next);
	if (w) {
		side_read(&side, next, now_ns ? now_ns : bpf_ktime_get_ns());
		side.from_idle = prev->pid == 0;
		switch_in(w, &side);
	}
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
	if (t->wakings) {
		struct account_view v;

		view_take(&v, t);
		account_waking_again(t, now_ns, &v);
	}
	account_waking(t, now_ns);
	waking_note(t, wakee, now_ns);
	if (cfg.stacks)
		stack_of_waker(ctx, t, wakee, now_ns);
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
