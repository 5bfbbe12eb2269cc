/* Reading text of the kernel's kind: a whole stream, and numbers in hex and decimal. */
#include "sym/scan.h"

#include <stdlib.h>
#include <string.h>

#include "sym/large.h"

#define FIRST_BYTES ((size_t)1 << 16)

static char *grow(char *text, size_t n, size_t cap)
{
	char *grown = large_alloc(cap + 1);

	memcpy(grown, text, n);
	free(text);
	return grown;
}

char *scan_all(FILE *in, size_t max_bytes, size_t *ret_bytes)
{
	size_t n = 0, cap = max_bytes < FIRST_BYTES ? max_bytes : FIRST_BYTES;
	char *text = large_alloc(cap + 1);

	for (;;) {
		n += fread(text + n, 1, cap - n, in);
		if (n < cap || cap == max_bytes)
			break;
		cap = cap > max_bytes / 4 ? max_bytes : cap * 4;
		text = grow(text, n, cap);
	}
	text[n] = '\0';
	*ret_bytes = n;
	return text;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool scan_number(const char **at, const char *end, int base, uint64_t *ret_number)
{
	const char *start = *at;
	uint64_t number = 0;

	for (; *at < end; (*at)++) {
		int digit = digit_of(**at);

		if (digit >= base)
			break;
		if (number > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
			return false;
		number = number * (uint64_t)base + (uint64_t)digit;
	}
	if (*at == start)
		return false;
	*ret_number = number;
	return true;
}

bool scan_hex(const char **at, const char *end, uint64_t *ret_number)
{
	return scan_number(at, end, 16, ret_number);
}

bool scan_decimal(const char **at, const char *end, uint64_t *ret_number)
{
	return scan_number(at, end, 10, ret_number);
}

bool scan_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

bool scan_space(const char **at, const char *end)
{
	const char *start = *at;

	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	return *at > start;
}
