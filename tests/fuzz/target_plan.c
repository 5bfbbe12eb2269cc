/* Plans of studies: what is read is written again as it was read. */
#include <stdlib.h>
#include <string.h>

#include "record/plan.h"
#include "tests/fuzz/fuzz.h"

static char *written(const struct plan *plan, size_t *ret_n)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_n);

	FUZZ_CHECK(out && !plan_write(out, plan, NULL));
	fclose(out);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct plan plan, again;
	struct diag diag = {};
	char *first, *second;
	size_t n_first = 0, n_second = 0;
	FILE *in = fuzz_stream(bytes, n);
	int err = plan_read(in, "study.json", &plan, &diag);

	fclose(in);
	if (err) {
		FUZZ_CHECK(*diag.what);
		return 0;
	}
	FUZZ_CHECK(!plan_compare(&plan, &plan, &diag));
	first = written(&plan, &n_first);
	in = fuzz_stream((uint8_t *)first, n_first);
	FUZZ_CHECK(!plan_read(in, "study.json", &again, &diag));
	fclose(in);
	FUZZ_CHECK(!plan_compare(&plan, &again, &diag));
	second = written(&again, &n_second);
	FUZZ_CHECK(n_first == n_second && !memcmp(first, second, n_first));
	free(first);
	free(second);
	plan_free_members(&plan);
	plan_free_members(&again);
	return 0;
}
