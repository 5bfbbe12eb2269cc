/* Why threads wake: rows of causes, and what is charged to each root. */
#include "model/why.h"

#include <stdlib.h>
#include <string.h>

#include "base/place_index.h"
#include "model/handoff.h"
#include "model/period.h"
#include "sym/syscall_names.h"

/* Timeouts of one call that lie this close are one: a boundary of the kernel side's classes has
 * parted them. */
#define TIMEOUT_WITHIN	    0.12
#define SPIN_ONCPU_SHARE    0.2
#define SPIN_CALL_SHARE	    0.5
#define SPIN_CALL_NS	    100000 /* on CPU for each call, at most */
#define SPIN_CALLS_PER_WAKE 100

/* A cause as the kernel side numbered it, with what its charges add up to. */
struct raw {
	const struct capture_cause *cause;
	const struct run_thread *thread;
	uint64_t timeout_ns;
	bool periodic; /* on its own */
	size_t row;    /* in why->causes */
};

struct builder {
	struct why *why;
	const struct run *run;
	const struct capture *capture;
	const char *arch;
	struct raw *raws;
	size_t n_raws;
	VEC(const struct raw *) firsts; /* of each row, until rows are dropped */
	struct place_index kinds; /* rows by what they say: there may be many thousands */
	size_t *row_of; /* by number of the cause; SIZE_MAX: none */
	size_t n_numbers;
	const struct run_thread **by_serial;
	size_t n_serials;
};

static const struct run_thread *thread_of(const struct builder *b, uint32_t serial)
{
	return serial < b->n_serials ? b->by_serial[serial] : NULL;
}

static size_t row_of(const struct builder *b, uint32_t number)
{
	return number < b->n_numbers ? b->row_of[number] : SIZE_MAX;
}

static void builder_index(struct builder *b)
{
	for (size_t i = 0; i < b->run->threads.n; i++)
		if (b->run->threads.items[i].seen->t.serial >= b->n_serials)
			b->n_serials = (size_t)b->run->threads.items[i].seen->t.serial + 1;
	b->by_serial = mem_calloc(b->n_serials + 1, sizeof(*b->by_serial));
	for (size_t i = 0; i < b->run->threads.n; i++)
		b->by_serial[b->run->threads.items[i].seen->t.serial] = &b->run->threads.items[i];
	for (size_t i = 0; i < b->capture->causes.n; i++)
		if (b->capture->causes.items[i].number >= b->n_numbers)
			b->n_numbers = (size_t)b->capture->causes.items[i].number + 1;
	b->row_of = mem_calloc(b->n_numbers + 1, sizeof(*b->row_of));
	for (size_t i = 0; i < b->n_numbers; i++)
		b->row_of[i] = SIZE_MAX;
}

static uint64_t timeout_mean_ns(const struct wk_cause *cause)
{
	return cause->timeouts ? cause->timeout_sum_ns / cause->timeouts : 0;
}

/* Order of raws: those that may be one row stand side by side, by timeout. */
static int raw_order(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;
	struct wk_cause_key kx = x->cause->c.key, ky = y->cause->c.key;
	int order;

	kx.timeout_class = ky.timeout_class = 0;
	order = memcmp(&kx, &ky, sizeof(kx));
	if (order)
		return order;
	if (x->timeout_ns != y->timeout_ns)
		return x->timeout_ns < y->timeout_ns ? -1 : 1;
	return (x->cause->number > y->cause->number) - (x->cause->number < y->cause->number);
}

static bool is_expiry(const struct raw *raw)
{
	return raw->cause->c.key.context == WK_CONTEXT_HRTIMER &&
	       !strncmp(raw->cause->c.name, "hrtimer_wakeup", WK_NAME_BYTES);
}

static bool raw_joins(const struct raw *first, const struct raw *next)
{
	struct wk_cause_key a = first->cause->c.key, b = next->cause->c.key;

	a.timeout_class = b.timeout_class = 0;
	if (memcmp(&a, &b, sizeof(a)) != 0)
		return false;
	/* A timeout that had expired before it could be looked at. */
	if (!first->timeout_ns)
		return is_expiry(first) || !next->timeout_ns;
	return (double)next->timeout_ns <= (double)first->timeout_ns * (1 + TIMEOUT_WITHIN);
}

