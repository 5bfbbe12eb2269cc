/* The whole way: a recording that somebody else has written, in every format. */
#include <stdlib.h>

#include "record/decode.h"
#include "report/merge.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rendered.h"

/* Again, as a second file of the same report. */
static void merge(struct recording *recording, const char *text, size_t n)
{
	struct recording more;
	struct diag diag = {};

	FUZZ_CHECK(!recording_decode(text, n, "y.wkw", &more, &diag));
	if (recording_merge(recording, &more, &diag))
		FUZZ_CHECK(*diag.what);
	recording_free_members(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct recording recording;
	struct result result;
	struct diag diag = {};
	char *text = fuzz_text(bytes, n);

	if (!recording_decode(text, n, "x.wkw", &recording, &diag)) {
		if (n % 2)
			merge(&recording, text, n);
		result_init(&result, &recording);
		fuzz_render_all(&result, fuzz_draw(bytes, n), fuzz_names_no_nan(text, n));
		result_free_members(&result);
		recording_free_members(&recording);
	}
	free(text);
	return 0;
}
