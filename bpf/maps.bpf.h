/* Maps, the shared variables, and the helpers that look into them. */
#ifndef WAKEWHY_MAPS_BPF_H
#define WAKEWHY_MAPS_BPF_H

const volatile struct wk_config cfg = {
	.slots = 24576,
	.recycle_at = 4096,
	.series_seconds = 4096,
	.groups = 1,
	.page_bytes = 4096,
	.follow = 1,
	.count_syscalls = 1,
	.causes = 16384,
	.cause_mask = 16383,
	.futile_ns = 20000,
	.switch_has_state = 1,
	.exit_has_group_dead = 1,
};

/* By number of the system call. */
const volatile struct wk_call cfg_calls[WK_SYSCALLS] = {};

/* Written by user space, read by every probe. */
struct wk_window window = {.start_ns = WK_NEVER, .end_ns = WK_NEVER};

/* Slots handed out that were never used before; then recycled ones come from free_slots. */
__u32 next_slot = 0;
__u32 alive = 0;	/* followed threads */
__u32 dead_waiting = 0; /* dead slots that user space has not been told about */
__u64 lost[WK_LOST_MAX] = {};
__u64 inferred = 0; /* switches that were not traced: see account_missed_in() */

__u32 next_serial = 0;
__u32 next_cause = 1;  /* 0 stands for none */
__u32 next_charge = 1; /* 0 takes what found no room */
__u32 next_stack = 1;  /* of frames; 0 stands for none */
__u32 stack_numbering = 1; /* raised where the numbers of stacks begin anew */
__u64 realtime_ns = 0; /* CLOCK_REALTIME less CLOCK_MONOTONIC when the window opened */

/* The caller's pid namespace, learnt by the first seeding: ids are told as it shows them. */
__u32 ns_level = 0;
__u32 ns_inum = 0; /* 0: not known yet */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wk_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 24576);
	__type(key, __u32);
	__type(value, struct wk_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 24576);
	__type(value, __u32);
} free_slots SEC(".maps");

/* Tables of system calls of threads that died, by slot. Sparse: memory only for the dead. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 24576);
	__type(key, __u32);
	__type(value, struct wk_task);
} dead_syscalls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct wk_second);
} seconds SEC(".maps");

/* By group. Each CPU has its own, so that counting needs no atomic addition. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wk_spans);
} spans SEC(".maps");

/* Processes to follow, as the caller names them: pid -> group. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

/* Room for 900 execs. */
#define EVENTS_BYTES (1024 * 1024)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EVENTS_BYTES);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct wk_cause_key);
	__type(value, __u32);
} cause_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct wk_cause);
} causes SEC(".maps");

/* Numbers for causes and charges beyond those that were never used: user space has taken out what they stood for. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 16384);
	__type(value, __u32);
} free_causes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 32768);
	__type(value, __u32);
} free_charges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct wk_charge_key);
	__type(value, __u32);
} charge_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct wk_charge);
} charges SEC(".maps");

/* Of causes that come at intervals of 65 µs and more. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct wk_hist);
} hists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} timeline SEC(".maps");

/* Stacks that are known: by what stands in them, hashed with keys that nobody else knows (see
 * stack.bpf.c). This map and those below are not made where no stacks are wanted. */
#define STACK_IDS 65536

struct stack_key {
	__u64 hash[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, STACK_IDS);
	__type(key, struct stack_key);
	__type(value, __u32);
} stack_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2 * STACK_IDS);
	__type(key, struct wk_stack_key);
	__type(value, struct wk_stack_count);
} stack_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} stacks SEC(".maps");

static __always_inline void lose(enum wk_lost what)
{
	__sync_fetch_and_add(&lost[what], 1);
}

/* The series of a group, as account.h hands it through. */
#define SERIES_OF(thread) ((void *)(unsigned long)(thread)->group)

static __always_inline void series_add(void *series, __u64 second, __u64 oncpu_ns, __u64 wakeups,
				       __s64 full_delta)
{
	__u32 key = (unsigned long)series * cfg.series_seconds + second;
	struct wk_second *s = NULL;

	if (second < cfg.series_seconds)
		s = bpf_map_lookup_elem(&seconds, &key);
	if (!s) {
		lose(WK_LOST_SERIES);
		return;
	}
	if (oncpu_ns)
		__sync_fetch_and_add(&s->oncpu_ns, oncpu_ns);
	if (wakeups)
		__sync_fetch_and_add(&s->wakeups, wakeups);
	if (full_delta)
		__sync_fetch_and_add(&s->full_delta, full_delta);
}

static __always_inline void span_add(void *series, int runq, __u32 bucket)
{
	__u32 group = (unsigned long)series;
	struct wk_spans *s = bpf_map_lookup_elem(&spans, &group);

	if (s)
		(runq ? s->runq : s->oncpu)[bucket & (WK_SPAN_BUCKETS - 1)]++;
}

/* NULL for a task that is not followed. The storage pointer is read first: it spares the helper's
 * call for almost every task of the machine. */
static __always_inline struct wk_task *task_lookup(struct task_struct *task)
{
	if (!task->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&tasks, task, NULL, 0);
}

static __always_inline struct wk_thread *slot_of(const struct wk_task *w)
{
	__u32 key = w->slot_plus_1 - 1;

	return bpf_map_lookup_elem(&threads, &key); /* NULL too while slot_plus_1 is 0 */
}

static __always_inline struct wk_thread *thread_lookup(struct task_struct *task)
{
	struct wk_task *w = task_lookup(task);

	return w ? slot_of(w) : NULL;
}

/* How to submit what nobody need read at once: user space sleeps on until a quarter of the ring is
 * full, and then has the rest of it as the time to come. */
static __always_inline __u64 event_wakeup(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < EVENTS_BYTES / 4
		       ? BPF_RB_NO_WAKEUP
		       : BPF_RB_FORCE_WAKEUP;
}

/* A record of type and slot alone. flags: BPF_RB_NO_WAKEUP or BPF_RB_FORCE_WAKEUP. */
static __always_inline void event_send(__u32 type, __u32 slot, __u64 now_ns, __u64 flags)
{
	struct wk_event event = {.type = type, .slot = slot, .time_ns = now_ns};

	if (bpf_ringbuf_output(&events, &event, sizeof(event), flags))
		lose(WK_LOST_EVENTS);
}

#endif
