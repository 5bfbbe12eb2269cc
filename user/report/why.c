/* Why threads woke: a table for each group, of what began and what that led to, with sentences
 *after it.
 *
 *	why zig wakes                                                    wakeups/s  share   CPU ms/s
 *	  bun#2      its own 100 ms futex timeout, every 100.1 ms             9.95    82 % 0.458 bun
 *timerfd through epoll, every 1.00 s                      1.00     8 %      0.260 └ HeapHelper
 *futex wake by bun, futile 95 %                     1.05     9 %      0.022
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/cause_tree.h"
#include "report/cause_words.h"
#include "report/chart.h"
#include "report/explain.h"
#include "report/stacks.h"

/* Roots and chains below this share of both wakeups and on-CPU time are folded. */
#define WHY_LEAST_SHARE 0.01
/* Operations that wake this rarely are not about wakeups. */
#define WHY_LEAST_PER_OPERATION 0.001

/* One table in the making. */
struct why_table {
	const struct group *group;
	const struct cause_sums *sums;
	const struct stack_ways *ways;
	bool *located; /* of each of sums->causes: its stacks have been shown */
	bool all_frames;
	struct cause_unit unit;
	struct table *table;
};

static void why_add_label(const struct why_table *t, struct row *row, const struct tree_row *from)
{
	const char *label = "(earlier)";
	char *text;

	if (from->kind == TREE_CAUSE)
		label = t->sums->causes.items[from->cause].label;
	else if (from->kind == TREE_LOOP)
		label = t->sums->loops.items[from->loop].label;
	if (from->kind == TREE_REST)
		text = mem_printf("… and %zu more", from->n_rest);
	else
		text = mem_printf("%s%s", from->depth ? "└ " : "", label);
	row_add_text(row, text);
	free(text);
}

static void why_add_words(const struct why_table *t, struct row *row, const struct tree_row *from)
{
	struct strbuf text = {0};

	switch (from->kind) {
	case TREE_CAUSE:
		strbuf_add(&text, t->sums->causes.items[from->cause].text);
		words_add_period(&text, &t->sums->causes.items[from->cause]);
		words_add_futile(&text, from->futile, from->wakeups);
		words_add_phase(&text, &t->sums->causes.items[from->cause]);
		break;
	case TREE_LOOP:
		strbuf_add(&text, "hand work to and fro");
		break;
	case TREE_EARLIER:
		strbuf_add(&text, "what began before the window");
		break;
	case TREE_REST:
		strbuf_add(&text, "each below 1 %");
		break;
	}
	row_add_text(row, strbuf_text(&text));
	strbuf_free_members(&text);
}

static double why_divided(const struct why_table *t, double amount)
{
	return t->unit.divisor > 0 ? amount / t->unit.divisor : NAN;
}

static void why_add_row(const struct why_table *t, const struct tree_row *from)
{
	bool has_figures = from->kind == TREE_CAUSE || from->kind == TREE_REST;
	double all = (double)t->sums->wakeups;
	struct row *row = table_add_row(t->table);

	row->depth = from->depth;
	why_add_label(t, row, from);
	why_add_words(t, row, from);
	if (!has_figures) {
		row_add_empty(row); /* its words make room for themselves, as all causes' do */
		return;
	}
	if (from->kind == TREE_CAUSE && !t->sums->causes.items[from->cause].rule->is_wake) {
		row_add_empty(row);
		row_add_empty(row);
	} else {
		row_add_number(row, CELL_REAL, why_divided(t, from->wakeups), 0);
		row_add_number(row, CELL_SHARE, all > 0 ? from->wakeups / all : NAN, 0);
	}
	row_add_number(row, CELL_REAL, why_divided(t, from->oncpu_ns * t->unit.cpu_per_ns), 0);
}

/* A cause may stand below several roots: where its threads slept is said once. */
static void why_add_stacks(const struct why_table *t, const struct tree_row *from)
{
	if (from->kind != TREE_CAUSE || t->located[from->cause])
		return;
	t->located[from->cause] = true;
	stack_rows_add(t->table, t->group, t->ways, from->cause, from->depth + 1, t->all_frames);
}

