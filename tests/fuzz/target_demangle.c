/* Mangled names, which a file of a stranger may hold. */
#include <stdlib.h>
#include <string.h>

#include "sym/elf.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *name = fuzz_text(bytes, n), *plain = symbol_demangle(name);

	FUZZ_CHECK(strlen(plain) <= 16384 || !strcmp(plain, name));
	free(plain);
	free(name);
	return 0;
}
