/* Stacks: where a thread sleeps, where its waker is, and what runs when a sample is taken.
 *
 * What is taken is put together in a buffer: the frames of the kernel, the frames of the program by its frame
 * pointers, or its registers and the top of its stack. Frames alone are hashed; a hash that is known gives
 * the number of its stack, and what is new goes through the ring once.
 *
 * There is one buffer for each CPU, which is sound only where nothing else that takes a stack can come
 * between. Interrupts are off in all three places, and none of them happens within another:
 *	sched_switch		the run queue is locked
 *	sched_waking		try_to_wake_up() holds the pi_lock of the thread it wakes. Not where current
 *				wakes itself: that takes no stack
 *	the tick of a sample	an interrupt of its own
 * A place where interrupts are on needs a buffer of its own. */

#define STACK_WORDS (2 * WK_STACK_FRAMES)
#define STACK_BYTES (WK_STACK_FRAMES * sizeof(__u64))
#define FRAME_MAX   (256UL << 10) /* no function's frame is larger */
#define PIECE_BYTES 4096UL
#define PIECES	    (WK_STACK_COPY_BYTES / PIECE_BYTES + 1)

/* Of the hash: set by user space before loading, from the system's source of random numbers. */
const volatile __u64 stack_keys[STACK_WORDS + 4] = {};

struct stack_buffer {
	__u64 mm; /* of the process: another one after each exec */
	struct wk_stack head; /* from here on as it is sent */
	__u64 words[STACK_WORDS + WK_STACK_REGS + PIECES * PIECE_BYTES / sizeof(__u64)];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffers SEC(".maps");

/* NH (Black et al., UMAC, 1999): sums of products of halves of words with secret keys added. Two different
 * stacks of one length have the same sum by a chance of 2^-32 at most, whatever is in them; the second
 * sum has its keys one word further on, and both together 2^-64. What tells lengths apart is the
 * first word. */
static __always_inline void hash_add(struct stack_key *key, __u64 word, __u32 i)
{
	__u64 a = stack_keys[i], b = stack_keys[i + 1];
	__u32 low = word, high = word >> 32;

	key->hash[0] += (__u64)(__u32)(low + (__u32)a) * (__u32)(high + (__u32)(a >> 32));
	key->hash[1] += (__u64)(__u32)(low + (__u32)b) * (__u32)(high + (__u32)(b >> 32));
}

static __always_inline void stack_hash(struct stack_key *ret_key, struct stack_buffer *s)
{
	/* Read back from memory: the verifier would otherwise go on once for each number of frames. */
	__u32 n = *(volatile __u16 *)&s->head.kernel_frames + *(volatile __u16 *)&s->head.user_frames;
	struct stack_key key = {};

	hash_add(&key, (__u64)s->head.kernel_frames << 48 | (__u64)s->head.user_frames << 32 | s->head.pid,
		 0);
	hash_add(&key, s->mm, 1);
	for (__u32 i = 0; i < STACK_WORDS; i++) {
		if (i >= n)
			break;
		hash_add(&key, s->words[i], i + 2);
	}
	*ret_key = key;
}

/* Sends what is in the buffer, with `bytes` behind its head, as a new stack. Returns its number, at most
 * `ids`; 0 where there is no room. User space is woken when half of the ring is full, and not before. */
static __always_inline __u32 stack_send(struct stack_buffer *s, __u32 bytes, __u32 ids)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (next_stack > ids)
		goto full;
	s->head.id = __sync_fetch_and_add(&next_stack, 1);
	if (bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&stacks, BPF_RB_RING_SIZE) / 2)
		flags = BPF_RB_FORCE_WAKEUP;
	if (!bpf_ringbuf_output(&stacks, &s->head, sizeof(s->head) + bytes, flags))
		return s->head.id;
full:
	lose(WK_LOST_STACKS);
	return 0;
}

/* The number of the stack in the buffer: an equal one's, or a new one. */
static __always_inline __u32 stack_intern(struct stack_buffer *s, __u32 bytes)
{
	struct stack_key key;
	__u32 id, *known;

	stack_hash(&key, s);
	known = bpf_map_lookup_elem(&stack_ids, &key);
	if (known)
		return *known;
	id = stack_send(s, bytes, STACK_IDS);
	/* It is sent first: whoever finds a number can be sure that its frames are known. Where another
	 * CPU has been faster, or there is no memory, it is only sent twice. */
	if (id)
		bpf_map_update_elem(&stack_ids, &key, &id, BPF_NOEXIST);
	return id;
}

