/* What every part looks at: the window, read once for each event; ids as the caller sees them. */
#ifndef WAKEWHY_VIEW_BPF_H
#define WAKEWHY_VIEW_BPF_H

static __always_inline void view_take(struct account_view *ret_view, const struct wk_thread *t)
{
	ret_view->start_ns = window.start_ns;
	ret_view->end_ns = window.end_ns;
	ret_view->series = SERIES_OF(t);
}

static __always_inline int window_is_open(__u64 now_ns)
{
	struct account_view v = {.start_ns = window.start_ns, .end_ns = window.end_ns};

	return account_in_window(now_ns, &v);
}

/* The task's id in the caller's pid namespace; 0 where it cannot be seen from there. */
static __always_inline __u32 pid_in_namespace(struct pid *pid)
{
	struct upid *upid;

	if (!ns_level)
		return BPF_CORE_READ(pid, numbers[0].nr);
	if (BPF_CORE_READ(pid, level) < ns_level)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       (__u64)ns_level * bpf_core_type_size(struct upid);
	if (BPF_CORE_READ(upid, ns, ns.inum) != ns_inum)
		return 0;
	return BPF_CORE_READ(upid, nr);
}

#endif
