/* Did everything that was written to a stream arrive? */
#ifndef WAKEWHY_BASE_STREAM_H
#define WAKEWHY_BASE_STREAM_H

#include <stdio.h>

/* Flushes out. 0, or -errno of what stopped it; of a write that failed earlier too, whose errno is
 * gone: a line end is written to find out again, to a stream that is spoilt already. */
int stream_finish(FILE *out);

#endif