/* Follows the frame pointers of the program up its stack, into `to`: where it is, and the callers. Their number
 * goes into memory alone, or the verifier would go on once for each. The kernel has a helper for this, which costs twenty times as much where
 * there are none, as in glibc: it looks wherever the register points to and mostly faults, 3 µs, and so it does
 * at the end of each chain. A frame pointer that does not point up the stack is none. */
static __always_inline void stack_frames(volatile __u16 *ret_n, __u64 *to, struct pt_regs *regs)
{
	__u64 from = compat_regs_sp(regs), at = compat_regs_fp(regs), frame[2];
	__u32 n = 1;

	to[0] = compat_regs_ip(regs);
	for (; n < WK_STACK_FRAMES; n++) {
		if (at - from >= FRAME_MAX || at & 7 ||
		    bpf_probe_read_user(frame, sizeof(frame), (void *)at) || !frame[1])
			break;
		to[n] = compat_return_address(frame[1]);
		from = at + sizeof(frame);
		at = frame[0];
	}
	*ret_n = n;
}

/* Copies registers and the top of the user stack to byte `at` behind the head, and returns how many bytes of
 * the stack there are. They are read in pieces that end where a page does: what is not there shortens
 * the copy. */
static __always_inline __u32 stack_copy(struct stack_buffer *s, __u32 at, struct pt_regs *regs)
{
	void *to = (void *)s->words + at + WK_STACK_REGS * sizeof(__u64);
	__u64 sp = compat_regs_sp(regs);
	__u32 copied = 0;

	compat_regs_dwarf(regs, (void *)s->words + at);
	for (__u32 i = 0; i < PIECES; i++) {
		__u32 piece = PIECE_BYTES - (sp & (PIECE_BYTES - 1));

		if (copied + piece > cfg.stack_copy_bytes)
			piece = (cfg.stack_copy_bytes - copied) & (PIECE_BYTES - 1);
		if (!piece || bpf_probe_read_user(to + copied, piece, (void *)sp))
			break;
		copied += piece;
		sp += piece;
	}
	return copied & (2 * WK_STACK_COPY_BYTES - 1);
}

/* Has the task a program whose stack can be told? Not a 32-bit one, whose frames are others. Kernel threads have none, nor have io_uring's workers;
 * one that is executing another program is between two. */
static __always_inline int has_user_stack(struct task_struct *task, struct pt_regs *regs)
{
	__s32 call = compat_regs_call(regs);

	if (task->flags & PF_KTHREAD || !task->mm || !compat_regs_ip(regs) ||
	    compat_syscall_is_32bit(task))
		return 0;
	return call != cfg.nr_execve && call != cfg.nr_execveat;
}

/* Bytes, or an error: made what the verifier sees to be within limits. */
static __always_inline __u32 frame_bytes(__s64 result)
{
	_Static_assert(STACK_BYTES == 0x3f8, "a mask is a limit too");
	return result < 0 ? 0 : result & STACK_BYTES;
}

/* Takes the stack of current as `mode` (enum wk_stacks) says, and returns its number; 0: none. `ctx` is the
 * program's. Only to be called where the head of this file says. */
static __noinline __u32 stack_take(void *ctx, __u32 mode, __u32 pid, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u32 kernel = 0, user = 0, copied = 0, zero = 0;
	volatile __u16 *user_frames;
	struct stack_buffer *s;

	s = bpf_map_lookup_elem(&stack_buffers, &zero);
	if (!s)
		return 0;
	if (mode & WK_STACKS_KERNEL)
		kernel = frame_bytes(bpf_get_stack(ctx, s->words, STACK_BYTES, 0));
	s->mm = (__u64)task->mm;
	s->head.pid = task->flags & PF_KTHREAD ? 0 : pid;
	s->head.time_ns = now_ns;
	s->head.kernel_frames = kernel / sizeof(__u64);
	s->head.user_frames = 0;
	user_frames = &s->head.user_frames;
	if (has_user_stack(task, regs)) {
		if (mode & WK_STACKS_USER)
			stack_frames(user_frames, (void *)s->words + kernel, regs);
		user = frame_bytes(*user_frames * sizeof(__u64));
		if (mode & WK_STACKS_COPY)
			copied = stack_copy(s, kernel + user, regs);
	}
	s->head.copied_bytes = copied;
	if (copied)
		return stack_send(s, kernel + user + WK_STACK_REGS * sizeof(__u64) + copied,
				  4 * STACK_IDS);
	return kernel + user ? stack_intern(s, kernel + user) : 0;
}

