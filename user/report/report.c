/* The containers of a report: blocks, tables, rows, cells. */
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "report/number.h"

static struct block *report_add_block(struct report *report, enum block_kind kind)
{
	struct block *block = vec_push(&report->blocks);

	block->kind = kind;
	return block;
}

struct table *report_add_table(struct report *report, const char *title_or_null)
{
	struct block *block = report_add_block(report, BLOCK_TABLE);

	block->table.title = title_or_null ? mem_strdup(title_or_null) : NULL;
	return &block->table;
}

void report_add_heading(struct report *report, const char *fmt, ...)
{
	struct block *block = report_add_block(report, BLOCK_HEADING);
	struct strbuf text = {0};
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	block->text = strbuf_take(&text);
}

void report_add_note(struct report *report, enum note_kind kind, const char *fmt, ...)
{
	struct block *block = report_add_block(report, BLOCK_NOTE);
	struct strbuf text = {0};
	va_list args;

	block->note = kind;
	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	block->text = strbuf_take(&text);
}

void table_add_column(struct table *table, const char *title, bool left)
{
	struct column *column = vec_push(&table->columns);

	column->title = mem_strdup(title);
	column->left = left;
}

struct row *table_add_row(struct table *table)
{
	return vec_push(&table->rows);
}

void table_set_decimals(struct table *table, size_t column, int max)
{
	VEC(double) values = {0};
	int decimals;

	for (size_t i = 0; i < table->rows.n; i++) {
		const struct row *row = &table->rows.items[i];

		if (column < row->cells.n && row->cells.items[column].kind == CELL_REAL)
			*vec_push(&values) = row->cells.items[column].number;
	}
	decimals = number_decimals(values.items, values.n, max);
	free(values.items);
	for (size_t i = 0; i < table->rows.n; i++) {
		struct row *row = &table->rows.items[i];

		if (column < row->cells.n && row->cells.items[column].kind == CELL_REAL)
			row->cells.items[column].decimals = decimals;
	}
}

void row_add_text(struct row *row, const char *text)
{
	struct cell *cell = vec_push(&row->cells);

	cell->kind = CELL_TEXT;
	cell->text = mem_strdup(text);
}

void row_add_number(struct row *row, enum cell_kind kind, double number, int decimals)
{
	struct cell *cell = vec_push(&row->cells);

	cell->kind = kind;
	cell->number = number;
	cell->decimals = decimals;
}

void row_add_empty(struct row *row)
{
	vec_push(&row->cells);
}

static void table_free_members(struct table *table)
{
	for (size_t i = 0; i < table->rows.n; i++) {
		struct row *row = &table->rows.items[i];

		for (size_t j = 0; j < row->cells.n; j++)
			free(row->cells.items[j].text);
		free(row->cells.items);
	}
	for (size_t i = 0; i < table->columns.n; i++)
		free(table->columns.items[i].title);
	free(table->rows.items);
	free(table->columns.items);
	free(table->title);
}

struct chart *report_add_chart(struct report *report, enum chart_kind kind, const char *title)
{
	struct chart *chart = mem_zalloc(sizeof(*chart));

	report_add_block(report, BLOCK_CHART)->chart = chart;
	chart->kind = kind;
	chart->title = mem_strdup(title);
	return chart;
}

void chart_axis_set(struct chart_axis *axis, const char *title, enum cell_kind kind, int decimals)
{
	axis->title = mem_strdup(title);
	axis->kind = kind;
	axis->decimals = decimals;
}

struct chart_series *chart_add_series(struct chart *chart, const char *name)
{
	struct chart_series *series = vec_push(&chart->series);

	series->name = mem_strdup(name);
	series->look = chart->series.n - 1;
	series->mark = NAN;
	return series;
}

static void chart_free(struct chart *chart)
{
	if (!chart)
		return;
	for (size_t i = 0; i < chart->series.n; i++) {
		struct chart_series *series = &chart->series.items[i];

		for (size_t j = 0; j < series->points.n; j++)
			free(series->points.items[j].name);
		free(series->points.items);
		free(series->name);
	}
	for (size_t i = 0; i < chart->nodes.n; i++)
		free(chart->nodes.items[i]);
	for (size_t i = 0; i < chart->links.n; i++)
		free(chart->links.items[i].text);
	for (size_t i = 0; i < chart->boxes.n; i++)
		free(chart->boxes.items[i].name);
	free(chart->boxes.items);
	free(chart->series.items);
	free(chart->nodes.items);
	free(chart->links.items);
	free(chart->title);
	free(chart->x.title);
	free(chart->y.title);
	table_free_members(&chart->table);
	free(chart);
}

void report_remove_last(struct report *report)
{
	struct block *block = &report->blocks.items[--report->blocks.n];

	free(block->text);
	chart_free(block->chart);
	table_free_members(&block->table);
}

void report_free_members(struct report *report)
{
	if (!report)
		return;
	while (report->blocks.n)
		report_remove_last(report);
	free(report->blocks.items);
	*report = (struct report){0};
}
