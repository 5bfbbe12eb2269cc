/* Who is waking: the interrupt context of each CPU, innermost last.
 *
 * A soft interrupt can be interrupted by a hard one, and either may be running a timer: a small stack
 * for each CPU follows the entries and exits. The exit probes stand first in this file, so that they
 * are attached before the entries: an exit without its entry does no harm, the reverse would. */

#define CONTEXT_DEPTH 8

#ifdef __TARGET_ARCH_arm64
#define NR_EXIT_GROUP 94
#else
#define NR_EXIT_GROUP 231
#endif

struct wake_context {
	__u32 kind; /* enum wk_context */
	__u32 number;
	__u64 function;
	__u64 object;
	__u64 name; /* address of a device's name in the kernel */
};

struct context_stack {
	__u32 depth;
	__u32 reserved;
	struct wake_context at[CONTEXT_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct context_stack);
} contexts SEC(".maps");

static __always_inline struct context_stack *context_stack(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&contexts, &zero);
}

static __always_inline int context_pop(void)
{
	struct context_stack *stack = context_stack();

	if (stack && stack->depth)
		stack->depth--;
	return 0;
}

static __always_inline int context_push(__u32 kind, __u32 number, __u64 function, __u64 object,
					__u64 name)
{
	struct context_stack *stack = context_stack();
	struct wake_context *c;

	if (!stack)
		return 0;
	c = &stack->at[stack->depth & (CONTEXT_DEPTH - 1)];
	c->kind = kind;
	c->number = number;
	c->function = function;
	c->object = object;
	c->name = name;
	stack->depth++;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int hrtimer_expire_exit(void *ctx)
{
	return context_pop();
}

SEC("tp_btf/timer_expire_exit")
int timer_expire_exit(void *ctx)
{
	return context_pop();
}

SEC("tp_btf/softirq_exit")
int softirq_exit(void *ctx)
{
	return context_pop();
}

SEC("tp_btf/irq_handler_exit")
int irq_handler_exit(void *ctx)
{
	return context_pop();
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, struct hrtimer *timer)
{
	return context_push(WK_CONTEXT_HRTIMER, 0, (__u64)timer->function, (__u64)timer, 0);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(timer_expire_entry, struct timer_list *timer)
{
	return context_push(WK_CONTEXT_TIMER, 0, (__u64)timer->function, (__u64)timer, 0);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	return context_push(WK_CONTEXT_SOFTIRQ, vector, 0, 0, 0);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq, struct irqaction *action)
{
	return context_push(WK_CONTEXT_IRQ, irq, 0, 0, (__u64)action->name);
}

/* The call that a task is in, WK_NO_CALL for none. */
static __always_inline __u16 task_call(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 nr = compat_regs_call(regs);

	if (compat_syscall_is_32bit(task))
		return WK_NO_CALL; /* numbers of another table */
	return nr < WK_SYSCALLS ? nr : WK_NO_CALL;
}

/* The call that a waker is in. One that is ending may have been killed in any other call. */
static __always_inline __u16 waker_call(struct task_struct *current)
{
	return current->flags & PF_EXITING ? NR_EXIT_GROUP : task_call(current);
}

/* Timers that a sleeper has on its own kernel stack lie at another address each time. */
static __always_inline int on_stack_of(struct task_struct *task, __u64 address)
{
	__u64 stack = (__u64)task->stack;

	return address - stack < 64 * 1024;
}

static __noinline void waking_by_interrupt(struct wk_waking *w, struct task_struct *wakee,
					   struct context_stack *stack)
{
	struct wake_context *c;

	if (!w || !wakee || !stack)
		return;
	c = &stack->at[(stack->depth - 1) & (CONTEXT_DEPTH - 1)];
	w->context = c->kind;
	w->call = WK_NO_CALL;
	w->waker = c->number;
	w->function = c->function;
	w->object = on_stack_of(wakee, c->object) ? 0 : c->object;
	w->root = 0;
	if (c->name)
		bpf_probe_read_kernel_str(w->name, sizeof(w->name), (void *)c->name);
}

/* Threads that one waker rouses without sleeping or doing anything else in between are a herd when
 * they are three or more: one call that wakes many, or a loop over all of them. One that hands out work
 * piece by piece makes calls that are no wakes, or takes its time: 50 µs on CPU. A thread that is woken
 * again is no further one. */
static __always_inline void burst_count(struct wk_thread *waker, struct wk_task *w,
					__u16 call, __u32 wakee, __u64 now_ns)
{
	__u64 last_ns = waker->burst_ns;
	__u64 from_ns = waker->since_ns > last_ns ? waker->since_ns : last_ns;
	__u32 calls = w->busy - w->burst_busy;
	int goes_on;

	goes_on = calls <= (call < WK_SYSCALLS && !cfg_calls[call].quiet) &&
		  waker->woke_ns < last_ns && now_ns - from_ns < 50000 &&
		  wakee != waker->burst_first;
	waker->burst_ns = now_ns;
	w->burst_busy = w->busy;
	if (goes_on) {
		if (wakee != waker->burst_last)
			waker->burst++;
		waker->burst_last = wakee;
		return;
	}
	if (waker->burst > 2 && window.open) {
		waker->herds++;
		waker->herd_woken += waker->burst;
		if (waker->burst > waker->herd_max)
			waker->herd_max = waker->burst;
	}
	waker->burst = 1;
	waker->burst_first = waker->burst_last = wakee;
}

static __always_inline void waking_by_task(struct wk_waking *w, __u32 wakee, __u64 now_ns)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct wk_task *task = task_lookup(current);
	struct wk_thread *waker = task ? slot_of(task) : NULL;

	w->function = 0;
	w->object = 0;
	if (waker) {
		w->context = WK_CONTEXT_THREAD;
		w->waker = waker->serial;
		w->root = waker->root;
		w->call = waker_call(current);
		burst_count(waker, task, w->call, wakee, now_ns);
		return;
	}
	w->root = 0;
	w->waker = current->tgid;
	if (current->flags & PF_KTHREAD) {
		w->context = WK_CONTEXT_KERNEL;
		w->call = WK_NO_CALL;
	} else {
		w->context = WK_CONTEXT_PROCESS;
		w->call = waker_call(current);
	}
	bpf_probe_read_kernel(w->name, sizeof(w->name), current->comm);
}

static __always_inline void waking_note(struct wk_thread *t, struct task_struct *wakee, __u64 now_ns)
{
	struct context_stack *stack = context_stack();

	/* It slept already when it was found: no probe saw it go, but it is still in its call. */
	if (!t->cause && t->state == WK_STATE_BLOCKED)
		t->sleep_call = task_call(wakee);
	if (stack && stack->depth)
		waking_by_interrupt(&t->waking, wakee, stack);
	else
		waking_by_task(&t->waking, t->serial, now_ns);
}
