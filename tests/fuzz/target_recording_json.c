/* What is in a recording, without the deflating: what is read is written again as it was read. */
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"
#include "record/pack.h"
#include "record/record.h"
#include "tests/fuzz/fuzz.h"

/* The text inside the file that a recording becomes. */
static struct strbuf written(const struct recording *recording)
{
	struct strbuf plain;
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n), *in;

	FUZZ_CHECK(out && !record_write(out, recording, NULL));
	fclose(out);
	in = fuzz_stream((uint8_t *)bytes, n);
	FUZZ_CHECK(!pack_read(in, "x", &plain, NULL));
	fclose(in);
	free(bytes);
	return plain;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct recording recording, again;
	struct strbuf first, second;
	struct diag diag = {};
	char *text = fuzz_text(bytes, n);
	int err = recording_decode(text, n, "x.wkw", &recording, &diag);

	free(text);
	if (err) {
		FUZZ_CHECK(*diag.what);
		return 0;
	}
	first = written(&recording);
	recording_free_members(&recording);
	FUZZ_CHECK(!recording_decode(first.text, first.n, "x.wkw", &again, &diag));
	second = written(&again);
	recording_free_members(&again);
	FUZZ_CHECK(first.n == second.n && !memcmp(first.text, second.text, first.n));
	strbuf_free_members(&first);
	strbuf_free_members(&second);
	return 0;
}
