/* The id of a cgroup, from its path. */
#ifndef WAKEWHY_CMD_CGROUP_H
#define WAKEWHY_CMD_CGROUP_H

#include <stdint.h>

#include "base/diag.h"

/* path: a directory of the cgroup v2 file system, or what stands for it below that file system's mount
 * ("system.slice/cron.service", or with a slash before it as /proc/PID/cgroup writes it). The id is
 * the directory's inode number, as bpf_get_current_cgroup_id has it. -ENOENT; -EINVAL: not a v2 cgroup. */
int cgroup_resolve(const char *path, uint64_t *ret_id, struct diag *diag);

#endif
