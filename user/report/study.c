/* A study: every runtime in a row, every figure that it is about in a column.
 *
 *	study · 3 runtimes · 2 CPUs · Linux 6.18 · x86-64
 *
 *	                size MB   start ms   idle wakeups/s   …   requests/s   hash sync/s   …
 *	  zig             92.75       7.60            12.10           31,204†      1,760,000
 *	  rust            80.76       2.94             3.00           32,160†      2,070,000
 *
 *	  rust / zig     0.871×     0.387×           0.248×                           1.18×
 *
 *	† not comparable: …
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/number.h"
#include "report/part.h"
#include "report/study.h"

#define STUDY_MARK "†"

struct study_figure {
	const char *workload;
	const char *variant; /* NULL: the workload has none */
	const char *metric;
	const char *title; /* of its column, with the unit shown */
	const char *name;  /* in a sentence */
	double scale; /* from the metric's unit to the one shown */
	int decimals; /* at most */
	bool window;  /* shown as "20 of 20" seconds, and without a ratio */
};

static const struct study_figure study_figures[] = {
	{"startup", NULL, "size_bytes", "size MB", "size", 1e-6, 2},
	{"startup", NULL, "exec_to_exit_ns", "start ms", "start", 1e-6, 2},
	{"idle", NULL, "wakeups_per_s", "idle wakeups/s", "idle wakeups", 1, 2},
	{"idle", NULL, "cpu_ms_per_s", "idle CPU ms/s", "idle CPU", 1, 3},
	{"idle", NULL, "active_seconds", "active seconds", "active seconds", 1, 0, true},
	{"idle", NULL, "pss_start_bytes", "PSS MB start", "PSS after start", 1e-6, 1},
	{"idle", NULL, "pss_bytes", "PSS MB idle", "PSS after idle", 1e-6, 1},
	{"serve", NULL, "pss_bytes", "PSS MB serve", "PSS after serve", 1e-6, 1},
	{"serve", NULL, "operations_per_s", "requests/s", "requests/s", 1, 0},
	{0},
};

bool study_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool study_is(const struct result *result)
{
	const struct capture_tool *tool = &result->recording->tool;

	return tool->command.n > 1 && !strcmp(tool->command.items[1], "study");
}

/* ---- what there is ---------------------------------------------------------------------------- */

/* One clause of what keeps figures from being compared, and whose figures. */
struct study_reason {
	char *clause; /* owned */
	VEC(const char *) labels;
};

struct study {
	const struct result *result;
	VEC(const char *) labels; /* by first appearance */
	VEC(struct study_figure) figures; /* that some label has; those of hash by variant at the end */
	VEC(char *) titles;	  /* of figures made here; owned */
	VEC(int) decimals;	  /* of each figure */
	VEC(struct study_reason) reasons; /* why figures are marked, by first appearance */
};

static void study_find_labels(struct study *study)
{
	for (size_t i = 0; i < study->result->runs.n; i++) {
		const char *label = study->result->runs.items[i].capture->label;
		size_t j = 0;

		while (j < study->labels.n && strcmp(study->labels.items[j], label))
			j++;
		if (j == study->labels.n)
			*vec_push(&study->labels) = label;
	}
}

static const struct stat_summary *study_stat(const struct study *study,
					     const struct study_figure *figure, const char *label)
{
	return result_find_summary(study->result, label, figure->workload, figure->variant,
				   figure->metric);
}

/* Adds the figure where some label has it. */
static void study_add_figure(struct study *study, const struct study_figure *figure)
{
	double *medians = mem_calloc(study->labels.n, sizeof(*medians));
	size_t n = 0;

	for (size_t i = 0; i < study->labels.n; i++) {
		const struct stat_summary *stat = study_stat(study, figure, study->labels.items[i]);

		if (stat && isfinite(stat->median))
			medians[n++] = stat->median * figure->scale;
	}
	if (n) {
		*vec_push(&study->figures) = *figure;
		*vec_push(&study->decimals) = number_decimals(medians, n, figure->decimals);
	}
	free(medians);
}

static bool study_has_variant(const struct study *study, const char *variant)
{
	for (size_t i = 0; i < study->figures.n; i++)
		if (study_same(study->figures.items[i].variant, variant))
			return true;
	return false;
}

static void study_find_figures(struct study *study)
{
	for (const struct study_figure *figure = study_figures; figure->metric; figure++)
		study_add_figure(study, figure);
	for (size_t i = 0; i < study->result->runs.n; i++) {
		const struct capture *capture = study->result->runs.items[i].capture;
		struct study_figure figure = {.workload = "hash",
					      .variant = capture->variant,
					      .metric = "operations_per_s",
					      .scale = 1};
		char *title;

		if (strcmp(capture->workload, "hash") || !capture->variant ||
		    study_has_variant(study, capture->variant))
			continue;
		title = mem_printf("hash %s/s", capture->variant);
		*vec_push(&study->titles) = title;
		figure.title = figure.name = title;
		study_add_figure(study, &figure);
	}
}

