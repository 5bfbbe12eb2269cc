/* Cells and rows of CSV, and format csv: one row for each thread. */
#include "render/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/formats.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static bool csv_is_formula(const char *text)
{
	/* The wide forms count as well where such an alphabet is in use. */
	static const char *const starts[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};

	text += strspn(text, " ");
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

void csv_empty(struct csv *csv)
{
	if (csv->in_row)
		fputc(',', csv->out);
	csv->in_row = true;
}

/* text_safe has made tabs, carriage returns and line ends into escapes: only quotes and commas are
 * left to be quoted. */
void csv_text(struct csv *csv, const char *text)
{
	char *safe = text_safe(text ? text : "");
	const char *mark = csv_is_formula(safe) ? "'" : "";

	csv_empty(csv);
	if (!strpbrk(safe, "\",\r\n") && safe[0] != ' ') {
		fprintf(csv->out, "%s%s", mark, safe);
	} else {
		fprintf(csv->out, "\"%s", mark);
		for (const char *p = safe; *p; p++) {
			if (*p == '"')
				fputc('"', csv->out);
			fputc(*p, csv->out);
		}
		fputc('"', csv->out);
	}
	free(safe);
}

void csv_whole(struct csv *csv, uint64_t number)
{
	csv_empty(csv);
	fprintf(csv->out, "%" PRIu64, number);
}

void csv_whole_or_empty(struct csv *csv, uint64_t number)
{
	if (number)
		csv_whole(csv, number);
	else
		csv_empty(csv);
}

/* 15 digits, as in JSON: every decimal figure of that length comes back as it was written. */
void csv_real(struct csv *csv, double number)
{
	csv_empty(csv);
	if (isfinite(number))
		fprintf(csv->out, "%.15g", number);
}

void csv_yes_no(struct csv *csv, bool yes)
{
	csv_empty(csv);
	fputs(yes ? "yes" : "no", csv->out);
}

void csv_end_row(struct csv *csv)
{
	fputc('\n', csv->out);
	csv->in_row = false;
}

/* ---- cells that several tables have ---------------------------------------------------------- */

void csv_heads(struct csv *csv, const char *heads)
{
	csv_empty(csv);
	fputs(heads, csv->out);
}

void csv_run(struct csv *csv, const struct capture *capture)
{
	csv_text(csv, capture->workload);
	csv_text(csv, capture->label);
	csv_text(csv, capture->variant);
	csv_whole(csv, capture->repeat);
}

void csv_counter_heads(struct csv *csv)
{
	for (const struct counter_field *field = counter_fields; field->id; field++)
		csv_heads(csv, field->id);
}

void csv_counters(struct csv *csv, const struct wk_counters *counters,
		  const struct capture *capture)
{
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		if (!counter_is_known(field, capture))
			csv_empty(csv);
		else
			csv_whole(csv, counter_get(counters, field));
	}
}

void csv_thread(struct csv *csv, const struct run_thread *thread)
{
	if (thread) {
		csv_whole(csv, thread->seen->t.pid);
		csv_whole(csv, thread->seen->t.tid);
		csv_text(csv, thread->label);
		return;
	}
	for (int i = 0; i < 3; i++)
		csv_empty(csv);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void csv_write_thread(struct csv *csv, const struct run *run,
			     const struct run_thread *thread)
{
	char *comm = mem_strndup(thread->seen->t.comm, WK_COMM_BYTES);

	csv_run(csv, run->capture);
	csv_yes_no(csv, run->trust.ok);
	csv_yes_no(csv, run->capture->partial);
	csv_whole(csv, run->window_ns);
	csv_thread(csv, thread);
	csv_text(csv, comm);
	csv_counters(csv, &thread->seen->t.count, run->capture);
	csv_end_row(csv);
	free(comm);
}

int csv_render(FILE *out, const struct result *result, const struct report *report,
	       const struct render_style *style, struct diag *diag)
{
	struct csv csv = {.out = out};

	(void)report;
	(void)style;
	csv_heads(&csv, CSV_RUN_HEADS ",trusted,partial,window_ns," CSV_THREAD_HEADS ",comm");
	csv_counter_heads(&csv);
	csv_end_row(&csv);
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		for (size_t j = 0; j < run->threads.n; j++)
			csv_write_thread(&csv, run, &run->threads.items[j]);
	}
	return render_finish(out, diag);
}
