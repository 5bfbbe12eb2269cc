/* What a program printed, kept where it wakes nobody: files in memory. */
#ifndef WAKEWHY_RUNTIME_WORDS_H
#define WAKEWHY_RUNTIME_WORDS_H

#include <stddef.h>

#include "base/diag.h"

/* No output that we keep is larger: a program that prints for ever is ended by SIGXFSZ. */
#define WORDS_MAX_BYTES (64U << 20)

/* A file in memory, for the standard output or error of a program: whoever writes to it wakes no
 * reader. Returns the descriptor or -errno with diag. */
int words_create(struct diag *diag);
/* At most max bytes from the start or the end; the caller frees. Never NULL, ends with NUL. */
char *words_head(int fd, size_t max, size_t *ret_bytes);
/* The last two lines that are not empty, on one line and safe for a terminal, each cut to what a
 * message holds; the caller frees. "" when there are none or fd is -1. */
char *words_last(int fd);
/* The same of bytes in memory. */
char *words_last_of(const char *bytes, size_t n);
/* How it ended: "ended with status 3", "was killed by signal 11 (Segmentation fault)"; the caller
 * frees. */
char *words_ending(int wait_status);

#endif
