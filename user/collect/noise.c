/* What the machine is for the workload, and what else it did in the window. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/internal.h"
#include "collect/topology.h"

#include "wakewhy.skel.h"

/* The kernel shows CPU time in ticks of 10 ms, a handful of counters for each CPU: over less than this,
 * the rounding of these alone may come near to the limit for others' share (model/noise.h). */
#define SHARES_LEAST_NS (WK_SECOND_NS / 2)
/* No machine goes to sleep and wakes up in less: it is the time between two looks at two clocks. */
#define SUSPENDED_LEAST_NS (WK_SECOND_NS / 100)

/* ---- where the workload may run ---------------------------------------------------------------- */

static void cpus_add(struct cpulist *cpus, const struct cpulist *more)
{
	for (size_t i = 0; i < sizeof(cpus->bits) / sizeof(cpus->bits[0]); i++)
		cpus->bits[i] |= more->bits[i];
}

/* The CPUs of the followed threads that are alive, and with `limits` the limits of their processes. As
 * a rule the first one may run everywhere: then nobody else need be asked. */
static void place_read(struct collector *c, bool limits)
{
	uint32_t used = collect_slots_used(c);
	struct cpulist online = {0}, allowed;

	machine_online_cpus(&online, NULL);
	for (uint32_t i = 0; i < used; i++) {
		const struct wk_thread *t = &c->slots[i];

		if (t->state == WK_STATE_NONE || t->state == WK_STATE_DEAD ||
		    t->flags & WK_FLAG_KTHREAD)
			continue;
		if (limits && t->flags & WK_FLAG_LEADER && !c->options.all)
			cgroup_limits_add(&c->limits, "/proc", (pid_t)t->pid);
		if (cpulist_count(&c->cpus) < cpulist_count(&online) &&
		    !machine_thread_cpus((pid_t)t->tid, &allowed, NULL))
			cpus_add(&c->cpus, &allowed);
	}
}

/* ---- helpers of our own ------------------------------------------------------------------------ */

void collector_exclude(struct collector *c, pid_t pid)
{
	*vec_push(&c->helpers) = (struct collect_helper){.pid = pid};
}

static void helpers_begin(struct collector *c)
{
	for (size_t i = 0; i < c->helpers.n; i++) {
		struct collect_helper *helper = &c->helpers.items[i];

		helper->known = !machine_process_ns(helper->pid, &helper->before_ns) &&
				!machine_thread_cpus(helper->pid, &helper->cpus, NULL);
	}
}

static void helpers_end(struct collector *c)
{
	for (size_t i = 0; i < c->helpers.n; i++) {
		struct collect_helper *helper = &c->helpers.items[i];

		helper->known &= !machine_process_ns(helper->pid, &helper->after_ns);
	}
}

