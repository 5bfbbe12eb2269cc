/* Tables over threads: which of them woke, ran and waited, and what they called.
 *
 *	threads            tid   wakeups   wakeups/s   CPU ms   CPU share   …   syscalls   most
 *called nginx            812     1,204        60.2     41.3        82 %          8,210   epoll_wait
 *1,204, …
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/number.h"
#include "report/stack_words.h"
#include "report/thread_sums.h"
#include "sym/syscall_names.h"

#define THREADS_BEGIN_BYTES 28 /* of where a thread began */

enum {
	IN_RUN = 1,
	IN_ATTACH = 2,
	IN_IDLE = 4,
	IN_HASH = 8,
	IN_SERVE = 16,
	IN_OPERATIONS = IN_HASH | IN_SERVE,
	IN_TOTALS = IN_RUN | IN_ATTACH,
};

/* A thread, and what its figures are divided by. */
struct thread_view {
	const struct thread_sum *sum;
	const struct thread_sums *all;
};

enum column_of {
	OF_FIGURES,
	OF_COUNTS,   /* whole numbers unless runs repeat */
	OF_PROBED_FIGURES, /* left out where all runs were read from /proc */
	OF_PROBED_COUNTS,  /* the same, whole numbers */
	OF_SYSCALLS, /* the same; left out where calls were not counted */
	OF_SYSCALL_RATES,
};

struct thread_column {
	const char *title;
	unsigned int in;
	enum column_of of;
	enum cell_kind kind;
	int decimals; /* at most */
	double (*get)(const struct thread_view *view);
};

/* Quotients: NaN where the divisor is 0, which is shown as a dash. */
static double per_run(const struct thread_view *view, uint64_t count)
{
	return (double)count / (double)view->all->n_runs;
}

static double per_second(const struct thread_view *view, double amount)
{
	return view->all->window_ns > 0 ? amount / (view->all->window_ns / 1e9) : NAN;
}

