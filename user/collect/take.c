/* The window, and handing out what was observed in it. */
#include <stdlib.h>
#include <string.h>

#include "collect/clock.h"
#include "collect/internal.h"
#include "collect/proc.h"
#include "model/noise.h"

#include "wakewhy.skel.h"

static struct wk_window *window_of(const struct collector *c)
{
	return c->proc ? &c->proc->window : &c->skel->data->window;
}

uint64_t collector_open_window(struct collector *c, uint64_t duration_ns)
{
	struct wk_window *w = window_of(c);
	uint64_t start_ns;

	collect_noise_begin(c);
	collect_edge_read(c, &c->before);
	c->closed = false;
	if (c->proc) {
		collect_proc_open_window(c);
		return w->start_ns;
	}
	start_ns = clock_ns(CLOCK_MONOTONIC);
	if (duration_ns && duration_ns < WK_NEVER - start_ns)
		__atomic_store_n(&w->end_ns, start_ns + duration_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&w->start_ns, start_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&w->open, 1, __ATOMIC_RELEASE);
	collect_samples_enable(c, true);
	return start_ns;
}

uint64_t collector_close_window(struct collector *c)
{
	struct wk_window *w = window_of(c);

	if (!c->closed && c->proc) {
		collect_proc_close_window(c);
		collect_edge_read(c, &c->after);
		collect_noise_end(c);
		c->closed = true;
	}
	if (!c->closed) {
		uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);

		__atomic_store_n(&w->open, 0, __ATOMIC_RELEASE);
		if (end_ns < w->end_ns)
			__atomic_store_n(&w->end_ns, end_ns, __ATOMIC_RELEASE);
		collect_samples_enable(c, false);
		collect_edge_read(c, &c->after);
		collect_noise_end(c);
		c->closed = true;
	}
	return w->end_ns;
}

static void take_threads(struct collector *c, uint32_t group, struct capture *capture)
{
	if (c->cfg.groups == 1)
		vec_reserve(&capture->threads, c->threads.n);
	for (size_t i = 0; i < c->threads.n; i++) {
		struct capture_thread *from = &c->threads.items[i];

		if (from->t.group != group)
			continue;
		*vec_push(&capture->threads) = *from;
		memset(&from->syscalls, 0, sizeof(from->syscalls)); /* moved */
	}
}

/* Processes, each known by its id and start. A build may have had a hundred thousand: they are sorted, and
 * looked for by halves. */
struct process_key {
	uint32_t pid;
	uint64_t start_ns;
};

static int process_key_order(const void *a, const void *b)
{
	const struct process_key *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

struct process_keys {
	VEC(struct process_key) all;
};

static void keys_sort(struct process_keys *keys)
{
	if (keys->all.n)
		qsort(keys->all.items, keys->all.n, sizeof(struct process_key), process_key_order);
}

static bool keys_have(const struct process_keys *keys, uint32_t pid, uint64_t start_ns)
{
	struct process_key key = {pid, start_ns};

	return keys->all.n && bsearch(&key, keys->all.items, keys->all.n, sizeof(key),
				      process_key_order);
}

/* A process that was forked and never executed anything has no image of its own yet. */
static void add_forked_images(struct capture *capture)
{
	struct process_keys known = {};

	for (size_t i = 0; i < capture->images.n; i++)
		*vec_push(&known.all) = (struct process_key){capture->images.items[i].pid,
							     capture->images.items[i].start_ns};
	keys_sort(&known);
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;
		struct capture_image *image;

		if (!(t->flags & WK_FLAG_LEADER) || keys_have(&known, t->pid, t->start_ns))
			continue;
		image = vec_push(&capture->images);
		image->pid = t->pid;
		image->ppid = t->ppid;
		image->start_ns = t->start_ns;
		image->group = t->group;
		memcpy(image->comm, t->comm, WK_COMM_BYTES);
	}
	free(known.all.items);
}

