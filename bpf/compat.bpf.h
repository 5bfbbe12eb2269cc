/* Every kernel difference, a function each. Questions about fields and types, never versions. */
#ifndef WAKEWHY_COMPAT_BPF_H
#define WAKEWHY_COMPAT_BPF_H

#define TASK_DEAD 0x80
#define TASK_NEW 0x800
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define SIGNAL_GROUP_EXIT 0x4

/* Before 2f064a59a11f (5.14) the field was called state and was a long. */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));

static __always_inline __u32 compat_task_state(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

/* The state a task leaves the CPU with: an argument of sched_switch since fa2c3254d7cf and
 * 9c2136be0878 (5.18); read from the task before that. */
static __always_inline __u32 compat_switch_state(__u64 *ctx, struct task_struct *prev)
{
	if (cfg.switch_has_state)
		return ctx[3];
	return compat_task_state(prev);
}

/* Is the exiting task the last of its process? An argument of sched_process_exit since 6.16; the
 * count of live threads, already lowered, before that. */
static __always_inline int compat_exit_group_dead(__u64 *ctx, struct task_struct *task)
{
	if (cfg.exit_has_group_dead)
		return (__u8)ctx[1];
	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

/* A sleeping task may stay on the run queue until it is next picked, since 152e11f6df29 (6.12). */
static __always_inline int compat_task_queued(struct task_struct *task)
{
	if (!BPF_CORE_READ(task, on_rq))
		return 0;
	if (bpf_core_field_exists(task->se.sched_delayed) &&
	    BPF_CORE_READ(task, se.sched_delayed))
		return 0;
	return 1;
}

/* Resident pages: a percpu_counter for each kind since f1a7941243c1 (6.2), an atomic before. File, anonymous
 * and shared memory are the kinds 0, 1 and 3. */
struct mm_rss_stat___atomic {
	atomic_long_t count[4];
} __attribute__((preserve_access_index));
struct mm_struct___atomic {
	struct mm_rss_stat___atomic rss_stat;
} __attribute__((preserve_access_index));

static __always_inline __u64 compat_mm_rss_pages(struct mm_struct *mm)
{
	struct mm_struct___atomic *old = (void *)mm;
	__s64 file, anon, shmem;

	if (bpf_core_type_exists(struct mm_rss_stat___atomic)) {
		file = BPF_CORE_READ(old, rss_stat.count[0].counter);
		anon = BPF_CORE_READ(old, rss_stat.count[1].counter);
		shmem = BPF_CORE_READ(old, rss_stat.count[3].counter);
	} else {
		file = BPF_CORE_READ(mm, rss_stat[0].count);
		anon = BPF_CORE_READ(mm, rss_stat[1].count);
		shmem = BPF_CORE_READ(mm, rss_stat[3].count);
	}
	return (file > 0 ? file : 0) + (anon > 0 ? anon : 0) + (shmem > 0 ? shmem : 0);
}

/* The number of the system call in a task's saved registers; none where it came in by a fault. */
static __always_inline __u64 compat_regs_call(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	return (__s64)regs->syscallno;
#endif
}

/* Its argument n, from 0 to 5. */
static __always_inline __u64 compat_regs_arg(struct pt_regs *regs, __u32 n)
{
#if defined(__TARGET_ARCH_x86)
	switch (n) {
	case 0:
		return regs->di;
	case 1:
		return regs->si;
	case 2:
		return regs->dx;
	case 3:
		return regs->r10;
	case 4:
		return regs->r8;
	}
	return regs->r9;
#elif defined(__TARGET_ARCH_arm64)
	switch (n) {
	case 0:
		return regs->orig_x0;
	case 1:
		return regs->user_regs.regs[1];
	case 2:
		return regs->user_regs.regs[2];
	case 3:
		return regs->user_regs.regs[3];
	case 4:
		return regs->user_regs.regs[4];
	}
	return regs->user_regs.regs[5];
#endif
}

/* Where a task's program was when it entered the kernel. */
static __always_inline __u64 compat_regs_ip(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->ip;
#elif defined(__TARGET_ARCH_arm64)
	return regs->user_regs.pc;
#endif
}

static __always_inline __u64 compat_regs_sp(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->sp;
#elif defined(__TARGET_ARCH_arm64)
	return regs->user_regs.sp;
#endif
}

static __always_inline __u64 compat_regs_fp(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->bp;
#elif defined(__TARGET_ARCH_arm64)
	return regs->user_regs.regs[29];
#endif
}

/* A return address as it stands in memory: arm64 may have signed it in the bits above 48. */
static __always_inline __u64 compat_return_address(__u64 address)
{
#if defined(__TARGET_ARCH_arm64)
	return address & ((1ULL << 48) - 1);
#else
	return address;
#endif
}

/* All of them, WK_STACK_REGS, by the numbers that DWARF gives them on this architecture. */
static __always_inline void compat_regs_dwarf(struct pt_regs *regs, __u64 *to)
{
#if defined(__TARGET_ARCH_x86)
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
	for (__u32 i = 17; i < WK_STACK_REGS; i++)
		to[i] = 0;
#elif defined(__TARGET_ARCH_arm64)
	for (__u32 i = 0; i < 31; i++)
		to[i] = regs->user_regs.regs[i];
	to[31] = regs->user_regs.sp;
	to[32] = regs->user_regs.pc;
#endif
}

/* Is the current system call a 32-bit one? */
static __always_inline int compat_syscall_is_32bit(struct task_struct *current)
{
#if defined(__TARGET_ARCH_x86)
	return current->thread_info.status & 0x2; /* TS_COMPAT */
#elif defined(__TARGET_ARCH_arm64)
	return (current->thread_info.flags >> 22) & 1; /* TIF_32BIT */
#else
#error "say how a 32-bit system call is known here"
#endif
}

#endif
