/* What others have published, each figure beside the one that was measured here:
 *
 *	claims                                     claimed                here            verdict
 *	  binary size, rust / zig   article 1      0.871× (0.871–0.872)   0.871×          agrees
 *	  idle CPU, zig / rust      article 1      9.30× (8.80–13.8)      3.02× (2.9–3.1)  not comparable: …
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "report/number.h"
#include "report/result_groups.h"
#include "report/study.h"

/* Where a claim gives no range: what counts as the same figure. */
#define CLAIMS_WITHIN 0.05
/* An interval whose upper end is more than so many times the lower one says little. */
#define CLAIMS_WIDE 2
/* Of the resampling: the same recording gives the same interval. */
#define CLAIMS_SEED 1
/* Windows that differ by more are of different length. */
#define CLAIMS_SAME_WINDOW 0.05

/* A figure with what is known of its uncertainty. */
struct claims_figure {
	bool measured;
	double value, low, high; /* low and high NaN: one run, or no interval */
	char *not_comparable;	 /* why; NULL: it may be compared; owned */
};

static bool claims_in_scope(const struct claim *claim)
{
	return claim->workload && *claim->workload;
}

/* ---- what was measured here ------------------------------------------------------------------ */

static bool claims_is_run(const struct claim *claim, const char *label,
			  const struct capture *capture)
{
	return !capture->replaced && study_same(capture->label, label) &&
	       study_same(capture->workload, claim->workload) &&
	       study_same(capture->variant, claim->variant);
}

/* Why the runs of a label cannot stand beside the claim; NULL: they can. The caller frees. */
static char *claims_obstacle(const struct result *result, const struct claim *claim,
			     const char *label)
{
	char here[UNITS_TEXT_BYTES], there[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];
		double window_ns = (double)run->window_ns, claimed_ns = (double)claim->window_ns;

		if (!claims_is_run(claim, label, run->capture))
			continue;
		if (run->capture->not_comparable)
			return mem_printf("%s says why", claim->workload);
		if (claim->window_ns &&
		    fabs(window_ns - claimed_ns) > CLAIMS_SAME_WINDOW * claimed_ns)
			return mem_printf("a window of %s here, of %s there",
					  units_format_duration_plain(here, window_ns),
					  units_format_duration_plain(there, claimed_ns));
	}
	return NULL;
}

/* Two labels of which neither is what the result's comparisons are against. */
static bool claims_compare(const struct result *result, const struct claim *claim,
			   struct result_comparison *ret_comparison)
{
	struct result_key base = {claim->base, claim->workload, claim->variant};
	struct result_key other = {claim->label, claim->workload, claim->variant};
	const struct metric *metric = metric_find(claim->metric);
	const struct result_group *base_group, *other_group;
	struct result_groups groups;
	bool compared;

	result_group_runs(&groups, result);
	base_group = result_find_group(&groups, &base);
	other_group = result_find_group(&groups, &other);
	compared = metric && base_group && other_group &&
		   result_compare_pair(result, base_group, other_group, metric, ret_comparison);
	result_free_groups(&groups);
	return compared;
}

/* A ratio of medians, whichever of the two was the base here. */
static void claims_measure_ratio(const struct result *result, const struct claim *claim,
				 struct claims_figure *figure)
{
	const struct stat_ratio *ratio = result_find_ratio(result, claim->label, claim->base,
							   claim->workload, claim->variant,
							   claim->metric);
	struct result_comparison comparison;
	bool turned = ratio;

	if (!ratio)
		ratio = result_find_ratio(result, claim->base, claim->label, claim->workload,
					  claim->variant, claim->metric);
	if (!ratio && claims_compare(result, claim, &comparison))
		ratio = &comparison.ratio;
	if (!ratio || !(ratio->ratio > 0))
		return;
	figure->measured = true;
	figure->value = turned ? 1 / ratio->ratio : ratio->ratio;
	if (!ratio->has_interval || !(ratio->ci_low > 0))
		return;
	figure->low = turned ? 1 / ratio->ci_high : ratio->ci_low;
	figure->high = turned ? 1 / ratio->ci_low : ratio->ci_high;
}

/* A median with its interval: that of its ratio to 1, which has no spread of its own. */
static void claims_measure_median(const struct result *result, const struct claim *claim,
				  struct claims_figure *figure)
{
	static const double one[] = {1, 1, 1, 1, 1};
	const struct metric *metric = metric_find(claim->metric);
	double *values = mem_calloc(result->runs.n, sizeof(*values));
	struct stat_summary summary;
	struct stat_ratio ratio;
	size_t n = 0;

	for (size_t i = 0; metric && i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		if (claims_is_run(claim, claim->label, run->capture) &&
		    metric->get(run, &values[n]))
			n++;
	}
	summary = stat_summarise(values, n);
	figure->measured = summary.n > 0;
	figure->value = summary.median;
	ratio = stat_compare(one, 5, values, n, 0, CLAIMS_SEED);
	if (ratio.has_interval) {
		figure->low = ratio.ci_low;
		figure->high = ratio.ci_high;
	}
	free(values);
}

static struct claims_figure claims_measure(const struct result *result, const struct claim *claim)
{
	struct claims_figure figure = {.value = NAN, .low = NAN, .high = NAN};

