/* Who wakes whom, threads of one name being one. */
#include <stdlib.h>
#include <string.h>

#include "report/cause_words.h"
#include "report/chart.h"

/* More than these are nobody's to read; the heaviest are kept. */
#define HANDOFF_LINKS 24

struct handoff {
	size_t from, to; /* families */
	double wakeups;
	const char *mechanism;
};

struct handoffs {
	const struct cause_sums *sums;
	VEC(struct handoff) all;
	double wakeups, left_out;
};

static int handoff_order(const void *a, const void *b)
{
	const struct handoff *x = a, *y = b;

	if (x->wakeups != y->wakeups)
		return x->wakeups > y->wakeups ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return strcmp(x->mechanism, y->mechanism);
}

static void handoffs_add(struct handoffs *h, const struct cause_sum *cause)
{
	struct handoff *found = NULL;

	for (size_t i = 0; i < h->all.n && !found; i++)
		if (h->all.items[i].from == cause->waker_family &&
		    h->all.items[i].to == cause->family &&
		    !strcmp(h->all.items[i].mechanism, cause->mechanism))
			found = &h->all.items[i];
	if (!found) {
		found = vec_push(&h->all);
		found->from = cause->waker_family;
		found->to = cause->family;
		found->mechanism = cause->mechanism;
	}
	found->wakeups += (double)cause->wakeups;
	h->wakeups += (double)cause->wakeups;
}

static void handoffs_init(struct handoffs *h, const struct cause_sums *sums)
{
	*h = (struct handoffs){.sums = sums};
	for (size_t i = 0; i < sums->causes.n; i++)
		if (sums->causes.items[i].waker_family != SIZE_MAX && sums->causes.items[i].wakeups)
			handoffs_add(h, &sums->causes.items[i]);
	if (h->all.n)
		qsort(h->all.items, h->all.n, sizeof(*h->all.items), handoff_order);
	for (size_t i = HANDOFF_LINKS; i < h->all.n; i++)
		h->left_out += h->all.items[i].wakeups;
	h->all.n = h->all.n < HANDOFF_LINKS ? h->all.n : HANDOFF_LINKS;
}

/* "HeapHelper ×7": what the causes of most of its threads call it, else its name. */
static char *handoffs_label(const struct cause_sums *sums, size_t family)
{
	const struct cause_sum *most = NULL;
	const char *comm = sums->families.items[family].comm;

	for (size_t i = 0; i < sums->causes.n; i++)
		if (sums->causes.items[i].family == family &&
		    (!most || sums->causes.items[i].threads > most->threads))
			most = &sums->causes.items[i];
	return part_shorten(most ? most->label : *comm ? comm : "(unnamed)", CHART_NAME_BYTES);
}

/* Place of the family among the chart's nodes; nodes of a new one are added. */
static size_t handoffs_node(const struct handoffs *h, struct chart *chart, size_t *node_of,
			    size_t family)
{
	if (node_of[family] == SIZE_MAX) {
		node_of[family] = chart->nodes.n;
		*vec_push(&chart->nodes) = handoffs_label(h->sums, family);
	}
	return node_of[family];
}

static void handoffs_add_row(struct chart *chart, const struct chart_link *link)
{
	struct row *row = table_add_row(&chart->table);

	row_add_text(row, chart->nodes.items[link->from]);
	row_add_text(row, chart->nodes.items[link->to]);
	row_add_text(row, link->text);
	row_add_number(row, CELL_REAL, link->weight, 0);
}

static void handoffs_add_links(const struct handoffs *h, struct chart *chart, double divisor)
{
	size_t *node_of = mem_calloc(h->sums->families.n + 1, sizeof(*node_of));

	for (size_t i = 0; i < h->sums->families.n; i++)
		node_of[i] = SIZE_MAX;
	for (size_t i = 0; i < h->all.n; i++) {
		const struct handoff *handoff = &h->all.items[i];
		struct chart_link *link = vec_push(&chart->links);

		link->from = handoffs_node(h, chart, node_of, handoff->from);
		link->to = handoffs_node(h, chart, node_of, handoff->to);
		link->weight = handoff->wakeups / divisor;
		link->text = mem_strdup(handoff->mechanism);
		handoffs_add_row(chart, link);
	}
	free(node_of);
}

/* "In zig, bun wakes HeapHelper ×7 most often, by futex: 7.00 wakeups a second" */
static char *handoffs_title(const struct handoffs *h, const char *name,
			    const struct cause_unit *unit)
{
	const struct handoff *most = &h->all.items[0];
	char *from = handoffs_label(h->sums, most->from), *to = handoffs_label(h->sums, most->to);
	struct strbuf text = {0};

	strbuf_printf(&text, "In %s, %s wakes %s most often%s%s: ", name, from, to,
		      *most->mechanism ? ", by " : "", most->mechanism);
	words_add_wakeups(&text, unit, most->wakeups);
	if (h->left_out > 0) {
		strbuf_add(&text, "; links with ");
		words_add_wakeups(&text, unit, h->left_out);
		strbuf_add(&text, " are not drawn");
	}
	free(from);
	free(to);
	return strbuf_take(&text);
}

void chart_handoffs_build(struct report *report, const struct part *part, const struct group *group,
			  const struct cause_sums *sums)
{
	struct cause_unit unit = cause_unit_of(part->workload, sums);
	struct handoffs h;
	struct chart *chart;
	char *name, *title;

	handoffs_init(&h, sums);
	if (h.all.n && unit.divisor > 0) {
		name = chart_group_name(group);
		title = handoffs_title(&h, name, &unit);
		chart = report_add_chart(report, CHART_GRAPH, title);
		free(title);
		free(name);
		chart_axis_set(&chart->x, "", CELL_TEXT, 0);
		table_add_column(&chart->table, "from", true);
		table_add_column(&chart->table, "to", true);
		table_add_column(&chart->table, "by", true);
		table_add_column(&chart->table, unit.wakeups, false);
		handoffs_add_links(&h, chart, unit.divisor);
		table_set_decimals(&chart->table, 3, unit.wakeups_decimals);
		chart_axis_set(&chart->y, unit.wakeups, CELL_REAL,
			       chart->table.rows.items[0].cells.items[3].decimals);
	}
	free(h.all.items);
}