/* May another stack be taken for a thread? taken: its counter. */
static __always_inline int stack_allowed(struct wk_thread *t, __u32 *taken, __u64 now_ns)
{
	if (t->flags & WK_FLAG_GATED || now_ns > window.end_ns)
		return 0;
	if (!cfg.stacks_per_s)
		return 1;
	if (now_ns >= t->stacks_until_ns) {
		t->stacks_until_ns = now_ns + WK_SECOND_NS;
		t->stacks_asleep = 0;
		t->stacks_woken = 0;
	}
	if (*taken >= cfg.stacks_per_s)
		return 0;
	++*taken;
	return 1;
}

/* current is the sleeper. */
static __always_inline void stack_of_sleeper(void *ctx, struct wk_task *w, __u64 now_ns)
{
	struct wk_thread *t = slot_of(w);

	if (!t)
		return;
	t->sleep_stack = 0;
	if (stack_allowed(t, &t->stacks_asleep, now_ns))
		t->sleep_stack = stack_take(ctx, cfg.stacks, t->pid, now_ns);
}

/* current is the waker, unless t->waking says that it was only interrupted by who is. */
static __always_inline void stack_of_waker(void *ctx, struct wk_thread *t, struct task_struct *wakee,
					   __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wk_thread *waker;
	__u32 context = t->waking.context, pid;

	t->waking.stack = 0;
	if (task == wakee || (context != WK_CONTEXT_THREAD && context != WK_CONTEXT_PROCESS &&
			      context != WK_CONTEXT_KERNEL))
		return;
	if (!stack_allowed(t, &t->stacks_woken, now_ns))
		return;
	waker = context == WK_CONTEXT_THREAD ? thread_lookup(task) : NULL;
	pid = waker ? waker->pid : pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
	t->waking.stack = stack_take(ctx, cfg.stacks, pid, now_ns);
}

/* One more wake, or one more sample, with these stacks. Only one CPU at a time counts for a thread. */
static __noinline void stack_count(__u32 what, __u32 sleeper, __u32 waker, __u64 sleep_ns)
{
	struct wk_stack_key key = {.what = what, .sleeper = sleeper, .waker = waker};
	struct wk_stack_count first = {.count = 1, .sleep_ns = sleep_ns};
	struct wk_stack_count *known = bpf_map_lookup_elem(&stack_counts, &key);

	if (known) {
		known->count++;
		known->sleep_ns += sleep_ns;
	} else if (bpf_map_update_elem(&stack_counts, &key, &first, BPF_NOEXIST)) {
		lose(WK_LOST_STACKS);
	}
}

/* A wake of t's present cause. Those without any stack are the rest, which user space makes up. */
static __always_inline void stack_count_wake(struct wk_thread *t, __u32 wakings, __u64 slept_ns)
{
	__u32 waker = wakings ? t->waking.stack : 0;

	if (t->sleep_stack || waker)
		stack_count(t->cause, t->sleep_stack, waker, slept_ns);
}

/* A tick of a sampling event: whatever current does is looked at. */
SEC("perf_event")
int stack_sample(void *ctx)
{
	struct wk_thread *t = thread_lookup(bpf_get_current_task_btf());
	__u32 mode = cfg.stacks ? cfg.stacks : WK_STACKS_KERNEL | WK_STACKS_USER;
	__u64 now_ns;

	if (!t)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (window_is_open(now_ns) && !(t->flags & WK_FLAG_GATED))
		stack_count(WK_STACK_SAMPLE | t->serial, stack_take(ctx, mode, t->pid, now_ns), 0, 0);
	return 0;
}
