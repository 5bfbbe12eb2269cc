/* Format csv: one row for each thread, RFC 4180 quoting, lines ended by LF.
 *
 * Names come from outside. Bytes that are no text are shown as escapes, and a cell that a
 * spreadsheet would take for a formula gets an apostrophe before it, which makes it text there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/formats.h"

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

/* text_safe has made tabs, carriage returns and line ends into escapes: only quotes and commas are
 * left to be quoted. */
static void csv_write_text(FILE *out, const char *text)
{
	char *safe = text_safe(text ? text : "");
	const char *mark = csv_is_formula(safe) ? "'" : "";

	if (!strpbrk(safe, "\",\r\n") && safe[0] != ' ') {
		fprintf(out, "%s%s", mark, safe);
	} else {
		fprintf(out, "\"%s", mark);
		for (const char *p = safe; *p; p++) {
			if (*p == '"')
				fputc('"', out);
			fputc(*p, out);
		}
		fputc('"', out);
	}
	free(safe);
}

static void csv_write_header(FILE *out)
{
	fputs("workload,label,variant,repeat,trusted,partial,window_ns,pid,tid,thread,comm", out);
	for (const struct counter_field *field = counter_fields; field->id; field++)
		fprintf(out, ",%s", field->id);
	fputc('\n', out);
}

static void csv_write_thread(FILE *out, const struct run *run, const struct run_thread *thread)
{
	const struct capture *capture = run->capture;
	const struct wk_thread *t = &thread->seen->t;
	char *comm = mem_strndup(t->comm, WK_COMM_BYTES);

	csv_write_text(out, capture->workload);
	fputc(',', out);
	csv_write_text(out, capture->label);
	fputc(',', out);
	csv_write_text(out, capture->variant);
	fprintf(out, ",%" PRIu32 ",%s,%s,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", capture->repeat,
		run->trust.ok ? "yes" : "no", capture->partial ? "yes" : "no", run->window_ns,
		t->pid, t->tid);
	csv_write_text(out, thread->label);
	fputc(',', out);
	csv_write_text(out, comm);
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		/* Empty where calls were not counted: a 0 would be a figure. */
		if (!capture->syscalls_counted && !strncmp(field->id, "syscalls", 8))
			fputc(',', out);
		else
			fprintf(out, ",%" PRIu64, counter_get(&t->count, field));
	}
	fputc('\n', out);
	free(comm);
}

int csv_render(FILE *out, const struct result *result, const struct report *report,
	       const struct render_style *style, struct diag *diag)
{
	(void)report;
	(void)style;
	csv_write_header(out);
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];

		for (size_t j = 0; j < run->threads.n; j++)
			csv_write_thread(out, run, &run->threads.items[j]);
	}
	return render_finish(out, diag);
}
