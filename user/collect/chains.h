/* Stacks as the book keeps them: places in code, each once; chains of them, each once. */
#ifndef WAKEWHY_COLLECT_CHAINS_H
#define WAKEWHY_COLLECT_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/place_index.h"

struct chain_place_key {
	uint32_t kind; /* enum frame_kind */
	uint32_t owner; /* number of the file, or of the process whose code it is; else 0 */
	uint64_t offset;
};

struct chain_place {
	struct chain_place_key key;
	bool named;    /* it has been looked for */
	uint64_t address; /* that the file has for it; 0: not known */
	char *name;    /* NULL: it has none */
	uint64_t into; /* bytes from where the name begins */
};

/* One stack. Its frames are chains.frames[first .. first + n), numbers of places, innermost first. */
struct chain {
	uint32_t pid;
	bool truncated;
	uint32_t kernel; /* so many of them, the first ones, are the kernel's */
	uint32_t n;
	size_t first;
};

/* All zero is an empty one. */
struct chains {
	VEC(struct chain_place) places;
	VEC(struct chain) chains;
	VEC(uint32_t) frames;
	struct place_index by_place, by_content;
};

/* A stack that is put together. */
struct chain_draft {
	uint32_t pid;
	bool truncated;
	uint32_t kernel;
	VEC(uint32_t) frames;
};

/* PLACE_NONE: there is no room for another one. */
uint32_t chains_place(struct chains *chains, const struct chain_place_key *key);
/* Number of the chain that is equal to draft; PLACE_NONE: there is no room for another one. */
uint32_t chains_intern(struct chains *chains, const struct chain_draft *draft);
/* Forgets all, and frees what it had. */
void chains_clear(struct chains *chains);

#endif
