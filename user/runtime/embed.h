/* Programs that are part of wakewhy: floor, built for the same machine. */
#ifndef WAKEWHY_RUNTIME_EMBED_H
#define WAKEWHY_RUNTIME_EMBED_H

/* Bytes of ELF files: from start up to end. */
extern const unsigned char embed_floor_static[], embed_floor_static_end[]; /* startup, idle and serve */
extern const unsigned char embed_floor_hash[], embed_floor_hash_end[];

#endif
