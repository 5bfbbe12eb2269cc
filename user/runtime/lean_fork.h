/* A fork whose child is small. */
#ifndef WAKEWHY_RUNTIME_LEAN_FORK_H
#define WAKEWHY_RUNTIME_LEAN_FORK_H

#include <sys/types.h>

/* Forks without our heap and large anonymous mappings: the child must not touch memory from malloc.
 * The kernel carries the peak memory of a process over exec (setmax_mm_hiwater_rss in exec_mmap), so
 * a child of a plain fork would report our own memory as its maximum. The child may call only what
 * is async-signal-safe. The caller has no second thread that forks. As fork(2). */
pid_t lean_fork(void);

#endif
