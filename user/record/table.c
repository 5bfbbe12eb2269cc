/* Tables and lists of pairs in a recording, nothing in them believed. */
#include "record/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define COLUMNS_MAX 512

static const struct field *find_field(const struct field *fields, const json_t *name)
{
	for (; fields->name; fields++)
		if (strcmp(fields->name, json_string_value(name)) == 0)
			return fields;
	return NULL;
}

static int open_columns(struct table_reader *table, const struct field *fields, const json_t *json)
{
	for (size_t i = 0; i < table->columns; i++) {
		const json_t *name = json_array_get(json, i);
		const struct field *field;

		if (!json_is_string(name))
			return field_refuse(table->reader, "a column of %s has no name",
					    table->what);
		field = find_field(fields, name);
		for (size_t j = 0; field && j < i; j++)
			if (table->fields[j] == field)
				return field_refuse(table->reader, "%s have two columns '%s'",
						    table->what, field->name);
		table->fields[i] = field;
	}
	return 0;
}

int table_open(struct table_reader *ret_table, const struct field_reader *reader,
	       const struct field *fields, const json_t *json, const char *what)
{
	const json_t *columns = json_object_get(json, "columns");
	struct table_reader table = {.reader = reader, .what = what};
	int err;

	*ret_table = table;
	if (!json)
		return 0;
	table.rows = json_object_get(json, "rows");
	if (!json_is_object(json) || !json_is_array(table.rows))
		return field_refuse(reader, "%s are no table", what);
	table.columns = json_array_size(columns);
	if (!json_is_array(columns) || table.columns > COLUMNS_MAX)
		return field_refuse(reader, "the columns of %s are no list of at most %d", what,
				    COLUMNS_MAX);
	table.fields = mem_calloc(table.columns + 1, sizeof(*table.fields));
	err = open_columns(&table, fields, columns);
	if (err)
		table_close(&table);
	else
		*ret_table = table;
	return err;
}

size_t table_rows(const struct table_reader *table)
{
	return json_array_size(table->rows);
}

int table_row(const struct table_reader *table, size_t i, void *to)
{
	const json_t *row = json_array_get(table->rows, i);

	if (!json_is_array(row) || json_array_size(row) != table->columns)
		return field_refuse(table->reader, "a row of %s does not have %zu values",
				    table->what, table->columns);
	for (size_t c = 0; c < table->columns; c++) {
		int err = table->fields[c] ? field_decode(table->reader, table->fields[c],
							  json_array_get(row, c), table->what, to)
					   : 0;

		if (err)
			return err;
	}
	return 0;
}

void table_close(struct table_reader *table)
{
	free(table->fields);
	table->fields = NULL;
}

int pairs_decode(const struct field_reader *reader, const json_t *pairs, const char *what,
		 uint64_t max_number, uint64_t max_count,
		 void (*take)(void *to, uint64_t number, uint64_t count), void *to)
{
	size_t n = json_array_size(pairs);
	uint64_t before = 0;

	if (!json_is_array(pairs) || n % 2)
		return field_refuse(reader, "%s are no list of pairs", what);
	for (size_t i = 0; i < n; i += 2) {
		uint64_t number, count;

		if (!number_decode(json_array_get(pairs, i), max_number, &number) ||
		    !number_decode(json_array_get(pairs, i + 1), max_count, &count) || !count ||
		    (i && number <= before))
			return field_refuse(reader, "%s are out of order or range", what);
		take(to, number, count);
		before = number;
	}
	return 0;
}
