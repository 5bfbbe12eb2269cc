/* The threads of a group's runs added up: a thread that comes back in every repeat is one. */
#include "report/thread_sums.h"

#include <stdlib.h>
#include <string.h>

/* A process id and its number in the order in which processes of a run appear: what makes the
 * second worker of one repeat the second worker of the next. */
struct numbered {
	uint32_t pid;
	uint32_t number;
};

/* A thread of one run on its way into a sum. */
struct sighting {
	const struct run_thread *thread;
	const char *begin; /* as in struct thread_sum */
	uint32_t process;
	size_t run;
};

struct sightings {
	VEC(struct sighting) all;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int numbered_order(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = compare_u64(x->pid, y->pid);

	return order ? order : compare_u64(x->number, y->number);
}

static int numbered_order_by_pid(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return compare_u64(x->pid, y->pid);
}

/* Process ids of a run, rising, each with its number. The caller frees; *ret_n may be 0. */
static struct numbered *numbered_processes(const struct run *run, size_t *ret_n)
{
	size_t n = run->processes.n, kept = 0;
	struct numbered *list = mem_calloc(n + 1, sizeof(*list));
	uint32_t *first = mem_calloc(n + 1, sizeof(*first));
	uint32_t number = 0;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct numbered){run->processes.items[i].image->pid, (uint32_t)i};
	qsort(list, n, sizeof(*list), numbered_order);
	for (size_t i = 0; i < n; i++) {
		if (i && list[i].pid == list[i - 1].pid)
			continue; /* another image of the same process */
		first[list[i].number] = 1;
	}
	for (size_t i = 0; i < n; i++) {
		if (first[i])
			first[i] = number++;
		else
			first[i] = UINT32_MAX;
	}
	for (size_t i = 0; i < n; i++) {
		if (first[list[i].number] == UINT32_MAX)
			continue;
		list[kept++] = (struct numbered){list[i].pid, first[list[i].number]};
	}
	free(first);
	*ret_n = kept;
	return list;
}

static const char *thread_begin(const struct run *run, const struct stacks *stacks, size_t thread)
{
	if (!stacks || thread >= stacks->begins.n || !*stacks->begins.items[thread] ||
	    !run_thread_named_as_main(run, &run->threads.items[thread]))
		return "";
	return stacks->begins.items[thread];
}

static void sightings_add_run(struct sightings *sightings, const struct group *group, size_t number,
			      size_t *n_processes)
{
	const struct run *run = group->runs.items[number];
	const struct stacks *stacks =
		number < group->stacks.n ? group->stacks.items[number] : NULL;
	size_t n;
	struct numbered *processes = numbered_processes(run, &n);

	if (n > *n_processes)
		*n_processes = n;
	for (size_t i = 0; i < run->threads.n; i++) {
		struct sighting *sighting = vec_push(&sightings->all);
		struct numbered key = {run->threads.items[i].seen->t.pid, 0};
		const struct numbered *found =
			bsearch(&key, processes, n, sizeof(key), numbered_order_by_pid);

		sighting->thread = &run->threads.items[i];
		sighting->begin = thread_begin(run, stacks, i);
		sighting->process = found ? found->number : UINT32_MAX;
		sighting->run = number;
	}
	free(processes);
}

static int sighting_same(const struct sighting *x, const struct sighting *y)
{
	int order = compare_u64(x->process, y->process);

	/* Processes that are not known are kept apart by their ids. */
	if (!order && x->process == UINT32_MAX)
		order = compare_u64(x->thread->seen->t.pid, y->thread->seen->t.pid);
	return order ? order : strcmp(x->thread->label, y->thread->label);
}

static int sighting_order(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;
	int order = sighting_same(x, y);

	if (!order)
		order = compare_u64(x->run, y->run);
	return order ? order : compare_u64(x->thread->seen->t.tid, y->thread->seen->t.tid);
}

static void counters_add(struct wk_counters *sum, const struct wk_counters *more)
{
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		uint64_t value = counter_get(sum, field) + counter_get(more, field);

		memcpy((char *)sum + field->offset, &value, sizeof(value));
	}
}

