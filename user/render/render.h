/* Formats: bytes out of a report or a result. A row in render.c for each. */
#ifndef WAKEWHY_RENDER_RENDER_H
#define WAKEWHY_RENDER_RENDER_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"
#include "report/selftest.h"

struct render_style {
	bool colour;  /* the caller knows whether it is a terminal and what NO_COLOR says */
	size_t width; /* columns of the terminal; 0: no limit */
	bool ascii;   /* pictures of plain ASCII: what the reader sees is not UTF-8 */
};

struct format {
	const char *name;      /* -f NAME */
	const char *extension; /* of -o FILE, without the dot */
	const char *meaning;   /* one line for `list formats` */
	bool binary;	       /* not to be written to a terminal */
	/* Writes all of it to out. 0, or -EIO with the reason in diag. */
	int (*render)(FILE *out, const struct result *result, const struct report *report,
		      const struct render_style *style, struct diag *diag);
};

extern const struct format formats[];		       /* ended by a row whose name is NULL */
const struct format *format_find(const char *name);    /* NULL: none of that name */
/* By extension, the last two parts of the name or the last one; NULL: none. */
const struct format *format_of_file(const char *path);
/* The one for a file where `asked` (or NULL) was asked for besides: the file's, unless it has none, or
 * `asked` is a kind of it (csv-summary of csv). */
const struct format *format_for(const char *path, const struct format *asked);

/* A report alone (doctor, list): text only. */
int render_report_text(FILE *out, const struct report *report, const struct render_style *style,
		       struct diag *diag);
/* Any report, as format markdown writes it. */
int render_report_markdown(FILE *out, const struct report *report, struct diag *diag);
/* The difference of two recordings, schema wakewhy-diff/1. Errors as those of formats. */
int render_diff_json(FILE *out, const struct diff *diff, struct diag *diag);
/* What `selftest` found, schema wakewhy-selftest/1. Errors as those of formats. */
int render_selftest_json(FILE *out, const struct selftest_result *result, struct diag *diag);

#endif
