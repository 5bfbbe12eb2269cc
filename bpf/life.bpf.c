/* Births, images, names and deaths: who is followed, and who it is. */

static __always_inline void thread_name_ids(struct wk_thread *t, struct task_struct *task)
{
	t->pid = pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
	t->tid = pid_in_namespace(BPF_CORE_READ(task, thread_pid));
	t->host_tid = BPF_CORE_READ(task, pid);
	t->ppid = pid_in_namespace(BPF_CORE_READ(task, real_parent, group_leader, thread_pid));
	if (BPF_CORE_READ(task, group_leader) == task)
		t->flags |= WK_FLAG_LEADER;
}

static __always_inline int slot_take(__u32 *ret_slot)
{
	if (next_slot < cfg.slots) {
		*ret_slot = __sync_fetch_and_add(&next_slot, 1);
		if (*ret_slot < cfg.slots)
			return 0;
	}
	return bpf_map_pop_elem(&free_slots, ret_slot);
}

/* Begins to follow a task. The slot is filled before the storage names it, so that no probe sees
 * half of it. Returns the slot's contents, NULL where it was followed already or cannot be, and after the
 * window: a task that comes while the books are closed would be found neither alive nor dead. */
static __noinline struct wk_thread *thread_follow(struct task_struct *task, __u32 group,
						  __u32 flags, __u32 state, __u64 now_ns)
{
	struct wk_thread *t;
	struct wk_task *w;
	__u32 slot = 0;

	if (!task || now_ns > window.end_ns)
		return NULL;
	w = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!w) {
		lose(WK_LOST_STORAGE);
		return NULL;
	}
	if (w->slot_plus_1)
		return NULL;
	if (slot_take(&slot)) {
		w->slot_plus_1 = WK_NO_SLOT;
		lose(WK_LOST_THREADS);
		return NULL;
	}
	t = bpf_map_lookup_elem(&threads, &slot);
	if (!t)
		return NULL;
	__builtin_memset(t, 0, sizeof(*t));
	t->state = state;
	t->slot = slot;
	t->since_ns = now_ns;
	t->cpu = WK_CPU_NONE;
	t->flags = flags;
	t->group = group;
	t->seed_ns = flags & WK_FLAG_SEEDED ? now_ns : 0;
	t->start_ns = BPF_CORE_READ(task, start_time);
	t->minor_faults = BPF_CORE_READ(task, min_flt);
	t->major_faults = BPF_CORE_READ(task, maj_flt);
	bpf_probe_read_kernel(t->comm, sizeof(t->comm), task->comm);
	t->serial = __sync_fetch_and_add(&next_serial, 1) + 1;
	t->last.oncpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	t->last.voluntary = BPF_CORE_READ(task, nvcsw);
	t->last.preempted = BPF_CORE_READ(task, nivcsw);
	thread_name_ids(t, task);
	__sync_fetch_and_add(&alive, 1);
	w->slot_plus_1 = slot + 1;
	return t;
}

/* What a task is doing, as far as its own fields tell. Right when no switch happens meanwhile: see
 * seed.bpf.c for how that is made sure. */
static __always_inline __u32 task_state_now(struct task_struct *task)
{
	if (compat_task_state(task) & TASK_NEW)
		return WK_STATE_NEW;
	if (BPF_CORE_READ(task, on_cpu))
		return WK_STATE_RUNNING;
	return compat_task_queued(task) ? WK_STATE_READY : WK_STATE_BLOCKED;
}

/* Is the cgroup the one that is followed, or below it? */
static __noinline int cgroup_matches(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css = (void *)cgroup + bpf_core_field_offset(cgroup->self);

	for (int i = 0; i < 64 && css; i++) {
		if (BPF_CORE_READ(css, cgroup, kn, id) == cfg.cgroup_id)
			return 1;
		css = BPF_CORE_READ(css, parent);
	}
	return 0;
}