static double per_operation(const struct thread_view *view, double amount)
{
	return view->all->operations > 0 ? amount / view->all->operations : NAN;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* Getters of the columns: `v` is the view, `c` the thread's counters. */
#define COLUMN_GET(name, expression)                                                               \
	static double get_##name(const struct thread_view *v)                                      \
	{                                                                                          \
		const struct wk_counters *c = &v->sum->count;                                      \
		return (expression);                                                               \
	}

COLUMN_GET(wakeups, per_run(v, c->wakeups))
COLUMN_GET(wakeups_per_s, per_second(v, (double)c->wakeups))
COLUMN_GET(wakeups_per_op, per_operation(v, (double)c->wakeups))
COLUMN_GET(wakeups_share, share(c->wakeups, v->all->total.wakeups))
COLUMN_GET(cpu_ms, per_run(v, c->oncpu_ns) / 1e6)
COLUMN_GET(cpu_ms_per_s, per_second(v, (double)c->oncpu_ns / 1e6))
COLUMN_GET(cpu_ns_per_op, per_operation(v, (double)c->oncpu_ns))
COLUMN_GET(cpu_us_per_op, per_operation(v, (double)c->oncpu_ns / 1e3))
COLUMN_GET(cpu_share, share(c->oncpu_ns, v->all->total.oncpu_ns))
COLUMN_GET(runq_mean_us, c->runq_waits ? (double)c->runq_ns / (double)c->runq_waits / 1e3 : NAN)
COLUMN_GET(runq_max_us, c->runq_waits ? (double)c->runq_max_ns / 1e3 : NAN)
COLUMN_GET(voluntary, per_run(v, c->switches_voluntary))
COLUMN_GET(preempted, per_run(v, c->switches_preempted))
COLUMN_GET(switches_per_op,
	   per_operation(v, (double)c->switches_voluntary + (double)c->switches_preempted))
COLUMN_GET(idle_exits, per_run(v, c->idle_exits))
COLUMN_GET(idle_exits_per_s, per_second(v, (double)c->idle_exits))
COLUMN_GET(migrations, per_run(v, c->migrations))
COLUMN_GET(syscalls, per_run(v, c->syscalls))
COLUMN_GET(syscalls_per_s, per_second(v, (double)c->syscalls))
COLUMN_GET(syscalls_per_op, per_operation(v, (double)c->syscalls))

static const struct thread_column thread_columns[] = {
	{"wakeups", IN_TOTALS, OF_COUNTS, CELL_REAL, 1, get_wakeups},
	{"wakeups/s", IN_TOTALS | IN_IDLE, OF_FIGURES, CELL_REAL, 2, get_wakeups_per_s},
	{"wakeups/request", IN_SERVE, OF_FIGURES, CELL_REAL, 3, get_wakeups_per_op},
	{"wakeups/op", IN_HASH, OF_FIGURES, CELL_REAL, 3, get_wakeups_per_op},
	{"share", IN_IDLE, OF_FIGURES, CELL_SHARE, 0, get_wakeups_share},
	{"CPU ms", IN_TOTALS, OF_FIGURES, CELL_REAL, 3, get_cpu_ms},
	{"CPU ms/s", IN_ATTACH | IN_IDLE, OF_FIGURES, CELL_REAL, 3, get_cpu_ms_per_s},
	{"CPU µs/request", IN_SERVE, OF_FIGURES, CELL_REAL, 2, get_cpu_us_per_op},
	{"CPU ns/op", IN_HASH, OF_FIGURES, CELL_REAL, 0, get_cpu_ns_per_op},
	{"CPU share", IN_TOTALS | IN_IDLE | IN_OPERATIONS, OF_FIGURES, CELL_SHARE, 0, get_cpu_share},
	{"run queue µs", IN_TOTALS | IN_OPERATIONS, OF_FIGURES, CELL_REAL, 1, get_runq_mean_us},
	{"max µs", IN_TOTALS | IN_OPERATIONS, OF_PROBED_FIGURES, CELL_REAL, 0, get_runq_max_us},
	{"voluntary", IN_TOTALS, OF_COUNTS, CELL_REAL, 1, get_voluntary},
	{"preempted", IN_TOTALS, OF_COUNTS, CELL_REAL, 1, get_preempted},
	{"switches/request", IN_SERVE, OF_FIGURES, CELL_REAL, 3, get_switches_per_op},
	{"switches/op", IN_HASH, OF_FIGURES, CELL_REAL, 3, get_switches_per_op},
	{"idle exits", IN_TOTALS, OF_PROBED_COUNTS, CELL_REAL, 1, get_idle_exits},
	{"idle exits/s", IN_IDLE, OF_PROBED_FIGURES, CELL_REAL, 2, get_idle_exits_per_s},
	{"migrations", IN_TOTALS, OF_PROBED_COUNTS, CELL_REAL, 1, get_migrations},
	{"syscalls", IN_TOTALS, OF_SYSCALLS, CELL_REAL, 1, get_syscalls},
	{"syscalls/s", IN_IDLE, OF_SYSCALL_RATES, CELL_REAL, 2, get_syscalls_per_s},
	{"syscalls/request", IN_SERVE, OF_SYSCALL_RATES, CELL_REAL, 2, get_syscalls_per_op},
	{"syscalls/op", IN_HASH, OF_SYSCALL_RATES, CELL_REAL, 3, get_syscalls_per_op},
};
#define THREAD_COLUMNS (sizeof(thread_columns) / sizeof(*thread_columns))

/* One table in the making. */
struct thread_table {
	struct table *table;
	const struct part *part;
	unsigned int in;
	bool syscalls; /* some run counted them */
	bool probed;   /* some run was measured by probes */
	bool ids;      /* threads of one single run: their ids mean something */
	bool pids;     /* of several processes */
	size_t max_rows;
};

static unsigned int threads_in(const struct part *part)
{
	if (part_is(part, "idle"))
		return IN_IDLE;
	if (part_is(part, "hash"))
		return IN_HASH;
	if (part_is(part, "serve"))
		return IN_SERVE;
	return part_is(part, "attach") ? IN_ATTACH : IN_RUN;
}

static bool threads_shows(const struct thread_table *t, const struct thread_column *column)
{
	if (column->of == OF_PROBED_FIGURES || column->of == OF_PROBED_COUNTS)
		return (column->in & t->in) && t->probed;
	return (column->in & t->in) && (t->syscalls || column->of < OF_SYSCALLS);
}

/* What a count is divided by in this table, so that calls by name add up to the column beside. */
static double threads_per(const struct thread_table *t, const struct thread_view *view,
			  uint64_t count)
{
	if (t->in == IN_IDLE)
		return per_second(view, (double)count);
	if (t->in & IN_OPERATIONS)
		return per_operation(view, (double)count);
	return per_run(view, count);
}

/* "futex 1,204, read 12, write 3": the three most frequent. */
static void threads_add_calls(struct row *row, const struct thread_table *t,
			      const struct thread_view *view)
{
	const char *arch = t->part->result->recording->tool.arch;
	/* What would be shown as 0 is left out. */
	double least = t->in & IN_OPERATIONS ? 0.0005 : t->in == IN_IDLE ? 0.005 : 0;
	struct strbuf text = {0};

	for (size_t i = 0; i < view->sum->syscalls.n && i < 3; i++) {
		const struct capture_syscall *call = &view->sum->syscalls.items[i];
		const char *name = syscall_name(arch, call->nr);
		double count = threads_per(t, view, call->count);
		char number[NUMBER_BYTES];

		if (count < least)
			break;
		strbuf_add(&text, i ? ", " : "");
		if (name)
			strbuf_add(&text, name);
		else
			strbuf_printf(&text, "#%u", call->nr);
		number_real(number, count,
			    number_decimals(&count, 1,
					    t->in & IN_TOTALS ? view->all->n_runs > 1
					    : t->in & IN_IDLE ? 2
							      : 3));
		strbuf_printf(&text, " %s", number);
	}
	row_add_text(row, strbuf_text(&text));
	strbuf_free_members(&text);
}

/* "bun#2 (bun+0x4788c15)": a number says little, where it began says which one it is in every run. */
static void threads_add_label(struct row *row, const struct thread_sum *sum)
{
	char *begin, *text;

	if (!*sum->begin) {
		row_add_text(row, sum->label);
		return;
	}
	begin = stack_frame_words(sum->begin, THREADS_BEGIN_BYTES);
	text = mem_printf("%s (%s)", sum->label, begin);
	row_add_text(row, text);
	free(text);
	free(begin);
}

static void threads_add_row(const struct thread_table *t, const struct thread_view *view, int depth)
{
	struct row *row = table_add_row(t->table);

	row->depth = depth;
	threads_add_label(row, view->sum);
	if (t->pids) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%u", view->sum->seen->t.pid);
		row_add_text(row, pid);
	}
	if (t->ids) {
		char tid[16];

		snprintf(tid, sizeof(tid), "%u", view->sum->seen->t.tid);
		row_add_text(row, tid);
	}
	for (size_t i = 0; i < THREAD_COLUMNS; i++) {
		if (threads_shows(t, &thread_columns[i]))
			row_add_number(row, thread_columns[i].kind, thread_columns[i].get(view), 0);
	}
	if (t->syscalls)
		threads_add_calls(row, t, view);
}

