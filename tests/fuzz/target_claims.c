/* Files of claims, and a report in which there is nothing else. */
#include "record/claims.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rendered.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct recording recording = {};
	struct result result;
	struct diag diag = {};
	FILE *in = fuzz_stream(bytes, n);
	int err = claims_read(in, "x.json", &recording, &diag);

	fclose(in);
	FUZZ_CHECK(err ? *diag.what && !recording.claims.n : recording.claims.n > 0);
	if (!err) {
		result_init(&result, &recording);
		fuzz_render_all(&result, fuzz_draw(bytes, n), fuzz_names_no_nan((const char *)bytes, n));
		result_free_members(&result);
	}
	recording_free_members(&recording);
	return 0;
}
