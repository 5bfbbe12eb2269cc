/* Reports and results as strings, for tests. */
#ifndef WAKEWHY_TESTS_RENDERED_H
#define WAKEWHY_TESTS_RENDERED_H

#include "render/render.h"

/* What a format writes, ended by NUL; *ret_bytes may be NULL. The caller frees. */
char *rendered_format(const char *format, const struct result *result, const struct report *report,
		      size_t width, bool colour, size_t *ret_bytes);
/* The report alone, as text without colour. */
char *rendered_report(const struct report *report, size_t width);
/* The whole way from a recording. */
char *rendered_recording(const char *format, const struct recording *recording, size_t max_threads,
			 size_t width);

#endif