/* Whether the thread did anything that its table is about. */
static bool threads_matters(const struct thread_table *t, const struct thread_view *view)
{
	const struct wk_counters *c = &view->sum->count;

	if (t->in & IN_OPERATIONS)
		return get_cpu_share(view) >= 0.01 || get_wakeups_per_op(view) >= 0.01;
	if (t->in == IN_IDLE)
		return c->wakeups || c->oncpu_ns;
	return c->wakeups || c->oncpu_ns || c->syscalls || c->starts;
}

static const char *threads_rest(const struct thread_table *t)
{
	return t->in & IN_OPERATIONS ? "below 1 %" : "that did not run";
}

static void threads_add_rest(const struct thread_table *t, size_t n, const char *why, int depth)
{
	struct row *row;
	char *text;

	if (!n)
		return;
	text = mem_printf("… and %zu more %s", n, why);
	row = table_add_row(t->table);
	row->depth = depth;
	row_add_text(row, text);
	free(text);
}

/* Hashing or serving that one thread does alone has its figures in the table above; what is worth rows of
 * their own is work that is shared or handed over. */
static bool threads_is_told(const struct thread_table *t, const struct thread_sums *sums)
{
	size_t shares = 0;

	if (t->in != IN_HASH)
		return true;
	for (size_t i = 0; i < sums->threads.n; i++) {
		struct thread_view view = {&sums->threads.items[i], sums};

		shares += get_cpu_share(&view) >= 0.05;
	}
	return shares > 1;
}

