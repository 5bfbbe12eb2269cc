/* Matching of a process's name against a pattern of '*' and '?': pure, for both sides. */
#ifndef WAKEWHY_GLOB_H
#define WAKEWHY_GLOB_H

#include "bpf/abi.h"
#include "bpf/config.h"

_Static_assert(WK_GLOB_BYTES == WK_COMM_BYTES, "a pattern is as long as a name at most");

/* pattern of pattern_bytes (at most 16) without NUL, name ended by NUL within 16 bytes. Indices are
 * masked for the verifier; a '*' is tried again one byte later each time the rest does not match. */
static __attribute__((noinline, unused)) int glob_match(const char *pattern, __u32 pattern_bytes,
							 const char *name)
{
	__u32 p = 0, n = 0, star = ~0U, star_n = 0;

	for (int step = 0; step < WK_GLOB_BYTES * WK_COMM_BYTES; step++) {
		char c = n < WK_COMM_BYTES ? name[n & (WK_COMM_BYTES - 1)] : 0;
		char w = p < pattern_bytes ? pattern[p & (WK_GLOB_BYTES - 1)] : 0;

		if (w == '*') {
			star = p++;
			star_n = n;
			continue;
		}
		if (!c && !w)
			return 1;
		if (c && (w == '?' || w == c)) {
			p++;
			n++;
			continue;
		}
		if (star == ~0U || !c)
			return 0;
		p = star + 1;
		n = ++star_n;
	}
	return 0;
}

#endif
