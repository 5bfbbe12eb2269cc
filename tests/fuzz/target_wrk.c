/* What the load generator wrk prints. */
#include "runtime/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t requests = 1, errors = 2, again = 3, errors_again = 4;
	char *text = fuzz_text(bytes, n);
	bool understood = load_parse(text, n, &requests, &errors);

	/* What is understood is so with an end of line after it as without. */
	if (understood) {
		char *longer = fuzz_text(bytes, n);

		if (n && text[n - 1] != '\n') {
			longer = mem_realloc(longer, n + 2, 1);
			memcpy(longer + n, "\n", 2);
			FUZZ_CHECK(load_parse(longer, n + 1, &again, &errors_again));
			FUZZ_CHECK(again == requests && errors_again == errors);
		}
		FUZZ_CHECK(strstr(text, "Transfer/sec:") || memchr(text, '\0', n));
		free(longer);
	} else {
		FUZZ_CHECK(requests == 1 && errors == 2);
	}
	free(text);
	return 0;
}
