/* The main of a fuzz target without libFuzzer: gives it every file that is named, once.
 *
 *	TARGET FILE...
 *
 * Built with the sanitizers, which end the process where something is wrong; so does the clock where
 * one input takes too long. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

#define BYTES_MAX (1U << 20)
/* A hang, on the slowest machine and under sanitizers: such an input takes some milliseconds. */
#define TIMEOUT_S 60

static void replay(const char *path)
{
	uint8_t *bytes = mem_zalloc(BYTES_MAX), *exact;
	FILE *in = fopen(path, "re");
	size_t n;

	FUZZ_CHECK(in);
	n = fread(bytes, 1, BYTES_MAX, in);
	FUZZ_CHECK(!ferror(in) && n < BYTES_MAX);
	fclose(in);
	/* No byte more, so that a read beyond the end is seen. */
	exact = malloc(n ? n : 1);
	FUZZ_CHECK(exact);
	memcpy(exact, bytes, n);
	free(bytes);
	dprintf(STDERR_FILENO, "%s\n", path);
	alarm(TIMEOUT_S);
	LLVMFuzzerTestOneInput(exact, n);
	alarm(0);
	free(exact);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return argc > 1 ? 0 : 2;
}
