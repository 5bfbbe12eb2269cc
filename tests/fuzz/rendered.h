/* A result in every format, held to what each format promises of any input. */
#ifndef WAKEWHY_TESTS_FUZZ_RENDERED_H
#define WAKEWHY_TESTS_FUZZ_RENDERED_H

#include "report/result.h"

/* Builds the report, renders all, and compares the result with itself. Under libFuzzer only some ways
 * of rendering are taken, by `draw`. no_nan: no name in it holds "nan" or "inf", so that none of these
 * may be in what is rendered. */
void fuzz_render_all(const struct result *result, uint32_t draw, bool no_nan);
/* Two results side by side, as text, Markdown and JSON. */
void fuzz_render_diff(const struct result *base, const struct result *other, bool no_nan);
/* A number that comes from the input alone. */
uint32_t fuzz_draw(const uint8_t *bytes, size_t n);
/* Whether a text from which a result was read leaves it without such names. */
bool fuzz_names_no_nan(const char *text, size_t n);

#endif
