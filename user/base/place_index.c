/* Finds what is kept in an array by what it holds. */
#include "base/place_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Both halves of a product of 128 bits: each bit of one factor reaches all of the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t place_hash(struct place_index *index, const void *bytes, size_t n)
{
	const char *at = bytes;
	uint64_t hash, word;

	if (!index->seed)
		index->seed = mix((uintptr_t)index, 0xa0761d6478bd642f) | 1;
	hash = mix(index->seed ^ n, 0x9e3779b97f4a7c15);
	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = mix(hash ^ word, index->seed | 1) + word;
	}
	word = 0;
	memcpy(&word, at, n);
	return mix(hash ^ word, 0xd6e8feb86659fd93);
}

uint32_t place_index_find(const struct place_index *index, uint64_t hash, place_equal *equal,
			  const void *array, const void *wanted)
{
	if (!index->cap)
		return PLACE_NONE;
	for (size_t i = hash & (index->cap - 1);; i = (i + 1) & (index->cap - 1)) {
		const struct place_slot *slot = &index->slots[i];

		if (slot->place == PLACE_NONE)
			return PLACE_NONE;
		if (slot->hash == hash && equal(array, slot->place, wanted))
			return slot->place;
	}
}

static void put(struct place_index *index, const struct place_slot *new)
{
	size_t i = new->hash & (index->cap - 1);

	while (index->slots[i].place != PLACE_NONE)
		i = (i + 1) & (index->cap - 1);
	index->slots[i] = *new;
}

/* A power of two, and never full: the search ends at an empty slot. */
static void grow(struct place_index *index)
{
	struct place_index old = *index;
	size_t start = 0;

	index->cap = old.cap ? old.cap * 2 : 64;
	index->slots = mem_calloc(index->cap, sizeof(*index->slots));
	for (size_t i = 0; i < index->cap; i++)
		index->slots[i].place = PLACE_NONE;
	/* From behind an empty slot on: those of one hash, which may lie around the end, keep their order. */
	while (old.cap && old.slots[start].place != PLACE_NONE)
		start++;
	for (size_t i = 0; i < old.cap; i++) {
		const struct place_slot *slot = &old.slots[(start + i) & (old.cap - 1)];

		if (slot->place != PLACE_NONE)
			put(index, slot);
	}
	free(old.slots);
}

void place_index_add(struct place_index *index, uint64_t hash, uint32_t place)
{
	const struct place_slot slot = {hash, place};

	if (index->n >= index->cap / 2)
		grow(index);
	put(index, &slot);
	index->n++;
}

void place_index_clear(struct place_index *index)
{
	free(index->slots);
	*index = (struct place_index){.seed = index->seed};
}
