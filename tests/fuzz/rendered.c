/* A result in every format, held to what each format promises of any input. */
#include "tests/fuzz/rendered.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "render/render.h"
#include "report/diff.h"
#include "report/report.h"
#include "tests/fuzz/fuzz.h"

#define WORD_JOINER "\xe2\x81\xa0"

/* ---- what must hold ---------------------------------------------------------------------------- */

uint32_t fuzz_draw(const uint8_t *bytes, size_t n)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	return hash;
}

bool fuzz_names_no_nan(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[i] == '\\' && i + 1 < n && text[i + 1] == 'u') ||
		    (n - i >= 3 && (!strncasecmp(text + i, "nan", 3) || !strncasecmp(text + i, "inf", 3))))
			return false;
	return true;
}

/* The number that is none, as printf writes it: a word of its own, at most with a sign and a unit. */
static bool has_nan(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (at > text && isalpha((unsigned char)at[-1]))
			continue;
		if ((!strncmp(at, "nan", 3) || !strncmp(at, "inf", 3)) && !isalpha((unsigned char)at[3]))
			return true;
	}
	return false;
}

/* Takes out what Markdown puts between two characters that must not be read together. */
static void remove_joiners(char *text)
{
	size_t n = strlen(WORD_JOINER);

	for (char *at = text; (at = strstr(at, WORD_JOINER));)
		memmove(at, at + n, strlen(at + n) + 1);
}

static void check_text(const char *format, char *text, size_t n, bool no_nan)
{
	/* Nothing is all that a folded file can say where there are no stacks. */
	FUZZ_CHECK(n > 0 || !strncmp(format, "folded", 6));
	FUZZ_CHECK(strlen(text) == n);
	FUZZ_CHECK(!no_nan || !has_nan(text));
	if (!strcmp(format, "json") || !strcmp(format, "speedscope")) {
		json_t *root = json_loadb(text, n, 0, NULL);

		FUZZ_CHECK(root);
		json_decref(root);
		return;
	}
	if (!strcmp(format, "markdown"))
		remove_joiners(text);
	FUZZ_CHECK(fuzz_is_safe(text, strlen(text)));
}

/* ---- what is rendered -------------------------------------------------------------------------- */

static void render_one(const struct format *format, const struct result *result,
		       const struct report *report, const struct render_style *style, bool no_nan)
{
	struct diag diag = {};
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n);

	FUZZ_CHECK(out && !format->render(out, result, report, style, &diag));
	fclose(out);
	if (!format->binary && !style->colour)
		check_text(format->name, bytes, n, no_nan);
	free(bytes);
}

void fuzz_render_diff(const struct result *base, const struct result *other, bool no_nan)
{
	struct report report = {};
	struct diff diff;
	struct diag diag = {};
	char *bytes = NULL;
	size_t n = 0;
	FILE *out;

	if (diff_init(&diff, base, "a", other, "b", &diag)) {
		FUZZ_CHECK(*diag.what);
		return;
	}
	diff_build(&report, &diff, 10);
	render_one(format_find("text"), base, &report, &(struct render_style){.width = 80}, no_nan);
	out = open_memstream(&bytes, &n);
	FUZZ_CHECK(out && !render_report_markdown(out, &report, &diag));
	fclose(out);
	check_text("markdown", bytes, n, no_nan);
	free(bytes);
	out = open_memstream(&bytes, &n);
	FUZZ_CHECK(out && !render_diff_json(out, &diff, &diag));
	fclose(out);
	check_text("json", bytes, n, no_nan);
	free(bytes);
	report_free_members(&report);
	diff_free_members(&diff);
}

/* libFuzzer's, where it is linked. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);

/* Replayed inputs take every way. One that libFuzzer makes up takes a fifth of them, always the same: it
 * makes five for the price of one, and what fails is found again when it is replayed. */
static bool takes(uint32_t draw, size_t way)
{
	return !LLVMFuzzerMutate || (draw + way) % 5 == 0;
}

void fuzz_render_all(const struct result *result, uint32_t draw, bool no_nan)
{
	static const struct render_style styles[] = {
		{.width = 80}, {.width = 33, .ascii = true}, {.colour = true}};
	struct report_options options = {.max_threads = 10};
	struct report report;
	size_t way = 0;

	report_build(&report, result, &options);
	for (const struct format *format = formats; format->name; format++)
		if (takes(draw, way++))
			render_one(format, result, &report, &styles[0], no_nan);
	for (size_t i = 1; i < sizeof(styles) / sizeof(*styles); i++)
		if (takes(draw, way++))
			render_one(format_find("text"), result, &report, &styles[i], no_nan);
	report_free_members(&report);
	if (takes(draw, way++))
		fuzz_render_diff(result, result, no_nan);
}
