/* The text of /proc/PID/maps. */
#ifndef WAKEWHY_SYM_MAPS_H
#define WAKEWHY_SYM_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

struct maps_row {
	uint64_t start, end; /* addresses; end is the first one behind */
	uint64_t offset;     /* in the file */
	bool executable;
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0: no file */
	bool deleted;	/* the file had no name any more: " (deleted)" is taken off the path */
	char *path;	/* "" for none; "[vdso]", "[stack]" …; octal escapes of the kernel undone. Owned */
};

struct maps {
	VEC(struct maps_row) rows; /* by start, rising; none overlap */
};

/* Reads to the end of `in`; malformed, overlapping or falling lines are left out. */
void maps_read(struct maps *ret_maps, FILE *in);
void maps_free_members(struct maps *maps);

#endif