static void raws_init(struct builder *b)
{
	b->raws = mem_calloc(b->capture->causes.n + 1, sizeof(*b->raws));
	for (size_t i = 0; i < b->capture->causes.n; i++) {
		const struct capture_cause *cause = &b->capture->causes.items[i];
		const struct run_thread *thread = thread_of(b, cause->c.key.serial);

		if (!thread)
			continue;
		b->raws[b->n_raws++] =
			(struct raw){.cause = cause,
				     .thread = thread,
				     .timeout_ns = timeout_mean_ns(&cause->c),
				     .periodic = period_of_cause(cause).known};
	}
	qsort(b->raws, b->n_raws, sizeof(*b->raws), raw_order);
}

static const char *call_name(const struct builder *b, uint16_t nr)
{
	const char *name = nr == WK_NO_CALL ? NULL : syscall_name(b->arch, nr);

	return name ? name : "";
}

static struct cause_evidence evidence_of(const struct builder *b, const struct raw *raw,
					 uint64_t timeout_ns, const char *name)
{
	const struct wk_cause_key *key = &raw->cause->c.key;
	const struct run_thread *waker = NULL;

	if (key->context == WK_CONTEXT_THREAD || key->context == WK_CONTEXT_BIRTH)
		waker = thread_of(b, key->waker);
	return (struct cause_evidence){
		.cause = &raw->cause->c,
		.sleep_call = call_name(b, key->sleep_call),
		.wake_call = call_name(b, key->wake_call),
		.name = name,
		.waker = waker ? waker->label : "",
		.same_process = waker && waker->seen->t.pid == raw->thread->seen->t.pid,
		.timeout_ns = timeout_ns,
	};
}

/* Two timers, each with a period of its own, are two causes although they read the same; a timer that
 * is made anew each time is another object each time, and one cause. */
static bool raws_stay_apart(const struct raw *a, const struct raw *b)
{
	uint64_t x = a->cause->c.key.object, y = b->cause->c.key.object;

	return x && y && x != y && a->periodic && b->periodic;
}

/* A row, and its first raw. */
struct new_row {
	const struct why_cause *row;
	const struct raw *raw;
};

/* Rows that read the same are one: their evidence differs in what nobody is told. */
static bool row_takes(const void *builder, uint32_t place, const void *wanted)
{
	const struct builder *b = builder;
	const struct new_row *new = wanted;
	const struct why_cause *x = &b->why->causes.items[place], *y = new->row;

	return x->thread == y->thread && x->rule == y->rule && x->waker == y->waker &&
	       !strcmp(x->text, y->text) && !raws_stay_apart(b->firsts.items[place], new->raw);
}

static uint64_t row_hash(struct place_index *index, const struct why_cause *row)
{
	const uint64_t parts[] = {(uintptr_t)row->thread, (uintptr_t)row->rule, (uintptr_t)row->waker,
				  place_hash(index, row->text, strlen(row->text))};

	return place_hash(index, parts, sizeof(parts));
}

/* The place of the row that takes this one; raw is its first. Adds the row where there is none; its text is kept or
 * freed. */
static size_t row_place(struct builder *b, const struct why_cause *row, const struct raw *raw)
{
	const struct new_row new = {row, raw};
	uint64_t hash = row_hash(&b->kinds, row);
	uint32_t at = place_index_find(&b->kinds, hash, row_takes, b, &new);

	if (at != PLACE_NONE) {
		free(row->text);
		return at;
	}
	at = (uint32_t)b->why->causes.n;
	*vec_push(&b->why->causes) = *row;
	*vec_push(&b->firsts) = raw;
	place_index_add(&b->kinds, hash, at);
	return at;
}

/* One row of raws first..end-1, which differ in their timeouts alone. */
static void row_add(struct builder *b, size_t first, size_t end)
{
	const struct raw *raw = &b->raws[first];
	uint64_t timeouts = 0, timeout_sum_ns = 0;
	struct cause_evidence evidence;
	char name[WK_NAME_BYTES + 1];
	struct strbuf text = {};
	struct why_cause row = {.thread = raw->thread, .number = raw->cause->number};
	size_t at;

	for (size_t i = first; i < end; i++) {
		timeouts += b->raws[i].cause->c.timeouts;
		timeout_sum_ns += b->raws[i].cause->c.timeout_sum_ns;
	}
	memcpy(name, raw->cause->c.name, WK_NAME_BYTES);
	name[WK_NAME_BYTES] = '\0';
	row.timeout_ns = timeouts ? timeout_sum_ns / timeouts : 0;
	evidence = evidence_of(b, raw, row.timeout_ns, name);
	row.rule = cause_rule_of(&evidence);
	row.rule->describe(&text, &evidence);
	row.text = strbuf_take(&text);
	row.mechanism = row.rule->mechanism(&evidence);
	if (raw->cause->c.key.context == WK_CONTEXT_THREAD)
		row.waker = thread_of(b, raw->cause->c.key.waker);
	at = row_place(b, &row, raw);
	for (size_t i = first; i < end; i++) {
		b->raws[i].row = at;
		b->row_of[b->raws[i].cause->number] = at;
	}
}