static void take_images(struct collector *c, uint32_t group, struct capture *capture)
{
	struct process_keys threads = {}; /* by id alone */

	for (size_t i = 0; i < capture->threads.n; i++)
		*vec_push(&threads.all) = (struct process_key){.pid = capture->threads.items[i].t.pid};
	keys_sort(&threads);
	for (size_t i = 0; i < c->images.n; i++) {
		struct capture_image *from = &c->images.items[i];
		struct capture_image *to;

		if (from->group != group || !keys_have(&threads, from->pid, 0))
			continue;
		to = vec_push(&capture->images);
		*to = *from;
		from->argv = NULL; /* moved */
	}
	free(threads.all.items);
	add_forked_images(capture);
}

static void take_seconds(struct collector *c, uint32_t group, struct capture *capture)
{
	uint64_t window_ns = capture->end_ns - capture->start_ns;
	uint64_t n = (window_ns + WK_SECOND_NS - 1) / WK_SECOND_NS;
	const struct wk_second *counted = c->seconds ? c->seconds + (size_t)group * c->cfg.series_seconds
						     : NULL;

	if (n > c->cfg.series_seconds)
		n = c->cfg.series_seconds;
	for (size_t i = 0; i < n; i++) {
		struct wk_second *s = vec_push(&capture->seconds);

		if (counted)
			*s = counted[i];
		if (i < c->groups[group].carried.n) {
			const struct wk_second *more = &c->groups[group].carried.items[i];

			s->oncpu_ns += more->oncpu_ns;
			s->wakeups += more->wakeups;
			s->full_delta += more->full_delta;
		}
	}
}

static void take_probes(const struct collector *c, struct capture *capture)
{
	for (size_t i = 0; i < c->after.probes.n; i++) {
		const struct capture_probe *after = &c->after.probes.items[i];
		struct capture_probe *probe = vec_push(&capture->probes);

		*probe = *after;
		probe->name = mem_strdup(after->name);
		if (i < c->before.probes.n) {
			probe->runs -= c->before.probes.items[i].runs;
			probe->ns -= c->before.probes.items[i].ns;
			probe->misses -= c->before.probes.items[i].misses;
		}
	}
	capture->probes_timed = c->stats_fd >= 0;
}

/* What only probes know. */
static void take_kernel_side(struct collector *c, uint32_t group, struct capture *capture)
{
	collect_why_take(c, capture);
	capture->has_spans = true;
	capture->spans = c->groups[group].spans;
	for (int i = 0; i < WK_LOST_MAX; i++)
		capture->lost[i] = c->skel->bss->lost[i];
	capture->inferred_switches = c->skel->bss->inferred;
	take_probes(c, capture);
	collect_stacks_take(c, capture); /* adds to what was lost */
}

int collector_take(struct collector *c, uint32_t group, struct capture *ret_capture,
		   struct diag *diag)
{
	struct capture capture = {0};

	if (group >= c->cfg.groups)
		return diag_set(diag, -EINVAL, "no group %u", group);
	if (!c->settled) {
		int err = collect_settle(c, diag);

		if (err)
			return err;
	}
	capture.start_ns = window_of(c)->start_ns;
	capture.end_ns = window_of(c)->end_ns;
	if (capture.start_ns == WK_NEVER)
		capture.start_ns = capture.end_ns;
	capture.exit_status = -1;
	capture.syscalls_counted = c->options.syscalls;
	take_threads(c, group, &capture);
	take_images(c, group, &capture);
	take_seconds(c, group, &capture);
	if (c->proc) {
		capture.step_ns = PROC_STEP_NS;
		capture.unseen_ends = c->proc->unseen_ends;
	} else {
		take_kernel_side(c, group, &capture);
	}
	for (int i = 0; i < WK_LOST_MAX; i++)
		capture.lost[i] += c->lost[i];
	capture.observer_wakeups = c->after.wakeups - c->before.wakeups;
	capture.observer_oncpu_ns = c->after.oncpu_ns - c->before.oncpu_ns;
	collect_noise_take(c, capture.end_ns - capture.start_ns, &capture.noise);
	capture.disturbed = noise_disturbance(&capture.noise);
	*ret_capture = capture;
	return 0;
}
