/* Reading little-endian numbers from bytes that nobody vouches for: beyond the end all are 0, and `bad` is
 * set. */
#ifndef WAKEWHY_SYM_CURSOR_H
#define WAKEWHY_SYM_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static inline const uint8_t *cursor_skip(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	if (n > c->left) {
		c->bad = true;
		c->left = 0;
		return at;
	}
	c->at += n;
	c->left -= n;
	return at;
}

/* n: at most 8. */
static inline uint64_t cursor_number(struct cursor *c, size_t n)
{
	const uint8_t *at = cursor_skip(c, n);
	uint64_t number = 0;

	for (size_t i = 0; i < n && !c->bad; i++)
		number |= (uint64_t)at[i] << (8 * i);
	return number;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = cursor_number(c, 1);

		number |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	c->bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = cursor_number(c, 1);

		number |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift < 57)
			number |= ~0ULL << (shift + 7);
		return (int64_t)number;
	}
	c->bad = true;
	return 0;
}

#endif
