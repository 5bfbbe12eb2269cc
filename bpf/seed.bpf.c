/* One pass over all tasks: to begin with those that live already, and to read and forget in the end.
 *
 * A task may switch between the look at its fields and the moment its slot is known to the probes.
 * User space therefore makes a second pass over what the first one found: a thread that no probe has
 * touched since has not switched since, so a second look at its fields is right. */

struct wk_seed seed = {};

static __always_inline void namespace_learn(void)
{
	struct pid *pid;

	if (ns_inum)
		return;
	pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
	ns_level = BPF_CORE_READ(pid, level);
	if (ns_level > 32)
		ns_level = 32;
	{
		struct upid *upid = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				    (__u64)ns_level * bpf_core_type_size(struct upid);

		ns_inum = BPF_CORE_READ(upid, ns, ns.inum);
	}
}

static __always_inline int seed_matches(struct task_struct *task, __u32 *ret_group, __u32 *ret_flags)
{
	__u32 pid = pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
	__u32 *group;

	*ret_flags = (cfg.follow ? WK_FLAG_FOLLOW : 0) | WK_FLAG_SEEDED;
	*ret_group = 0;
	if (!pid && !cfg.all)
		return 0;
	if (seed.mode == WK_SEED_GATED) {
		*ret_group = seed.group;
		*ret_flags |= WK_FLAG_GATED | WK_FLAG_FIRST;
		return pid == seed.pid;
	}
	group = bpf_map_lookup_elem(&targets, &pid);
	if (group) {
		*ret_group = *group;
		return 1;
	}
	return task_matches(task);
}

static __always_inline void seed_task(struct task_struct *task, __u64 now_ns)
{
	struct wk_thread *t = thread_lookup(task);
	__u32 group, flags, state;

	if (t) {
		/* The second look: see above. */
		if ((t->flags & WK_FLAG_SEEDED) && t->seed_ns == t->since_ns) {
			state = task_state_now(task);
			if (t->seed_ns == t->since_ns)
				t->state = state;
		}
		return;
	}
	if (!seed_matches(task, &group, &flags))
		return;
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		flags |= WK_FLAG_KTHREAD;
	if (thread_follow(task, group, flags, task_state_now(task), now_ns))
		__sync_fetch_and_add(&seed.followed, 1);
}

/* A thread that runs though no probe saw it begin (see account_missed_in): put right here, because
 * no switch-out will do it before the books are closed. The kernel's accounting of a running thread
 * is at most a tick old. */
static __always_inline void settle_task(struct task_struct *task, struct wk_task *w, __u64 now_ns)
{
	struct wk_thread *t = slot_of(w);
	struct wk_kernel kernel = {};
	struct account_view v;

	if (!t || (t->state != WK_STATE_READY && t->state != WK_STATE_BLOCKED) ||
	    !BPF_CORE_READ(task, on_cpu))
		return;
	kernel.oncpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	view_take(&v, t);
	missed_in(t, now_ns, t->cpu, &kernel, &v);
}

SEC("iter/task")
int seed_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wk_task *w;

	if (!task)
		return 0;
	namespace_learn();
	if (seed.mode == WK_SEED_UNFOLLOW) {
		bpf_task_storage_delete(&tasks, task);
		return 0;
	}
	if (seed.mode == WK_SEED_SETTLE) {
		w = task_lookup(task);
		if (w && w->slot_plus_1) {
			settle_task(task, w, bpf_ktime_get_ns());
			bpf_seq_write(ctx->meta->seq, w, sizeof(*w));
		}
		return 0;
	}
	if (BPF_CORE_READ(task, exit_state))
		return 0;
	seed_task(task, bpf_ktime_get_ns());
	return 0;
}
