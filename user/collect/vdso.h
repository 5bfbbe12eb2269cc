/* The kernel's own code in each process: our copy of it stands for all. */
#ifndef WAKEWHY_COLLECT_VDSO_H
#define WAKEWHY_COLLECT_VDSO_H

#include <stdint.h>

/* Size of its mapping; 0: there is none. */
uint64_t vdso_bytes(void);
/* A file in memory with its image, which the caller closes; -1: there is none. */
int vdso_open(void);

#endif