static void threads_add_rows(const struct thread_table *t, const struct thread_sums *sums,
			     int depth)
{
	size_t matter = 0, shown = 0;

	for (size_t i = 0; i < sums->threads.n; i++) {
		struct thread_view view = {&sums->threads.items[i], sums};

		if (!threads_matters(t, &view))
			continue;
		matter++;
		if (t->max_rows && shown == t->max_rows)
			continue;
		threads_add_row(t, &view, depth);
		shown++;
	}
	threads_add_rest(t, matter - shown, "threads", depth);
	threads_add_rest(t, sums->threads.n - matter, threads_rest(t), depth);
}

static bool threads_any_matters(const struct thread_table *t, const struct thread_sums *sums)
{
	for (size_t i = 0; i < sums->threads.n; i++) {
		struct thread_view view = {&sums->threads.items[i], sums};

		if (threads_matters(t, &view))
			return true;
	}
	return false;
}

static void threads_add_group(const struct thread_table *t, const struct group *group)
{
	int depth = t->part->groups.n > 1;
	struct thread_sums sums;

	thread_sums_init(&sums, group, t->in == IN_IDLE ? THREADS_BY_WAKEUPS : THREADS_BY_CPU);
	if (threads_any_matters(t, &sums) && threads_is_told(t, &sums)) {
		if (depth) {
			char *name = group_name(group);
			struct row *row = table_add_row(t->table);

			row->rule_before = t->table->rows.n > 1;
			row_add_text(row, name);
			free(name);
		}
		threads_add_rows(t, &sums, depth);
	}
	thread_sums_free_members(&sums);
}

static void threads_add_columns(struct thread_table *t)
{
	table_add_column(t->table, "", true);
	if (t->pids)
		table_add_column(t->table, "pid", false);
	if (t->ids)
		table_add_column(t->table, "tid", false);
	for (size_t i = 0; i < THREAD_COLUMNS; i++) {
		if (threads_shows(t, &thread_columns[i]))
			table_add_column(t->table, thread_columns[i].title, false);
	}
	if (t->syscalls)
		table_add_column(t->table, "most called", true);
}

static void threads_set_decimals(const struct thread_table *t)
{
	size_t column = 1 + t->pids + t->ids;

	for (size_t i = 0; i < THREAD_COLUMNS; i++) {
		const struct thread_column *c = &thread_columns[i];
		bool whole = (c->of == OF_COUNTS || c->of == OF_PROBED_COUNTS || c->of == OF_SYSCALLS) &&
			     !part_repeats(t->part);

		if (threads_shows(t, c))
			table_set_decimals(t->table, column++, whole ? 0 : c->decimals);
	}
}

static void threads_look(struct thread_table *t)
{
	bool one_run = t->part->groups.n == 1 && t->part->groups.items[0].runs.n == 1;

	for (size_t i = 0; i < t->part->groups.n; i++) {
		const struct group *group = &t->part->groups.items[i];

		for (size_t j = 0; j < group->runs.n; j++) {
			t->syscalls |= group->runs.items[j]->capture->syscalls_counted;
			t->probed |= !group->runs.items[j]->capture->step_ns;
		}
	}
	if (!one_run || !(t->in & IN_TOTALS))
		return;
	t->ids = true;
	for (size_t i = 1; i < t->part->groups.items[0].runs.items[0]->threads.n; i++) {
		const struct run_thread *threads =
			t->part->groups.items[0].runs.items[0]->threads.items;

		t->pids |= threads[i].seen->t.pid != threads[0].seen->t.pid;
	}
}

/* Names the table after what it holds; means where runs repeat. */
static char *threads_title(const struct thread_table *t)
{
	const char *what = t->in == IN_IDLE ? "threads that wake" : "threads";

	if (!part_repeats(t->part))
		return mem_strdup(what);
	return mem_printf("%s, mean of all runs", what);
}

void threads_build(struct report *report, const struct part *part, size_t max_rows)
{
	struct thread_table t = {.part = part, .in = threads_in(part), .max_rows = max_rows};
	char *title;

	threads_look(&t);
	title = threads_title(&t);
	t.table = report_add_table(report, title);
	free(title);
	threads_add_columns(&t);
	for (size_t i = 0; i < part->groups.n; i++)
		threads_add_group(&t, &part->groups.items[i]);
	if (t.table->rows.n)
		threads_set_decimals(&t);
	else
		report_remove_last(report);
}
