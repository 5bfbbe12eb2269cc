/* The table of formats. */
#include "render/render.h"

#include <string.h>
#include <strings.h>

#include "base/stream.h"
#include "record/record.h"
#include "render/formats.h"

const struct format formats[] = {
	{"text", "txt", "tables and sentences for people (the default)", false, text_render},
	{"json", "json", "everything that was measured, schema wakewhy/1", false, json_render},
	{"markdown", "md", "a summary for a pull request or an issue", false, markdown_render},
	{"csv", "csv", "one row for each thread", false, csv_render},
	{"csv-runs", "runs.csv", "one row for each run", false, csv_runs_render},
	{"csv-summary", "summary.csv", "medians and spread of each metric of each label", false,
	 csv_summary_render},
	{"csv-comparisons", "comparisons.csv", "ratios of labels, with interval and verdict", false,
	 csv_comparisons_render},
	{"csv-causes", "causes.csv", "one row for each thread and reason that it woke for", false,
	 csv_causes_render},
	{"csv-series", "series.csv", "one row for each second of each run", false, csv_series_render},
	{"csv-timeline", "timeline.csv", "one row for each wakeup whose time was kept", false,
	 csv_timeline_render},
	{"csv-bare", "bare.csv", "one row for each run without probes", false, csv_bare_render},
	{"folded", "folded", "a line for each stack that slept and who woke it: time asleep, in µs", false,
	 folded_render},
	{"folded-wakeups", "wakeups.folded", "a line for each stack that slept: wakeups", false,
	 folded_wakeups_render},
	{"folded-oncpu", "oncpu.folded", "a line for each stack that ran: samples", false,
	 folded_oncpu_render},
	{"speedscope", "speedscope.json", "stacks for speedscope.app: on CPU, wakeups, asleep", false,
	 speedscope_render},
	{"html", "html", "a page with charts that needs no network and no script", false, html_render},
	{"wkw", "wkw", "a recording, to be read by 'wakewhy report'", true, wkw_render},
	{0},
};

const struct format *format_find(const char *name)
{
	for (const struct format *f = formats; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
	}
	return NULL;
}

/* Whether name ends with a dot and the extension. ".json" alone is a hidden file without one. */
static bool format_ends(const char *name, const char *extension)
{
	size_t n = strlen(name), m = strlen(extension);

	return n > m + 1 && name[n - m - 1] == '.' && !strcasecmp(name + n - m, extension);
}

const struct format *format_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const struct format *found = NULL;

	/* x.summary.csv ends with .csv as well: the longer one says more. */
	for (const struct format *f = formats; f->name; f++) {
		if (format_ends(base, f->extension) &&
		    (!found || strlen(f->extension) > strlen(found->extension)))
			found = f;
	}
	return found;
}

const struct format *format_for(const char *path, const struct format *asked)
{
	const struct format *named = format_of_file(path);
	char dotted[64];

	if (!named || !asked)
		return named ? named : asked;
	/* -f csv-summary -o x.csv */
	snprintf(dotted, sizeof(dotted), "x.%s", asked->extension);
	return format_ends(dotted, named->extension) ? asked : named;
}

int wkw_render(FILE *out, const struct result *result, const struct report *report,
	       const struct render_style *style, struct diag *diag)
{
	(void)report;
	(void)style;
	return record_write(out, result->recording, diag);
}

int render_finish(FILE *out, struct diag *diag)
{
	int err = stream_finish(out);

	return err ? diag_set(diag, -EIO, "could not write: %s", strerror(-err)) : 0;
}
