/* What a mistyped word was probably meant to be. */
#include "cmd/nearest.h"

#include <stddef.h>
#include <string.h>

#define LONGEST 32

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964, each letter edited once); both are shorter than
 * LONGEST. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= n_a; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= n_b; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		for (size_t j = 1; j <= n_b; j++) {
			size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = smaller(best, d[i - 1][j] + 1);
			best = smaller(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = smaller(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[n_a][n_b];
}

const char *nearest_of(const char *word, const char *const *candidates)
{
	size_t n = strlen(word), best = LONGEST;
	const char *found = NULL;

	if (!n || n >= LONGEST)
		return NULL;
	for (; *candidates; candidates++) {
		size_t n_candidate = strlen(*candidates), errors;

		if (n_candidate >= LONGEST)
			continue;
		if (n >= 2 && !strncmp(word, *candidates, n))
			return *candidates;
		errors = distance(word, n, *candidates, n_candidate);
		if (errors < best && errors <= (n + 2) / 3 && errors < n) {
			best = errors;
			found = *candidates;
		}
	}
	return found;
}
