/* What a capture means: threads with stable labels, processes, totals, the series. */
#include "model/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturated.h"
#include "model/trust.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* ---- processes ------------------------------------------------------------------------------- */

static int run_order_by_pid(const void *a, const void *b)
{
	const struct capture_image *x = ((const struct run_process *)a)->image;
	const struct capture_image *y = ((const struct run_process *)b)->image;
	int order = compare_u64(x->pid, y->pid);

	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	if (!order)
		order = compare_u64(x->exec_ns, y->exec_ns);
	return order ? order : compare_u64((uintptr_t)x, (uintptr_t)y);
}

static int run_order_by_start(const void *a, const void *b)
{
	const struct capture_image *x = ((const struct run_process *)a)->image;
	const struct capture_image *y = ((const struct run_process *)b)->image;
	int order = compare_u64(x->start_ns, y->start_ns);

	if (!order)
		order = compare_u64(x->exec_ns, y->exec_ns);
	if (!order)
		order = compare_u64(x->pid, y->pid);
	return order ? order : compare_u64((uintptr_t)x, (uintptr_t)y);
}

/* The last image of the process that the thread belongs to; NULL: no image of that pid. processes
 * are ordered by pid, start, exec. A pid may have been used twice: the thread belongs to the last
 * process that had started when the thread did. */
static struct run_process *run_process_of(const struct run *run, const struct wk_thread *t)
{
	const struct run_process *all = run->processes.items;
	size_t low = 0, high = run->processes.n, last;

	/* First one behind the process that may hold the thread. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct capture_image *image = all[middle].image;

		if (image->pid < t->pid || (image->pid == t->pid && image->start_ns <= t->start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && all[low - 1].image->pid == t->pid)
		return &run->processes.items[low - 1];
	if (low == run->processes.n || all[low].image->pid != t->pid)
		return NULL;
	/* Older than the first process of that pid: still that one, whose last image is wanted. */
	for (last = low; last + 1 < run->processes.n && all[last + 1].image->pid == t->pid &&
			 all[last + 1].image->start_ns == all[low].image->start_ns;)
		last++;
	return &run->processes.items[last];
}

/* The thread whose id is the process's. An exec from another thread gives that thread the id: then
 * there are two, and the one that executed last is the main thread now. */
static bool run_is_main(const struct wk_thread *t)
{
	return t->tid == t->pid;
}

static int run_compare_main(const struct wk_thread *s, const struct wk_thread *t)
{
	int order = (int)run_is_main(t) - (int)run_is_main(s);

	return order || !run_is_main(s) ? order : compare_u64(t->exec_ns, s->exec_ns);
}

static char *run_comm(const char *comm)
{
	return mem_strndup(comm, WK_COMM_BYTES);
}

static void run_end_process(struct run_process *process, const struct wk_thread *t)
{
	if (run_is_main(t) && (!process->main || run_compare_main(t, process->main) < 0)) {
		process->main = t;
		free(process->comm);
		process->comm = run_comm(t->comm);
	}
	if (t->flags & WK_FLAG_LAST_EXIT) {
		process->exit_ns = t->exit_ns;
		process->exit_status = t->exit_code;
	}
}

static void run_add_processes(struct run *run)
{
	const struct capture *capture = run->capture;

	for (size_t i = 0; i < capture->images.n; i++) {
		struct run_process *process = vec_push(&run->processes);

		process->image = &capture->images.items[i];
		process->comm = run_comm(process->image->comm);
		process->exit_status = -1;
	}
	if (run->processes.n)
		qsort(run->processes.items, run->processes.n, sizeof(*run->processes.items),
		      run_order_by_pid);
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;
		struct run_process *process = run_process_of(run, t);

		if (process)
			run_end_process(process, t);
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A thread on the way to its label. */
struct run_named {
	struct run_thread *thread;
	uint64_t process_start_ns;
};

static int run_compare_names(const struct run_named *x, const struct run_named *y)
{
	const struct wk_thread *a = &x->thread->seen->t, *b = &y->thread->seen->t;
	int order = compare_u64(a->pid, b->pid);

	if (!order)
		order = compare_u64(x->process_start_ns, y->process_start_ns);
	return order ? order : strncmp(a->comm, b->comm, WK_COMM_BYTES);
}

static int run_order_by_name(const void *x, const void *y)
{
	const struct run_named *a = x, *b = y;
	const struct wk_thread *s = &a->thread->seen->t, *t = &b->thread->seen->t;
	int order = run_compare_names(a, b);

	if (!order)
		order = run_compare_main(s, t);
	if (!order)
		order = compare_u64(s->start_ns, t->start_ns);
	if (!order)
		order = compare_u64(s->tid, t->tid);
	return order ? order : compare_u64((uintptr_t)s, (uintptr_t)t);
}

static void run_label_threads(struct run *run)
{
	struct run_named *named = mem_calloc(run->threads.n, sizeof(*named));
	size_t number = 0;

	for (size_t i = 0; i < run->threads.n; i++) {
		struct run_thread *thread = &run->threads.items[i];
		const struct run_process *process = run_process_of(run, &thread->seen->t);

		named[i].thread = thread;
		named[i].process_start_ns = process ? process->image->start_ns : 0;
	}
	qsort(named, run->threads.n, sizeof(*named), run_order_by_name);
	for (size_t i = 0; i < run->threads.n; i++) {
		struct run_thread *thread = named[i].thread;
		const char *comm = thread->seen->t.comm;
		int n = (int)strnlen(comm, WK_COMM_BYTES);

		if (n == 0) {
			comm = "(unnamed)";
			n = (int)strlen(comm);
		}
		number = i && run_compare_names(&named[i - 1], &named[i]) == 0 ? number + 1 : 1;
		thread->label = number == 1 ? mem_strndup(comm, n)
					    : mem_printf("%.*s#%zu", n, comm, number);
	}
	free(named);
}

static int run_order_by_cost(const void *a, const void *b)
{
	const struct run_thread *x = a, *y = b;
	const struct wk_thread *s = &x->seen->t, *t = &y->seen->t;
	int order = compare_u64(t->count.oncpu_ns, s->count.oncpu_ns);

	if (!order)
		order = compare_u64(t->count.wakeups, s->count.wakeups);
	if (!order)
		order = compare_u64(s->pid, t->pid);
	if (!order)
		order = compare_u64(s->start_ns, t->start_ns);
	if (!order)
		order = compare_u64(s->tid, t->tid);
	return order ? order : compare_u64((uintptr_t)s, (uintptr_t)t);
}

static int run_order_of_mains(const void *a, const void *b)
{
	const struct run_thread *const *x = a, *const *y = b;

	return compare_u64((*x)->seen->t.pid, (*y)->seen->t.pid);
}

static void run_add_threads(struct run *run)
{
	for (size_t i = 0; i < run->capture->threads.n; i++) {
		struct run_thread *thread = vec_push(&run->threads);

		thread->seen = &run->capture->threads.items[i];
	}
	if (!run->threads.n)
		return;
	run_label_threads(run);
	qsort(run->threads.items, run->threads.n, sizeof(*run->threads.items), run_order_by_cost);
	for (size_t i = 0; i < run->threads.n; i++)
		if (run_is_main(&run->threads.items[i].seen->t))
			*vec_push(&run->mains) = &run->threads.items[i];
	if (run->mains.n)
		qsort(run->mains.items, run->mains.n, sizeof(*run->mains.items), run_order_of_mains);
}

bool run_thread_named_as_main(const struct run *run, const struct run_thread *thread)
{
	const struct wk_thread *t = &thread->seen->t;
	size_t low = 0, high = run->mains.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run->mains.items[middle]->seen->t.pid < t->pid)
			low = middle + 1;
		else
			high = middle;
	}
	/* An exec from another thread makes that the main thread: there may be two. */
	for (; !run_is_main(t) && low < run->mains.n && run->mains.items[low]->seen->t.pid == t->pid;
	     low++)
		if (!strncmp(run->mains.items[low]->seen->t.comm, t->comm, WK_COMM_BYTES))
			return true;
	return false;
}

