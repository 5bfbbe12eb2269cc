/* A report as typed tables and notes, free of any format:
 *
 *	idle · 20 s after a 3.1 s start-up · 2 CPUs · Linux 6.18 · x86-64      heading
 *
 *	               wakeups/s   CPU ms/s   syscalls/s                       table: columns
 *	  floor             0.00      0.000          0.0                              rows of cells
 *	  rust              3.00      0.244          8.5
 *
 *	trusted: kernel's own CPU time within 0.2 %, switches equal            note
 */
#ifndef WAKEWHY_REPORT_REPORT_H
#define WAKEWHY_REPORT_REPORT_H

#include <stdio.h>

#include "base/diag.h"
#include "report/result.h"

enum cell_kind {
	CELL_EMPTY,
	CELL_TEXT,     /* text */
	CELL_COUNT,    /* number, digits grouped when it is large */
	CELL_REAL,     /* number with `decimals` digits */
	CELL_DURATION, /* number in ns, shown in ns, µs, ms or s with three or four digits */
	CELL_BYTES,    /* number, shown in bytes, kB, MB */
	CELL_RATIO,    /* number, shown as 3.03× */
	CELL_SHARE,    /* number from 0 to 1, shown in % */
};

struct cell {
	enum cell_kind kind;
	int decimals;
	double number;
	char *text; /* owned; also a CELL_TEXT's bytes, made safe by the renderer */
};

struct column {
	char *title; /* owned */
	bool left;   /* text is set left, numbers right */
};

struct row {
	VEC(struct cell) cells;
	int depth;	  /* indent of the first cell, for trees */
	bool rule_before; /* set apart from the rows above */
};

struct table {
	char *title; /* owned, may be NULL */
	VEC(struct column) columns;
	VEC(struct row) rows;
};

/* Pictures, as data: a renderer draws them, and shows `table` beside, or instead where it cannot
 * draw. Values are in the unit of their axis. */
enum chart_kind {
	CHART_DOTS,	 /* a series for each group: a point for each run, in run order; mark: the median */
	CHART_STAIRS,	 /* a series for each group: what has been used up until x; rising */
	CHART_STRIP,	 /* a series for each group: y in each step of x, which has x_step */
	CHART_LANES,	 /* a series for each thread and cause: a tick at each x */
	CHART_BARS,	 /* one series: a bar for each point, named; below 0 to the left */
	CHART_WATERFALL, /* one series: the first bar is a total, each change begins where the bar before
			    it ended, the last is the sum: a total again, from 0 */
	CHART_COLUMNS,	 /* a series for each group: a histogram; x is a bucket's lower end, y a count */
	CHART_GRAPH,	 /* links between nodes, also from one to itself; no points */
	CHART_FLAME,	 /* boxes, each within its parent and as wide as its share; no points; a series
			    for each kind of box */
};

struct chart_axis {
	char *title;	     /* owned; with its unit: "CPU ms"; "" where names say all */
	enum cell_kind kind; /* how its numbers are shown */
	int decimals;
	bool logarithmic;
};

struct chart_point {
	double x, y;
	char *name; /* owned; of a bar; NULL elsewhere */
};

struct chart_series {
	char *name;  /* owned */
	size_t look; /* number of its colour, shape and letter: a label has the same in all charts;
			SIZE_MAX in CHART_FLAME: none */
	VEC(struct chart_point) points;
	double mark; /* a line at this y; NaN: none */
};

struct chart_link {
	size_t from, to; /* in nodes */
	double weight;	 /* on the y axis */
	char *text;	 /* owned */
};

/* A box of CHART_FLAME. */
struct chart_box {
	size_t depth;	     /* 0: of the whole */
	double begin, width; /* in the unit of y, within those of its parent */
	char *name;	     /* owned */
	size_t series;	     /* its kind */
};

struct chart {
	enum chart_kind kind;
	char *title; /* owned: a sentence that says what is to be seen */
	struct chart_axis x, y;
	double x_step; /* CHART_STRIP */
	VEC(struct chart_series) series;
	VEC(char *) nodes; /* CHART_GRAPH */
	VEC(struct chart_link) links;
	VEC(struct chart_box) boxes; /* CHART_FLAME: each behind its parent; the first one is the whole */
	struct table table; /* the same figures */
	bool in_text;	    /* format text shows it too, not only those that draw */
};

enum note_kind { NOTE_TEXT, NOTE_TRUST_OK, NOTE_WARNING };

/* A block is a heading, a table, a note or a chart; exactly one of its members is set. */
enum block_kind { BLOCK_HEADING, BLOCK_TABLE, BLOCK_NOTE, BLOCK_CHART };
struct block {
	enum block_kind kind;
	char *text; /* heading, note; owned */
	enum note_kind note;
	struct table table;
	struct chart *chart; /* owned */
};

struct excesses;
struct report {
	VEC(struct block) blocks;
	const struct excesses *excesses; /* those of report_options, borrowed */
	size_t trust_at; /* first block of the account of trust, which comes last; 0: none */
};

/* Valid until the next block is added. */
struct table *report_add_table(struct report *report, const char *title_or_null);
/* title is copied; the caller fills the rest. Valid until the next block is added. */
struct chart *report_add_chart(struct report *report, enum chart_kind kind, const char *title);
/* Copies what it is given. */
void chart_axis_set(struct chart_axis *axis, const char *title, enum cell_kind kind, int decimals);
/* look is its place in the chart. Valid until the next. */
struct chart_series *chart_add_series(struct chart *chart, const char *name);
/* Takes the last block away: a table that came out empty. */
void report_remove_last(struct report *report);
__attribute__((format(printf, 2, 3))) void report_add_heading(struct report *report,
							      const char *fmt, ...);
__attribute__((format(printf, 3, 4))) void
report_add_note(struct report *report, enum note_kind kind, const char *fmt, ...);
void table_add_column(struct table *table, const char *title, bool left);
struct row *table_add_row(struct table *table); /* valid until the next row is added */
void row_add_text(struct row *row, const char *text);
void row_add_number(struct row *row, enum cell_kind kind, double number, int decimals);
void row_add_empty(struct row *row);
/* Gives all CELL_REALs of a column the same number of decimals, at most max: three significant
 * digits for the smallest, no more than five for the largest (report/number.h). */
void table_set_decimals(struct table *table, size_t column, int max);
void report_free_members(struct report *report);

struct report_options {
	size_t max_threads; /* rows of a thread table before "… and N more"; 0: all */
	const struct excesses *excesses; /* told before all else; NULL: nothing was limited */
	bool all_frames; /* whole stacks under causes, not only the frames that matter */
};

/* Builds the whole report of a result: one part for each workload in it. */
void report_build(struct report *ret_report, const struct result *result,
		  const struct report_options *options);

#endif