static void thread_sum_add(struct thread_sum *sum, const struct capture_thread *thread)
{
	uint64_t runq_max_ns = sum->count.runq_max_ns;

	counters_add(&sum->count, &thread->t.count);
	sum->count.runq_max_ns = thread->t.count.runq_max_ns > runq_max_ns
					 ? thread->t.count.runq_max_ns
					 : runq_max_ns;
	for (size_t i = 0; i < thread->syscalls.n; i++)
		*vec_push(&sum->syscalls) = thread->syscalls.items[i];
}

static int syscall_order_by_number(const void *a, const void *b)
{
	const struct capture_syscall *x = a, *y = b;

	return compare_u64(x->nr, y->nr);
}

static int syscall_order_by_count(const void *a, const void *b)
{
	const struct capture_syscall *x = a, *y = b;
	int order = compare_u64(y->count, x->count);

	return order ? order : compare_u64(x->nr, y->nr);
}

static void thread_sum_merge_syscalls(struct thread_sum *sum)
{
	struct capture_syscall *calls = sum->syscalls.items;
	size_t kept = 0;

	if (!sum->syscalls.n)
		return;
	qsort(calls, sum->syscalls.n, sizeof(*calls), syscall_order_by_number);
	for (size_t i = 1; i < sum->syscalls.n; i++) {
		if (calls[i].nr == calls[kept].nr)
			calls[kept].count += calls[i].count;
		else
			calls[++kept] = calls[i];
	}
	sum->syscalls.n = kept + 1;
	qsort(calls, sum->syscalls.n, sizeof(*calls), syscall_order_by_count);
}

static int thread_sum_order_by_cpu(const void *a, const void *b)
{
	const struct thread_sum *x = a, *y = b;
	int order = compare_u64(y->count.oncpu_ns, x->count.oncpu_ns);

	if (!order)
		order = compare_u64(y->count.wakeups, x->count.wakeups);
	if (!order)
		order = compare_u64(x->process, y->process);
	if (!order)
		order = strcmp(x->label, y->label);
	return order ? order : compare_u64(x->seen->t.tid, y->seen->t.tid);
}

static int thread_sum_order_by_wakeups(const void *a, const void *b)
{
	const struct thread_sum *x = a, *y = b;
	int order = compare_u64(y->count.wakeups, x->count.wakeups);

	return order ? order : thread_sum_order_by_cpu(a, b);
}

static void thread_sums_add(struct thread_sums *sums, const struct sightings *sightings)
{
	struct thread_sum *sum = NULL;

	for (size_t i = 0; i < sightings->all.n; i++) {
		const struct sighting *sighting = &sightings->all.items[i];
		/* One run has every thread once, whatever it is called. */
		bool again = sum && i && !sighting_same(sighting - 1, sighting) &&
			     sighting[-1].run != sighting->run;

		if (!again) {
			sum = vec_push(&sums->threads);
			sum->label = sighting->thread->label;
			sum->begin = "";
			sum->process = sighting->process;
			sum->seen = sighting->thread->seen;
		}
		if (!*sum->begin)
			sum->begin = sighting->begin;
		thread_sum_add(sum, sighting->thread->seen);
	}
}

void thread_sums_init(struct thread_sums *ret_sums, const struct group *group,
		      enum thread_order order)
{
	struct thread_sums sums = {
		.n_runs = group->runs.n,
		.window_ns = group_window_ns(group),
		.operations = group_operations(group),
	};
	struct sightings sightings = {0};

	for (size_t i = 0; i < group->runs.n; i++) {
		sightings_add_run(&sightings, group, i, &sums.n_processes);
		counters_add(&sums.total, &group->runs.items[i]->totals);
	}
	if (sightings.all.n)
		qsort(sightings.all.items, sightings.all.n, sizeof(*sightings.all.items),
		      sighting_order);
	thread_sums_add(&sums, &sightings);
	free(sightings.all.items);
	for (size_t i = 0; i < sums.threads.n; i++)
		thread_sum_merge_syscalls(&sums.threads.items[i]);
	if (sums.threads.n)
		qsort(sums.threads.items, sums.threads.n, sizeof(*sums.threads.items),
		      order == THREADS_BY_CPU ? thread_sum_order_by_cpu
					      : thread_sum_order_by_wakeups);
	*ret_sums = sums;
}

void thread_sums_free_members(struct thread_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; i < sums->threads.n; i++)
		free(sums->threads.items[i].syscalls.items);
	free(sums->threads.items);
	*sums = (struct thread_sums){0};
}