/* ---- series and totals ----------------------------------------------------------------------- */

static uint64_t multiply_saturated(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* full_delta is a difference array: its running sum is the number of threads that ran through the
 * whole of a second, which was not entered in oncpu_ns. */
static void run_add_series(struct run *run)
{
	int64_t full = 0;

	for (size_t i = 0; i < run->capture->seconds.n; i++) {
		const struct wk_second *second = &run->capture->seconds.items[i];
		struct run_interval *interval = vec_push(&run->series);

		/* A capture from outside may hold anything; never less than no thread. */
		if (__builtin_add_overflow(full, second->full_delta, &full))
			full = 0;
		interval->wakeups = second->wakeups;
		interval->oncpu_ns = second->oncpu_ns;
		if (full > 0)
			interval->oncpu_ns = add_saturated(interval->oncpu_ns,
							   multiply_saturated(full, WK_SECOND_NS));
	}
}

static void run_add_totals(struct run *run)
{
	struct wk_counters *totals = &run->totals;

	for (size_t i = 0; i < run->capture->threads.n; i++) {
		const struct wk_counters *c = &run->capture->threads.items[i].t.count;

		totals->wakeups += c->wakeups;
		totals->cancelled_sleeps += c->cancelled_sleeps;
		totals->starts += c->starts;
		totals->oncpu_ns += c->oncpu_ns;
		totals->runq_ns += c->runq_ns;
		totals->runq_waits += c->runq_waits;
		if (c->runq_max_ns > totals->runq_max_ns)
			totals->runq_max_ns = c->runq_max_ns;
		totals->switches_voluntary += c->switches_voluntary;
		totals->switches_preempted += c->switches_preempted;
		totals->idle_exits += c->idle_exits;
		totals->migrations += c->migrations;
		totals->syscalls += c->syscalls;
		totals->syscalls_compat += c->syscalls_compat;
		totals->syscalls_invalid += c->syscalls_invalid;
	}
	for (size_t i = 0; i < run->series.n; i++)
		totals->active_seconds += run->series.items[i].oncpu_ns > 0;
}

void run_init(struct run *ret_run, const struct capture *capture)
{
	struct run run = {.capture = capture};

	if (capture->end_ns > capture->start_ns)
		run.window_ns = capture->end_ns - capture->start_ns;
	run_add_processes(&run);
	run_add_threads(&run);
	/* run_process_of needed them by pid; people read them in the order they came to be. */
	if (run.processes.n)
		qsort(run.processes.items, run.processes.n, sizeof(*run.processes.items),
		      run_order_by_start);
	run_add_series(&run);
	run_add_totals(&run);
	trust_init(&run.trust, capture);
	*ret_run = run;
}

void run_free_members(struct run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->threads.n; i++)
		free(run->threads.items[i].label);
	free(run->threads.items);
	free(run->mains.items);
	for (size_t i = 0; i < run->processes.n; i++)
		free(run->processes.items[i].comm);
	free(run->processes.items);
	free(run->series.items);
	trust_free_members(&run->trust);
	memset(run, 0, sizeof(*run));
}

bool run_second(const struct run *run, size_t i, uint64_t *ret_oncpu_ns, uint64_t *ret_wakeups)
{
	if (i >= run->series.n)
		return false;
	*ret_oncpu_ns = run->series.items[i].oncpu_ns;
	*ret_wakeups = run->series.items[i].wakeups;
	return true;
}
