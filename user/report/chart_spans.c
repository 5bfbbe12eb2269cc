/* How long waits for a CPU and stretches on one were: histograms over half octaves. */
#include <stdlib.h>

#include "base/units.h"
#include "report/chart.h"

/* The first bucket holds all that is shorter; it is drawn as wide as its neighbours. */
#define SPANS_FIRST_NS 256.0

enum spans_what { SPANS_RUNQ, SPANS_ONCPU };

struct spans_group {
	char *name;
	size_t look;
	double counts[WK_SPAN_BUCKETS]; /* sums over the runs of the group */
	double all;
};

struct spans {
	struct spans_group groups[CHART_GROUPS];
	size_t n_groups, n_left_out;
	uint32_t first, end; /* buckets from first to end - 1 hold something in some group */
};

static double spans_low_ns(uint32_t bucket)
{
	return bucket ? (double)span_low_ns(bucket) : SPANS_FIRST_NS;
}

static void spans_add_group(struct spans *spans, const struct group *group, enum spans_what what)
{
	struct spans_group sum = {0};
	bool known = false;

	for (size_t i = 0; i < group->runs.n; i++) {
		const struct capture *capture = group->runs.items[i]->capture;
		const __u64 *counts =
			what == SPANS_RUNQ ? capture->spans.runq : capture->spans.oncpu;

		known |= capture->has_spans;
		for (uint32_t b = 0; capture->has_spans && b < WK_SPAN_BUCKETS; b++) {
			sum.counts[b] += (double)counts[b];
			sum.all += (double)counts[b];
		}
	}
	if (!known)
		return;
	if (spans->n_groups == CHART_GROUPS) {
		spans->n_left_out++;
		return;
	}
	sum.name = chart_group_name(group);
	sum.look = group->look;
	spans->groups[spans->n_groups++] = sum;
	for (uint32_t b = 0; b < WK_SPAN_BUCKETS; b++) {
		if (!sum.counts[b])
			continue;
		spans->first = b < spans->first ? b : spans->first;
		spans->end = b + 1 > spans->end ? b + 1 : spans->end;
	}
}

/* Bucket in which half of all are reached. */
static uint32_t spans_median(const struct spans_group *group)
{
	uint32_t bucket = 0;
	double sum = group->counts[0];

	while (bucket + 1 < WK_SPAN_BUCKETS && sum < group->all / 2)
		sum += group->counts[++bucket];
	return bucket;
}

/* "Half of the waits for a CPU are shorter than: zig 6.14 µs, rust 4.10 µs" */
static char *spans_title(const struct spans *spans, enum spans_what what)
{
	struct strbuf text = {0};
	char below[UNITS_TEXT_BYTES];
	size_t shown = 0;

	strbuf_printf(&text, "Half of the %s are shorter than:",
		      what == SPANS_RUNQ ? "waits for a CPU" : "stretches on a CPU");
	for (size_t i = 0; i < spans->n_groups; i++) {
		const struct spans_group *group = &spans->groups[i];
		uint32_t median = spans_median(group);

		if (!(group->all > 0) || shown == 3)
			continue;
		strbuf_printf(&text, "%s %s ", shown++ ? "," : "", group->name);
		if (median + 1 < WK_SPAN_BUCKETS)
			strbuf_add(&text, units_format_duration(below, spans_low_ns(median + 1)));
		else
			strbuf_add(&text, "any limit");
	}
	if (spans->n_left_out)
		strbuf_printf(&text, "; %zu more are not drawn", spans->n_left_out);
	return strbuf_take(&text);
}

static void spans_add_table(const struct spans *spans, struct table *table)
{
	table_add_column(table, "from", true);
	table_add_column(table, "below", true);
	for (size_t i = 0; i < spans->n_groups; i++)
		table_add_column(table, spans->groups[i].name, false);
	for (uint32_t b = spans->first; b < spans->end; b++) {
		struct row *row = table_add_row(table);

		row_add_number(row, CELL_DURATION, b ? spans_low_ns(b) : 0, 0);
		if (b + 1 < WK_SPAN_BUCKETS)
			row_add_number(row, CELL_DURATION, spans_low_ns(b + 1), 0);
		else
			row_add_empty(row);
		for (size_t i = 0; i < spans->n_groups; i++)
			row_add_number(row, CELL_COUNT, spans->groups[i].counts[b], 0);
	}
}

static void spans_add_chart(struct report *report, const struct spans *spans, enum spans_what what)
{
	char *title = spans_title(spans, what);
	struct chart *chart = report_add_chart(report, CHART_COLUMNS, title);

	free(title);
	chart_axis_set(&chart->x, what == SPANS_RUNQ ? "wait for a CPU" : "stretch on a CPU",
		       CELL_DURATION, 0);
	chart->x.logarithmic = true;
	chart_axis_set(&chart->y, what == SPANS_RUNQ ? "waits" : "stretches", CELL_COUNT, 0);
	for (size_t i = 0; i < spans->n_groups; i++) {
		struct chart_series *series = chart_add_group(chart, spans->groups[i].name, spans->groups[i].look);

		for (uint32_t b = spans->first; b < spans->end; b++)
			chart_add_point(series, spans_low_ns(b), spans->groups[i].counts[b], NULL);
	}
	spans_add_table(spans, &chart->table);
}

void chart_spans_build(struct report *report, const struct part *part)
{
	for (int what = SPANS_RUNQ; what <= SPANS_ONCPU; what++) {
		struct spans spans = {.first = WK_SPAN_BUCKETS};

		for (size_t i = 0; i < part->groups.n; i++)
			spans_add_group(&spans, &part->groups.items[i], (enum spans_what)what);
		if (spans.end)
			spans_add_chart(report, &spans, (enum spans_what)what);
		for (size_t i = 0; i < spans.n_groups; i++)
			free(spans.groups[i].name);
	}
}
