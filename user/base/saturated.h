/* Sums of figures that are not believed: from a recording they may be anything. */
#ifndef WAKEWHY_BASE_SATURATED_H
#define WAKEWHY_BASE_SATURATED_H

#include <stdint.h>

/* a + b, or UINT64_MAX where that is more. */
static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
