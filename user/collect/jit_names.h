/* Names of code that a program made at run time: its perf map, /tmp/perf-PID.map in its own root. */
#ifndef WAKEWHY_COLLECT_JIT_NAMES_H
#define WAKEWHY_COLLECT_JIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/process_look.h"
#include "sym/perf_map.h"

#define JIT_MAP_MAX_BYTES (256UL << 20)

/* The map of a process that had this id at time_ns and has run its program since since_ns (both of
 * CLOCK_MONOTONIC; 0: not known); `who` is what was seen of it while it lived. It is a plain file and no link,
 * of one name, of the process's own user or root's, that nobody else may write to, and was written since: an
 * earlier process of the same id leaves its own behind. NULL: there is none that is to be believed. Takes at
 * most max_bytes of memory; *ret_bytes is what it took. */
struct perf_map *jit_names_read(uint32_t pid, uint64_t time_ns, uint64_t since_ns,
				const struct process_look *who, size_t max_bytes, size_t *ret_bytes);

#endif
