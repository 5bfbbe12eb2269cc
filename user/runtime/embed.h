/* Programs that are part of wakewhy: floor, built for the same machine. */
#ifndef WAKEWHY_RUNTIME_EMBED_H
#define WAKEWHY_RUNTIME_EMBED_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of ELF files: from start up to end. */
extern const unsigned char embed_floor_static[], embed_floor_static_end[]; /* startup, idle and serve */
extern const unsigned char embed_floor_hash[], embed_floor_hash_end[];
/* Of one of them. As numbers: to C the two ends are objects that have nothing to do with each other. */
#define EMBED_BYTES(name) ((size_t)((uintptr_t)(name##_end) - (uintptr_t)(name)))

#endif