/* Makes the charges point at the rows' new places; those of rows that are gone go too. */
static void charges_follow(struct why *why, const size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < why->charges.n; i++) {
		struct why_charge charge = why->charges.items[i];

		charge.cause = moved[charge.cause];
		if (charge.root != SIZE_MAX)
			charge.root = moved[charge.root];
		if (charge.cause != SIZE_MAX)
			why->charges.items[kept++] = charge;
	}
	why->charges.n = kept;
}

/* Drops rows of which nothing happened in the window, once the charges are in. */
static void rows_drop_empty(struct builder *b)
{
	struct why *why = b->why;
	size_t kept = 0;
	size_t *moved = mem_calloc(why->causes.n + 1, sizeof(*moved));

	for (size_t i = 0; i < why->causes.n; i++) {
		const struct why_cause *row = &why->causes.items[i];

		moved[i] = SIZE_MAX;
		if (row->wakeups || row->oncpu_ns || row->root_wakeups || row->root_oncpu_ns) {
			moved[i] = kept;
			why->causes.items[kept++] = *row;
		} else {
			free(row->text);
		}
	}
	why->causes.n = kept;
	for (size_t i = 0; i < b->n_numbers; i++)
		if (b->row_of[i] != SIZE_MAX)
			b->row_of[i] = moved[b->row_of[i]];
	for (size_t i = 0; i < b->n_raws; i++)
		b->raws[i].row = moved[b->raws[i].row];
	charges_follow(why, moved);
	free(moved);
}

static void rows_init(struct builder *b)
{
	size_t first = 0, timed = 0; /* of the row: its first part, and the first that had a timeout */

	raws_init(b);
	for (size_t i = 1; i <= b->n_raws; i++) {
		if (i < b->n_raws && raw_joins(&b->raws[timed], &b->raws[i])) {
			if (!b->raws[timed].timeout_ns)
				timed = i;
			continue;
		}
		row_add(b, first, i);
		first = timed = i;
	}
}

/* ---- charges --------------------------------------------------------------------------------- */