/* Does a task belong to what is followed by name, by cgroup, or all? */
static __always_inline int task_matches(struct task_struct *task)
{
	if (cfg.all)
		return cfg.kernel_threads || !(BPF_CORE_READ(task, flags) & PF_KTHREAD);
	if (cfg.cgroup_id && cgroup_matches(BPF_CORE_READ(task, cgroups, dfl_cgrp)))
		return 1;
	if (cfg.by_name) {
		char comm[WK_COMM_BYTES];

		bpf_probe_read_kernel(comm, sizeof(comm),
				      BPF_CORE_READ(task, group_leader, comm));
		return glob_match(&cfg.name, comm);
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct wk_thread *p = thread_lookup(parent);
	struct wk_thread *t;
	__u32 flags = 0, group = 0;
	__u64 now_ns;

	if (p && ((p->flags & WK_FLAG_FOLLOW) || parent->tgid == child->tgid)) {
		group = p->group;
		flags = p->flags & WK_FLAG_FOLLOW;
	} else if (task_matches(child)) {
		flags = cfg.follow ? WK_FLAG_FOLLOW : 0;
	} else {
		return 0;
	}
	now_ns = bpf_ktime_get_ns();
	/* Its own and the kernel's figures both begin at zero, if the window is open. */
	if (window_is_open(now_ns))
		flags |= WK_FLAG_BASED;
	t = thread_follow(child, group, flags, WK_STATE_NEW, now_ns);
	if (t && p) {
		t->waking.waker = p->serial;
		t->waking.root = p->root;
	}
	return 0;
}

static __always_inline void exec_argv(struct wk_event_exec *e, struct mm_struct *mm)
{
	__u64 start = BPF_CORE_READ(mm, arg_start);
	__u64 bytes = BPF_CORE_READ(mm, arg_end) - start;

	e->argv_cut = bytes > WK_ARGV_BYTES ? bytes - WK_ARGV_BYTES : 0;
	barrier_var(bytes); /* the limit must be seen on what is handed to the helper, not on a copy */
	if (bytes > WK_ARGV_BYTES)
		bytes = WK_ARGV_BYTES;
	if (bpf_probe_read_user(e->argv, bytes, (void *)start))
		bytes = 0;
	e->argv_bytes = bytes;
}

static __always_inline void exec_send(struct task_struct *task, struct wk_thread *t, __u64 now_ns)
{
	struct wk_event_exec *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(WK_LOST_EVENTS);
		return;
	}
	e->event.type = WK_EVENT_EXEC;
	e->event.slot = 0;
	e->event.time_ns = now_ns;
	e->pid = t->pid;
	e->ppid = t->ppid;
	e->group = t->group;
	e->reserved = 0;
	e->start_ns = t->start_ns;
	exec_argv(e, BPF_CORE_READ(task, mm));
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), t->comm);
	bpf_ringbuf_submit(e, event_wakeup());
}

/* The gate is passed: all that was before is forgotten. The kernel's on-CPU time is up to date only
 * at a switch; what it lacks at this moment is the time since the last one. */
