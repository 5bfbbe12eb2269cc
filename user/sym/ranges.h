/* Named ranges of addresses that may overlap, made into pieces that do not: for each address one name. */
#ifndef WAKEWHY_SYM_RANGES_H
#define WAKEWHY_SYM_RANGES_H

#include <stdint.h>

#include "base/mem.h"

struct range {
	uint64_t start, end; /* end is the first address behind */
	uint64_t rank;	     /* where ranges overlap, the one with the highest holds; among equal ones any */
	const char *name;    /* borrowed */
};

struct range_piece {
	uint64_t begin, end;
	uint64_t start; /* of its range, which may have begun earlier */
	const char *name;
};

struct ranges {
	VEC(struct range) items;
	VEC(struct range_piece) pieces; /* by begin, rising; none overlap */
};

/* Empty ranges are left out. */
void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, uint64_t rank, const char *name);
/* Turns all items into pieces, at most two for each, and forgets the items. Once. */
void ranges_settle(struct ranges *ranges);
/* The name that holds at address, and the distance from the beginning of its range; NULL: none. */
const char *ranges_find(const struct ranges *ranges, uint64_t address, uint64_t *ret_into);
void ranges_free_members(struct ranges *ranges);

#endif
