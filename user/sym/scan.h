/* Reading text of the kernel's kind: a whole stream, and numbers in hex and decimal. */
#ifndef WAKEWHY_SYM_SCAN_H
#define WAKEWHY_SYM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads to the end of `in`, at most max_bytes. What was read, with a NUL behind it; the caller frees.
 * Where reading fails, what came before. */
char *scan_all(FILE *in, size_t max_bytes, size_t *ret_bytes);

/* Both step *at over digits, and stop at `end` or at what is no digit. False where there is no digit or
 * the number does not fit 64 bits. Hex takes no prefix. */
bool scan_hex(const char **at, const char *end, uint64_t *ret_number);
bool scan_decimal(const char **at, const char *end, uint64_t *ret_number);

/* Steps over one byte `c`; false where another is there. */
bool scan_char(const char **at, const char *end, char c);
/* Steps over spaces and tabs; false where there is none. */
bool scan_space(const char **at, const char *end);

#endif
