/* A process and its descendants, as /proc tells. */
#ifndef WAKEWHY_RUNTIME_PROCESS_TREE_H
#define WAKEWHY_RUNTIME_PROCESS_TREE_H

#include <stdint.h>
#include <sys/types.h>

/* Memory of pid and all its descendants now, by smaps_rollup; shared pages count in proportion in
 * pss. A descendant that ends meanwhile is left out. -ESRCH when pid is gone, -EACCES. */
int process_tree_memory(pid_t pid, uint64_t *ret_rss_bytes, uint64_t *ret_pss_bytes);

#endif
