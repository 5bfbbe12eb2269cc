/* Recordings as files: header, deflated bytes, and what is in them. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "record/pack.h"
#include "record/record.h"
#include "tests/fuzz/fuzz.h"

#define HEADER_BYTES 40

static void read_one(const uint8_t *bytes, size_t n)
{
	struct recording recording;
	struct diag diag = {};
	FILE *in = fuzz_stream(bytes, n);

	if (!record_read(in, "x.wkw", &recording, &diag))
		recording_free_members(&recording);
	else
		FUZZ_CHECK(*diag.what);
	fclose(in);
}

static void put32(uint8_t *to, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Sums that nobody guesses hide what is behind them: the same with a header that fits. */
static void read_repaired(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = (uint8_t *)fuzz_text(bytes, n);
	unsigned char plain[65536];
	uLongf plain_bytes = sizeof(plain);

	put32(copy + 16, n - HEADER_BYTES, 8);
	if (uncompress(plain, &plain_bytes, copy + HEADER_BYTES, n - HEADER_BYTES) == Z_OK) {
		put32(copy + 24, plain_bytes, 8);
		put32(copy + 32, crc32(0, plain, (uInt)plain_bytes), 4);
	}
	put32(copy + 36, crc32(0, copy, 36), 4);
	read_one(copy, n);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	read_one(bytes, n);
	if (n > HEADER_BYTES)
		read_repaired(bytes, n);
	return 0;
}
