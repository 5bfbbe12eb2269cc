/* Cores, NUMA nodes and isolated CPUs, as /sys shows them. */
#include "collect/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/machine.h"

#define PATH_BYTES 512
/* The flags of the first CPU lie well within this much of /proc/cpuinfo. */
#define CPUINFO_BYTES 16384

/* ---- reading ----------------------------------------------------------------------------------- */

/* "cpu0 …" lines of /proc/stat: the online CPUs, where /sys is not mounted. */
static int online_from_stat(struct cpulist *ret_online, const char *proc)
{
	char path[PATH_BYTES], *text;

	snprintf(path, sizeof(path), "%s/stat", proc);
	text = machine_read_file(path, 1 << 20);
	*ret_online = (struct cpulist){0};
	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long cpu;
		char *end;

		line += *line == '\n';
		if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
			continue;
		cpu = strtoul(line + 3, &end, 10);
		if (*end == ' ' && cpu < CPULIST_MAX)
			cpulist_add(ret_online, (unsigned)cpu);
	}
	free(text);
	return cpulist_count(ret_online) ? 0 : -EIO;
}

static int read_online(struct cpulist *ret_online, const char *sys, const char *proc,
		       struct diag *diag)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sys);
	if (!machine_read_cpus(path, ret_online, NULL) && cpulist_count(ret_online))
		return 0;
	if (!online_from_stat(ret_online, proc))
		return 0;
	diag_set(diag, -EIO, "cannot tell which CPUs are online");
	return diag_hint(diag, -EIO, "mount -t sysfs sysfs /sys");
}

/* The lowest CPU of the core that cpu is on; false: the machine does not say. */
static bool read_core(const char *sys, unsigned cpu, uint32_t *ret_core)
{
	/* The first since 5.3, the second before. */
	static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cpulist siblings;
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/%s", sys, cpu,
			 names[i]);
		/* A list that lacks the CPU itself makes no sense. */
		if (machine_read_cpus(path, &siblings, NULL) || !cpulist_has(&siblings, cpu))
			continue;
		*ret_core = cpulist_next(&siblings, 0);
		return true;
	}
	return false;
}

static void add_cpus(struct topology *topology, const struct cpulist *online, const char *sys)
{
	for (unsigned cpu = cpulist_next(online, 0); cpu < CPULIST_MAX;
	     cpu = cpulist_next(online, cpu + 1)) {
		struct topology_cpu *added = vec_push(&topology->cpus);

		added->cpu = cpu;
		added->core = cpu;
		added->node = TOPOLOGY_NO_NODE;
		if (!read_core(sys, cpu, &added->core))
			topology->known = false;
	}
	/* Half an answer is none: whoever asks about cores must not be told half of them. */
	for (size_t i = 0; !topology->known && i < topology->cpus.n; i++)
		topology->cpus.items[i].core = topology->cpus.items[i].cpu;
}

static void add_nodes(struct topology *topology, const char *sys)
{
	struct cpulist nodes, cpus;
	char path[PATH_BYTES];

	/* Nodes are written like CPUs: "0-1". */
	snprintf(path, sizeof(path), "%s/devices/system/node/online", sys);
	if (machine_read_cpus(path, &nodes, NULL))
		return;
	for (unsigned node = cpulist_next(&nodes, 0); node < CPULIST_MAX;
	     node = cpulist_next(&nodes, node + 1)) {
		snprintf(path, sizeof(path), "%s/devices/system/node/node%u/cpulist", sys, node);
		if (machine_read_cpus(path, &cpus, NULL))
			continue;
		for (size_t i = 0; i < topology->cpus.n; i++)
			if (cpulist_has(&cpus, topology->cpus.items[i].cpu))
				topology->cpus.items[i].node = node;
	}
}

static void add_isolated(struct topology *topology, const char *sys)
{
	/* Boot parameters isolcpus and nohz_full, and partitions of the cpuset controller. nohz_full by
	 * itself leaves the balancing of load on. */
	static const struct {
		const char *name;
		bool unbalanced;
	} files[] = {
		{"devices/system/cpu/isolated", true},
		{"devices/system/cpu/nohz_full", false},
		{"fs/cgroup/cpuset.cpus.isolated", true},
	};

	for (size_t n = 0; n < sizeof(files) / sizeof(files[0]); n++) {
		struct cpulist cpus;
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s/%s", sys, files[n].name);
		/* nohz_full reads "(null)" where there is none. */
		if (machine_read_cpus(path, &cpus, NULL))
			continue;
		for (size_t i = 0; i < topology->cpus.n; i++) {
			struct topology_cpu *cpu = &topology->cpus.items[i];

			if (!cpulist_has(&cpus, cpu->cpu))
				continue;
			cpu->isolated = true;
			cpu->unbalanced |= files[n].unbalanced;
		}
	}
}

/* Is the word "hypervisor" among the flags of the first CPU? x86 sets it for guests. */
static bool has_flag(const char *cpuinfo)
{
	static const char word[] = " hypervisor";
	const char *flags = strstr(cpuinfo, "\nflags"), *end, *at;

	if (!flags)
		return false;
	end = flags + 1 + strcspn(flags + 1, "\n");
	for (at = strstr(flags, word); at && at < end; at = strstr(at + 1, word)) {
		char after = at[sizeof(word) - 1];

		if (after == ' ' || after == '\n' || !after)
			return true;
	}
	return false;
}

