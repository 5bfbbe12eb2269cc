/* The difference of two groups as sentences and a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/number.h"

/* A row that makes less than this of the difference, or of the larger side where the sides are much
 * the same, is folded; sentences are about larger ones still. */
#define TELL_LEAST_SHARE    0.01
#define TELL_SENTENCE_SHARE 0.1
#define TELL_SENTENCES	    3
/* More labels than this are told apart in sentences alone, unless all rows are wanted. */
#define TELL_TABLES 3
#define TELL_ROWS   8
/* Sides that differ by less are as good as equal, and there are no shares of that. */
#define TELL_SAME_WITHIN 0.01
/* Operations that wake this rarely are not about wakeups. */
#define TELL_LEAST_PER_OPERATION 0.001

struct tell {
	const struct difference *d;
	const char *base, *other; /* names of the sides */
	struct difference_figure all;
	bool same; /* the sides are as good as equal */
	int decimals;
};

static double tell_size(const struct difference_figure *figure)
{
	return fabs(figure->other - figure->base);
}

static struct difference_figure tell_figure(const struct tell *t, const struct difference_row *row)
{
	return difference_figure(t->d, row, t->d->by_cpu);
}

/* What a row's difference is held against. */
static double tell_scale(const struct tell *t)
{
	return t->same ? fmax(t->all.base, t->all.other) : tell_size(&t->all);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* "9.10 times a second", "0.496 ms of CPU a second" */
static void tell_add_amount(const struct tell *t, struct strbuf *text, double amount, bool by_cpu)
{
	const struct cause_unit *unit = &t->d->base_unit;

	words_add_number(text, amount, by_cpu ? unit->cpu_decimals : unit->wakeups_decimals);
	if (by_cpu)
		strbuf_printf(text, " %s of CPU%s", unit->cpu_unit, unit->each);
	else
		strbuf_printf(text, " times%s", unit->each);
}

/* "9.10 times a second more than rust (12.1 against 3.00)", "as often as rust" */
static void tell_add_compared(const struct tell *t, struct strbuf *text, bool by_cpu, bool named)
{
	struct difference_figure all = difference_figure(t->d, NULL, by_cpu);
	const struct cause_unit *unit = &t->d->base_unit;
	int decimals = by_cpu ? unit->cpu_decimals : unit->wakeups_decimals;

	if (tell_size(&all) <= TELL_SAME_WITHIN * fmax(all.base, all.other)) {
		strbuf_add(text, by_cpu ? "as much CPU time" : "as often");
		if (named)
			strbuf_printf(text, " as %s", t->base);
	} else {
		tell_add_amount(t, text, tell_size(&all), by_cpu);
		strbuf_add(text, all.other > all.base ? " more" : " less");
		if (named)
			strbuf_printf(text, " than %s", t->base);
	}
	strbuf_add(text, " (");
	words_add_number(text, all.other, decimals);
	strbuf_add(text, " against ");
	words_add_number(text, all.base, decimals);
	strbuf_add(text, ")");
}

static void tell_all(const struct tell *t, struct report *report)
{
	struct strbuf text = {0};
	bool by_cpu = t->d->by_cpu;

	strbuf_printf(&text, "%s %s ", t->other, by_cpu ? "uses" : "wakes");
	tell_add_compared(t, &text, by_cpu, true);
	strbuf_printf(&text, " and %s ", by_cpu ? "wakes" : "uses");
	tell_add_compared(t, &text, !by_cpu, false);
	report_add_note(report, NOTE_TEXT, "%s.", strbuf_text(&text));
	strbuf_free_members(&text);
}

static void tell_row(const struct tell *t, struct report *report, const struct difference_row *row)
{
	const struct cause_unit *unit = &t->d->base_unit;
	int decimals = t->d->by_cpu ? unit->cpu_decimals : unit->wakeups_decimals;
	struct difference_figure figure = tell_figure(t, row);
	char *label = difference_label(t->d, row), *words = difference_text(row);
	struct strbuf text = {0};

	strbuf_add(&text, figure.other > figure.base ? "+" : "-");
	words_add_number(&text, tell_size(&figure), decimals);
	strbuf_printf(&text, " is %s%s%s", label, *words ? ": " : "", words);
	free(label);
	free(words);
	if (!row->base && row->other)
		strbuf_printf(&text, ", which %s has no counterpart of", t->base);
	else if (!row->other && row->base)
		strbuf_printf(&text, ", which %s has no counterpart of", t->other);
	else {
		strbuf_add(&text, ", from ");
		words_add_number(&text, figure.base, decimals);
		strbuf_add(&text, " to ");
		words_add_number(&text, figure.other, decimals);
		strbuf_printf(&text, "%s%s%s", t->d->by_cpu ? " " : "",
			      t->d->by_cpu ? unit->cpu_unit : "", unit->each);
	}
	report_add_note(report, NOTE_TEXT, "%s.", strbuf_text(&text));
	strbuf_free_members(&text);
}

static void tell_sentences(const struct tell *t, struct report *report)
{
	tell_all(t, report);
	for (size_t i = 0; i < t->d->rows.n && i < TELL_SENTENCES; i++) {
		struct difference_figure figure = tell_figure(t, &t->d->rows.items[i]);

		if (tell_size(&figure) >= TELL_SENTENCE_SHARE * tell_scale(t))
			tell_row(t, report, &t->d->rows.items[i]);
	}
}

/* ---- table ----------------------------------------------------------------------------------- */

static void tell_add_signed(const struct tell *t, struct row *row, double value)
{
	char number[NUMBER_BYTES];
	char *text =
		mem_printf("%s%s", value > 0 ? "+" : "", number_real(number, value, t->decimals));

	row_add_text(row, text);
	free(text);
}

static void tell_add_figures(const struct tell *t, struct row *row,
			     const struct difference_figure *figure, bool in_base, bool in_other)
{
	double all = t->all.other - t->all.base;

	row_add_number(row, CELL_REAL, in_base ? figure->base : NAN, t->decimals);
	row_add_number(row, CELL_REAL, in_other ? figure->other : NAN, t->decimals);
	tell_add_signed(t, row, figure->other - figure->base);
	row_add_number(row, CELL_SHARE, t->same ? NAN : (figure->other - figure->base) / all, 0);
}

static void tell_add_row(const struct tell *t, struct table *table,
			 const struct difference_row *from)
{
	struct difference_figure figure = tell_figure(t, from);
	const struct cause_sum *cause = from->other ? from->other : from->base;
	char *label = difference_label(t->d, from), *words = difference_text(from);
	struct row *row = table_add_row(table);
	struct strbuf text = {0};

	strbuf_add(&text, words);
	if (cause)
		words_add_period(&text, cause);
	row_add_text(row, label);
	row_add_text(row, strbuf_text(&text));
	tell_add_figures(t, row, &figure, from->base || !cause, from->other || !cause);
	strbuf_free_members(&text);
	free(label);
	free(words);
}

/* One row for all that do not get their own: so the column still adds up. */
static void tell_add_rest(const struct tell *t, struct table *table, size_t from)
{
	struct difference_figure rest = {0};
	struct row *row;
	char *label;

	for (size_t i = from; i < t->d->rows.n; i++) {
		struct difference_figure figure = tell_figure(t, &t->d->rows.items[i]);

		rest.base += figure.base;
		rest.other += figure.other;
	}
	label = mem_printf("… and %zu more", t->d->rows.n - from);
	row = table_add_row(table);
	row_add_text(row, label);
	row_add_text(row, "");
	tell_add_figures(t, row, &rest, true, true);
	free(label);
}

/* Rows are sorted: behind the first one that is too small all are. */
static size_t tell_shown(const struct tell *t, size_t max_rows)
{
	size_t shown = 0;

	while (shown < t->d->rows.n && (!max_rows || shown < max_rows)) {
		struct difference_figure figure = tell_figure(t, &t->d->rows.items[shown]);

		if (tell_size(&figure) < TELL_LEAST_SHARE * tell_scale(t))
			break;
		shown++;
	}
	return shown && t->d->rows.n - shown == 1 ? t->d->rows.n : shown;
}

/* The same decimals in all columns: they are added and subtracted. */
static int tell_decimals(const struct tell *t, size_t shown)
{
	int most = t->d->by_cpu ? t->d->base_unit.cpu_decimals : t->d->base_unit.wakeups_decimals;
	VEC(double) values = {0};
	int decimals;

	*vec_push(&values) = t->all.base;
	*vec_push(&values) = t->all.other;
	for (size_t i = 0; i < shown; i++) {
		struct difference_figure figure = tell_figure(t, &t->d->rows.items[i]);

		*vec_push(&values) = figure.other - figure.base;
	}
	decimals = number_decimals(values.items, values.n, most);
	free(values.items);
	return decimals;
}

static void tell_table(struct tell *t, struct report *report, size_t max_rows)
{
	const struct cause_unit *unit = &t->d->base_unit;
	size_t shown = tell_shown(t, max_rows);
	char *title = mem_printf("%s: %s against %s", t->d->by_cpu ? unit->cpu : unit->wakeups,
				 t->other, t->base);
	struct table *table = report_add_table(report, title);
	struct row *row;

	free(title);
	t->decimals = tell_decimals(t, shown);
	table_add_column(table, "", true);
	table_add_column(table, "", true);
	table_add_column(table, t->base, false);
	table_add_column(table, t->other, false);
	table_add_column(table, "difference", false);
	table_add_column(table, "share", false);
	for (size_t i = 0; i < shown; i++)
		tell_add_row(t, table, &t->d->rows.items[i]);
	if (shown < t->d->rows.n)
		tell_add_rest(t, table, shown);
	row = table_add_row(table);
	row->rule_before = t->d->rows.n > 3;
	row_add_text(row, "in all");
	row_add_text(row, "");
	tell_add_figures(t, row, &t->all, true, true);
}

/* ---- one difference -------------------------------------------------------------------------- */

static bool tell_is_worth(const struct tell *t)
{
	struct difference_figure wakeups = difference_figure(t->d, NULL, false);

	if (!t->d->base.known || !t->d->other.known)
		return false;
	if (!strcmp(t->d->base_unit.each, " an operation"))
		return fmax(wakeups.base, wakeups.other) >= TELL_LEAST_PER_OPERATION;
	return t->all.base > 0 || t->all.other > 0;
}

bool difference_tell(struct report *report, const struct difference *difference,
		     const char *base_name, const char *other_name, bool with_table,
		     size_t max_rows)
{
	struct tell t = {.d = difference, .base = base_name, .other = other_name};

	t.all = difference_figure(difference, NULL, difference->by_cpu);
	t.same = tell_size(&t.all) <= TELL_SAME_WITHIN * fmax(t.all.base, t.all.other);
	if (!tell_is_worth(&t))
		return false;
	if (with_table && tell_shown(&t, max_rows))
		tell_table(&t, report, max_rows);
	tell_sentences(&t, report);
	return true;
}

/* ---- the labels of one part --------------------------------------------------------------------
 */

static bool tell_same_variant(const struct group *a, const struct group *b)
{
	return a->variant && b->variant ? !strcmp(a->variant, b->variant)
					: a->variant == b->variant;
}

static bool tell_is_floor(const struct group *group)
{
	return !strcmp(group->label, "floor");
}

/* The first group of the same variant, floor aside; NULL: other is that one, or floor. */
static const struct group *tell_base_of(const struct part *part, const struct group *other)
{
	for (const struct group *group = part->groups.items; group < other; group++)
		if (!tell_is_floor(group) && tell_same_variant(group, other))
			return tell_is_floor(other) ? NULL : group;
	return NULL;
}

void differences_build(struct report *report, const struct part *part, size_t max_rows)
{
	size_t n = 0;

	for (size_t i = 0; i < part->groups.n; i++)
		n += tell_base_of(part, &part->groups.items[i]) != NULL;
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *other = &part->groups.items[i];
		const struct group *base = tell_base_of(part, other);
		struct difference difference;
		char *base_name, *other_name;

		if (!base)
			continue;
		base_name = group_name(base);
		other_name = group_name(other);
		difference_init(&difference, part->workload, base, other);
		if (difference_tell(report, &difference, base_name, other_name,
				    n <= TELL_TABLES || !max_rows,
				    max_rows < TELL_ROWS ? max_rows : TELL_ROWS))
			chart_waterfall_build(report, &difference, base_name, other_name, false);
		difference_free_members(&difference);
		free(base_name);
		free(other_name);
	}
}
