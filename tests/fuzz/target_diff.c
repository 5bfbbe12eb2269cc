/* Two recordings that others have written, side by side, and as one: [RECORDING, RECORDING]. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"
#include "report/merge.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rendered.h"

static bool decode(const json_t *from, const char *name, struct recording *ret)
{
	char *text = from ? json_dumps(from, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	struct diag diag = {};
	int err;

	if (!text)
		return false;
	err = recording_decode(text, strlen(text), name, ret, &diag);
	FUZZ_CHECK(!err || *diag.what);
	free(text);
	return !err;
}

static void compare(const struct recording *base, const struct recording *other, bool no_nan)
{
	struct result before, after;

	result_init(&before, base);
	result_init(&after, other);
	fuzz_render_diff(&before, &after, no_nan);
	fuzz_render_diff(&after, &before, no_nan);
	result_free_members(&before);
	result_free_members(&after);
}

/* What is merged is one recording: it has the runs of both, and can be compared with itself. */
static void merge(struct recording *base, struct recording *other, bool no_nan)
{
	size_t runs = base->runs.n + other->runs.n;
	struct result result;
	struct diag diag = {};

	if (recording_merge(base, other, &diag)) {
		FUZZ_CHECK(*diag.what);
		return;
	}
	FUZZ_CHECK(base->runs.n == runs);
	result_init(&result, base);
	fuzz_render_diff(&result, &result, no_nan);
	result_free_members(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	json_t *root = json_loadb((const char *)bytes, n, JSON_ALLOW_NUL, NULL);
	bool no_nan = fuzz_names_no_nan((const char *)bytes, n);
	struct recording base, other;

	if (decode(json_array_get(root, 0), "x.wkw", &base)) {
		if (decode(json_array_get(root, 1), "y.wkw", &other)) {
			compare(&base, &other, no_nan);
			if (n % 4 == 0)
				merge(&base, &other, no_nan);
			recording_free_members(&other);
		}
		recording_free_members(&base);
	}
	json_decref(root);
	return 0;
}