static bool read_hypervisor(const char *sys, const char *proc)
{
	char path[PATH_BYTES], *text;
	bool found;

	snprintf(path, sizeof(path), "%s/hypervisor/type", sys);
	if (!access(path, F_OK))
		return true;
	/* Arm guests that are described by a device tree. */
	snprintf(path, sizeof(path), "%s/device-tree/hypervisor", proc);
	if (!access(path, F_OK))
		return true;
	snprintf(path, sizeof(path), "%s/cpuinfo", proc);
	text = machine_read_file(path, CPUINFO_BYTES);
	found = text && has_flag(text);
	free(text);
	return found;
}

int topology_read(struct topology *ret_topology, const char *sys, const char *proc,
		  struct diag *diag)
{
	struct topology topology = {.known = true};
	struct cpulist online;
	int err = read_online(&online, sys, proc, diag);

	if (err)
		return err;
	topology.hypervisor = read_hypervisor(sys, proc);
	add_cpus(&topology, &online, sys);
	add_nodes(&topology, sys);
	add_isolated(&topology, sys);
	*ret_topology = topology;
	return 0;
}

void topology_free_members(struct topology *topology)
{
	if (!topology)
		return;
	free(topology->cpus.items);
	*topology = (struct topology){0};
}

/* ---- asking ------------------------------------------------------------------------------------ */

uint32_t topology_cores(const struct topology *topology, const struct cpulist *cpus)
{
	struct cpulist cores = {0};

	for (size_t i = 0; topology->known && i < topology->cpus.n; i++)
		if (cpulist_has(cpus, topology->cpus.items[i].cpu))
			cpulist_add(&cores, topology->cpus.items[i].core);
	return (uint32_t)cpulist_count(&cores);
}

uint32_t topology_nodes(const struct topology *topology, const struct cpulist *cpus)
{
	struct cpulist nodes = {0};

	/* TOPOLOGY_NO_NODE lies beyond what a list holds. */
	for (size_t i = 0; i < topology->cpus.n; i++)
		if (cpulist_has(cpus, topology->cpus.items[i].cpu))
			cpulist_add(&nodes, topology->cpus.items[i].node);
	return (uint32_t)cpulist_count(&nodes);
}

uint32_t topology_siblings(const struct topology *topology, const struct cpulist *cpus)
{
	struct cpulist once = {0}, more = {0};
	uint32_t n = 0;

	for (size_t i = 0; i < topology->cpus.n; i++) {
		uint32_t core = topology->cpus.items[i].core;

		cpulist_add(cpulist_has(&once, core) ? &more : &once, core);
	}
	for (size_t i = 0; i < topology->cpus.n; i++)
		n += cpulist_has(cpus, topology->cpus.items[i].cpu) &&
		     cpulist_has(&more, topology->cpus.items[i].core);
	return n;
}

uint32_t topology_isolated(const struct topology *topology, const struct cpulist *cpus)
{
	uint32_t n = 0;

	for (size_t i = 0; i < topology->cpus.n; i++)
		n += topology->cpus.items[i].isolated &&
		     cpulist_has(cpus, topology->cpus.items[i].cpu);
	return n;
}

uint32_t topology_unbalanced(const struct topology *topology, const struct cpulist *cpus)
{
	uint32_t n = 0;

	for (size_t i = 0; i < topology->cpus.n; i++)
		n += topology->cpus.items[i].unbalanced &&
		     cpulist_has(cpus, topology->cpus.items[i].cpu);
	return n;
}

/* The lower the earlier it is picked. */
static int pick_rank(const struct topology_cpu *cpu)
{
	return cpu->unbalanced ? 2 : cpu->isolated ? 0 : 1;
}

size_t topology_pick_cores(const struct topology *topology, const struct cpulist *allowed,
			   uint32_t *ret_cpus, size_t max)
{
	struct cpulist picked = {0}; /* cores */
	size_t n = 0;

	for (int rank = 0; rank <= 2; rank++) {
		for (size_t i = 0; i < topology->cpus.n && n < max; i++) {
			const struct topology_cpu *cpu = &topology->cpus.items[i];

			if (pick_rank(cpu) != rank || !cpulist_has(allowed, cpu->cpu) ||
			    cpulist_has(&picked, cpu->core))
				continue;
			cpulist_add(&picked, cpu->core);
			ret_cpus[n++] = cpu->cpu;
		}
	}
	return n;
}

bool topology_share_core(const struct topology *topology, const struct cpulist *a,
			 const struct cpulist *b, uint32_t *ret_a, uint32_t *ret_b)
{
	for (size_t i = 0; i < topology->cpus.n; i++) {
		const struct topology_cpu *first = &topology->cpus.items[i];

		if (!cpulist_has(a, first->cpu))
			continue;
		for (size_t j = 0; j < topology->cpus.n; j++) {
			const struct topology_cpu *second = &topology->cpus.items[j];

			if (second->core != first->core || !cpulist_has(b, second->cpu))
				continue;
			*ret_a = first->cpu;
			*ret_b = second->cpu;
			return true;
		}
	}
	return false;
}
