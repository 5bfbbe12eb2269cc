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

/* Where stack_take() is called. */
enum stack_place {
	STACK_ASLEEP,
	STACK_WAKING,
	STACK_SAMPLE,
	STACK_PLACES,
};

#define RAW_WORDS 256 /* of the kernel's stack: deeper ones are walked each time */

struct stack_buffer {
	__u64 raw[RAW_WORDS];
	__u32 raw_words; /* 0: not read */
	__u32 at;	 /* frame that is looked for */
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

/* Adds n words, whose keys begin at `first`. */
static __always_inline void hash_words(struct stack_key *key, const __u64 *words, __u32 n, __u32 first)
{
	for (__u32 i = 0; i < WK_STACK_FRAMES; i++) {
		if (i >= n)
			break;
		hash_add(key, words[i], first + i);
	}
}

/* Adds all but the kernel's frames. What is in memory is read back: the verifier would otherwise go on once for
 * each number of frames. */
static __always_inline void hash_program(struct stack_key *key, struct stack_buffer *s)
{
	__u32 kernel = *(volatile __u16 *)&s->head.kernel_frames & WK_STACK_FRAMES;
	__u32 user = *(volatile __u16 *)&s->head.user_frames;

	hash_add(key, (__u64)kernel << 48 | (__u64)user << 32 | s->head.pid, 0);
	hash_add(key, s->mm, 1);
	hash_words(key, s->words + kernel, user, 2 + WK_STACK_FRAMES);
}

/* Sends a record. User space is woken when a quarter of the ring is full, and not before: it may come late on a
 * busy machine. 0, or an error where there is no room. */
static __always_inline long ring_send(void *record, __u64 bytes)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&stacks, BPF_RB_RING_SIZE) / 4)
		flags = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(&stacks, record, bytes, flags);
}

/* Sends what is in the buffer, with `bytes` behind its head, as a new stack of number `id`. Returns that, or 0
 * where there is no room. */
static __always_inline __u32 stack_send(struct stack_buffer *s, __u32 bytes, __u32 id)
{
	s->head.id = id;
	if (!ring_send(&s->head, sizeof(s->head) + bytes))
		return id;
	lose(WK_LOST_STACKS);
	return 0;
}

/* Is there room for another copy? Not in the last quarter of the ring: whatever is small still finds room there
 * when user space comes late. */
static __always_inline int copy_has_room(void)
{
	if (bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) <
	    bpf_ringbuf_query(&stacks, BPF_RB_RING_SIZE) / 4 * 3)
		return 1;
	lose(WK_LOST_COPIES);
	return 0;
}

/* The number of the stack in the buffer: an equal one's, or a new one. `key` holds the hash of the kernel's
 * frames. */
