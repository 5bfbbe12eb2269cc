/* What a thread that leaves its CPU asleep is waiting for: the call, and the timeout it asked for. */

#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_LOCK_PI2 13
#define FUTEX_CMD_MASK 0x7f
#define FUTEX_CLOCK_REALTIME 256
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_BOOTTIME 7
#define TIMER_ABSTIME 1
#define URING_GETEVENTS_EXT 8
#define URING_ABS_TIMER 32

/* Nine years: more is "for ever" (bun asks for a little less than ten). */
#define FOR_EVER_S 283824000ULL

struct user_time {
	__s64 s;
	__s64 fraction; /* ns of a timespec, µs of a timeval */
};

static __always_inline __u64 relative_ns(const struct user_time *t, __u32 unit_ns)
{
	if (t->s < 0 || (__u64)t->s > FOR_EVER_S)
		return 0;
	return t->s * 1000000000ULL + t->fraction * unit_ns;
}

/* The distance from now of an absolute time; 0 where it is past or for ever. */
static __always_inline __u64 distance_ns(const struct user_time *t, __u32 clock, __u64 now_ns)
{
	__u64 at = relative_ns(t, 1);
	__u64 now = now_ns;

	if ((__u64)t->s > 2 * 1700000000ULL + FOR_EVER_S)
		return 0;
	at = (__u64)t->s * 1000000000ULL + t->fraction;
	if (clock == CLOCK_REALTIME)
		now += realtime_ns;
	else if (clock == CLOCK_BOOTTIME)
		now = bpf_ktime_get_boot_ns();
	return at > now && at - now < FOR_EVER_S * 1000000000ULL ? at - now : 0;
}

static __always_inline __u64 futex_timeout_ns(__u64 op, const struct user_time *t, __u64 now_ns)
{
	__u32 command = op & FUTEX_CMD_MASK;
	__u32 clock = op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

	switch (command) {
	case FUTEX_WAIT:
		return relative_ns(t, 1);
	case FUTEX_LOCK_PI:
		return distance_ns(t, CLOCK_REALTIME, now_ns);
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI2:
		return distance_ns(t, clock, now_ns);
	}
	return 0; /* others take a number there */
}

/* struct io_uring_getevents_arg: the pointer to a timespec is its third word. */
static __always_inline __u64 uring_timeout_ns(struct pt_regs *regs, __u64 now_ns)
{
	__u64 flags = compat_regs_arg(regs, 3), at = compat_regs_arg(regs, 4), pointer = 0;
	struct user_time t;

	if (!(flags & URING_GETEVENTS_EXT) || !at)
		return 0;
	if (bpf_probe_read_user(&pointer, sizeof(pointer), (void *)(at + 16)) || !pointer ||
	    bpf_probe_read_user(&t, sizeof(t), (void *)pointer))
		return 0;
	return flags & URING_ABS_TIMER ? distance_ns(&t, CLOCK_MONOTONIC, now_ns) :
					 relative_ns(&t, 1);
}

static __noinline __u64 asked_timeout_ns(struct task_struct *current, __u32 kind, __u32 arg,
					 __u64 now_ns)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(current);
	__u64 value = compat_regs_arg(regs, arg);
	struct user_time t;

	if (kind == WK_TIMEOUT_MS)
		return (__s32)value > 0 ? (__u64)(__s32)value * 1000000 : 0;
	if (kind == WK_TIMEOUT_URING)
		return uring_timeout_ns(regs, now_ns);
	if (!value || bpf_probe_read_user(&t, sizeof(t), (void *)value))
		return 0;
	switch (kind) {
	case WK_TIMEOUT_TIMESPEC:
		return relative_ns(&t, 1);
	case WK_TIMEOUT_TIMEVAL:
		return relative_ns(&t, 1000);
	case WK_TIMEOUT_REALTIME:
		return distance_ns(&t, CLOCK_REALTIME, now_ns);
	case WK_TIMEOUT_FUTEX:
		return futex_timeout_ns(compat_regs_arg(regs, 1), &t, now_ns);
	case WK_TIMEOUT_SLEEP:
		if (compat_regs_arg(regs, 1) & TIMER_ABSTIME)
			return distance_ns(&t, compat_regs_arg(regs, 0), now_ns);
		return relative_ns(&t, 1);
	case WK_TIMEOUT_CLOCK:
		return distance_ns(&t, compat_regs_arg(regs, arg + 1), now_ns);
	}
	return 0;
}

/* current is the sleeper: its registers and its memory are at hand. */
static __always_inline void sleep_note(struct wk_thread *t, struct task_struct *current,
				       __u32 state, __u64 now_ns)
{
	__u16 call = task_call(current);

	t->sleep_call = call;
	t->uninterruptible = (state & 3) == 2; /* TASK_UNINTERRUPTIBLE */
	t->timeout_ns = 0;
	if (call < WK_SYSCALLS) {
		__u32 kind = cfg_calls[call].timeout;

		if (kind)
			t->timeout_ns = asked_timeout_ns(current, kind, cfg_calls[call].arg,
							 now_ns);
	}
}
