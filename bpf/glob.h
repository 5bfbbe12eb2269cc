/* Matching of a process's name against a pattern of '*' and '?': pure, for both sides.
 *
 * The pattern is compiled to bit masks by user space; matching then takes one step for each byte of
 * the name and no branch, which the verifier walks in no time. Bit i of the set of states says that
 * the first i characters of the pattern, stars left out, have been matched. */
#ifndef WAKEWHY_GLOB_H
#define WAKEWHY_GLOB_H

#include "bpf/abi.h"

struct wk_glob {
	__u32 n;	   /* characters of the pattern, stars left out: at most 15 */
	__u32 stars;	   /* bit i: a star stands before character i (or at the end) */
	__u16 fits[256];   /* by byte, bit i: it fits character i */
};

/* Compiles a pattern ended by NUL. 0, or -1 where it has more than 15 characters besides stars: no
 * name is that long. */
static inline __attribute__((unused)) int glob_compile(struct wk_glob *ret_glob,
						       const char *pattern)
{
	struct wk_glob glob = {};

	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			glob.stars |= 1U << glob.n;
			continue;
		}
		if (glob.n == WK_COMM_BYTES - 1)
			return -1;
		for (int c = 1; c < 256; c++)
			if (*pattern == '?' || (unsigned char)*pattern == c)
				glob.fits[c] |= 1U << glob.n;
		glob.n++;
	}
	*ret_glob = glob;
	return 0;
}

/* name: WK_COMM_BYTES, NUL within them. */
static inline __attribute__((always_inline, unused)) int
glob_match(const volatile struct wk_glob *glob, const char *name)
{
	__u32 states = 1;

	for (int i = 0; i < WK_COMM_BYTES; i++) {
		unsigned char c = name[i];

		if (!c)
			break;
		states = (states & glob->fits[c]) << 1 | (states & glob->stars);
	}
	return states >> glob->n & 1;
}

#endif
