/* Causes and roots: each wake gets the number of its cause, and is charged to the root of its chain.
 *
 * The evidence is interned once and is a small number from then on. A thread keeps the key and the
 * numbers of its last wake: one that wakes for the same reason again costs a comparison. */

static const volatile struct wk_hist no_hist = {};

/* The position of the highest bit set, without a loop; 0 for 0. */
static __always_inline __u32 log2_u64(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v >> 1 & 1);
}

/* Quarter octaves, so that different timeouts of one call are told apart; user space joins
 * neighbours that a boundary has parted. */
static __always_inline __u16 timeout_class(__u64 ns)
{
	__u32 octave;

	if (!ns)
		return 0;
	octave = log2_u64(ns);
	return 1 + octave * 4 + (octave >= 2 ? ns >> (octave - 2) & 3 : 0);
}

static __noinline void cause_interval(struct wk_cause *c, __u32 number, __u64 interval_ns)
{
	__u32 octave = log2_u64(interval_ns);
	struct wk_hist *hist;
	__u64 apart;
	__u32 bucket;

	if (!c)
		return;
	if (!c->interval_ns)
		c->interval_ns = interval_ns;
	apart = interval_ns > c->interval_ns ? interval_ns - c->interval_ns :
					       c->interval_ns - interval_ns;
	if (apart >> 32)
		c->interval_square = WK_NEVER;
	else if (c->interval_square != WK_NEVER)
		c->interval_square += (apart >> 5) * (apart >> 5);
	if (octave >= WK_HIST_LOW + WK_HIST_OCTAVES)
		bucket = WK_HIST_BUCKETS - 1;
	else
		bucket = (octave - WK_HIST_LOW) * WK_HIST_SUB +
			 (interval_ns >> (octave - 4) & (WK_HIST_SUB - 1));
	hist = bpf_map_lookup_elem(&hists, &number);
	if (!hist) {
		bpf_map_update_elem(&hists, &number, (const void *)&no_hist, BPF_NOEXIST);
		hist = bpf_map_lookup_elem(&hists, &number);
	}
	if (hist && bucket < WK_HIST_BUCKETS)
		hist->count[bucket]++;
}

/* Evidence of these contexts comes with a name of its own; in others it is left over. */
static __always_inline int cause_is_named(__u32 context)
{
	return context == WK_CONTEXT_PROCESS || context == WK_CONTEXT_KERNEL ||
	       context == WK_CONTEXT_IRQ;
}

/* A number that was never used, or one that is free again; 0: there is none. */
static __always_inline __u32 number_take(__u32 *next, __u32 n, void *freed)
{
	__u32 number = *next;

	if (number < n) {
		number = __sync_fetch_and_add(next, 1);
		if (number < n)
			return number;
	}
	return bpf_map_pop_elem(freed, &number) ? 0 : number;
}

/* Takes a number for a new cause; 0 where there is no room. */
static __noinline __u32 cause_new(struct wk_thread *t)
{
	struct wk_cause *c;
	__u32 number, place;

	if (!t)
		goto full;
	number = number_take(&next_cause, cfg.causes, &free_causes);
	if (!number)
		goto full;
	place = number & cfg.cause_mask;
	c = bpf_map_lookup_elem(&causes, &place);
	if (!c || bpf_map_update_elem(&cause_numbers, &t->key, &number, BPF_NOEXIST))
		goto full;
	c->key = t->key;
	if (t->key.function)
		bpf_snprintf(c->name, sizeof(c->name), "%ps", &t->key.function, sizeof(__u64));
	else if (cause_is_named(t->key.context))
		__builtin_memcpy(c->name, t->waking.name, sizeof(t->waking.name));
	return number;
full:
	lose(WK_LOST_CAUSES);
	return 0;
}

static __noinline __u32 charge_find(__u32 cause, __u32 root)
{
	struct wk_charge_key key = {.cause = cause, .root = root};
	__u32 *known = bpf_map_lookup_elem(&charge_numbers, &key);
	struct wk_charge *charge;
	__u32 number;

	if (known)
		return *known;
	number = number_take(&next_charge, 2 * cfg.causes, &free_charges);
	if (!number)
		goto full;
	charge = bpf_map_lookup_elem(&charges, &number);
	if (!charge || bpf_map_update_elem(&charge_numbers, &key, &number, BPF_NOEXIST))
		goto full;
	charge->cause = cause;
	charge->root = root;
	return number;
full:
	lose(WK_LOST_CAUSES);
	return 0;
}

