/* Reading why threads ran: causes, what was charged to them, their intervals, and the timeline. */
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"

#include "wakewhy.skel.h"

int collect_wake_event(void *collector, void *data, size_t bytes)
{
	struct collector *c = collector;

	if (bytes >= sizeof(struct wk_wake_event))
		*vec_push(&c->timeline) = *(struct wk_wake_event *)data;
	return 0;
}

void collect_intervals(struct capture_cause *cause, const struct wk_hist *hist)
{
	for (uint32_t i = 0; i < WK_HIST_BUCKETS; i++)
		if (hist->count[i])
			*vec_push(&cause->intervals) = (struct capture_interval){i, hist->count[i]};
}

/* Which cause it is of is the key. Those of causes that woke nobody twice are left out. */
static void intervals_read(struct collector *c, const void *keys, const void *values, uint32_t n)
{
	const uint32_t *numbers = keys;
	const struct wk_hist *hists = values;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t number = collect_cause_renumbered(c, numbers[k]);

		if (number && c->causes.items[number - 1].c.wakeups > 1)
			collect_intervals(&c->causes.items[number - 1], &hists[k]);
	}
}

static void causes_read(struct collector *c)
{
	uint32_t n = collect_used(c->skel->data->next_cause, c->cfg.causes);
	struct wk_cause *all = mem_calloc(n, sizeof(*all));

	vec_reserve(&c->causes, n + c->dead.causes.n);
	collect_array_read(c->skel->maps.causes, n, all);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t number = collect_cause_number(c, i, &all[i]);

		if (number)
			*vec_push(&c->causes) = (struct capture_cause){.number = number, .c = all[i]};
	}
	free(all);
	collect_causes_renumber(c);
	/* What an error cuts short is missing: sums that do not add up are told. */
	collect_hash_read(c, c->skel->maps.hists, intervals_read);
}

/* As the kernel side numbered them, then those of the dead. */
static void charges_read(struct collector *c)
{
	uint32_t n = collect_used(c->skel->data->next_charge, 2 * c->cfg.causes);

	vec_reserve(&c->charges, n + c->dead.charges.n);
	for (uint32_t i = 0; i < n; i++)
		vec_push(&c->charges);
	collect_array_read(c->skel->maps.charges, n, c->charges.items);
	for (size_t i = 0; i < c->dead.charges.n; i++)
		*vec_push(&c->charges) = c->dead.charges.items[i];
	for (size_t i = 0; i < c->charges.n; i++) {
		struct wk_charge *charge = &c->charges.items[i];

		charge->cause = collect_cause_renumbered(c, charge->cause);
		charge->root = collect_cause_renumbered(c, charge->root);
	}
}

