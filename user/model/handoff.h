/* Who wakes whom: edges between threads, hand-off loops, herds. */
#ifndef WAKEWHY_MODEL_HANDOFF_H
#define WAKEWHY_MODEL_HANDOFF_H

#include "model/why.h"

/* Fill why->edges from why->causes; then loops from the edges, and herds from the threads. */
void handoff_edges(struct why *why);
void handoff_loops(struct why *why, const struct run *run);
void handoff_herds(struct why *why, const struct run *run);

#endif
