/* What the files beside it give to call.c: a known chain that sleeps once. */
#ifndef WAKEWHY_SUBJECTS_CALL_H
#define WAKEWHY_SUBJECTS_CALL_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C"
#endif
void chain(uint64_t ns);

static inline __attribute__((always_inline)) void call_sleep(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&time, 0);
}

#endif
