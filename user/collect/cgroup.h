/* Control groups: where they are mounted, and what CPU limit one has. */
#ifndef WAKEWHY_COLLECT_CGROUP_H
#define WAKEWHY_COLLECT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"

/* Mount point of the unified hierarchy (version 2), or of the one of version 1 that has the controller
 * `controller` ("cpu"); NULL: of version 2. *ret_root (may be NULL) gets which cgroup its top is, "/" as
 * a rule. proc: "/proc", or a folder of the same shape in tests. The caller frees both; NULL, and *ret_root
 * untouched, where none is mounted. */
char *cgroup_mount(const char *proc, const char *controller, char **ret_root);

/* A cgroup that may use so much CPU time and no more. */
struct cgroup_limit {
	char *dir;
	double cpus;  /* how many at most: quota over period */
	bool unified; /* version 2 */
};

/* Limits that hold for some processes: of the cgroups that they are in, and of those above. */
struct cgroup_limits {
	VEC(struct cgroup_limit) items; /* none twice */
};

/* Adds those of a process; none where its cgroup cannot be found. */
void cgroup_limits_add(struct cgroup_limits *limits, const char *proc, pid_t pid);
/* CPUs that the tightest of them allows; 0: there is no limit. */
double cgroup_limits_cpus(const struct cgroup_limits *limits);
/* For how long they have held threads back until now, all CPUs and all limits added up. */
uint64_t cgroup_limits_throttled_ns(const struct cgroup_limits *limits);
void cgroup_limits_free_members(struct cgroup_limits *limits);

#endif
