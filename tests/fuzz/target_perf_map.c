/* Perf maps, which any program writes for its own code. */
#include "sym/perf_map.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void ask(const struct perf_map *map, uint64_t address)
{
	uint64_t into = 0;
	const char *name = perf_map_find(map, address, &into);

	if (name)
		FUZZ_CHECK(*name && !strchr(name, '\n') && into <= address);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FILE *in = fuzz_stream(bytes, n);
	struct perf_map *map = perf_map_read(in, 60000);

	fclose(in);
	for (uint64_t i = 0; i < 512; i++)
		ask(map, i);
	for (unsigned int i = 0; i < 64; i++)
		ask(map, UINT64_C(1) << i);
	ask(map, UINT64_MAX);
	perf_map_free(map);
	return 0;
}