/* Makes the slot say what its thread runs for from now on: `key` is a new cause, or the same. */
static __always_inline void cause_set(struct wk_thread *t, const struct wk_cause_key *key)
{
	const __u64 *a = (const __u64 *)&t->key, *b = (const __u64 *)key;
	__u32 *known;

	if (t->cause && a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3])
		return;
	t->key = *key;
	known = bpf_map_lookup_elem(&cause_numbers, &t->key);
	t->cause = known ? *known : cause_new(t);
}

static __always_inline void charge_set(struct wk_thread *t, __u32 root)
{
	t->root = root;
	if (t->charge && t->charge_cause == t->cause && t->charge_root == root)
		return;
	t->charge_cause = t->cause;
	t->charge_root = root;
	t->charge = t->cause ? charge_find(t->cause, root) : 0;
}

static __always_inline void key_of_waking(struct wk_cause_key *key, const struct wk_thread *t)
{
	const struct wk_waking *w = &t->waking;

	key->serial = t->serial;
	key->sleep_call = t->sleep_call;
	key->uninterruptible = t->uninterruptible;
	key->context = w->context;
	key->wake_call = w->call;
	key->waker = w->waker;
	key->function = w->function;
	key->object = w->object;
	key->timeout_class = timeout_class(t->timeout_ns);
}

/* All wakes of a thread that come half a millisecond apart or more, and so many in a row that come
 * faster; of a longer rush, one in half a millisecond. Counts never depend on it. */
#define TIMELINE_PAUSE_NS 500000
#define TIMELINE_RUSH	  64

static __always_inline void timeline_send(struct wk_thread *t, __u64 last_ns, __u64 now_ns)
{
	struct wk_wake_event event;

	if (!cfg.timeline)
		return;
	if (now_ns - last_ns >= TIMELINE_PAUSE_NS)
		t->events = 0;
	if (t->events >= TIMELINE_RUSH && now_ns - t->event_ns < TIMELINE_PAUSE_NS)
		return;
	event.time_ns = now_ns;
	event.cause = t->cause;
	event.root = t->root;
	t->event_ns = now_ns;
	bpf_ringbuf_output(&timeline, &event, sizeof(event), BPF_RB_NO_WAKEUP);
	t->events++;
}

/* The sleep that a wake ended. */
struct ended_sleep {
	__u32 state;   /* before the switch-in: enum wk_state */
	__u32 wakings; /* seen since it went to sleep */
	__u64 since_ns; /* when it began */
	__u64 from_ns; /* that, or the window's start */
	__u64 runq_ns; /* of the thread until then */
};

static __always_inline void sleep_read(struct ended_sleep *ret_sleep, const struct wk_thread *t,
				       __u64 start_ns)
{
	ret_sleep->state = t->state;
	ret_sleep->wakings = t->wakings;
	ret_sleep->since_ns = t->since_ns;
	ret_sleep->from_ns = t->since_ns > start_ns ? t->since_ns : start_ns;
	ret_sleep->runq_ns = t->count.runq_ns;
}

