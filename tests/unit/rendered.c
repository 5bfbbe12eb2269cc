/* Reports and results as strings, for tests. */
#include "rendered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

char *rendered_format(const char *format, const struct result *result, const struct report *report,
		      size_t width, bool colour, size_t *ret_bytes)
{
	struct render_style style = {.width = width, .colour = colour};
	struct diag diag = {0};
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_non_null(format_find(format));
	assert_int_equal(format_find(format)->render(out, result, report, &style, &diag), 0);
	assert_int_equal(fclose(out), 0);
	if (ret_bytes)
		*ret_bytes = bytes;
	return text;
}

char *rendered_report(const struct report *report, size_t width)
{
	return rendered_format("text", NULL, report, width, false, NULL);
}

char *rendered_recording(const char *format, const struct recording *recording, size_t max_threads,
			 size_t width)
{
	struct report_options options = {.max_threads = max_threads};
	struct result result;
	struct report report;
	char *text;

	result_init(&result, recording);
	report_build(&report, &result, &options);
	text = rendered_format(format, &result, &report, width, false, NULL);
	report_free_members(&report);
	result_free_members(&result);
	return text;
}
