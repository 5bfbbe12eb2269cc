/* The formats' own functions, for the table in render.c. */
#ifndef WAKEWHY_RENDER_FORMATS_H
#define WAKEWHY_RENDER_FORMATS_H

#include "render/render.h"

typedef int render_function(FILE *out, const struct result *result, const struct report *report,
			    const struct render_style *style, struct diag *diag);

render_function text_render, json_render, csv_render, wkw_render, markdown_render, html_render;
render_function csv_runs_render, csv_summary_render, csv_comparisons_render, csv_bare_render,
	csv_causes_render, csv_series_render, csv_timeline_render;
render_function folded_render, folded_wakeups_render, folded_oncpu_render, speedscope_render;

/* Flushes out: 0, or -EIO with the reason in diag when not all of it could be written. */
int render_finish(FILE *out, struct diag *diag);

#endif
