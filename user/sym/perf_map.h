/* Names of code made at run time: the text of a perf map ("START SIZE NAME" in hex, a line each). */
#ifndef WAKEWHY_SYM_PERF_MAP_H
#define WAKEWHY_SYM_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perf_map;

/* Reads to the end of `in`, at most max_bytes. Lines that are malformed are left out; of code that
 * overlaps, the later line holds (it was made when the other was gone). Where text and tables would take more
 * than max_bytes of memory there are no names at all. Never NULL. */
struct perf_map *perf_map_read(FILE *in, size_t max_bytes);
/* What it takes of memory, at most max_bytes. */
size_t perf_map_bytes(const struct perf_map *map);
void perf_map_free(struct perf_map *map);
/* NULL: none. Names are bytes from outside. Valid as long as the map. */
const char *perf_map_find(const struct perf_map *map, uint64_t address, uint64_t *ret_into);

#endif
