/* What repeated runs look like beside their median, and what the probes cost: sentences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "report/number.h"
#include "report/part.h"

/* Runs that are told one by one. */
#define SPREAD_TOLD 4

/* One metric over the runs of a group, in their order. */
struct spread {
	const struct group *group;
	const struct metric *metric;
	double *values;
	size_t *runs; /* index in group->runs */
	size_t n;
};

static void spread_init(struct spread *spread, const struct group *group,
			const struct metric *metric)
{
	*spread = (struct spread){.group = group, .metric = metric};
	spread->values = mem_calloc(group->runs.n + 1, sizeof(*spread->values));
	spread->runs = mem_calloc(group->runs.n + 1, sizeof(*spread->runs));
	for (size_t i = 0; i < group->runs.n; i++) {
		double value;

		if (!metric->get(group->runs.items[i], &value) || !isfinite(value))
			continue;
		spread->values[spread->n] = value;
		spread->runs[spread->n++] = i;
	}
}

static void spread_free_members(struct spread *spread)
{
	free(spread->values);
	free(spread->runs);
}

/* "10.4 ms", "0.740 ms/s", "1,810,000/s". */
static const char *spread_value(char buf[NUMBER_BYTES], const struct metric *metric, double value)
{
	if (!strcmp(metric->unit, "ns"))
		return units_format_duration(buf, value);
	if (!strcmp(metric->unit, "bytes"))
		return units_format_bytes(buf, value);
	number_real(buf, value, number_decimals(&value, 1, 3));
	if (!strcmp(metric->unit, "ms/s"))
		strncat(buf, " ms/s", NUMBER_BYTES - strlen(buf) - 1);
	else if (!strcmp(metric->unit, "1/s"))
		strncat(buf, "/s", NUMBER_BYTES - strlen(buf) - 1);
	return buf;
}

/* ---- remarks --------------------------------------------------------------------------------- */

/* "run 14 14.2 ms, run 31 19.0 ms and 3 more"; runs are counted from 1. */
static void spread_add_outliers(struct report *report, const struct spread *spread, const char *name)
{
	size_t *places = mem_calloc(spread->n + 1, sizeof(*places));
	size_t n = stat_outliers(spread->values, spread->n, places);
	struct strbuf text = {0};
	char value[NUMBER_BYTES];

	for (size_t i = 0; i < n && i < SPREAD_TOLD; i++)
		strbuf_printf(&text, "%srun %zu %s", i ? ", " : "", spread->runs[places[i]] + 1,
			      spread_value(value, spread->metric, spread->values[places[i]]));
	if (n > SPREAD_TOLD)
		strbuf_printf(&text, " and %zu more", n - SPREAD_TOLD);
	if (n)
		report_add_note(report, NOTE_TEXT,
				"%s: %s lies far out in %zu of %zu runs (%s; the median is %s); none is "
				"left out.",
				name, spread->metric->title, n, spread->n, strbuf_text(&text),
				spread_value(value, spread->metric,
					     stat_summarise(spread->values, spread->n).median));
	strbuf_free_members(&text);
	free(places);
}

static void spread_add_trend(struct report *report, const struct spread *spread, const char *name)
{
	struct stat_trend trend = stat_trend(spread->values, spread->n);
	double median = stat_summarise(spread->values, spread->n).median;
	char change[NUMBER_BYTES], rest[NUMBER_BYTES], p[NUMBER_BYTES], share[NUMBER_BYTES];

	if (!trend.known || !(median > 0))
		return;
	report_add_note(report, NOTE_WARNING,
			"%s drifts: %s %s by %s (%s) from the first run to the last (spread "
			"without that %s; p %s)",
			name, spread->metric->title, trend.change > 0 ? "rises" : "falls",
			spread_value(change, spread->metric, fabs(trend.change)),
			number_share(share, fabs(trend.change) / median),
			spread_value(rest, spread->metric, trend.spread),
			number_real(p, fmax(trend.p, 1e-9), 3));
}

static void spread_add_modes(struct report *report, const struct spread *spread, const char *name)
{
	struct stat_modes modes = stat_modes(spread->values, spread->n);
	char low[NUMBER_BYTES], high[NUMBER_BYTES];

	if (!modes.known)
		return;
	report_add_note(report, NOTE_WARNING,
			"%s has two kinds of runs: %s is near %s in %zu of them and near %s in %zu "
			"(dip %.3f, limit %.3f): the median is one of the two",
			name, spread->metric->title, spread_value(low, spread->metric, modes.low),
			modes.n_low, spread_value(high, spread->metric, modes.high), modes.n_high,
			modes.dip, modes.limit);
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void spread_add_cost(struct strbuf *text, const struct result_cost *cost)
{
	const struct stat_ratio *ratio = &cost->ratio;

	strbuf_printf(text, "%s%s", text->n ? ", " : "", cost->label);
	if (cost->variant)
		strbuf_printf(text, " %s", cost->variant);
	strbuf_printf(text, " %+.1f %%", (ratio->ratio - 1) * 100);
	if (ratio->has_interval)
		strbuf_printf(text, " (%.1f to %.1f %%%s)", (ratio->ci_low - 1) * 100,
			      (ratio->ci_high - 1) * 100,
			      ratio->ci_low <= 1 && ratio->ci_high >= 1 ? ": may be chance" : "");
}

static void spread_add_costs(struct report *report, const struct part *part)
{
	const struct result *result = part->result;
	struct strbuf text = {0};

	for (size_t i = 0; i < result->costs.n; i++)
		if (part_is(part, result->costs.items[i].workload) &&
		    isfinite(result->costs.items[i].ratio.ratio))
			spread_add_cost(&text, &result->costs.items[i]);
	if (text.n)
		report_add_note(report, NOTE_TEXT, "What the probes cost, of the time of one %s: %s.",
				part_is(part, "startup") ? "start" : "operation",
				strbuf_text(&text));
	strbuf_free_members(&text);
}

static void spread_add_group(struct report *report, const struct group *group,
			     const struct metric *metric)
{
	char *name = group_name(group);
	struct spread spread;

	spread_init(&spread, group, metric);
	spread_add_outliers(report, &spread, name);
	spread_add_trend(report, &spread, name);
	spread_add_modes(report, &spread, name);
	spread_free_members(&spread);
	free(name);
}

void spread_build(struct report *report, const struct part *part)
{
	for (const struct metric *metric = metrics; metric->id; metric++)
		for (size_t i = 0; i < part->groups.n; i++)
			if (metric_is_main(metric, part->workload))
				spread_add_group(report, &part->groups.items[i], metric);
	spread_add_costs(report, part);
}
