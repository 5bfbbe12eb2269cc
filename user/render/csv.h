/* Pieces of the CSV formats: cells and rows, RFC 4180 quoting, lines ended by LF. */
#ifndef WAKEWHY_RENDER_CSV_H
#define WAKEWHY_RENDER_CSV_H

#include <stdio.h>

#include "report/result.h"

/* A table being written. All zero but for `out`. Errors stay in the stream, as with fputs. */
struct csv {
	FILE *out;
	bool in_row; /* the next cell wants a comma before it */
};

/* Each adds one cell to the row. Text comes from outside: bytes that are none are shown as escapes,
 * and what a spreadsheet would take for a formula gets an apostrophe before it, which makes it text
 * there. NULL is an empty cell, as is a number that is not finite. */
void csv_text(struct csv *csv, const char *text);
void csv_whole(struct csv *csv, uint64_t number);
void csv_whole_or_empty(struct csv *csv, uint64_t number); /* empty for the 0 that says "none" */
void csv_real(struct csv *csv, double number);
void csv_yes_no(struct csv *csv, bool yes);
void csv_empty(struct csv *csv);
void csv_end_row(struct csv *csv);

/* A row of heads that need no quoting: "label,workload" as one text. No row end. */
void csv_heads(struct csv *csv, const char *heads);
/* The cells that tell one run from the others: CSV_RUN_HEADS. */
#define CSV_RUN_HEADS "workload,label,variant,repeat"
void csv_run(struct csv *csv, const struct capture *capture);
/* Counters by their table, in its order, and their heads. Those of system calls are empty where they
 * were not counted: a 0 would be a figure. */
void csv_counter_heads(struct csv *csv);
void csv_counters(struct csv *csv, const struct wk_counters *counters,
		  const struct capture *capture);
/* pid, tid, label of a thread: CSV_THREAD_HEADS; empty for NULL. */
#define CSV_THREAD_HEADS "pid,tid,thread"
void csv_thread(struct csv *csv, const struct run_thread *thread);

#endif
