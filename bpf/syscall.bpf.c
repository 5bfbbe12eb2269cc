/* System calls by number: one look-up and one addition each. */

/* Times of the start-up workload: when the exec call at the gate was entered, and when the process
 * first wrote to its standard output. */
static __always_inline void startup_stamp(struct wk_thread *t, struct pt_regs *regs, long nr)
{
	if (t->flags & WK_FLAG_GATED) {
		if (nr == cfg.nr_execve || nr == cfg.nr_execveat)
			t->exec_call_ns = bpf_ktime_get_ns();
		return;
	}
	if (t->output_ns || (nr != cfg.nr_write && nr != cfg.nr_writev))
		return;
	if ((int)PT_REGS_PARM1_CORE_SYSCALL(regs) == 1)
		t->output_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *current;
	struct wk_task *w;

	if (!cfg.stamp_output && !window.open)
		return 0;
	current = bpf_get_current_task_btf();
	w = task_lookup(current);
	if (!w || !w->slot_plus_1)
		return 0;
	if (cfg.stamp_output) {
		struct wk_thread *t = slot_of(w);

		if (t)
			startup_stamp(t, regs, nr);
		if (!window.open)
			return 0;
	}
	if (compat_syscall_is_32bit(current))
		w->compat++;
	else if ((__u64)nr < WK_SYSCALLS) {
		w->syscalls[nr]++;
		w->busy += !cfg_calls[nr].quiet;
	} else
		w->invalid++;
	return 0;
}