static void study_init(struct study *study, const struct result *result)
{
	*study = (struct study){.result = result};
	study_find_labels(study);
	study_find_figures(study);
}

static void study_free_members(struct study *study)
{
	for (size_t i = 0; i < study->titles.n; i++)
		free(study->titles.items[i]);
	free(study->titles.items);
	free(study->labels.items);
	free(study->figures.items);
	free(study->decimals.items);
	for (size_t i = 0; i < study->reasons.n; i++) {
		free(study->reasons.items[i].clause);
		free(study->reasons.items[i].labels.items);
	}
	free(study->reasons.items);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Why figures of the workload must not be compared; NULL: they may. */
static const char *study_obstacle(const struct study *study, const struct study_figure *figure,
				  const char *label)
{
	for (size_t i = 0; i < study->result->runs.n; i++) {
		const struct capture *capture = study->result->runs.items[i].capture;

		if (!strcmp(capture->label, label) && !strcmp(capture->workload, figure->workload) &&
		    study_same(capture->variant, figure->variant) && !capture->replaced &&
		    capture->not_comparable)
			return capture->not_comparable;
	}
	return NULL;
}

static void study_note_clause(struct study *study, const char *clause, size_t n, const char *label)
{
	struct study_reason *reason = NULL;

	for (size_t i = 0; i < study->reasons.n && !reason; i++) {
		struct study_reason *known = &study->reasons.items[i];

		if (strlen(known->clause) == n && !strncmp(known->clause, clause, n))
			reason = known;
	}
	if (!reason) {
		reason = vec_push(&study->reasons);
		reason->clause = mem_strndup(clause, n);
	}
	for (size_t i = 0; i < reason->labels.n; i++)
		if (!strcmp(reason->labels.items[i], label))
			return;
	*vec_push(&reason->labels) = label;
}

/* Most of an obstacle is the machine's, and the same for all: clauses are told once. */
static void study_note_reason(struct study *study, const char *reason, const char *label)
{
	for (;;) {
		const char *end = strstr(reason, "; ");
		size_t n = end ? (size_t)(end - reason) : strlen(reason);

		study_note_clause(study, reason, n, label);
		if (!end)
			return;
		reason = end + 2;
	}
}

static void study_add_reasons(struct report *report, const struct study *study)
{
	struct strbuf text = {};

	for (size_t i = 0; i < study->reasons.n; i++) {
		const struct study_reason *reason = &study->reasons.items[i];

		strbuf_add(&text, i ? "; " : "");
		for (size_t j = 0; reason->labels.n < study->labels.n && j < reason->labels.n; j++)
			strbuf_printf(&text, "%s%s", j ? ", " : "", reason->labels.items[j]);
		strbuf_printf(&text, "%s%s", reason->labels.n < study->labels.n ? ": " : "",
			      reason->clause);
	}
	if (text.n)
		report_add_note(report, NOTE_WARNING, STUDY_MARK " not comparable: %s",
				strbuf_text(&text));
	strbuf_free_members(&text);
}

static double study_window_s(const struct study *study, const struct study_figure *figure,
			     const char *label)
{
	for (size_t i = 0; i < study->result->runs.n; i++) {
		const struct run *run = &study->result->runs.items[i];

		if (!strcmp(run->capture->label, label) &&
		    !strcmp(run->capture->workload, figure->workload))
			return (double)run->window_ns / 1e9;
	}
	return NAN;
}

static void study_add_cell(struct study *study, struct row *row, size_t at, const char *label)
{
	const struct study_figure *figure = &study->figures.items[at];
	const struct stat_summary *stat = study_stat(study, figure, label);
	const char *obstacle = study_obstacle(study, figure, label);
	char number[NUMBER_BYTES];
	char *text;

	if (!stat || (!obstacle && !figure->window)) {
		row_add_number(row, CELL_REAL, stat ? stat->median * figure->scale : NAN,
			       study->decimals.items[at]);
		return;
	}
	if (obstacle) {
		study_note_reason(study, obstacle, label);
		number_real(number, stat->median * figure->scale, study->decimals.items[at]);
		text = mem_printf("%s" STUDY_MARK, number);
	} else {
		double seconds = fmax(round(study_window_s(study, figure, label)), stat->median);

		text = mem_printf("%.3g of %.0f", stat->median, seconds);
	}
	row_add_text(row, text);
	free(text);
}

static void study_add_ratio_cell(const struct study *study, struct row *row, size_t at,
				 const char *base, const char *other)
{
	const struct study_figure *figure = &study->figures.items[at];
	const struct stat_ratio *ratio = result_find_ratio(
		study->result, base, other, figure->workload, figure->variant, figure->metric);

	if (figure->window)
		row_add_empty(row);
	else
		row_add_number(row, CELL_RATIO,
			       ratio && !study_obstacle(study, figure, base) &&
					       !study_obstacle(study, figure, other)
				       ? ratio->ratio
				       : NAN,
			       0);
}

/* What each label is held against in the result's comparisons: the first that is not floor. */
static const char *study_base(const struct study *study)
{
	for (size_t i = 0; i < study->labels.n; i++)
		if (strcmp(study->labels.items[i], "floor"))
			return study->labels.items[i];
	return NULL;
}

static void study_add_ratios(const struct study *study, struct table *table)
{
	const char *base = study_base(study);
	bool first = true;

	for (size_t i = 0; base && i < study->labels.n; i++) {
		const char *label = study->labels.items[i];
		struct row *row;
		char *name;

		if (label == base || !strcmp(label, "floor"))
			continue;
		row = table_add_row(table);
		row->rule_before = first;
		first = false;
		name = mem_printf("%s / %s", label, base);
		row_add_text(row, name);
		free(name);
		for (size_t j = 0; j < study->figures.n; j++)
			study_add_ratio_cell(study, row, j, base, label);
	}
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void study_add_verdict(struct strbuf *text, const struct study_figure *figure,
			      const struct stat_ratio *ratio)
{
	char number[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];

	strbuf_printf(text, "%s%s", text->n ? ", " : "", figure->name);
	if (isfinite(ratio->ratio))
		strbuf_printf(text, " %s", number_ratio(number, ratio->ratio));
	if (ratio->has_interval && ratio->ci_low < ratio->ci_high)
		strbuf_printf(text, " (%s–%s)", number_ratio(low, ratio->ci_low),
			      number_ratio(high, ratio->ci_high));
}

/* "rust against zig. Lower: size 0.871×, start 0.387× (0.381×–0.402×). Unclear: …" */
static void study_tell_pair(struct report *report, const struct study *study, const char *base,
			    const char *label)
{
	static const char *const words[] = {"Lower", "Higher", "Same", "Unclear"};
	static const enum stat_verdict order[] = {STAT_LOWER, STAT_HIGHER, STAT_SAME, STAT_UNCLEAR};
	struct strbuf told = {0};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct strbuf list = {0};

		for (size_t j = 0; j < study->figures.n; j++) {
			const struct study_figure *figure = &study->figures.items[j];
			const struct stat_ratio *ratio =
				result_find_ratio(study->result, base, label, figure->workload,
						  figure->variant, figure->metric);

			if (ratio && ratio->verdict == order[i] && !figure->window &&
			    !study_obstacle(study, figure, base) &&
			    !study_obstacle(study, figure, label))
				study_add_verdict(&list, figure, ratio);
		}
		if (list.n)
			strbuf_printf(&told, " %s: %s.", words[i], strbuf_text(&list));
		strbuf_free_members(&list);
	}
	if (told.n)
		report_add_note(report, NOTE_TEXT, "%s against %s.%s", label, base,
				strbuf_text(&told));
	strbuf_free_members(&told);
}

/* Starts are compared without probes where these change them: not the quotients of the table's figures. */
static bool study_is_of_bare(const struct result *result)
{
	for (size_t i = 0; i < result->comparisons.n; i++)
		if (result->comparisons.items[i].from_bare)
			return true;
	return false;
}

static void study_add_verdicts(struct report *report, const struct study *study)
{
	const char *base = study_base(study);

	if (study_is_of_bare(study->result))
		report_add_note(report, NOTE_TEXT,
				"Ratios of starts are those of the runs without probes, by our own clock: "
				"the probes change them by more than chance.");

	for (size_t i = 0; base && i < study->labels.n; i++)
		if (study->labels.items[i] != base && strcmp(study->labels.items[i], "floor"))
			study_tell_pair(report, study, base, study->labels.items[i]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void study_add_heading(struct report *report, const struct study *study)
{
	const struct recording *recording = study->result->recording;
	const struct capture_tool *tool = &recording->tool;

	report_add_heading(report, "study · %zu runtime%s · %u CPU%s · Linux %s · %s", study->labels.n,
			   study->labels.n == 1 ? "" : "s", tool->cpus, tool->cpus == 1 ? "" : "s",
			   tool->kernel, tool->arch);
}

static void study_add_table(struct report *report, struct study *study)
{
	struct table *table = report_add_table(report, NULL);

	table_add_column(table, "", true);
	for (size_t i = 0; i < study->figures.n; i++)
		table_add_column(table, study->figures.items[i].title, false);
	for (size_t i = 0; i < study->labels.n; i++) {
		struct row *row = table_add_row(table);

		row_add_text(row, study->labels.items[i]);
		for (size_t j = 0; j < study->figures.n; j++)
			study_add_cell(study, row, j, study->labels.items[i]);
	}
	study_add_ratios(study, table);
}

void study_build(struct report *report, const struct result *result)
{
	struct study study;

	study_init(&study, result);
	study_add_heading(report, &study);
	if (study.figures.n) {
		study_add_table(report, &study);
		study_add_reasons(report, &study);
		report_add_note(report, NOTE_TEXT,
				"Medians over the runs of each. Start is from exec to exit; PSS is that "
				"of the process tree, shared pages divided among those who share them: "
				"when start-up was over, after the idle window, after serving.");
		study_add_verdicts(report, &study);
	}
	study_free_members(&study);
}
