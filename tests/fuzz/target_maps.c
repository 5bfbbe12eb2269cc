/* The text of /proc/PID/maps: its paths are anybody's. */
#include "sym/maps.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FILE *in = fuzz_stream(bytes, n);
	struct maps maps;
	uint64_t behind = 0;

	maps_read(&maps, in);
	fclose(in);
	for (size_t i = 0; i < maps.rows.n; i++) {
		const struct maps_row *row = &maps.rows.items[i];

		FUZZ_CHECK(row->start >= behind && row->end > row->start);
		FUZZ_CHECK(row->path && strlen(row->path) <= n);
		FUZZ_CHECK(!row->deleted || *row->path == '/');
		behind = row->end;
	}
	maps_free_members(&maps);
	return 0;
}
