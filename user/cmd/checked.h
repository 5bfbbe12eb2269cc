/* A stream that remembers why it could not write. */
#ifndef WAKEWHY_CMD_CHECKED_H
#define WAKEWHY_CMD_CHECKED_H

#include <stdio.h>

/* Standard I/O forgets the reason when a write fails long before the flush that reports it. This
 * stream stores the first errno in *error (0 until then; it must outlive the stream) and fails all
 * that follows. fclose flushes it and leaves fd open. */
FILE *checked_open(int fd, int *error);

#endif