/* A thread that slept runs again. */
static __always_inline void cause_wakeup(struct wk_thread *t, const struct ended_sleep *sleep,
					 int counted, __u64 now_ns)
{
	struct wk_cause_key key = {};
	struct wk_charge *charge;
	struct wk_cause *cause;
	__u64 last_ns, slept_ns;
	__u32 number, place;

	if (sleep->wakings) {
		key_of_waking(&key, t);
	} else {
		key.serial = t->serial;
		key.sleep_call = t->sleep_call;
		key.wake_call = WK_NO_CALL;
		key.uninterruptible = t->uninterruptible;
		/* Some kernels trace nothing while certain tasks run; not the waking either then. */
		if (t->timeout_ns && now_ns - sleep->since_ns >= t->timeout_ns) {
			key.context = WK_CONTEXT_EXPIRED;
			key.timeout_class = timeout_class(t->timeout_ns);
		}
	}
	cause_set(t, &key);
	charge_set(t, key.context == WK_CONTEXT_THREAD && t->waking.root ? t->waking.root : t->cause);
	t->run_ns = 0;
	last_ns = t->woke_ns;
	t->woke_ns = now_ns;
	if (!counted)
		return;
	number = t->charge;
	charge = bpf_map_lookup_elem(&charges, &number);
	slept_ns = now_ns - sleep->from_ns - (t->count.runq_ns - sleep->runq_ns);
	if (charge && number) {
		charge->wakeups++;
		charge->runq_ns += t->count.runq_ns - sleep->runq_ns;
		charge->sleep_ns += slept_ns;
	}
	number = t->cause;
	place = number & cfg.cause_mask;
	cause = bpf_map_lookup_elem(&causes, &place);
	if (!cause || !number)
		return;
	if (!cause->wakeups)
		cause->first_ns = now_ns;
	else if ((now_ns - cause->last_ns) >> WK_HIST_LOW)
		cause_interval(cause, number, now_ns - cause->last_ns);
	cause->last_ns = now_ns;
	cause->wakeups++;
	if (t->timeout_ns) {
		cause->timeouts++;
		cause->timeout_sum_ns += t->timeout_ns;
	}
	if (cfg.stacks)
		stack_count_wake(t, sleep->wakings, slept_ns);
	timeline_send(t, last_ns, now_ns);
}

/* A thread that has no cause yet: it was born, or ran before the probes. */
static __noinline void cause_first(struct wk_thread *t, __u32 context, __u64 now_ns)
{
	struct wk_cause_key key = {};

	if (!t)
		return;
	key.serial = t->serial;
	key.context = context;
	key.sleep_call = WK_NO_CALL;
	key.wake_call = WK_NO_CALL;
	key.waker = context == WK_CONTEXT_BIRTH ? t->waking.waker : 0;
	cause_set(t, &key);
	charge_set(t, context == WK_CONTEXT_BIRTH && t->waking.root ? t->waking.root : t->cause);
	t->run_ns = 0;
	t->woke_ns = now_ns;
}

static __always_inline int context_is_wake(__u32 context)
{
	return context != WK_CONTEXT_BIRTH && context != WK_CONTEXT_BEFORE;
}

/* Charges on-CPU time up to t->since_ns, when it left the CPU. asleep: it goes to sleep now, so the
 * wake can be judged. */
static __always_inline void cause_ran(struct wk_thread *t, struct wk_task *w, __u64 ns, int asleep)
{
	struct wk_charge *charge;
	__u32 number;

	if (ns && t->woke_ns < window.start_ns)
		cause_first(t, WK_CONTEXT_BEFORE, window.start_ns);
	/* What it ran until the window's end is in edge_ns, and charged from there when the books are
	 * closed: the thread may have been read already. */
	if (t->since_ns > window.end_ns)
		return;
	number = t->charge;
	charge = bpf_map_lookup_elem(&charges, &number);
	t->run_ns += ns;
	if (charge && number) {
		charge->oncpu_ns += ns;
		if (asleep && context_is_wake(t->key.context) && ns && t->run_ns < cfg.futile_ns &&
		    !w->busy)
			charge->futile++;
	}
	if (asleep)
		w->busy = 0;
}

/* What a switch-in means: `sleep` was read before it was accounted. After the window it means nothing:
 * the thread's last cause in it is still to be charged. */
static __always_inline void cause_switch_in(struct wk_thread *t, const struct ended_sleep *sleep,
					    const struct account_view *v, __u64 now_ns)
{
	if (now_ns > v->end_ns)
		return;
	if (sleep->state == WK_STATE_BLOCKED)
		cause_wakeup(t, sleep, account_in_window(now_ns, v), now_ns);
	else if (sleep->state == WK_STATE_NEW)
		cause_first(t, WK_CONTEXT_BIRTH, now_ns);
}

/* The same for one that was not traced (see account_missed_in()): it is accounted here too. */
static __noinline void missed_in(struct wk_thread *t, __u64 now_ns, __u32 cpu,
				 const struct wk_kernel *kernel, const struct account_view *v)
{
	struct ended_sleep sleep;

	if (!t || !kernel || !v)
		return;
	sleep_read(&sleep, t, v->start_ns);
	account_missed_in(t, now_ns, cpu, kernel, v);
	cause_switch_in(t, &sleep, v, t->since_ns); /* which is when it must have been */
	__sync_fetch_and_add(&inferred, 1);
}
