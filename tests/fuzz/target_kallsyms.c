/* The text of /proc/kallsyms. */
#include "sym/kallsyms.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void ask(const struct kallsyms *kallsyms, uint64_t address)
{
	uint64_t into = 0, first = 0;
	const char *name = kallsyms_find(kallsyms, address, &into);

	if (!name)
		return;
	FUZZ_CHECK(*name && into < address);
	FUZZ_CHECK(kallsyms_find(kallsyms, address - into, &first) == name && !first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FILE *in = fuzz_stream(bytes, n);
	struct kallsyms *kallsyms = kallsyms_read(in);

	fclose(in);
	for (uint64_t i = 0; i < 64; i++) {
		ask(kallsyms, i);
		ask(kallsyms, UINT64_C(0xffffffff81000000) + 16 * i);
		ask(kallsyms, UINT64_C(1) << i);
	}
	ask(kallsyms, UINT64_MAX);
	kallsyms_free(kallsyms);
	return 0;
}