static __always_inline __u32 stack_intern(struct stack_buffer *s, struct stack_key key, __u32 bytes)
{
	__u32 id, *known;

	hash_program(&key, s);
	known = bpf_map_lookup_elem(&stack_ids, &key);
	if (known)
		return *known;
	if (next_stack > STACK_IDS) {
		lose(WK_LOST_STACKS);
		return 0;
	}
	id = stack_send(s, bytes, __sync_fetch_and_add(&next_stack, 1));
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

/* The shape of a kernel stack that has been walked: where on it the return addresses are.
 *
 * Walking is most of what a stack costs, and threads sleep and wake from few places. From one place the
 * kernel's stack has the same depth, and holds the same return addresses at the same distances: the kernel
 * finds each frame from the address and the place of the one before. So a stack that has all addresses of a
 * shape at their distances is the one that was walked, and need not be walked again. Addresses that
 * stand on the stack more than once, where it is not known which of them is the frame's, make no shape. */
#define SHAPES	     128
#define SHAPE_FRAMES 24

struct stack_shape {
	__u32 tag;    /* place and depth */
	__u16 frames; /* of the whole stack: with those of the probe, which are below what is read of it */
	__u16 found;  /* of them on the stack */
	struct stack_key sum; /* hash of all */
	struct stack_key last; /* of the last whole stack of this shape, which mostly comes again, */
	__u32 last_id;	       /* its number, */
	__u32 last_numbering;  /* and the numbering that this belongs to; 0: there was none */
	__u64 address[SHAPE_FRAMES]; /* outermost first */
	__u16 distance[SHAPE_FRAMES]; /* in words, from the probe's arguments */
};

/* For each CPU, as the buffer is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SHAPES);
	__type(key, __u32);
	__type(value, struct stack_shape);
} stack_shapes SEC(".maps");

/* Reads the kernel's stack from the probe's arguments, which lie on it, to the registers at its end. Returns the
 * shape that it may have; NULL: it is too deep, or not the thread's own (an interrupt's). */
static __always_inline struct stack_shape *shape_look(void *ctx, struct stack_buffer *s,
						      struct pt_regs *regs, enum stack_place place)
{
	__u64 bytes = (char *)regs - (char *)ctx;
	__u32 words = bytes / sizeof(__u64), i;

	if (bytes >= sizeof(s->raw) || place == STACK_SAMPLE ||
	    bpf_probe_read_kernel(s->raw, bytes & (sizeof(s->raw) - 1), ctx))
		return NULL;
	s->raw_words = words;
	i = (words + (__u32)compat_regs_call(regs) * 7 + place * SHAPES / 2) % SHAPES;
	return bpf_map_lookup_elem(&stack_shapes, &i);
}

static __always_inline int shape_fits(const struct stack_shape *shape, const struct stack_buffer *s,
				      enum stack_place place)
{
	__u32 found = shape->found;

	if (!found || shape->tag != (s->raw_words << 8 | place))
		return 0;
	for (__u32 i = 0; i < SHAPE_FRAMES; i++) {
		if (i >= found)
			break;
		if (s->raw[shape->distance[i] % RAW_WORDS] != shape->address[i])
			return 0;
	}
	return 1;
}

/* Notes where the frames in the buffer are on the stack: outermost first, each as far out as it can be; and
 * then from the other end each as far in. Where both are the same there is one way only. */
static __always_inline void shape_learn(struct stack_shape *shape, struct stack_buffer *s,
					enum stack_place place)
{
	/* In memory: see hash_program(). */
	volatile __u16 *frames = &s->head.kernel_frames;
	volatile __u32 *at = &s->at, *words = &s->raw_words;
	__u32 found;

	shape->found = 0;
	shape->last_numbering = 0;
	*at = 0;
	for (__u32 n = 0; n < RAW_WORDS; n++) {
		__u32 i = *at, w = RAW_WORDS - 1 - n;

		if (w >= *words || i >= SHAPE_FRAMES || i >= *frames ||
		    s->raw[w] != s->words[(*frames - 1 - i) % (WK_STACK_FRAMES + 1)])
			continue;
		shape->address[i] = s->raw[w];
		shape->distance[i] = w;
		*at = i + 1;
	}
	found = *at;
	for (__u32 w = 0; w < RAW_WORDS; w++) {
		__u32 i = *at - 1;

		if (w >= *words || i >= SHAPE_FRAMES || s->raw[w] != shape->address[i])
			continue;
		if (shape->distance[i] != w)
			return;
		*at = i;
	}
	/* All but the probe's own and what calls it must have been found. */
	if (*at || *frames - found > 4)
		return;
	shape->tag = *words << 8 | place;
	shape->frames = *frames;
	shape->found = found;
}

/* Bytes, or an error: made what the verifier sees to be within limits. */
static __always_inline __u32 frame_bytes(__s64 result)
{
	_Static_assert(STACK_BYTES == 0x3f8, "a mask is a limit too");
	return result < 0 ? 0 : result & STACK_BYTES;
}

/* The program's frames of current, behind `kernel` bytes of the kernel's. Returns their bytes. */
static __always_inline __u32 stack_program(struct stack_buffer *s, __u32 kernel, __u32 mode,
					   struct task_struct *task, struct pt_regs *regs)
{
	volatile __u16 *n = &s->head.user_frames;

	*n = 0;
	if (mode & WK_STACKS_USER && has_user_stack(task, regs))
		stack_frames(n, (void *)s->words + kernel, regs);
	return frame_bytes(*n * sizeof(__u64));
}

/* The number of a stack that is known, whose kernel part has this shape; 0: it is not known. */
static __always_inline __u32 stack_again(struct stack_buffer *s, struct stack_shape *shape, __u32 mode,
					 struct task_struct *task, struct pt_regs *regs)
{
	struct stack_key key = shape->sum;
	__u32 *known;

	s->head.kernel_frames = shape->frames;
	stack_program(s, frame_bytes(shape->frames * sizeof(__u64)), mode, task, regs);
	hash_program(&key, s);
	if (shape->last_numbering == stack_numbering && shape->last.hash[0] == key.hash[0] &&
	    shape->last.hash[1] == key.hash[1])
		return shape->last_id;
	known = bpf_map_lookup_elem(&stack_ids, &key);
	if (!known)
		return 0;
	shape->last = key;
	shape->last_id = *known;
	shape->last_numbering = stack_numbering;
	return *known;
}

/* The id of a copy that is taken at a place for a thread: the same each time. What was there before has been counted,
 * or never will be: a thread has slept, was woken and has run before it sleeps again. */
static __always_inline __u32 copy_id_at(const struct wk_thread *t, enum stack_place place)
{
	return WK_STACK_COPIED | (t->slot * STACK_PLACES + place);
}

static __always_inline enum stack_place copy_place(__u32 id)
{
	return (id & ~WK_STACK_COPIED) % STACK_PLACES;
}

/* Takes the stack of current as `mode` (enum wk_stacks) says, and returns its number; 0: none. `ctx` is the
 * program's, copy_id says where and for which thread. Only to be called where the head of this file says. */
static __noinline __u32 stack_take(void *ctx, __u32 copy_id, __u32 mode, __u32 pid, __u64 now_ns)
{
	enum stack_place place = copy_place(copy_id);
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u32 kernel = 0, user, copy, copied = 0, zero = 0, id;
	struct stack_shape *shape = NULL;
	struct stack_key sum = {};
	struct stack_buffer *s;

	s = bpf_map_lookup_elem(&stack_buffers, &zero);
	if (!s)
		return 0;
	s->mm = (__u64)task->mm;
	s->head.pid = task->flags & PF_KTHREAD ? 0 : pid;
	s->head.time_ns = now_ns;
	if (mode & WK_STACKS_KERNEL) {
		if (!(mode & WK_STACKS_COPY))
			shape = shape_look(ctx, s, regs, place);
		if (shape && shape_fits(shape, s, place)) {
			id = stack_again(s, shape, mode, task, regs);
			if (id)
				return id;
		}
		kernel = frame_bytes(bpf_get_stack(ctx, s->words, STACK_BYTES, 0));
	}
	s->head.kernel_frames = kernel / sizeof(__u64);
	copy = mode & WK_STACKS_COPY && has_user_stack(task, regs);
	if (copy && !copy_has_room()) {
		copy = 0;
		mode |= WK_STACKS_USER;
	}
	user = stack_program(s, kernel, mode, task, regs);
	if (copy)
		copied = stack_copy(s, kernel + user, regs);
	s->head.copied_bytes = copied;
	if (copied)
		return stack_send(s, kernel + user + WK_STACK_REGS * sizeof(__u64) + copied, copy_id);
	hash_words(&sum, s->words, *(volatile __u16 *)&s->head.kernel_frames, 2);
	if (shape) {
		shape_learn(shape, s, place);
		shape->sum = sum;
	}
	return kernel + user ? stack_intern(s, sum, kernel + user) : 0;
}

/* What a thread may be ahead of its limit: it comes in bursts, but not all of a second at once. All threads of a
 * process together would fill the ring of copies in no time. */
#define AHEAD_NS (WK_SECOND_NS / 4)

/* May another stack be taken for a thread? until_ns: for so long those that it had would last at its limit. */
static __always_inline int stack_allowed(struct wk_thread *t, __u64 *until_ns, __u64 now_ns)
{
	if (t->flags & WK_FLAG_GATED || now_ns > window.end_ns)
		return 0;
	if (!cfg.stacks_per_s)
		return 1;
	if (*until_ns < now_ns)
		*until_ns = now_ns;
	if (*until_ns - now_ns > AHEAD_NS)
		return 0;
	*until_ns += WK_SECOND_NS / cfg.stacks_per_s;
	return 1;
}

/* Was it a task that woke t last, which has a stack, and no interrupt? */
static __always_inline int woken_by_task(const struct wk_thread *t)
{
	__u32 context = t->waking.context;

	return context == WK_CONTEXT_THREAD || context == WK_CONTEXT_PROCESS ||
	       context == WK_CONTEXT_KERNEL;
}

#define STACK_COMING (~0U) /* a stack is being taken: only other CPUs ever see this */

/* current is the sleeper. One that has been woken already, by somebody whose stack was not taken, is left out:
 * the stacks of a wake are of use together. */
static __always_inline void stack_of_sleeper(void *ctx, struct wk_task *w, __u64 now_ns)
{
	struct wk_thread *t = slot_of(w);

	if (!t)
		return;
	t->sleep_stack = 0;
	if (t->wakings && woken_by_task(t) && !t->waking.stack)
		return;
	if (!stack_allowed(t, &t->stacks_asleep_ns, now_ns))
		return;
	/* It takes some microseconds, in which another CPU may wake the thread. */
	t->sleep_stack = STACK_COMING;
	t->sleep_stack = stack_take(ctx, copy_id_at(t, STACK_ASLEEP), cfg.stacks, t->pid, now_ns);
}

/* Who wakes a thread is looked at where its sleep was. One that is woken before it has left the CPU is looked at then,
 * if there is anything left of its limit; it may also go on without a sleep, so such wakings have a limit too. */
static __always_inline int stack_wanted(struct wk_thread *t, __u64 now_ns)
{
	if (t->state == WK_STATE_BLOCKED && t->cause)
		return t->sleep_stack && now_ns <= window.end_ns;
	if (cfg.stacks_per_s && t->stacks_asleep_ns > now_ns + AHEAD_NS)
		return 0;
	return stack_allowed(t, &t->stacks_woken_ns, now_ns);
}

/* current is the waker, unless t->waking says that it was only interrupted by who is. */
static __always_inline void stack_of_waker(void *ctx, struct wk_thread *t, struct task_struct *wakee,
					   __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wk_thread *waker;
	__u32 pid;

	t->waking.stack = 0;
	if (task == wakee || !woken_by_task(t))
		return;
	if (!stack_wanted(t, now_ns))
		return;
	waker = t->waking.context == WK_CONTEXT_THREAD ? thread_lookup(task) : NULL;
	pid = waker ? waker->pid : pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
	t->waking.stack = stack_take(ctx, copy_id_at(t, STACK_WAKING), cfg.stacks, pid, now_ns);
}

/* One more wake, or one more sample, with these stacks. Only one CPU at a time counts for a thread. */
static __noinline void stack_count(__u32 what, __u32 sleeper, __u32 waker, __u64 sleep_ns)
{
	struct wk_stack_row row = {.key = {.what = what, .sleeper = sleeper, .waker = waker},
				   .sleep_ns = sleep_ns};
	struct wk_stack_count first = {.count = 1, .sleep_ns = sleep_ns};
	struct wk_stack_count *known;

	if ((sleeper | waker) & WK_STACK_COPIED) {
		if (!ring_send(&row, sizeof(row)))
			return;
		/* It still counts, as one without a stack. */
		lose(WK_LOST_STACKS);
		row.key.sleeper = row.key.waker = 0;
	}
	known = bpf_map_lookup_elem(&stack_counts, &row.key);
	if (known) {
		known->count++;
		known->sleep_ns += sleep_ns;
	} else if (bpf_map_update_elem(&stack_counts, &row.key, &first, BPF_NOEXIST)) {
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
		stack_count(WK_STACK_SAMPLE | t->serial,
			    stack_take(ctx, copy_id_at(t, STACK_SAMPLE), mode, t->pid, now_ns),
			    0, 0);
	return 0;
}
