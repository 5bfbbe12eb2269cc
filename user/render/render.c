/* The table of formats. */
#include "render/render.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "record/record.h"
#include "render/formats.h"

const struct format formats[] = {
	{"text", "txt", "tables and sentences for people (the default)", false, text_render},
	{"json", "json", "everything that was measured, schema wakewhy/1", false, json_render},
	{"csv", "csv", "one row for each thread", false, csv_render},
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

const struct format *format_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	/* ".json" alone is a hidden file without an extension. */
	if (!dot || dot == base)
		return NULL;
	for (const struct format *f = formats; f->name; f++) {
		if (!strcasecmp(f->extension, dot + 1))
			return f;
	}
	return NULL;
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
	int failed;

	errno = 0;
	failed = fflush(out);
	if (!failed && !ferror(out))
		return 0;
	return diag_set(diag, -EIO, "could not write: %s", strerror(errno ? errno : EIO));
}
