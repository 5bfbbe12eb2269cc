/* Finds what is kept in an array by what it holds: a hash table of places in that array. */
#ifndef WAKEWHY_BASE_PLACE_INDEX_H
#define WAKEWHY_BASE_PLACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_NONE UINT32_MAX

struct place_slot {
	uint64_t hash;
	uint32_t place; /* PLACE_NONE: empty */
};

/* All zero is an empty one. */
struct place_index {
	struct place_slot *slots;
	size_t cap, n;
	/* From where it lies in memory, another place in each run: what is hashed comes from outside, and whoever
	 * made many things fall together would make the search slow (never wrong). */
	uint64_t seed;
};

/* Does what lies at `place` of the array hold what is wanted? */
typedef bool place_equal(const void *array, uint32_t place, const void *wanted);

uint64_t place_hash(struct place_index *index, const void *bytes, size_t n);
/* The place; of several that hold what is wanted, the one that was added first. PLACE_NONE: it is not there.
 * hash is place_hash() of what is wanted; equal may ask for more than what was hashed. */
uint32_t place_index_find(const struct place_index *index, uint64_t hash, place_equal *equal,
			  const void *array, const void *wanted);
/* Adds what is known not to be there. */
void place_index_add(struct place_index *index, uint64_t hash, uint32_t place);
/* Forgets all. */
void place_index_clear(struct place_index *index);

#endif