	if (claim->base)
		claims_measure_ratio(result, claim, &figure);
	else
		claims_measure_median(result, claim, &figure);
	figure.not_comparable = claims_obstacle(result, claim, claim->label);
	if (!figure.not_comparable && claim->base)
		figure.not_comparable = claims_obstacle(result, claim, claim->base);
	return figure;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *claims_unit(const struct claim *claim)
{
	const struct metric *metric = metric_find(claim->metric ? claim->metric : "");

	return claim->base ? "ratio" : metric ? metric->unit : "";
}

/* One number in the claim's unit; what follows it, such as "/s", is left to claims_suffix. */
static void claims_add_number(struct strbuf *text, const struct claim *claim, double value)
{
	const char *unit = claims_unit(claim);
	char number[NUMBER_BYTES], duration[UNITS_TEXT_BYTES];
	int decimals = value == floor(value) ? 0 : number_decimals(&value, 1, 3);

	if (!strcmp(unit, "ratio"))
		strbuf_add(text, number_ratio(number, value));
	else if (!strcmp(unit, "ns"))
		strbuf_add(text, units_format_duration(duration, value));
	else
		strbuf_add(text, number_real(number, value, decimals));
}

static const char *claims_suffix(const struct claim *claim)
{
	const char *unit = claims_unit(claim);

	if (!strcmp(unit, "bytes"))
		return " B";
	if (!strcmp(unit, "1/s"))
		return "/s";
	return !strcmp(unit, "ms/s") ? " ms/s" : "";
}

/* "7.58 ms (7.45 ms–8.63 ms)" or the number alone; the caller frees. */
static char *claims_number(const struct claim *claim, double value, double low, double high)
{
	struct strbuf text = {0};

	claims_add_number(&text, claim, value);
	strbuf_add(&text, claims_suffix(claim));
	/* Ends that are the figure itself say nothing: exact figures, such as a file's size. */
	if (isfinite(low) && isfinite(high) && (low < value || high > value)) {
		strbuf_add(&text, " (");
		claims_add_number(&text, claim, low);
		strbuf_add(&text, "–");
		claims_add_number(&text, claim, high);
		strbuf_add(&text, ")");
	}
	return strbuf_take(&text);
}

static const char *claims_agreement(const struct claim *claim, const struct claims_figure *figure)
{
	double low = isfinite(claim->low) ? claim->low : claim->value * (1 - CLAIMS_WITHIN);
	double high = isfinite(claim->high) ? claim->high : claim->value * (1 + CLAIMS_WITHIN);
	double from = isfinite(figure->low) ? figure->low : figure->value;
	double to = isfinite(figure->high) ? figure->high : figure->value;

	if (from > high || to < low)
		return "differs";
	/* An interval that holds nearly everything holds the claim too. */
	if ((figure->value < low || figure->value > high) && to > CLAIMS_WIDE * from)
		return "agrees, within a wide interval";
	return "agrees";
}

/* The caller frees. */
static char *claims_verdict(const struct claim *claim, const struct claims_figure *figure)
{
	if (figure->not_comparable)
		return mem_printf("not comparable: %s", figure->not_comparable);
	if (!figure->measured)
		return mem_strdup("not measured");
	return mem_strdup(claims_agreement(claim, figure));
}

/* "idle CPU, zig / rust", "createHash, node sync"; the caller frees. */
static char *claims_name(const struct claim *claim)
{
	struct strbuf text = {0};

	strbuf_printf(&text, "%s, %s", claim->what, claim->label);
	if (claim->base)
		strbuf_printf(&text, " / %s", claim->base);
	if (claim->variant)
		strbuf_printf(&text, " %s", claim->variant);
	return strbuf_take(&text);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void claims_add_text(struct row *row, char *text)
{
	row_add_text(row, text);
	free(text);
}

static void claims_add_row(struct table *table, const struct result *result,
			   const struct claim *claim)
{
	struct claims_figure figure = claims_measure(result, claim);
	struct row *row = table_add_row(table);

	claims_add_text(row, claims_name(claim));
	row_add_text(row, claim->source);
	claims_add_text(row, claims_number(claim, claim->value, claim->low, claim->high));
	if (figure.measured)
		claims_add_text(row, claims_number(claim, figure.value, figure.low, figure.high));
	else
		row_add_text(row, NUMBER_NONE);
	claims_add_text(row, claims_verdict(claim, &figure));
	free(figure.not_comparable);
}

static void claims_add_table(struct report *report, const struct result *result)
{
	const struct recording *recording = result->recording;
	struct table *table = report_add_table(report, "claims");
	bool any = false;

	table_add_column(table, "", true);
	table_add_column(table, "source", true);
	table_add_column(table, "claimed", true);
	table_add_column(table, "measured here", true);
	table_add_column(table, "verdict", true);
	for (size_t i = 0; i < recording->claims.n; i++) {
		if (!claims_in_scope(&recording->claims.items[i]))
			continue;
		claims_add_row(table, result, &recording->claims.items[i]);
		any = true;
	}
	if (!any) {
		report_remove_last(report);
		return;
	}
	report_add_note(report, NOTE_TEXT,
			"A claim agrees where what was measured here (its 95 %% interval, where there "
			"are enough runs) meets the range that is claimed, or %.0f %% on either side "
			"of a figure that comes without one. Plain times and rates are those of a "
			"machine; ratios carry over better.",
			CLAIMS_WITHIN * 100);
}

void claims_build(struct report *report, const struct result *result)
{
	const struct recording *recording = result->recording;

	if (!recording->claims.n)
		return;
	claims_add_table(report, result);
	for (size_t i = 0; i < recording->claims.n; i++) {
		const struct claim *claim = &recording->claims.items[i];
		char *name;

		if (claims_in_scope(claim))
			continue;
		name = claims_name(claim);
		report_add_note(report, NOTE_TEXT, "Claimed but not checked: %s (%s): %s.", name,
				claim->source, claim->text);
		free(name);
	}
}
