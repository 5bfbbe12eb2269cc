/* Causes and roots of one group as a tree with bars; all bars together are all that was seen. */
#include <stdlib.h>

#include "report/cause_words.h"
#include "report/chart.h"
#include "report/number.h"

/* More bars than this are nobody's to read: the rest is one bar. */
#define CAUSES_BARS  40
#define CAUSES_DEPTH 8

struct causes {
	const struct cause_sums *sums;
	const struct cause_tree *tree;
	struct cause_unit unit;
	bool by_cpu; /* what a command costs; of what lives, wakeups do */
};

static double causes_value(const struct causes *c, const struct tree_row *row)
{
	double amount = c->by_cpu ? row->oncpu_ns * c->unit.cpu_per_ns : row->wakeups;

	if (row->kind != TREE_CAUSE && row->kind != TREE_REST)
		return 0;
	/* Of a row that is a cause the rule is there, whatever other rows have. */
	if (!c->by_cpu && row->kind == TREE_CAUSE &&
	    /* cppcheck-suppress nullPointerRedundantCheck */
	    !c->sums->causes.items[row->cause].rule->is_wake)
		return 0;
	return c->unit.divisor > 0 ? amount / c->unit.divisor : 0;
}

static void causes_add_words(struct strbuf *text, const struct cause_sum *cause)
{
	char *words = part_shorten(cause->text, CHART_TEXT_BYTES);

	strbuf_printf(text, ": %s", words);
	words_add_period(text, cause);
	free(words);
}

static void causes_add_label(struct strbuf *text, const struct cause_sum *cause)
{
	char *label = part_shorten(cause->label, CHART_NAME_BYTES);

	strbuf_add(text, label);
	free(label);
}

/* "  └ HeapHelper: futex wake by bun, every 1.00 s"; the caller frees. */
static char *causes_name(const struct causes *c, const struct tree_row *row)
{
	struct strbuf text = {0};
	int depth = row->depth < CAUSES_DEPTH ? row->depth : CAUSES_DEPTH;

	if (depth > 0) {
		strbuf_add_repeated(&text, ' ', 2 * (size_t)(depth - 1));
		strbuf_add(&text, "└ ");
	}
	switch (row->kind) {
	case TREE_CAUSE:
		causes_add_label(&text, &c->sums->causes.items[row->cause]);
		causes_add_words(&text, &c->sums->causes.items[row->cause]);
		break;
	case TREE_LOOP: {
		char *label = part_shorten(c->sums->loops.items[row->loop].label, CHART_TEXT_BYTES);

		strbuf_printf(&text, "%s hand work to and fro", label);
		free(label);
		break;
	}
	case TREE_EARLIER:
		strbuf_add(&text, "what began before the window");
		break;
	case TREE_REST:
		strbuf_printf(&text, "… and %zu more", row->n_rest);
		break;
	}
	return strbuf_take(&text);
}

/* "bun#2 has 83 % of zig's wakeups: its own 100 ms futex timeout" */
static char *causes_title(const struct causes *c, const char *name)
{
	const struct tree_row *most = NULL;
	double all = 0;
	struct strbuf text = {0};
	char share[NUMBER_BYTES];

	for (size_t i = 0; i < c->tree->rows.n; i++) {
		const struct tree_row *row = &c->tree->rows.items[i];

		all += causes_value(c, row);
		if (row->kind == TREE_CAUSE &&
		    (!most || causes_value(c, row) > causes_value(c, most)))
			most = row;
	}
	if (!most || !(causes_value(c, most) > 0))
		return mem_printf("Why %s wakes", name);
	causes_add_label(&text, &c->sums->causes.items[most->cause]);
	strbuf_printf(&text, " has %s of %s's %s", number_share(share, causes_value(c, most) / all),
		      name, c->by_cpu ? "CPU time" : "wakeups");
	causes_add_words(&text, &c->sums->causes.items[most->cause]);
	return strbuf_take(&text);
}

static void causes_add_bar(struct chart *chart, const char *name, double value)
{
	struct row *row = table_add_row(&chart->table);

	chart_add_point(&chart->series.items[0], (double)chart->series.items[0].points.n, value,
			name);
	row_add_text(row, name);
	row_add_number(row, CELL_REAL, value, 0);
}

static void causes_add_bars(const struct causes *c, struct chart *chart)
{
	size_t n = c->tree->rows.n, shown = n > CAUSES_BARS ? CAUSES_BARS - 1 : n;
	double rest = 0;
	char *name;

	for (size_t i = 0; i < shown; i++) {
		name = causes_name(c, &c->tree->rows.items[i]);
		causes_add_bar(chart, name, causes_value(c, &c->tree->rows.items[i]));
		free(name);
	}
	for (size_t i = shown; i < n; i++)
		rest += causes_value(c, &c->tree->rows.items[i]);
	if (shown == n)
		return;
	name = mem_printf("%zu rows more", n - shown);
	causes_add_bar(chart, name, rest);
	free(name);
}

void chart_causes_build(struct report *report, const struct part *part, const struct group *group,
			const struct cause_sums *sums, const struct cause_tree *tree, bool in_text)
{
	struct causes c = {.sums = sums, .tree = tree};
	char *name, *title;
	const char *unit;
	struct chart *chart;

	if (!tree->rows.n)
		return;
	name = chart_group_name(group);
	c.unit = cause_unit_of(part->workload, sums);
	c.by_cpu = part_is(part, "startup") || part_is(part, "run");
	unit = c.by_cpu ? c.unit.cpu : c.unit.wakeups;
	title = causes_title(&c, name);
	chart = report_add_chart(report, CHART_BARS, title);
	free(title);
	chart_axis_set(&chart->x, "", CELL_TEXT, 0);
	chart_add_series(chart, name);
	table_add_column(&chart->table, "", true);
	table_add_column(&chart->table, unit, false);
	causes_add_bars(&c, chart);
	table_set_decimals(&chart->table, 1,
			   c.by_cpu ? c.unit.cpu_decimals : c.unit.wakeups_decimals);
	chart_axis_set(&chart->y, unit, CELL_REAL,
		       chart->table.rows.items[0].cells.items[1].decimals);
	chart->in_text = in_text;
	free(name);
}
