/* Where server and load generator run: each on physical cores of its own. */
#ifndef WAKEWHY_CMD_PLACEMENT_H
#define WAKEWHY_CMD_PLACEMENT_H

#include "collect/topology.h"

/* Figures can be compared when the server has two cores of its own and the generator two others. */
#define PLACEMENT_CORES_NEEDED 2

struct placement {
	char *server_cpus, *load_cpus; /* lists, owned */
	uint32_t n_load_cpus;
	char *not_comparable; /* why its figures must not be compared, in words; NULL: they may be */
};

struct placement_wish {
	struct cpulist allowed;	  /* CPUs that we may run on */
	const char *server_cpus;  /* lists that the user gave, well-formed; NULL: to be chosen */
	const char *load_cpus;
	bool force; /* share a core rather than not measure */
};

/* Chooses what was not given: one CPU of each core, those that threads are not spread over last, those of
 * one NUMA node first; two cores for the
 * server, up to six others for the generator, and one is left free where there are five. -EINVAL: the
 * lists name a CPU that is not there or share a core; -ENOTSUP: there is one core only. Both with
 * diag, and not with force (but for a CPU that is not there). */
int placement_choose(struct placement *ret_placement, const struct topology *topology,
		 const struct placement_wish *wish, struct diag *diag);
void placement_free_members(struct placement *placement); /* NULL is fine */

#endif
