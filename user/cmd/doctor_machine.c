/* doctor's section on the machine: cores, clocks, limits, and who else uses it. */
#include "cmd/doctor_machine.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/cgroup.h"
#include "collect/machine.h"
#include "collect/topology.h"

/* Long enough for ticks of 10 ms to say something, short enough to wait for. */
#define LOOK_MS 500
/* Beyond these, idle figures are known to grow: others' share of all CPUs. */
#define BUSY_SHARE  0.05
#define STEAL_SHARE 0.01
/* Cores whose CPUs are named one by one before the rest is only counted. */
#define CORES_NAMED 4

/* ---- cores ------------------------------------------------------------------------------------- */

/* "0,4; 1,5": the CPUs of each core that an allowed one shares with another. The caller frees. */
static char *name_siblings(const struct topology *topology, const struct cpulist *allowed)
{
	struct strbuf text = {0};
	size_t named = 0;

	for (size_t i = 0; i < topology->cpus.n; i++) {
		const struct topology_cpu *first = &topology->cpus.items[i];
		struct cpulist core = {0};
		bool ours = false;
		char *list;

		for (size_t j = i; j < topology->cpus.n; j++) {
			const struct topology_cpu *cpu = &topology->cpus.items[j];

			if (cpu->core != first->core)
				continue;
			cpulist_add(&core, cpu->cpu);
			ours |= cpulist_has(allowed, cpu->cpu);
		}
		if (first->core != first->cpu || cpulist_count(&core) < 2 || !ours ||
		    ++named > CORES_NAMED)
			continue;
		list = cpulist_format(&core);
		strbuf_printf(&text, "%s%s", text.n ? "; " : "", list);
		free(list);
	}
	if (named > CORES_NAMED)
		strbuf_printf(&text, "; and %zu more", named - CORES_NAMED);
	return strbuf_take(&text);
}

static void check_siblings(struct findings *f, const struct topology *topology,
			   const struct cpulist *allowed)
{
	uint32_t shared = topology_siblings(topology, allowed);
	char *names;

	if (!topology->known) {
		findings_fact(f, "physical cores", "not shown");
		findings_problem(f, false, "mount -t sysfs sysfs /sys",
				 "the machine does not show which CPUs are one core");
		return;
	}
	findings_fact(f, "physical cores", "%u", topology_cores(topology, allowed));
	if (!shared) {
		findings_fact(f, "sibling hyper-threads", "none");
		return;
	}
	names = name_siblings(topology, allowed);
	findings_fact(f, "sibling hyper-threads", "%s", names);
	findings_problem(f, false, "pin with --cpus to one CPU of each core",
			 "CPUs that share a core slow each other (%s)", names);
	free(names);
}

