/* Numbers with units: what people type, and what people read. */
#ifndef WAKEWHY_BASE_UNITS_H
#define WAKEWHY_BASE_UNITS_H

#include <stdint.h>

#include "base/diag.h"

/* A duration in ns: digits with an optional decimal part, then ns, us, µs, ms, s, m, h, d or
 * nothing, which is seconds: "5" "5s" "0.5" "500ms" "2m". 0 is accepted: whoever needs more checks.
 * -EINVAL when it is not a duration, -ERANGE beyond what 64 bits hold (about 584 years). */
int units_parse_duration(const char *text, uint64_t *ret_ns, struct diag *diag);

/* A count: digits with an optional decimal part, then k, M, G or nothing: "5000000" "5M" "1.5k". It
 * must come out whole. -EINVAL, -ERANGE as above. */
int units_parse_count(const char *text, uint64_t *ret_count, struct diag *diag);

/* A buffer of this size holds whatever the functions below write; all return buf. */
#define UNITS_TEXT_BYTES 32

/* Three significant digits: "812 ns", "41.3 µs", "12.1 ms", "3.10 s"; whole seconds from 1,000 s
 * on. Whole numbers of nanoseconds below 1 µs have no decimals. NaN and infinities read "—". */
char *units_format_duration(char buf[static UNITS_TEXT_BYTES], double ns);
/* The same without zeros at the end, for what was asked rather than measured: "20 s", "500 ms". */
char *units_format_duration_plain(char buf[static UNITS_TEXT_BYTES], double ns);
/* Decimal units, three significant digits: "512 B", "92.8 MB". */
char *units_format_bytes(char buf[static UNITS_TEXT_BYTES], double bytes);
/* Digits in groups: "1,225,000". */
char *units_format_count(char buf[static UNITS_TEXT_BYTES], uint64_t count);
/* Seconds since 1970 as RFC 3339 in UTC: "2025-03-09T17:04:05Z". Years 0 to 9999. */
char *units_format_time(char buf[static UNITS_TEXT_BYTES], int64_t unix_s);

#endif
