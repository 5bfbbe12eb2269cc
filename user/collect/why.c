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

static void intervals_read(struct collector *c, struct capture_cause *cause)
{
	struct wk_hist hist;

	if (bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.hists), &cause->number, &hist))
		return;
	for (uint32_t i = 0; i < WK_HIST_BUCKETS; i++) {
		struct capture_interval *interval;

		if (!hist.count[i])
			continue;
		interval = vec_push(&cause->intervals);
		interval->bucket = i;
		interval->count = hist.count[i];
	}
}

/* How many of an array's entries are in use, `next` being the first that is not. */
static uint32_t used(uint32_t next, uint32_t entries)
{
	return next < entries ? next : entries;
}

static void causes_read(struct collector *c)
{
	uint32_t n = used(c->skel->data->next_cause, c->cfg.causes);
	int fd = bpf_map__fd(c->skel->maps.causes);

	for (uint32_t i = 1; i < n; i++) {
		struct capture_cause *cause = vec_push(&c->causes);

		cause->number = i;
		if (bpf_map_lookup_elem(fd, &i, &cause->c))
			continue;
		if (cause->c.wakeups > 1)
			intervals_read(c, cause);
	}
}

static void charges_read(struct collector *c)
{
	uint32_t n = used(c->skel->data->next_charge, 2 * c->cfg.causes);
	int fd = bpf_map__fd(c->skel->maps.charges);

	for (uint32_t i = 0; i < n; i++)
		bpf_map_lookup_elem(fd, &i, vec_push(&c->charges));
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

/* CPUs write to the ring side by side. */
static int event_order(const void *a, const void *b)
{
	const struct wk_wake_event *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void collect_why_read(struct collector *c)
{
	causes_read(c);
	charges_read(c);
	edges_charge(c);
	if (c->timeline_ring)
		ring_buffer__consume(c->timeline_ring);
	if (c->timeline.n)
		qsort(c->timeline.items, c->timeline.n, sizeof(*c->timeline.items), event_order);
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
}

static void hash_empty(const struct bpf_map *map, size_t key_bytes)
{
	int fd = bpf_map__fd(map);
	char key[64];

	if (key_bytes > sizeof(key))
		return;
	while (!bpf_map_get_next_key(fd, NULL, key))
		if (bpf_map_delete_elem(fd, key))
			return;
}

static void array_clear(const struct bpf_map *map, uint32_t n, const void *zero)
{
	int fd = bpf_map__fd(map);

	for (uint32_t i = 0; i < n; i++)
		bpf_map_update_elem(fd, &i, zero, BPF_ANY);
}

void collect_why_reset(struct collector *c)
{
	static const struct wk_cause no_cause;
	static const struct wk_charge no_charge;

	if (c->timeline_ring)
		ring_buffer__consume(c->timeline_ring);
	hash_empty(c->skel->maps.cause_numbers, sizeof(struct wk_cause_key));
	hash_empty(c->skel->maps.charge_numbers, 2 * sizeof(uint32_t));
	hash_empty(c->skel->maps.hists, sizeof(uint32_t));
	array_clear(c->skel->maps.causes, used(c->skel->data->next_cause, c->cfg.causes), &no_cause);
	array_clear(c->skel->maps.charges, used(c->skel->data->next_charge, 2 * c->cfg.causes),
		    &no_charge);
	c->skel->data->next_cause = 1;
	c->skel->data->next_charge = 1;
	c->skel->bss->next_serial = 0;
}