static int charge_order(const void *a, const void *b)
{
	const struct why_charge *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

/* Charges of the same root and cause, which stand side by side, become one. */
static void charges_join(struct why *why)
{
	size_t kept = 0;

	if (why->charges.n)
		qsort(why->charges.items, why->charges.n, sizeof(*why->charges.items),
		      charge_order);
	for (size_t i = 0; i < why->charges.n; i++) {
		const struct why_charge *from = &why->charges.items[i];
		struct why_charge *to = kept ? &why->charges.items[kept - 1] : NULL;

		if (to && !charge_order(to, from)) {
			to->wakeups += from->wakeups;
			to->oncpu_ns += from->oncpu_ns;
			to->futile += from->futile;
		} else {
			why->charges.items[kept++] = *from;
		}
	}
	why->charges.n = kept;
}

static void charge_add(struct builder *b, const struct wk_charge *from)
{
	size_t cause = row_of(b, from->cause), root = row_of(b, from->root);
	struct why_charge *charge;
	struct why_cause *row;

	if (cause == SIZE_MAX)
		return;
	row = &b->why->causes.items[cause];
	row->wakeups += from->wakeups;
	row->oncpu_ns += from->oncpu_ns;
	row->runq_ns += from->runq_ns;
	row->sleep_ns += from->sleep_ns;
	row->futile += from->futile;
	charge = vec_push(&b->why->charges);
	*charge = (struct why_charge){.root = root,
				      .cause = cause,
				      .wakeups = from->wakeups,
				      .oncpu_ns = from->oncpu_ns,
				      .futile = from->futile};
	if (root == SIZE_MAX)
		return;
	row = &b->why->causes.items[root];
	row->root_wakeups += from->wakeups;
	row->root_oncpu_ns += from->oncpu_ns;
	if (root != cause)
		row->chained_wakeups += from->wakeups;
}

static void charges_init(struct builder *b)
{
	for (size_t i = 0; i < b->capture->charges.n; i++)
		charge_add(b, &b->capture->charges.items[i]);
	charges_join(b->why);
}

/* ---- periods --------------------------------------------------------------------------------- */

/* The times of the wakes of each row, rising: those of row i from first[i] to first[i + 1]. */
struct row_times {
	uint64_t *ns;
	size_t *first;
};

static void row_times_init(struct row_times *ret_times, const struct builder *b)
{
	const struct wk_wake_event *events = b->capture->timeline.items;
	size_t n = b->capture->timeline.n, rows = b->why->causes.n;
	size_t *first = mem_calloc(rows + 2, sizeof(*first));
	uint64_t *ns = mem_calloc(n + 1, sizeof(*ns));

	/* Counted one place too far, so that filling them in leaves each at its place. */
	for (size_t i = 0; i < n; i++)
		if (row_of(b, events[i].cause) != SIZE_MAX)
			first[row_of(b, events[i].cause) + 2]++;
	for (size_t row = 2; row < rows + 2; row++)
		first[row] += first[row - 1];
	for (size_t i = 0; i < n; i++)
		if (row_of(b, events[i].cause) != SIZE_MAX)
			ns[first[row_of(b, events[i].cause) + 1]++] = events[i].time_ns;
	*ret_times = (struct row_times){ns, first};
}

/* Period and phase of a row from the timeline; false where that lacks some of its wakes, or they are
 * not in order. */
static bool period_from_times(const struct builder *b, const struct row_times *times, size_t row)
{
	struct why_cause *cause = &b->why->causes.items[row];
	const uint64_t *ns = times->ns + times->first[row];
	size_t n = times->first[row + 1] - times->first[row];

	if (n != cause->wakeups)
		return false;
	for (size_t i = 1; i < n; i++)
		if (ns[i] < ns[i - 1])
			return false;
	cause->period = period_of_times(ns, n);
	cause->phase = period_phase(ns, n, b->capture->start_ns, b->capture->end_ns);
	return true;
}

/* Of each row: its largest part, and the wakes of all. */
struct row_part {
	const struct capture_cause *most;
	uint64_t all;
};

static struct row_part *row_parts(const struct builder *b)
{
	struct row_part *parts = mem_calloc(b->why->causes.n + 1, sizeof(*parts));

	for (size_t i = 0; i < b->n_raws; i++) {
		const struct capture_cause *cause = b->raws[i].cause;
		struct row_part *part;

		if (b->raws[i].row == SIZE_MAX)
			continue;
		part = &parts[b->raws[i].row];
		part->all += cause->c.wakeups;
		if (!part->most || cause->c.wakeups > part->most->c.wakeups)
			part->most = cause;
	}
	return parts;
}

/* Without the timeline: from the histogram of the row's largest part. */
static void period_from_histogram(struct why_cause *row, const struct row_part *part)
{
	if (part->most && (double)part->most->c.wakeups >= 0.9 * (double)part->all)
		row->period = period_of_cause(part->most);
}

static void periods_init(struct builder *b)
{
	struct row_part *parts = row_parts(b);
	struct row_times times;
	bool whole = true;

	row_times_init(&times, b);
	for (size_t row = 0; row < b->why->causes.n; row++) {
		if (!b->why->causes.items[row].wakeups || period_from_times(b, &times, row))
			continue;
		period_from_histogram(&b->why->causes.items[row], &parts[row]);
		whole = false;
	}
	b->why->timeline_whole = whole && b->capture->timeline.n;
	free(parts);
	free(times.ns);
	free(times.first);
}

/* ---- spins -------------------------------------------------------------------------------------
 */

/* Calls that are there to wait. One that reads or writes as fast as it can repeats a call as well, but
 * gets on with it. */
static bool call_waits(const char *call)
{
	static const char *const waits[] = {
		"epoll_wait",	"epoll_pwait",	   "epoll_pwait2",    "poll",
		"ppoll",	"select",	   "pselect6",	      "futex",
		"futex_wait",	"futex_waitv",	   "nanosleep",	      "clock_nanosleep",
		"sched_yield",	"rt_sigtimedwait", "io_uring_enter",  "io_getevents",
		"wait4",	"waitid",	   "semtimedop",      "semop",
		"mq_timedsend", "mq_timedreceive", "restart_syscall",
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!strcmp(call, waits[i]))
			return true;
	return false;
}

/* The call that a thread makes most; NULL where it makes none. */
static const struct capture_syscall *call_most(const struct capture_thread *seen)
{
	const struct capture_syscall *most = NULL;

	for (size_t i = 0; i < seen->syscalls.n; i++)
		if (!most || seen->syscalls.items[i].count > most->count)
			most = &seen->syscalls.items[i];
	return most;
}

static void spins_init(struct builder *b)
{
	double window_ns = (double)b->run->window_ns;

	for (size_t i = 0; i < b->run->threads.n && window_ns > 0; i++) {
		const struct capture_thread *seen = b->run->threads.items[i].seen;
		const struct capture_syscall *most = call_most(seen);
		double oncpu_ns = (double)seen->t.count.oncpu_ns;
		struct why_spin spin = {.thread = &b->run->threads.items[i]};

		if (!most)
			continue;
		spin.call = call_name(b, most->nr < WK_NO_CALL ? (uint16_t)most->nr : WK_NO_CALL);
		spin.calls_per_s = (double)most->count / window_ns * 1e9;
		spin.share = (double)most->count / (double)seen->t.count.syscalls;
		spin.oncpu_share = oncpu_ns / window_ns;
		if (call_waits(spin.call) && spin.oncpu_share >= SPIN_ONCPU_SHARE &&
		    spin.share >= SPIN_CALL_SHARE &&
		    oncpu_ns <= SPIN_CALL_NS * (double)most->count &&
		    (double)most->count >=
			    SPIN_CALLS_PER_WAKE * ((double)seen->t.count.wakeups + 1))
			*vec_push(&b->why->spins) = spin;
	}
}

/* ---- order
 * --------------------------------------------------------------------------------------- */

static int row_order(const void *a, const void *b)
{
	const struct why_cause *x = a, *y = b;

	if (x->root_oncpu_ns != y->root_oncpu_ns)
		return x->root_oncpu_ns > y->root_oncpu_ns ? -1 : 1;
	if (x->wakeups != y->wakeups)
		return x->wakeups > y->wakeups ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int why_charge_order(const void *a, const void *b)
{
	const struct why_charge *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns > y->oncpu_ns ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

/* Sorts the rows and makes the charges point at their new places. */
static void order(struct builder *b)
{
	struct why *why = b->why;
	size_t *moved = mem_calloc(why->causes.n + 1, sizeof(*moved));

	if (why->causes.n)
		qsort(why->causes.items, why->causes.n, sizeof(*why->causes.items), row_order);
	for (size_t i = 0; i < why->causes.n; i++)
		moved[b->row_of[why->causes.items[i].number]] = i;
	for (size_t i = 0; i < b->n_numbers; i++)
		if (b->row_of[i] != SIZE_MAX)
			b->row_of[i] = moved[b->row_of[i]];
	charges_follow(why, moved);
	if (why->charges.n)
		qsort(why->charges.items, why->charges.n, sizeof(*why->charges.items),
		      why_charge_order);
	free(moved);
}

static void unknown_init(struct builder *b)
{
	uint64_t wakeups = 0, oncpu_ns = 0;

	for (size_t i = 0; i < b->why->causes.n; i++) {
		const struct why_cause *cause = &b->why->causes.items[i];

		if (!strcmp(cause->rule->id, "unknown"))
			continue;
		wakeups += cause->wakeups;
		oncpu_ns += cause->oncpu_ns;
	}
	if (b->run->totals.wakeups > wakeups)
		b->why->unknown_wakeups = b->run->totals.wakeups - wakeups;
	if (b->run->totals.oncpu_ns > oncpu_ns)
		b->why->unknown_oncpu_ns = b->run->totals.oncpu_ns - oncpu_ns;
}

void why_init(struct why *ret_why, const struct run *run, const char *arch)
{
	struct why why = {.known = run->capture->causes_counted};
	struct builder b = {.why = &why, .run = run, .capture = run->capture, .arch = arch};

	if (why.known) {
		builder_index(&b);
		rows_init(&b);
		charges_init(&b);
		rows_drop_empty(&b);
		periods_init(&b);
		order(&b);
		handoff_edges(&why);
		handoff_loops(&why, run);
		handoff_herds(&why, run);
		spins_init(&b);
		unknown_init(&b);
		free(b.raws);
		free(b.firsts.items);
		place_index_clear(&b.kinds);
		free(b.by_serial);
		why.row_of = b.row_of;
		why.n_numbers = b.n_numbers;
	}
	*ret_why = why;
}

size_t why_row_of(const struct why *why, uint32_t number)
{
	return number < why->n_numbers ? why->row_of[number] : SIZE_MAX;
}

void why_free_members(struct why *why)
{
	if (!why)
		return;
	for (size_t i = 0; i < why->causes.n; i++)
		free(why->causes.items[i].text);
	for (size_t i = 0; i < why->loops.n; i++)
		free(why->loops.items[i].threads.items);
	free(why->causes.items);
	free(why->charges.items);
	free(why->edges.items);
	free(why->loops.items);
	free(why->herds.items);
	free(why->spins.items);
	free(why->row_of);
	memset(why, 0, sizeof(*why));
}
