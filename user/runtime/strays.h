/* Processes that left their group, but still carry the mark of what started them. */
#ifndef WAKEWHY_RUNTIME_STRAYS_H
#define WAKEWHY_RUNTIME_STRAYS_H

#include <stddef.h>

/* Kills every process whose environment at exec held ENVIRONMENT_MARK=mark or a path below mark, as
 * far as the caller may, until none is left. A process that leaves its group and clears its
 * environment too is out of reach. Returns how many were killed. */
size_t strays_kill(const char *mark);

#endif
