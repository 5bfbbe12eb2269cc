/* Tables and lists of pairs in a recording, nothing in them believed. */
#ifndef WAKEWHY_RECORD_TABLE_H
#define WAKEWHY_RECORD_TABLE_H

#include "record/fields.h"

/* A table being read: {"columns": [NAME …], "rows": [[VALUE …] …]}. All borrowed from its JSON. */
struct table_reader {
	const struct field_reader *reader;
	const char *what;	     /* names the table in errors: "threads" */
	const json_t *rows;	     /* NULL: none */
	const struct field **fields; /* of each column; NULL: not one of ours */
	size_t columns;
};

/* json may be NULL: a table that is missing has no rows. -EINVAL with the reason in the diag of
 * reader. The caller closes what was opened. */
int table_open(struct table_reader *ret_table, const struct field_reader *reader,
	       const struct field *fields, const json_t *json, const char *what);
size_t table_rows(const struct table_reader *table);
/* Row i into the struct at `to`; members without a column stay as they are. -EINVAL. */
int table_row(const struct table_reader *table, size_t i, void *to);
void table_close(struct table_reader *table);

/* number, count, number, count …: numbers rise, no count is 0. Calls take for each pair; -EINVAL
 * where the list is no such list, or a value is larger than its maximum. */
int pairs_decode(const struct field_reader *reader, const json_t *pairs, const char *what,
		 uint64_t max_number, uint64_t max_count,
		 void (*take)(void *to, uint64_t number, uint64_t count), void *to);

#endif