static bool cpus_overlap(const struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < sizeof(a->bits) / sizeof(a->bits[0]); i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

/* What they used on these CPUs, NULL: on all. NaN where it cannot be told any more. A helper that may
 * run on these CPUs and on others is taken to have run here: it must not look like a stranger. */
static double helpers_ns(const struct collector *c, const struct cpulist *cpus)
{
	double sum = 0;

	for (size_t i = 0; i < c->helpers.n; i++) {
		const struct collect_helper *helper = &c->helpers.items[i];

		if (!helper->known)
			return NAN;
		if ((!cpus || cpus_overlap(cpus, &helper->cpus)) &&
		    helper->after_ns > helper->before_ns)
			sum += (double)(helper->after_ns - helper->before_ns);
	}
	return sum;
}

/* ---- edges ------------------------------------------------------------------------------------- */

void collect_noise_begin(struct collector *c)
{
	memset(&c->cpus, 0, sizeof(c->cpus));
	cgroup_limits_free_members(&c->limits);
	place_read(c, true);
	helpers_begin(c);
}

void collect_noise_end(struct collector *c)
{
	/* Threads that have come since may have been allowed on other CPUs. Of limits those are meant
	 * whose throttling was read at the beginning. */
	place_read(c, false);
	if (!cpulist_count(&c->cpus))
		machine_allowed_cpus(&c->cpus, NULL);
	helpers_end(c);
}

void collect_noise_forget(struct collector *c)
{
	free(c->helpers.items);
	memset(&c->helpers, 0, sizeof(c->helpers));
	cgroup_limits_free_members(&c->limits);
}

/* ---- what it comes to -------------------------------------------------------------------------- */

static void facts_take(const struct collector *c, struct capture_noise *noise)
{
	struct topology topology;
	struct cpulist online;

	noise->cpus_used = (uint32_t)cpulist_count(&c->cpus);
	noise->governor = machine_governor(&c->cpus);
	noise->turbo = machine_turbo("/sys");
	noise->quota_cpus = cgroup_limits_cpus(&c->limits);
	if (!machine_online_cpus(&online, NULL))
		noise->cpus_online = (uint32_t)cpulist_count(&online);
	if (topology_read(&topology, "/sys", "/proc", NULL))
		return;
	noise->hypervisor = topology.hypervisor;
	noise->cores_used = topology_cores(&topology, &c->cpus);
	noise->siblings_shared = topology_siblings(&topology, &c->cpus);
	noise->isolated_used = topology_isolated(&topology, &c->cpus);
	noise->numa_nodes = topology_nodes(&topology, &c->cpus);
	topology_free_members(&topology);
}

/* CPU time of the window, of all CPUs (NULL) or of some. False where it cannot be told. */
static bool times_between(const struct collector *c, const struct cpulist *cpus,
			  struct machine_cpu_times *ret_times)
{
	const char *texts[] = {c->before.stat, c->after.stat};
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	struct machine_cpu_times at[2];

	for (size_t i = 0; i < 2; i++)
		if (!texts[i] ||
		    (cpus ? machine_parse_stat_of(texts[i], ticks_per_s, cpus, &at[i])
			  : machine_parse_stat(texts[i], ticks_per_s, &at[i])))
			return false;
	*ret_times = machine_cpu_times_between(&at[0], &at[1]);
	return true;
}

static double whole(const struct machine_cpu_times *times)
{
	return (double)times->busy_ns + (double)times->irq_ns + (double)times->steal_ns +
	       (double)times->idle_ns;
}

/* The machine's time comes in ticks, ours in nanoseconds: the difference may fall below zero. */
static double others_share(const struct collector *c, const struct cpulist *cpus, double ours_ns)
{
	struct machine_cpu_times d;
	double helped_ns = helpers_ns(c, cpus), share;

	if (!times_between(c, cpus, &d) || whole(&d) <= 0 || isnan(helped_ns))
		return NAN;
	share = ((double)d.busy_ns + (double)d.irq_ns - ours_ns - helped_ns) / whole(&d);
	return share > 0 ? share : 0;
}

static void shares_take(const struct collector *c, uint64_t window_ns, struct capture_noise *noise)
{
	double ours_ns = (double)(c->after.oncpu_ns - c->before.oncpu_ns);
	struct machine_cpu_times d;

	noise->other_cpu_share = NAN;
	noise->used_other_share = NAN;
	if (!times_between(c, NULL, &d) || whole(&d) <= 0)
		return;
	noise->steal_share = (double)d.steal_ns / whole(&d);
	noise->irq_share = (double)d.irq_ns / whole(&d);
	if (window_ns < SHARES_LEAST_NS)
		return;
	for (size_t i = 0; i < c->threads.n; i++)
		ours_ns += (double)c->threads.items[i].t.count.oncpu_ns;
	noise->other_cpu_share = others_share(c, NULL, ours_ns);
	noise->used_other_share = others_share(c, &c->cpus, ours_ns);
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

void collect_noise_take(const struct collector *c, uint64_t window_ns,
			struct capture_noise *ret_noise)
{
	struct capture_noise noise = {0};
	uint64_t suspended_ns = grown(c->before.suspended_ns, c->after.suspended_ns);

	facts_take(c, &noise);
	shares_take(c, window_ns, &noise);
	noise.throttled_ns = grown(c->before.throttled_ns, c->after.throttled_ns);
	if (suspended_ns >= SUSPENDED_LEAST_NS)
		noise.suspended_ns = suspended_ns;
	*ret_noise = noise;
}
