/* A table over the processes of a run, where there is more than one:
 *
 *	processes          pid   threads   wakeups   wakeups/s   CPU ms   CPU share   …   command
 *	  sh              1200         1         2        1.00    0.812        12 %        sh -c
 *make → make
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/part.h"

#define COMMAND_BYTES 120

/* What the threads of one process add up to. */
struct process_sum {
	uint32_t pid;
	const char *comm; /* of a thread: the main one where it was seen; WK_COMM_BYTES at most */
	uint64_t threads;
	struct wk_counters count;
};

struct process_sums {
	VEC(struct process_sum) all;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int process_order_by_pid(const void *a, const void *b)
{
	const struct wk_thread *const *x = a, *const *y = b;
	int order = compare_u64((*x)->pid, (*y)->pid);

	/* The main thread first: the process has its name. */
	if (!order)
		order = ((*y)->tid == (*y)->pid) - ((*x)->tid == (*x)->pid);
	return order ? order : compare_u64((*x)->tid, (*y)->tid);
}

static int process_order_by_cost(const void *a, const void *b)
{
	const struct process_sum *x = a, *y = b;
	int order = compare_u64(y->count.oncpu_ns, x->count.oncpu_ns);

	if (!order)
		order = compare_u64(y->count.wakeups, x->count.wakeups);
	return order ? order : compare_u64(x->pid, y->pid);
}

static void process_sums_init(struct process_sums *ret_sums, const struct run *run)
{
	const struct wk_thread **threads = mem_calloc(run->threads.n + 1, sizeof(*threads));
	struct process_sums sums = {0};
	struct process_sum *sum = NULL;

	for (size_t i = 0; i < run->threads.n; i++)
		threads[i] = &run->threads.items[i].seen->t;
	qsort(threads, run->threads.n, sizeof(*threads), process_order_by_pid);
	for (size_t i = 0; i < run->threads.n; i++) {
		const struct wk_counters *count = &threads[i]->count;

		if (!sum || sum->pid != threads[i]->pid) {
			sum = vec_push(&sums.all);
			sum->pid = threads[i]->pid;
			sum->comm = threads[i]->comm;
		}
		sum->threads++;
		sum->count.wakeups += count->wakeups;
		sum->count.oncpu_ns += count->oncpu_ns;
		sum->count.idle_exits += count->idle_exits;
		sum->count.syscalls += count->syscalls;
	}
	free(threads);
	if (sums.all.n)
		qsort(sums.all.items, sums.all.n, sizeof(*sums.all.items), process_order_by_cost);
	*ret_sums = sums;
}

/* Every image of the process: "sh -c ./x → ./x". */
static void process_add_command(struct row *row, const struct run *run, uint32_t pid)
{
	struct strbuf text = {0};
	char *command;

	for (size_t i = 0; i < run->processes.n; i++) {
		const struct capture_image *image = run->processes.items[i].image;

		if (image->pid != pid || !image->argv || !image->argv_bytes)
			continue;
		strbuf_add(&text, text.n ? " → " : "");
		part_add_command(&text, image);
	}
	command = part_shorten(strbuf_text(&text), COMMAND_BYTES);
	row_add_text(row, command);
	free(command);
	strbuf_free_members(&text);
}

static void process_add_row(struct table *table, const struct run *run,
			    const struct process_sum *sum)
{
	const struct wk_counters *c = &sum->count;
	double window_s = (double)run->window_ns / 1e9;
	double total_ns = (double)run->totals.oncpu_ns;
	struct row *row = table_add_row(table);
	char *text = mem_strndup(sum->comm, WK_COMM_BYTES);

	row_add_text(row, *text ? text : "(unnamed)");
	free(text);
	text = mem_printf("%u", sum->pid);
	row_add_text(row, text);
	free(text);
	row_add_number(row, CELL_COUNT, (double)sum->threads, 0);
	row_add_number(row, CELL_COUNT, (double)c->wakeups, 0);
	row_add_number(row, CELL_REAL, window_s > 0 ? (double)c->wakeups / window_s : NAN, 0);
	row_add_number(row, CELL_REAL, (double)c->oncpu_ns / 1e6, 0);
	row_add_number(row, CELL_REAL, window_s > 0 ? (double)c->oncpu_ns / 1e6 / window_s : NAN,
		       0);
	row_add_number(row, CELL_SHARE, total_ns > 0 ? (double)c->oncpu_ns / total_ns : NAN, 0);
	if (!run->capture->step_ns)
		row_add_number(row, CELL_COUNT, (double)c->idle_exits, 0);
	if (run->capture->syscalls_counted)
		row_add_number(row, CELL_COUNT, (double)c->syscalls, 0);
	process_add_command(row, run, sum->pid);
}

static void process_add_columns(struct table *table, const struct run *run)
{
	static const char *const titles[] = {
		"pid",	  "threads",  "wakeups",   "wakeups/s",
		"CPU ms", "CPU ms/s", "CPU share",
	};

	table_add_column(table, "", true);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_add_column(table, titles[i], false);
	if (!run->capture->step_ns)
		table_add_column(table, "idle exits", false);
	if (run->capture->syscalls_counted)
		table_add_column(table, "syscalls", false);
	table_add_column(table, "command", true);
}

static void process_add_rest(struct table *table, size_t n, const char *why)
{
	char *text;

	if (!n)
		return;
	text = mem_printf("… and %zu more%s", n, why);
	row_add_text(table_add_row(table), text);
	free(text);
}

static void processes_build_run(struct report *report, const struct run *run, const char *title,
				size_t max_rows)
{
	struct process_sums sums;
	struct table *table;
	size_t ran = 0, shown;

	process_sums_init(&sums, run);
	while (ran < sums.all.n &&
	       (sums.all.items[ran].count.oncpu_ns || sums.all.items[ran].count.wakeups))
		ran++;
	if (sums.all.n < 2)
		goto out;
	shown = max_rows && ran > max_rows ? max_rows : ran;
	table = report_add_table(report, title);
	process_add_columns(table, run);
	for (size_t i = 0; i < shown; i++)
		process_add_row(table, run, &sums.all.items[i]);
	process_add_rest(table, ran - shown, "");
	process_add_rest(table, sums.all.n - ran, " that did not run");
	table_set_decimals(table, 4, 2);
	table_set_decimals(table, 5, 3);
	table_set_decimals(table, 6, 3);
out:
	free(sums.all.items);
}

void processes_build(struct report *report, const struct part *part, size_t max_rows)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];
		char *name, *title;

		if (group->runs.n != 1) /* ids differ from run to run */
			continue;
		name = group_name(group);
		title = part->groups.n == 1 ? mem_strdup("processes")
					    : mem_printf("processes of %s", name);
		processes_build_run(report, group->runs.items[0], title, max_rows);
		free(title);
		free(name);
	}
}
