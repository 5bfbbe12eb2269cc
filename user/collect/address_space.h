/* What is mapped executable in one address space, and since when. */
#ifndef WAKEWHY_COLLECT_ADDRESS_SPACE_H
#define WAKEWHY_COLLECT_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "sym/unwind.h"

struct mapping {
	uint64_t start, end;
	uint64_t file_offset; /* of start */
	uint64_t since_ns;    /* 0: it was there when it was looked for */
	uint32_t file;	      /* see collect/module_files.h */
};

/* A piece of addresses, and the mapping that holds it now. */
struct mapping_segment {
	uint64_t start, end;
	uint32_t mapping; /* place in the log */
};

/* Shared by a process and those that it forked, until one of them maps something: `refs` of them. */
struct address_space {
	uint32_t refs;
	uint32_t owner;				  /* process that it began with */
	VEC(struct mapping) log;		  /* in the order in which they came */
	VEC(struct mapping_segment) segments;	  /* by start; none overlap */
	struct unwinder *unwinder;		  /* of stackbook; NULL: none yet */
	size_t unwinder_fed;			  /* mappings of the log that it knows */
	size_t unwinder_files;			  /* descriptors that it holds, at most */
	uint64_t unwinder_used;
};

struct address_space *address_space_new(uint32_t owner);
void address_space_drop(struct address_space *space); /* gives one reference back; NULL is fine */
/* Makes *space the caller's alone. The unwinder stays with the process that the space began with. */
void address_space_own(struct address_space **space, uint32_t pid);
/* Adds a mapping, which takes the place of those that it overlaps. False: it is known already. */
bool address_space_add(struct address_space *space, const struct mapping *mapping);
/* What was mapped there at that time; NULL: nothing. Valid until something is added. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t address,
					 uint64_t time_ns);

#endif