static __always_inline void gate_passed(struct task_struct *task, struct wk_thread *t, __u64 now_ns)
{
	__u64 since_switch_ns = now_ns - t->since_ns;
	__u64 until_switch_ns = t->last.oncpu_ns;

	if (t->state != WK_STATE_RUNNING) { /* its switch-in was not traced: see account_missed_in() */
		since_switch_ns = 0;
		until_switch_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
		t->state = WK_STATE_RUNNING;
		t->cpu = bpf_get_smp_processor_id();
		t->wakings = 0;
	}
	if (cfg.open_at_exec && window.start_ns == WK_NEVER) {
		window.start_ns = now_ns;
		window.open = 1;
	}
	__builtin_memset(&t->count, 0, sizeof(t->count));
	t->waking.waker = 0;
	t->waking.root = 0;
	t->cause = 0;
	t->charge = 0;
	cause_first(t, WK_CONTEXT_BIRTH, now_ns);
	t->flags &= ~WK_FLAG_GATED;
	t->minor_faults = BPF_CORE_READ(task, min_flt);
	t->major_faults = BPF_CORE_READ(task, maj_flt);
	t->since_ns = now_ns;
	if (window_is_open(now_ns)) {
		t->count.starts = 1;
		t->flags |= WK_FLAG_BASED;
		t->base.oncpu_ns = until_switch_ns + since_switch_ns;
		t->base.voluntary = BPF_CORE_READ(task, nvcsw);
		t->base.preempted = BPF_CORE_READ(task, nivcsw);
	}
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task)
{
	struct wk_thread *t = thread_lookup(task);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!t) {
		if (!task_matches(task))
			return 0;
		t = thread_follow(task, 0, cfg.follow ? WK_FLAG_FOLLOW : 0, WK_STATE_RUNNING,
				  now_ns);
		if (!t)
			return 0;
		t->cpu = bpf_get_smp_processor_id();
	}
	if (t->flags & WK_FLAG_GATED)
		gate_passed(task, t, now_ns);
	t->exec_ns = now_ns;
	bpf_probe_read_kernel(t->comm, sizeof(t->comm), task->comm);
	/* Another thread than the leader becomes the leader and takes over its ids and its age. */
	thread_name_ids(t, task);
	t->start_ns = BPF_CORE_READ(task, start_time);
	exec_send(task, t, now_ns);
	return 0;
}

/* A process takes on a name that is followed. Its other threads are not gone through here; those it
 * creates from now on are followed with it. */
static __always_inline void rename_follow(struct task_struct *task, const char *name)
{
	char comm[WK_COMM_BYTES] = {};
	struct wk_thread *t;

	bpf_probe_read_kernel_str(comm, sizeof(comm), name);
	if (!glob_match(&cfg.name, comm))
		return;
	t = thread_follow(task, 0, cfg.follow ? WK_FLAG_FOLLOW : 0, WK_STATE_RUNNING,
			  bpf_ktime_get_ns());
	if (t) {
		__builtin_memcpy(t->comm, comm, sizeof(t->comm));
		t->cpu = bpf_get_smp_processor_id();
	}
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	struct wk_thread *t = thread_lookup(task);

	if (t)
		bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), comm);
	else if (cfg.by_name && BPF_CORE_READ(task, group_leader) == task)
		rename_follow(task, comm);
	return 0;
}

static __always_inline __u64 peak_rss_bytes(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 peak, now;

	/* Before 6.16 the memory is gone when the exit is traced. What is left is the peak of the
	 * process, which an exec does not reset. */
	if (!mm)
		return BPF_CORE_READ(task, signal, maxrss) * cfg.page_bytes;
	peak = BPF_CORE_READ(mm, hiwater_rss);
	now = compat_mm_rss_pages(mm);
	return (peak > now ? peak : now) * cfg.page_bytes;
}

SEC("tp_btf/sched_process_exit")
int sched_process_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct wk_thread *t = thread_lookup(task);

	if (!t)
		return 0;
	t->exit_ns = bpf_ktime_get_ns();
	t->minor_faults = BPF_CORE_READ(task, min_flt) - t->minor_faults;
	t->major_faults = BPF_CORE_READ(task, maj_flt) - t->major_faults;
	if (!compat_exit_group_dead(ctx, task))
		return 0;
	t->flags |= WK_FLAG_LAST_EXIT;
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		t->exit_code = BPF_CORE_READ(task, signal, group_exit_code);
	else
		t->exit_code = BPF_CORE_READ(task, group_leader, exit_code);
	t->max_rss_bytes = peak_rss_bytes(task);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_attach_task, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (cfg.cgroup_id && cgroup_matches(cgroup))
		thread_follow(task, 0, cfg.follow ? WK_FLAG_FOLLOW : 0,
			      task_state_now(task), now_ns);
	return 0;
}