static void check_topology(struct findings *f, const struct cpulist *allowed)
{
	struct cpulist isolated = {0};
	struct topology topology;
	struct diag diag = {0};
	uint32_t nodes;
	char *list;

	if (topology_read(&topology, "/sys", "/proc", &diag)) {
		findings_fact(f, "physical cores", "not known");
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	check_siblings(f, &topology, allowed);
	nodes = topology_nodes(&topology, allowed);
	if (nodes)
		findings_fact(f, "NUMA nodes", "%u", nodes);
	else
		findings_tell(f, "NUMA nodes", "not shown");
	if (nodes > 1)
		findings_problem(f, false, "pin with --cpus to CPUs of one node, see lscpu",
				 "the CPUs are on %u NUMA nodes: memory of another one is slower", nodes);
	for (size_t i = 0; i < topology.cpus.n; i++)
		if (topology.cpus.items[i].isolated)
			cpulist_add(&isolated, topology.cpus.items[i].cpu);
	list = cpulist_format(&isolated);
	findings_tell(f, "isolated CPUs", "%s", *list ? list : "none");
	free(list);
	findings_tell(f, "virtual machine",
		      topology.hypervisor ? "yes: its host decides what a core is" : "no");
	topology_free_members(&topology);
}

/* ---- clocks ------------------------------------------------------------------------------------ */

static void check_governor(struct findings *f, const struct cpulist *online)
{
	char *governor = machine_governor(online);

	findings_fact(f, "frequency governor", "%s", *governor ? governor : "none shown");
	if (*governor && strcmp(governor, "performance"))
		findings_problem(f, false, "cpupower frequency-set -g performance",
				 "the frequency governor is %s: clocks change while it measures",
				 governor);
	free(governor);
}

static void check_turbo(struct findings *f)
{
	static const char no_turbo[] = "/sys/devices/system/cpu/intel_pstate/no_turbo";
	int turbo = machine_turbo("/sys");

	findings_fact(f, "turbo", "%s", turbo > 0 ? "on" : turbo < 0 ? "off" : "not shown");
	if (turbo > 0)
		findings_problem(f, false,
				 access(no_turbo, F_OK)
					 ? "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
					 : "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
				 "turbo is on: clocks depend on heat and on what the other cores do");
}

static void check_cpus(struct findings *f)
{
	struct cpulist online, allowed;
	struct diag diag = {0};
	char *list;

	if (machine_online_cpus(&online, &diag) || machine_allowed_cpus(&allowed, &diag)) {
		findings_fact(f, "CPUs", "not known");
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	list = cpulist_format(&allowed);
	findings_fact(f, "CPUs", "%zu online, allowed on %s", cpulist_count(&online), list);
	free(list);
	check_topology(f, &allowed);
	check_governor(f, &online);
	check_turbo(f);
}

/* ---- others ------------------------------------------------------------------------------------ */

static void add_shares(struct findings *f, const struct machine_cpu_times *d)
{
	double all = (double)(d->busy_ns + d->irq_ns + d->steal_ns + d->idle_ns);
	double busy, steal;

	if (all <= 0)
		return;
	busy = (double)(d->busy_ns + d->irq_ns) / all;
	steal = (double)d->steal_ns / all;
	findings_fact(f, "busy now", "%.1f %% of all CPUs over %d ms", busy * 100, LOOK_MS);
	if (busy > BUSY_SHARE)
		findings_problem(
			f, false, "wakewhy attach -a -d 5 shows who it is",
			"other programs use %.0f %% of the CPUs: idle figures come out too high",
			busy * 100);
	findings_fact(f, "stolen now", "%.1f %%", steal * 100);
	if (steal > STEAL_SHARE)
		findings_problem(f, false, "repeat with more runs (-r 30), or on another host",
				 "the hypervisor takes %.0f %% of the CPU time away", steal * 100);
}

static void check_load(struct findings *f)
{
	struct machine_cpu_times before, after, d;
	struct diag diag = {0};
	double load;

	if (!machine_load(&load, NULL))
		findings_tell(f, "load", "%.2f over the last minute", load);
	if (machine_cpu_times(&before, &diag)) {
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	poll(NULL, 0, LOOK_MS);
	if (machine_cpu_times(&after, &diag))
		return;
	d = machine_cpu_times_between(&before, &after);
	add_shares(f, &d);
}

static void check_limits(struct findings *f)
{
	struct cgroup_limits limits = {0};
	char *cgroup = machine_cgroup();
	double cpus;

	findings_tell(f, "cgroup", "%s", *cgroup ? cgroup : "none of version 2");
	free(cgroup);
	cgroup_limits_add(&limits, "/proc", getpid());
	cpus = cgroup_limits_cpus(&limits);
	if (!limits.items.n) {
		findings_fact(f, "CPU limit", "none");
	} else {
		const struct cgroup_limit *limit = &limits.items.items[0];

		findings_fact(f, "CPU limit", "%.2f CPUs", cpus);
		findings_problem(f, false,
				 limit->unified ? "echo max > cpu.max there, or run it in another cgroup"
						: "echo -1 > cpu.cfs_quota_us there, or run it in "
						  "another cgroup",
				 "%s lets its processes use %.2f CPUs: beyond that they are held back",
				 limit->dir, limit->cpus);
	}
	cgroup_limits_free_members(&limits);
}

void doctor_machine(struct findings *findings)
{
	findings_section(findings, "this machine");
	check_cpus(findings);
	check_limits(findings);
	check_load(findings);
}
