/* Results in JSON, read back and compared. */
#include <stdlib.h>

#include "record/json_result.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rendered.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct json_result json;
	struct result result;
	struct diag diag = {};
	FILE *in = fuzz_stream(bytes, n);
	int err = json_result_read(in, "x.json", &json, &diag);

	fclose(in);
	if (err) {
		FUZZ_CHECK(*diag.what);
		return 0;
	}
	result_init_derived(&result, &json.recording, json.runs, json.whys);
	json.runs = NULL;
	json.whys = NULL;
	fuzz_render_all(&result, fuzz_draw(bytes, n), fuzz_names_no_nan((const char *)bytes, n));
	result_free_members(&result);
	json_result_free_members(&json);
	return 0;
}
