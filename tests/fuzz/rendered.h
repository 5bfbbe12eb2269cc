/* A result in every format, held to what each format promises of any input. */
#ifndef WAKEWHY_TESTS_FUZZ_RENDERED_H
#define WAKEWHY_TESTS_FUZZ_RENDERED_H

#include "report/result.h"

/* Builds the report, renders all, and compares the result with itself. no_nan: no name in it holds
 * "nan" or "inf", so that none of these may be in what is rendered. */
void fuzz_render_all(const struct result *result, bool no_nan);
/* Whether a text from which a result was read leaves it without such names. */
bool fuzz_names_no_nan(const char *text, size_t n);

#endif