static void why_add_table(struct report *report, const struct why_table *like, const char *name,
			  const struct cause_tree *tree)
{
	struct why_table t = *like;
	char *title = mem_printf("why %s wakes", name);

	t.located = mem_calloc(t.sums->causes.n + 1, sizeof(*t.located));
	t.table = report_add_table(report, title);
	free(title);
	table_add_column(t.table, "", true);
	table_add_column(t.table, "", true);
	table_add_column(t.table, t.unit.wakeups, false);
	table_add_column(t.table, "share", false);
	table_add_column(t.table, t.unit.cpu, false);
	for (size_t i = 0; i < tree->rows.n; i++) {
		why_add_row(&t, &tree->rows.items[i]);
		why_add_stacks(&t, &tree->rows.items[i]);
	}
	free(t.located);
	table_set_decimals(t.table, 2, t.unit.wakeups_decimals);
	table_set_decimals(t.table, 4, t.unit.cpu_decimals);
}

/* Whether there is more to say than that nothing woke. */
static bool why_is_told(const struct part *part, const struct cause_sums *sums)
{
	if (part_is(part, "hash"))
		return (double)sums->wakeups >= WHY_LEAST_PER_OPERATION * sums->operations;
	return sums->wakeups > 0;
}

/* Nothing that is worth a table: said in a sentence, for it is an answer too. */
static void why_add_silence(struct report *report, const struct part *part, const char *name,
			    const struct cause_sums *sums)
{
	struct strbuf text = {0};

	if (sums->wakeups && !part_is(part, "hash"))
		return;
	if (!sums->wakeups)
		strbuf_printf(&text, "%s never woke", name);
	else
		strbuf_printf(&text, "%s woke %.0f times", name, (double)sums->wakeups);
	if (part_is(part, "hash") && sums->operations > 0) {
		strbuf_add(&text, " in ");
		words_add_number(&text, sums->operations, 0);
		strbuf_add(&text, " operations: no operation needs a wakeup");
	}
	report_add_note(report, NOTE_TEXT, "%s.", strbuf_text(&text));
	strbuf_free_members(&text);
}

static void why_add_causes(struct report *report, const struct part *part, const struct group *group,
			   const struct cause_sums *sums, const struct report_options *options)
{
	char *name = group_name(group);
	struct cause_tree tree;
	struct stack_ways ways;
	struct why_table t = {.group = group,
			      .sums = sums,
			      .ways = &ways,
			      .all_frames = options->all_frames,
			      .unit = cause_unit_of(part->workload, sums)};

	cause_tree_init(&tree, sums, WHY_LEAST_SHARE, options->max_threads);
	stack_ways_init(&ways, group, sums);
	why_add_table(report, &t, name, &tree);
	explain_build(report, part, group, sums, &tree);
	chart_causes_build(report, part, group, sums, &tree, !options->max_threads);
	chart_lanes_build(report, group);
	chart_handoffs_build(report, part, group, sums);
	stack_ways_free_members(&ways);
	cause_tree_free_members(&tree);
	free(name);
}

static void why_add_group(struct report *report, const struct part *part, const struct group *group,
			  const struct report_options *options)
{
	struct cause_sums sums;

	cause_sums_init(&sums, group);
	if (sums.known && !why_is_told(part, &sums)) {
		char *name = group_name(group);

		why_add_silence(report, part, name, &sums);
		explain_silence(report, part, group);
		free(name);
	}
	if (sums.known && why_is_told(part, &sums))
		why_add_causes(report, part, group, &sums, options);
	cause_sums_free_members(&sums);
	stack_samples_build(report, group, options->max_threads);
	chart_flame_build(report, group);
}

void why_build(struct report *report, const struct part *part, const struct report_options *options)
{
	for (size_t i = 0; i < part->groups.n; i++)
		why_add_group(report, part, &part->groups.items[i], options);
	stack_notes_build(report, part);
}
