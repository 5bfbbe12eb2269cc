/* What the parts of the stackbook share. */
#ifndef WAKEWHY_COLLECT_STACKBOOK_INTERNAL_H
#define WAKEWHY_COLLECT_STACKBOOK_INTERNAL_H

#include "collect/chains.h"
#include "collect/mappings.h"
#include "collect/module_files.h"
#include "collect/stackbook.h"
#include "sym/kallsyms.h"
#include "sym/perf_map.h"

/* Whose code made at run time is: an image of a process. */
struct jit_owner {
	uint32_t pid;
	uint32_t serial; /* of the image */
	uint64_t since_ns; /* of it; 0: not known */
	uint64_t time_ns;
	struct process_look who;
	bool read;
	struct perf_map *map;
};

struct stackbook {
	struct module_files *files;
	struct mappings *mappings;
	struct chains chains;
	/* By id, those of copies apart. PLACE_NONE: it has not come, or there was no room. */
	VEC(uint32_t) chain_of_id[2];
	VEC(struct jit_owner) jit_owners;
	size_t jit_bytes; /* of maps that are in memory */
	struct kallsyms *kallsyms; /* NULL: not read yet */
	struct chain_draft draft; /* kept for its memory */
	size_t max_unwinder_files;
	uint64_t unwound; /* copies: the clock of who used his unwinder last */
	uint64_t left_out; /* stacks that there was no room for */
};

/* The chain of a stack; PLACE_NONE: see chain_of_id. */
uint32_t stackbook_chain(const struct stackbook *book, uint32_t id);

/* Fills in the name of a place, if that has not been done. */
void stackbook_name(struct stackbook *book, uint32_t place);

#endif
