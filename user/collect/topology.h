/* Which CPUs are one physical core, where they are, and which the kernel keeps free. */
#ifndef WAKEWHY_COLLECT_TOPOLOGY_H
#define WAKEWHY_COLLECT_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "base/mem.h"

#define TOPOLOGY_NO_NODE UINT32_MAX

struct topology_cpu {
	uint32_t cpu;
	uint32_t core; /* the lowest CPU of its physical core: siblings have the same */
	uint32_t node; /* NUMA; TOPOLOGY_NO_NODE: not known */
	bool isolated; /* isolcpus, nohz_full or a cpuset partition */
	bool unbalanced; /* the kernel moves no thread to it or away: isolcpus, or an isolated partition */
};

struct topology {
	bool known;	 /* the machine shows which CPUs share a core */
	bool hypervisor; /* a virtual machine: it shows what the host wants */
	VEC(struct topology_cpu) cpus; /* online ones, rising */
};

/* sys and proc: "/sys" and "/proc", or folders of the same shape in tests. What is missing or makes no
 * sense there is not known; -EIO with diag where not even the online CPUs can be told. */
int topology_read(struct topology *ret_topology, const char *sys, const char *proc, struct diag *diag);
void topology_free_members(struct topology *topology);
/* Physical cores that these CPUs are on; 0: not known. */
uint32_t topology_cores(const struct topology *topology, const struct cpulist *cpus);
/* NUMA nodes that they are on; 0: not known. */
uint32_t topology_nodes(const struct topology *topology, const struct cpulist *cpus);
/* How many of them have a sibling hyper-thread (in the list or not): another program there slows this
 * one down. 0 where it is not known. */
uint32_t topology_siblings(const struct topology *topology, const struct cpulist *cpus);
/* How many of them the kernel moves no thread between: on two of these, all threads of a program may stay
 * on one. */
uint32_t topology_unbalanced(const struct topology *topology, const struct cpulist *cpus);
/* How many of them the kernel keeps free of others. */
uint32_t topology_isolated(const struct topology *topology, const struct cpulist *cpus);
/* One CPU of each core of `allowed`, isolated CPUs that threads are spread over first, unbalanced ones last,
 * then rising: at most max. Returns how many.
 * Where the topology is not known, each CPU counts as a core. */
size_t topology_pick_cores(const struct topology *topology, const struct cpulist *allowed,
			   uint32_t *ret_cpus, size_t max);
/* A CPU of each list that are on the same core (siblings, or the same CPU); false: there are none, or
 * which CPUs are siblings is not known. */
bool topology_share_core(const struct topology *topology, const struct cpulist *a,
			 const struct cpulist *b, uint32_t *ret_a, uint32_t *ret_b);

#endif