/* CPUs write to the ring side by side. */
static int event_order(const void *a, const void *b)
{
	const struct wk_wake_event *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void timeline_read(struct collector *c)
{
	if (c->timeline_ring)
		ring_buffer__consume(c->timeline_ring);
	for (size_t i = 0; i < c->timeline.n; i++) {
		struct wk_wake_event *event = &c->timeline.items[i];

		event->cause = collect_cause_renumbered(c, event->cause);
		event->root = collect_cause_renumbered(c, event->root);
	}
	if (c->timeline.n)
		qsort(c->timeline.items, c->timeline.n, sizeof(*c->timeline.items), event_order);
}

/* A thread that ran when the window closed: the probes had no occasion to charge that. One that has
 * run since before the window opened is charged to that, as cause_ran() does. */
static void edges_charge(struct collector *c)
{
	for (size_t i = 0; i < c->threads.n; i++) {
		const struct wk_thread *t = &c->threads.items[i].t;
		struct wk_charge *charge;
		struct capture_cause *cause;

		if (!t->edge_ns)
			continue;
		if (t->woke_ns >= c->skel->data->window.start_ns) {
			/* Charge 0 stands for what found no room: it stays unknown. */
			if (t->charge && t->charge < c->charges.n)
				c->charges.items[t->charge].oncpu_ns += t->edge_ns;
			continue;
		}
		cause = vec_push(&c->causes);
		cause->number = c->causes.n;
		cause->c.key.serial = t->serial;
		cause->c.key.context = WK_CONTEXT_BEFORE;
		cause->c.key.sleep_call = WK_NO_CALL;
		cause->c.key.wake_call = WK_NO_CALL;
		charge = vec_push(&c->charges);
		charge->cause = cause->number;
		charge->root = cause->number;
		charge->oncpu_ns = t->edge_ns;
	}
}

void collect_why_read(struct collector *c)
{
	causes_read(c);
	charges_read(c);
	edges_charge(c);
	timeline_read(c);
}

/* The threads of a capture by serial, for many look-ups. */
static bool *serials_of(const struct capture *capture, uint32_t *ret_n)
{
	uint32_t n = 0;
	bool *has;

	for (size_t i = 0; i < capture->threads.n; i++)
		if (capture->threads.items[i].t.serial >= n)
			n = capture->threads.items[i].t.serial + 1;
	has = mem_calloc(n ? n : 1, sizeof(*has));
	for (size_t i = 0; i < capture->threads.n; i++)
		has[capture->threads.items[i].t.serial] = true;
	*ret_n = n;
	return has;
}

void collect_why_take(const struct collector *c, struct capture *capture)
{
	uint64_t wakeups = 0;
	uint32_t n;
	bool *serials = serials_of(capture, &n);
	bool *ours = mem_calloc(c->causes.n + 1, sizeof(*ours));

	for (size_t i = 0; i < c->causes.n; i++) {
		const struct capture_cause *from = &c->causes.items[i];
		struct capture_cause *to;

		if (from->c.key.serial >= n || !serials[from->c.key.serial])
			continue;
		ours[from->number] = true;
		to = vec_push(&capture->causes);
		to->number = from->number;
		to->c = from->c;
		for (size_t j = 0; j < from->intervals.n; j++)
			*vec_push(&to->intervals) = from->intervals.items[j];
	}
	for (size_t i = 1; i < c->charges.n; i++) {
		const struct wk_charge *charge = &c->charges.items[i];

		if (charge->cause <= c->causes.n && ours[charge->cause] &&
		    (charge->wakeups || charge->oncpu_ns))
			*vec_push(&capture->charges) = *charge;
	}
	for (size_t i = 0; i < c->timeline.n; i++)
		if (c->timeline.items[i].cause <= c->causes.n && ours[c->timeline.items[i].cause])
			*vec_push(&capture->timeline) = c->timeline.items[i];
	for (size_t i = 0; c->options.timeline && i < capture->causes.n; i++)
		wakeups += capture->causes.items[i].c.wakeups;
	if (wakeups > capture->timeline.n)
		capture->timeline_left_out = wakeups - capture->timeline.n;
	capture->causes_counted = true;
	free(serials);
	free(ours);
}

void collect_why_forget(struct collector *c)
{
	for (size_t i = 0; i < c->causes.n; i++)
		free(c->causes.items[i].intervals.items);
	free(c->causes.items);
	free(c->charges.items);
	free(c->timeline.items);
	memset(&c->causes, 0, sizeof(c->causes));
	memset(&c->charges, 0, sizeof(c->charges));
	memset(&c->timeline, 0, sizeof(c->timeline));
	collect_dead_forget(c);
}

void collect_why_reset(struct collector *c)
{
	if (c->timeline_ring)
		ring_buffer__consume(c->timeline_ring);
	collect_hash_empty(c->skel->maps.cause_numbers);
	collect_hash_empty(c->skel->maps.charge_numbers);
	collect_hash_empty(c->skel->maps.hists);
	collect_queue_drain(c->skel->maps.free_causes);
	collect_queue_drain(c->skel->maps.free_charges);
	collect_array_clear(c->skel->maps.causes, collect_used(c->skel->data->next_cause, c->cfg.causes));
	collect_array_clear(c->skel->maps.charges, collect_used(c->skel->data->next_charge, 2 * c->cfg.causes));
	c->skel->data->next_cause = 1;
	c->skel->data->next_charge = 1;
	c->skel->bss->next_serial = 0;
}
