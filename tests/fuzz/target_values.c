/* Durations, counts, lists of CPUs and patterns of names: what is understood is written so that it is understood again. */
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/units.h"
#include "bpf/glob.h"
#include "render/render.h"
#include "tests/fuzz/fuzz.h"

static void parse_cpus(const char *text)
{
	struct cpulist list, again;
	struct diag diag = {};
	char *written;

	if (cpulist_parse(&list, text, &diag)) {
		FUZZ_CHECK(*diag.what);
		return;
	}
	written = cpulist_format(&list);
	FUZZ_CHECK(!cpulist_parse(&again, written, &diag) && !memcmp(&list, &again, sizeof(list)));
	free(written);
}

static void parse_units(const char *text)
{
	char shown[UNITS_TEXT_BYTES];
	struct diag diag = {};
	uint64_t value, again;

	if (units_parse_duration(text, &value, &diag)) {
		FUZZ_CHECK(*diag.what);
	} else {
		FUZZ_CHECK(strlen(units_format_duration(shown, (double)value)) < sizeof(shown));
		units_format_duration_plain(shown, (double)value);
		/* Three digits of it, but the same text from them. */
		FUZZ_CHECK(strlen(shown) < sizeof(shown));
	}
	diag = (struct diag){};
	if (units_parse_count(text, &value, &diag)) {
		FUZZ_CHECK(*diag.what);
		return;
	}
	snprintf(shown, sizeof(shown), "%llu", (unsigned long long)value);
	FUZZ_CHECK(!units_parse_count(shown, &again, &diag) && again == value);
	units_format_count(shown, value);
	units_format_bytes(shown, (double)value);
	units_format_time(shown, (int64_t)value);
}

/* The same question, asked one character after the other. */
static bool matches(const char *pattern, const char *name)
{
	if (*pattern == '*')
		return matches(pattern + 1, name) || (*name && matches(pattern, name + 1));
	if (!*pattern || !*name)
		return !*pattern && !*name;
	return (*pattern == '?' || *pattern == *name) && matches(pattern + 1, name + 1);
}

/* "PATTERN NAME" */
static void match_glob(const char *text)
{
	size_t n = strcspn(text, " "), stars = 0;
	char pattern[32] = "", name[WK_COMM_BYTES] = "";
	struct wk_glob glob;

	for (size_t i = 0; i < n; i++)
		stars += text[i] == '*';
	if (!text[n] || n >= sizeof(pattern) || stars > 4)
		return;
	memcpy(pattern, text, n);
	strncpy(name, text + n + 1, sizeof(name) - 1);
	if (glob_compile(&glob, pattern))
		FUZZ_CHECK(n - stars >= WK_COMM_BYTES);
	else
		FUZZ_CHECK(glob_match(&glob, name) == matches(pattern, name));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);

	parse_cpus(text);
	parse_units(text);
	match_glob(text);
	format_of_file(text);
	format_find(text);
	free(text);
	return 0;
}
