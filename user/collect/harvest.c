/* Reading the slots: of the dead while the window is open, of all when it has closed. */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/internal.h"
#include "collect/proc.h"

#include "wakewhy.skel.h"

/* account.h adds seconds and spans through these: here to what a group's threads carried in their
 * slots, and to its histograms. */
static void series_add(void *series, uint64_t second, uint64_t oncpu_ns, uint64_t wakeups,
		       int64_t full_delta)
{
	struct collect_group *group = series;
	struct wk_second *s;

	while (group->carried.n <= second)
		vec_push(&group->carried);
	s = &group->carried.items[second];
	s->oncpu_ns += oncpu_ns;
	s->wakeups += wakeups;
	s->full_delta += full_delta;
}

static void span_add(void *series, int runq, uint32_t bucket)
{
	struct collect_group *group = series;

	(runq ? group->spans.runq : group->spans.oncpu)[bucket]++;
}

#include "bpf/account.h"

/* A thread's part of a result: 8 KB measured for ten thousand, in any format. */
#define RESULT_BYTES 12288

/* A table is a page; what most threads called is a dozen numbers, and the dead are kept until the end. */
static void calls_keep(struct capture_thread *kept, const struct wk_task *task)
{
	for (uint32_t nr = 0; nr < WK_SYSCALLS; nr++) {
		if (!task->syscalls[nr])
			continue;
		*vec_push(&kept->syscalls) = (struct capture_syscall){nr, task->syscalls[nr]};
		kept->t.count.syscalls += task->syscalls[nr];
	}
	kept->t.count.syscalls += task->compat + task->invalid;
	kept->t.count.syscalls_compat = task->compat;
	kept->t.count.syscalls_invalid = task->invalid;
}

/* Takes the table of system calls that a dead thread left out of the map. `kept` NULL: for nobody. */
static void dead_calls_take(struct collector *c, uint32_t slot, struct capture_thread *kept)
{
	struct wk_task task;

	if (c->options.syscalls &&
	    !bpf_map_lookup_and_delete_elem(bpf_map__fd(c->skel->maps.dead_syscalls), &slot, &task) && kept)
		calls_keep(kept, &task);
}

/* Copies a slot's figures, closes their books, and keeps them unless they lie before the window. */
static struct capture_thread *thread_keep(struct collector *c, const struct wk_thread *slot)
{
	const struct wk_window *w = &c->skel->data->window;
	struct capture_thread *kept;
	struct wk_thread t = *slot;

	if (t.flags & WK_FLAG_GATED || t.group >= c->cfg.groups || w->start_ns == WK_NEVER ||
	    (t.state == WK_STATE_DEAD && t.end_ns < w->start_ns))
		return NULL;
	account_settle(&t, &(struct account_view){.start_ns = w->start_ns,
						  .end_ns = w->end_ns,
						  .series = &c->groups[t.group]});
	kept = vec_push(&c->threads);
	kept->t = t;
	return kept;
}

static void slot_give_back(struct collector *c, uint32_t slot)
{
	memset(&c->slots[slot], 0, sizeof(c->slots[slot]));
	bpf_map_update_elem(bpf_map__fd(c->skel->maps.free_slots), NULL, &slot, BPF_ANY);
}

void collect_harvest(struct collector *c)
{
	uint32_t used = collect_slots_used(c);

	for (uint32_t i = 0; i < used; i++) {
		if (__atomic_load_n(&c->slots[i].state, __ATOMIC_ACQUIRE) != WK_STATE_DEAD ||
		    !c->slots[i].end_ns)
			continue;
		dead_calls_take(c, i, c->settled_slots[i] ? NULL : thread_keep(c, &c->slots[i]));
		slot_give_back(c, i);
	}
}

/* Called for each live thread; its slot's figures are kept with its table. */
static void settle_live(struct collector *c, const struct wk_task *task)
{
	uint32_t slot = task->slot_plus_1 - 1;
	struct capture_thread *kept;

	if (slot >= collect_slots_used(c) || c->settled_slots[slot] ||
	    c->slots[slot].state == WK_STATE_NONE || c->slots[slot].state == WK_STATE_DEAD)
		return;
	kept = thread_keep(c, &c->slots[slot]);
	if (kept && c->options.syscalls)
		calls_keep(kept, task);
	c->settled_slots[slot] = true;
}

