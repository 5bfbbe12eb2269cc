/* Stacks as the book keeps them. */
#include "collect/chains.h"

#include <stdlib.h>
#include <string.h>

/* Some 100 MB when all is full; 65,536 stacks of the greatest depth fit. */
#define MAX_PLACES 1000000
#define MAX_CHAINS 1000000
#define MAX_FRAMES (16U << 20)

static bool same_place(const void *array, uint32_t place, const void *wanted)
{
	const struct chain_place_key *a = &((const struct chain_place *)array)[place].key,
				     *b = wanted;

	return a->kind == b->kind && a->owner == b->owner && a->offset == b->offset;
}

uint32_t chains_place(struct chains *chains, const struct chain_place_key *key)
{
	uint64_t hash = place_hash(&chains->by_place, key, sizeof(*key));
	uint32_t place =
		place_index_find(&chains->by_place, hash, same_place, chains->places.items, key);

	if (place != PLACE_NONE || chains->places.n >= MAX_PLACES)
		return place;
	place = (uint32_t)chains->places.n;
	vec_push(&chains->places)->key = *key;
	place_index_add(&chains->by_place, hash, place);
	return place;
}

static bool same_chain(const void *array, uint32_t place, const void *wanted)
{
	const struct chains *chains = array;
	const struct chain *chain = &chains->chains.items[place];
	const struct chain_draft *draft = wanted;

	return chain->pid == draft->pid && chain->truncated == draft->truncated &&
	       chain->kernel == draft->kernel && chain->n == draft->frames.n &&
	       (!chain->n || !memcmp(chains->frames.items + chain->first, draft->frames.items,
				     chain->n * sizeof(*draft->frames.items)));
}

static uint64_t hash_draft(struct chains *chains, const struct chain_draft *draft)
{
	uint64_t words[2] = {(uint64_t)draft->pid << 32 | draft->kernel << 1 | draft->truncated, 0};

	words[1] = place_hash(&chains->by_content, draft->frames.items,
			      draft->frames.n * sizeof(*draft->frames.items));
	return place_hash(&chains->by_content, words, sizeof(words));
}

uint32_t chains_intern(struct chains *chains, const struct chain_draft *draft)
{
	uint64_t hash = hash_draft(chains, draft);
	uint32_t place = place_index_find(&chains->by_content, hash, same_chain, chains, draft);
	struct chain chain = {.pid = draft->pid,
			      .truncated = draft->truncated,
			      .kernel = draft->kernel,
			      .n = (uint32_t)draft->frames.n,
			      .first = chains->frames.n};

	if (place != PLACE_NONE || chains->chains.n >= MAX_CHAINS ||
	    chains->frames.n + draft->frames.n > MAX_FRAMES)
		return place;
	for (size_t i = 0; i < draft->frames.n; i++)
		*vec_push(&chains->frames) = draft->frames.items[i];
	place = (uint32_t)chains->chains.n;
	*vec_push(&chains->chains) = chain;
	place_index_add(&chains->by_content, hash, place);
	return place;
}

void chains_clear(struct chains *chains)
{
	for (size_t i = 0; i < chains->places.n; i++)
		free(chains->places.items[i].name);
	free(chains->places.items);
	free(chains->chains.items);
	free(chains->frames.items);
	place_index_clear(&chains->by_place);
	place_index_clear(&chains->by_content);
	memset(chains, 0, sizeof(*chains));
}
