/* The clocks of the machine, as nanoseconds. */
#ifndef WAKEWHY_COLLECT_CLOCK_H
#define WAKEWHY_COLLECT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