/* Waits until no probe that began before the window closed is still running: probes run without
 * preemption, and a grace period outlasts that. Not needed when nobody is left to be probed. */
static void probes_wait(struct collector *c)
{
	if (collector_alive(c))
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

int collect_settle(struct collector *c, struct diag *diag)
{
	struct wk_seed seed = {.mode = WK_SEED_SETTLE};
	uint32_t used;
	bool empty;
	int err;

	collector_close_window(c);
	if (c->proc) {
		collect_proc_settle(c);
		return 0;
	}
	probes_wait(c);
	err = collector_service(c, &empty, diag);
	mem_expect((c->threads.n + collector_alive(c)) * RESULT_BYTES);
	vec_reserve(&c->threads, collector_alive(c));
	if (!err && !empty)
		err = collect_pass(c, &seed, settle_live, NULL, diag);
	if (err)
		return err;
	collect_harvest(c);
	/* Threads that are past their exit but have not left the CPU yet: no pass over the tasks shows
	 * them any more. What is known is kept; the table of system calls is lost. */
	used = collect_slots_used(c);
	for (uint32_t i = 0; i < used; i++) {
		if (c->slots[i].state == WK_STATE_NONE || c->settled_slots[i])
			continue;
		if (thread_keep(c, &c->slots[i]) && c->options.syscalls)
			c->lost[WK_LOST_SYSCALL_TABLES]++;
	}
	collect_why_read(c);
	err = collect_stacks_read(c, diag);
	err = err ?: collect_spans_read(c, diag);
	c->settled = !err;
	return err;
}

void collect_forget(struct collector *c)
{
	for (size_t i = 0; i < c->threads.n; i++)
		free(c->threads.items[i].syscalls.items);
	free(c->threads.items);
	memset(&c->threads, 0, sizeof(c->threads));
	for (size_t i = 0; i < c->images.n; i++)
		free(c->images.items[i].argv);
	free(c->images.items);
	memset(&c->images, 0, sizeof(c->images));
	for (uint32_t i = 0; c->groups && i < (c->cfg.groups ? c->cfg.groups : 1); i++) {
		free(c->groups[i].carried.items);
		memset(&c->groups[i], 0, sizeof(c->groups[i]));
	}
	collect_why_forget(c);
	collect_stacks_forget(c);
	collect_noise_forget(c);
	memset(c->lost, 0, sizeof(c->lost));
	if (c->settled_slots)
		memset(c->settled_slots, 0, c->cfg.slots);
	c->closed = false;
	c->settled = false;
	c->recycle = false;
}

int collector_reset(struct collector *c, struct diag *diag)
{
	struct wk_seed seed = {.mode = WK_SEED_UNFOLLOW};
	bool empty;
	int err = 0;

	if (c->proc) {
		collect_proc_reset(c);
		collect_forget(c);
		return 0;
	}
	if (collector_alive(c))
		err = collect_pass(c, &seed, NULL, NULL, diag);
	err = err ?: collector_service(c, &empty, diag);
	if (err)
		return err;
	collect_harvest(c);
	memset(c->slots, 0, collect_slots_used(c) * sizeof(*c->slots));
	memset(c->seconds, 0, c->seconds_bytes);
	collect_queue_drain(c->skel->maps.free_slots);
	collect_samples_enable(c, false);
	collect_why_reset(c);
	collect_stacks_reset(c);
	collect_spans_reset(c);
	c->skel->bss->next_slot = 0;
	c->skel->bss->alive = 0;
	c->skel->bss->dead_waiting = 0;
	c->skel->bss->inferred = 0;
	memset(c->skel->bss->lost, 0, sizeof(c->skel->bss->lost));
	c->skel->data->window.start_ns = WK_NEVER;
	c->skel->data->window.end_ns = WK_NEVER;
	c->skel->data->window.open = 0;
	collect_forget(c);
	return 0;
}
