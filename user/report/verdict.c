/* Verdicts: who is higher, lower, the same, and how sure that is.
 *
 *	verdict                       ratio   (95 % interval)
 *	exec to exit   zig → rust    0.387×   (0.380×–0.395×)   lower (better)
 *	exec to exit   zig → same     1.00×   (0.995×–1.004×)   same within 2 %
 *	exec to exit   zig → vague    1.05×    (0.925×–1.15×)   unclear: about 390 runs of each would …
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"
#include "report/part.h"

/* A difference that users ask for: how many runs would tell it is said where a verdict is unclear. */
#define VERDICT_DIFFERENCE 0.02
/* More runs than this are not worth proposing. */
#define VERDICT_MAX_RUNS 100000

/* ---- words ----------------------------------------------------------------------------------- */

static const char *verdict_worth(const struct metric *metric, bool higher)
{
	if (metric->better == METRIC_NEITHER)
		return "";
	return (metric->better == METRIC_HIGHER) == higher ? " (better)" : " (worse)";
}

static bool verdict_of_windows(const struct result_comparison *c)
{
	return c->ratio.method == STAT_BY_SECONDS || c->ratio.method == STAT_BY_COUNTS;
}

/* Rounded up to two digits: more would be a promise. */
static double verdict_about(size_t runs)
{
	double digit = 1;

	while ((double)runs / digit >= 100)
		digit *= 10;
	return ceil((double)runs / digit) * digit;
}

static char *verdict_unclear(const struct result_comparison *c)
{
	bool windows = verdict_of_windows(c);
	size_t n_base = windows ? 1 : c->n_base, n_other = windows ? 1 : c->n_other;
	size_t needed = stat_runs_needed(&c->ratio, n_base, n_other, VERDICT_DIFFERENCE);
	char number[NUMBER_BYTES];

	if (!c->ratio.has_interval && (c->n_base < 2 || c->n_other < 2))
		return mem_strdup("unclear: one run does not tell");
	if (!c->ratio.has_interval)
		return mem_strdup("unclear: too few runs");
	if (!needed || needed > VERDICT_MAX_RUNS)
		return mem_strdup("unclear");
	return mem_printf("unclear: about %s %s of each would tell a difference of %g %%",
			  number_real(number, verdict_about(needed), 0), windows ? "such windows" : "runs",
			  VERDICT_DIFFERENCE * 100);
}

/* The caller frees. */
static char *verdict_words(const struct result_comparison *c)
{
	if (c->reason && !strcmp(c->workload, "serve"))
		return mem_strdup("not compared"); /* its figures say why, at length */
	if (c->reason)
		return mem_printf("not compared: %s", c->reason);
	switch (c->ratio.verdict) {
	case STAT_HIGHER:
		return mem_printf("higher%s", verdict_worth(c->metric, true));
	case STAT_LOWER:
		return mem_printf("lower%s", verdict_worth(c->metric, false));
	case STAT_SAME:
		return mem_printf("same within %g %%", RESULT_SAME_WITHIN * 100);
	default:
		return verdict_unclear(c);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct verdicts {
	const struct result *result;
	const struct part *part;
	bool floors; /* nothing but floor to compare with */
	bool any;    /* something can be told */
	bool methods[STAT_BY_COUNTS + 1];
	size_t block_s;
};

static bool verdict_is_floor(const struct result_comparison *c)
{
	return !strcmp(c->base, "floor");
}

static bool verdict_is_of(const struct verdicts *v, const struct result_comparison *c,
			  const struct metric *metric)
{
	return !strcmp(c->workload, v->part->workload) && c->metric == metric &&
	       verdict_is_floor(c) == v->floors;
}

/* Near 1 the third decimal decides on which side of it a bound lies. */
static const char *verdict_bound(char buf[NUMBER_BYTES], double ratio)
{
	if (!(ratio > 0.9 && ratio < 1.1))
		return number_ratio(buf, ratio);
	number_real(buf, ratio, 3);
	strcat(buf, "×");
	return buf;
}

static void verdict_add(struct verdicts *v, struct table *table, const struct result_comparison *c)
{
	char low[NUMBER_BYTES], high[NUMBER_BYTES];
	struct row *row = table_add_row(table);
	char *what = c->variant ? mem_printf("%s %s", c->metric->title, c->variant)
				: mem_strdup(c->metric->title);
	char *pair = mem_printf("%s → %s", c->base, c->other);
	char *interval = mem_printf("(%s–%s)", verdict_bound(low, c->ratio.ci_low),
				    verdict_bound(high, c->ratio.ci_high));
	char *words = verdict_words(c);

	row_add_text(row, what);
	row_add_text(row, pair);
	row_add_number(row, CELL_RATIO, c->ratio.ratio, 0);
	if (c->ratio.has_interval)
		row_add_text(row, interval);
	else
		row_add_empty(row);
	row_add_text(row, words);
	v->any |= c->ratio.has_interval || c->reason || c->ratio.verdict != STAT_UNCLEAR;
	v->methods[c->ratio.method] |= c->ratio.has_interval;
	v->block_s = c->block_s > v->block_s ? c->block_s : v->block_s;
	free(what);
	free(pair);
	free(interval);
	free(words);
}

/* What each kind of interval takes for granted. */
static void verdict_add_notes(const struct verdicts *v, struct report *report)
{
	if (v->methods[STAT_BY_ROUNDS])
		report_add_note(report, NOTE_TEXT,
				"Runs are compared round by round: what slows a whole round does not count.");
	if (v->methods[STAT_BY_FEW])
		report_add_note(report, NOTE_TEXT,
				"With fewer than five runs an interval takes for granted that the "
				"logarithms of the runs are normally distributed.");
	if (v->methods[STAT_BY_SECONDS])
		report_add_note(report, NOTE_TEXT,
				"Intervals of single windows are made from their seconds, in blocks of "
				"%zu s or less: they hold while the programs go on as they did in the window.",
				v->block_s);
	if (v->methods[STAT_BY_COUNTS])
		report_add_note(report, NOTE_TEXT,
				"Where little happened, intervals are those of two counts: they hold where "
				"what happens comes independently, and are wide where it comes evenly.");
}

static bool verdict_has_floors_alone(const struct result *result, const struct part *part)
{
	for (size_t i = 0; i < result->comparisons.n; i++)
		if (!strcmp(result->comparisons.items[i].workload, part->workload) &&
		    !verdict_is_floor(&result->comparisons.items[i]))
			return false;
	return true;
}

void verdicts_build(struct report *report, const struct result *result, const struct part *part)
{
	struct verdicts v = {.result = result,
			     .part = part,
			     .floors = verdict_has_floors_alone(result, part)};
	struct table *table = report_add_table(report, NULL);

	table_add_column(table, "verdict", true);
	table_add_column(table, "", true);
	table_add_column(table, "ratio", false);
	table_add_column(table, "(95 % interval)", false);
	table_add_column(table, "", true);
	for (const struct metric *metric = metrics; metric->id; metric++)
		for (size_t i = 0; i < result->comparisons.n; i++)
			if (metric_is_main(metric, part->workload) &&
			    verdict_is_of(&v, &result->comparisons.items[i], metric))
				verdict_add(&v, table, &result->comparisons.items[i]);
	if (!v.any) {
		report_remove_last(report);
		return;
	}
	verdict_add_notes(&v, report);
}
