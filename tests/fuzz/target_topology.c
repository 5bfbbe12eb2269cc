/* Folders of /sys and /proc that tell of cores, nodes and isolated CPUs. */
#include "collect/topology.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/machine.h"
#include "tests/fuzz/fuzz.h"

#define CPU "sys/devices/system/cpu/"

/* The order of the pieces of an input. */
static const char *const names[] = {
	CPU "online",
	CPU "cpu0/topology/core_cpus_list",
	CPU "cpu1/topology/core_cpus_list",
	CPU "cpu1/topology/thread_siblings_list",
	CPU "isolated",
	CPU "nohz_full",
	"sys/devices/system/node/online",
	"sys/devices/system/node/node0/cpulist",
	"sys/devices/system/node/node1/cpulist",
	"sys/fs/cgroup/cpuset.cpus.isolated",
	"proc/stat",
	"proc/cpuinfo",
	CPU "intel_pstate/no_turbo",
	CPU "cpufreq/boost",
};

/* What must hold of any machine. */
static void check(const struct topology *topology)
{
	struct cpulist all = {};
	uint32_t picked[16], cpu, other;
	size_t n = topology->cpus.n, cores;

	FUZZ_CHECK(n > 0);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(!i || topology->cpus.items[i - 1].cpu < topology->cpus.items[i].cpu);
		FUZZ_CHECK(topology->cpus.items[i].core < CPULIST_MAX);
		cpulist_add(&all, topology->cpus.items[i].cpu);
	}
	cores = topology_pick_cores(topology, &all, picked, 16);
	FUZZ_CHECK(cores > 0 && cores <= n);
	FUZZ_CHECK(topology_cores(topology, &all) <= n);
	FUZZ_CHECK(topology_siblings(topology, &all) <= n);
	FUZZ_CHECK(topology_isolated(topology, &all) <= n);
	topology_nodes(topology, &all);
	FUZZ_CHECK(topology_share_core(topology, &all, &all, &cpu, &other));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *root = fuzz_folder(names, sizeof(names) / sizeof(*names), bytes, n);
	char *sys = mem_printf("%s/sys", root), *proc = mem_printf("%s/proc", root);
	struct topology topology;
	struct diag diag = {};
	int turbo = machine_turbo(sys);

	FUZZ_CHECK(turbo >= -1 && turbo <= 1);
	if (topology_read(&topology, sys, proc, &diag)) {
		FUZZ_CHECK(*diag.what);
	} else {
		check(&topology);
		topology_free_members(&topology);
	}
	free(sys);
	free(proc);
	return 0;
}
