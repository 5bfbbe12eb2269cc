/* Facts and problems on their way into doctor's report. */
#include "cmd/findings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/strbuf.h"

static char *format(const char *fmt, va_list args)
{
	struct strbuf text = {0};

	strbuf_vprintf(&text, fmt, args);
	return strbuf_take(&text);
}

void findings_section(struct findings *findings, const char *title)
{
	findings->table = report_add_table(&findings->report, title);
	table_add_column(findings->table, "", true);
	table_add_column(findings->table, "found", true);
	table_add_column(findings->table, "", true);
}

static void add_row(struct findings *findings, const char *name, const char *state, const char *fmt,
		    va_list args)
{
	struct row *row = table_add_row(findings->table);
	char *text = format(fmt, args);

	row_add_text(row, name);
	row_add_text(row, text);
	row_add_text(row, state);
	free(text);
}

void findings_fact(struct findings *findings, const char *name, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_row(findings, name, "ok", fmt, args);
	va_end(args);
}

void findings_tell(struct findings *findings, const char *name, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_row(findings, name, "", fmt, args);
	va_end(args);
}

/* The fact that the problem belongs to is the last one. */
static void mark_last(struct table *table)
{
	struct row *row;
	struct cell *cell;

	if (!table || !table->rows.n)
		return;
	row = &table->rows.items[table->rows.n - 1];
	cell = &row->cells.items[row->cells.n - 1];
	free(cell->text);
	cell->text = mem_strdup("see below");
}

void findings_problem(struct findings *findings, bool blocks, const char *mend, const char *fmt,
		      ...)
{
	struct problem *problem = vec_push(&findings->problems);
	va_list args;

	va_start(args, fmt);
	problem->what = format(fmt, args);
	va_end(args);
	problem->mend = mem_strdup(mend);
	problem->blocks = blocks;
	mark_last(findings->table);
}

bool findings_block(const struct findings *findings)
{
	for (size_t i = 0; i < findings->problems.n; i++)
		if (findings->problems.items[i].blocks)
			return true;
	return false;
}

static void add_problems(struct findings *findings, bool blocks)
{
	for (size_t i = 0; i < findings->problems.n; i++) {
		const struct problem *p = &findings->problems.items[i];

		if (p->blocks == blocks)
			report_add_note(&findings->report, NOTE_WARNING, "%s%s%s", p->what,
					*p->mend ? ": " : "", p->mend);
	}
}

void findings_conclude(struct findings *findings)
{
	add_problems(findings, true);
	add_problems(findings, false);
	if (findings_block(findings))
		report_add_note(&findings->report, NOTE_WARNING,
				"nothing can be measured here until that is mended");
	else if (findings->problems.n)
		report_add_note(&findings->report, NOTE_TRUST_OK,
				"this machine can measure; mind what is said above");
	else
		report_add_note(&findings->report, NOTE_TRUST_OK, "this machine can measure");
}

void findings_free_members(struct findings *findings)
{
	for (size_t i = 0; i < findings->problems.n; i++) {
		free(findings->problems.items[i].what);
		free(findings->problems.items[i].mend);
	}
	free(findings->problems.items);
	report_free_members(&findings->report);
	*findings = (struct findings){0};
}
