/* Where server and load generator run: each on physical cores of its own. */
#include "cmd/placement.h"

#include <stdlib.h>

#include "base/strbuf.h"

#define SERVER_CORES PLACEMENT_CORES_NEEDED
#define LOAD_CORES   6 /* at most */

/* ---- sets of CPUs ------------------------------------------------------------------------------ */

static const struct topology_cpu *cpu_find(const struct topology *topology, uint32_t cpu)
{
	for (size_t i = 0; i < topology->cpus.n; i++)
		if (topology->cpus.items[i].cpu == cpu)
			return &topology->cpus.items[i];
	return NULL;
}

static struct cpulist everything(const struct topology *topology)
{
	struct cpulist all = {};

	for (size_t i = 0; i < topology->cpus.n; i++)
		cpulist_add(&all, topology->cpus.items[i].cpu);
	return all;
}

/* Those of `of` that are on the cores of `cores`, or with `others` those that are not. */
static struct cpulist on_cores(const struct topology *topology, const struct cpulist *of,
			       const struct cpulist *cores, bool others)
{
	struct cpulist numbers = {}, found = {};

	for (size_t i = 0; i < topology->cpus.n; i++)
		if (cpulist_has(cores, topology->cpus.items[i].cpu))
			cpulist_add(&numbers, topology->cpus.items[i].core);
	for (size_t i = 0; i < topology->cpus.n; i++) {
		const struct topology_cpu *cpu = &topology->cpus.items[i];

		if (cpulist_has(of, cpu->cpu) && cpulist_has(&numbers, cpu->core) != others)
			cpulist_add(&found, cpu->cpu);
	}
	return found;
}

/* ---- the choice -------------------------------------------------------------------------------- */

/* One CPU of each core, those on the node of the first before those on others. */
struct cores {
	uint32_t *cpus;
	size_t n, used;
};

static struct cores cores_of(const struct topology *topology, const struct cpulist *cpus)
{
	uint32_t *picked = mem_calloc(topology->cpus.n + 1, sizeof(*picked));
	struct cores cores = {.cpus = mem_calloc(topology->cpus.n + 1, sizeof(*cores.cpus))};
	size_t n = topology_pick_cores(topology, cpus, picked, topology->cpus.n);

	for (int far = 0; far < 2; far++)
		for (size_t i = 0; i < n; i++)
			if ((cpu_find(topology, picked[i])->node !=
			     cpu_find(topology, picked[0])->node) == far)
				cores.cpus[cores.n++] = picked[i];
	free(picked);
	return cores;
}

static struct cpulist take_cores(struct cores *cores, size_t n)
{
	struct cpulist taken = {};

	for (; n && cores->used < cores->n; n--)
		cpulist_add(&taken, cores->cpus[cores->used++]);
	return taken;
}

/* Of `left` cores, for the generator: the last one is for everybody else where two remain. */
static size_t load_share(size_t left)
{
	if (left > SERVER_CORES)
		left--;
	return left < LOAD_CORES ? left : LOAD_CORES;
}

struct sides {
	struct cpulist server, load; /* empty: not chosen yet */
};

static void choose(struct sides *sides, const struct topology *topology,
		   const struct placement_wish *wish)
{
	bool server_given = wish->server_cpus, load_given = wish->load_cpus;
	const struct cpulist *given = server_given ? &sides->server : &sides->load;
	struct cpulist free_cpus = on_cores(topology, &wish->allowed, given, true);
	struct cores cores;

	if (server_given && load_given)
		return;
	cores = cores_of(topology, &free_cpus);
	if (load_given)
		sides->server = take_cores(&cores, SERVER_CORES);
	else if (server_given)
		sides->load = take_cores(&cores, load_share(cores.n));
	else if (cores.n > 1) {
		sides->server = take_cores(&cores, cores.n > 2 ? SERVER_CORES : 1);
		sides->load = take_cores(&cores, load_share(cores.n - cores.used));
	}
	free(cores.cpus);
	/* Nothing is left: all of it then, and whoever called sees that they share. */
	if (!cpulist_count(&sides->server))
		sides->server = wish->allowed;
	if (!cpulist_count(&sides->load))
		sides->load = wish->allowed;
}

/* ---- what is wrong with it ---------------------------------------------------------------------- */

static int take_list(struct cpulist *ret_list, const char *text, const char *option,
		     const struct topology *topology, const struct cpulist *allowed,
		     struct diag *diag)
{
	int err = cpulist_parse(ret_list, text, diag);

	if (err)
		return err;
	for (unsigned cpu = cpulist_next(ret_list, 0); cpu < CPULIST_MAX;
	     cpu = cpulist_next(ret_list, cpu + 1)) {
		char *list;

		if (cpulist_has(allowed, cpu) && cpu_find(topology, cpu))
			continue;
		list = cpulist_format(allowed);
		err = diag_set(diag, -EINVAL, "%s: CPU %u is not among those that may be used here, %s",
			       option, cpu, list);
		free(list);
		return err;
	}
	return 0;
}

static int refuse(const struct topology *topology, const struct placement_wish *wish,
		  uint32_t server_cpu, uint32_t load_cpu, struct diag *diag)
{
	struct cpulist one = {}, all = everything(topology), core;
	char *list;
	int err;

	if (!wish->server_cpus && !wish->load_cpus) {
		err = diag_set(diag, -ENOTSUP,
			       "server and load generator need a physical core each, and there is "
			       "only one to be used here");
		return diag_hint(diag, err, "--force measures all the same, and says so");
	}
	if (!wish->server_cpus || !wish->load_cpus) {
		err = diag_set(diag, -EINVAL, "%s leaves no physical core for the %s",
			       wish->server_cpus ? "--cpus" : "--load-cpus",
			       wish->server_cpus ? "load generator" : "server");
	} else if (server_cpu == load_cpu) {
		err = diag_set(diag, -EINVAL, "CPU %u is in both --cpus and --load-cpus", server_cpu);
	} else {
		cpulist_add(&one, server_cpu);
		core = on_cores(topology, &all, &one, false);
		list = cpulist_format(&core);
		err = diag_set(diag, -EINVAL, "CPU %u of --cpus and CPU %u of --load-cpus are one "
			       "physical core, that of CPUs %s", server_cpu, load_cpu, list);
		free(list);
	}
	return diag_hint(diag, err, "name others, or --force");
}

__attribute__((format(printf, 2, 3))) static void say(struct strbuf *text, const char *fmt, ...)
{
	va_list args;

	strbuf_add(text, text->n ? "; " : "");
	va_start(args, fmt);
	strbuf_vprintf(text, fmt, args);
	va_end(args);
}

/* In words, NULL when nothing is: see docs/method.md. shared: a CPU of each side on one core, NULL:
 * there are none. */
static char *objection(const struct topology *topology, const struct placement_wish *wish,
		       const struct sides *sides, const uint32_t *shared)
{
	uint32_t server = topology_cores(topology, &sides->server);
	uint32_t load = topology_cores(topology, &sides->load);
	struct cpulist all = everything(topology);
	struct strbuf text = {};

	if (shared && shared[0] == shared[1])
		say(&text, "server and load generator share CPU %u (--force)", shared[0]);
	else if (shared)
		say(&text, "server and load generator share a core, CPUs %u and %u (--force)",
		    shared[0], shared[1]);
	else if (topology->known && topology_cores(topology, &wish->allowed) == 2)
		say(&text, "2 physical cores: server and load generator get one each, none is left "
			   "for the kernel's network work and for others");
	else if (topology->known && (server < PLACEMENT_CORES_NEEDED || load < PLACEMENT_CORES_NEEDED))
		say(&text, "each side needs %u physical cores of its own; the server has %u, the "
			   "load generator %u", PLACEMENT_CORES_NEEDED, server, load);
	if (topology_unbalanced(topology, &sides->server) > 1 ||
	    topology_unbalanced(topology, &sides->load) > 1)
		say(&text, "isolated CPUs: the kernel spreads no threads over them");
	if (!topology->known)
		say(&text, "this machine does not show which CPUs share a core");
	else if (topology->hypervisor && !topology_siblings(topology, &all))
		say(&text, "a hypervisor hides which CPUs share a core");
	return text.n ? strbuf_take(&text) : NULL;
}

int placement_choose(struct placement *ret_placement, const struct topology *topology,
		 const struct placement_wish *wish, struct diag *diag)
{
	struct sides sides = {};
	uint32_t shared[2];
	bool share;
	int err = 0;

	if (wish->server_cpus)
		err = take_list(&sides.server, wish->server_cpus, "--cpus", topology,
				&wish->allowed, diag);
	if (!err && wish->load_cpus)
		err = take_list(&sides.load, wish->load_cpus, "--load-cpus", topology,
				&wish->allowed, diag);
	if (err)
		return err;
	choose(&sides, topology, wish);
	share = topology_share_core(topology, &sides.server, &sides.load, &shared[0], &shared[1]);
	if (share && !wish->force)
		return refuse(topology, wish, shared[0], shared[1], diag);
	*ret_placement = (struct placement){
		.server_cpus = cpulist_format(&sides.server),
		.load_cpus = cpulist_format(&sides.load),
		.n_load_cpus = (uint32_t)cpulist_count(&sides.load),
		.not_comparable = objection(topology, wish, &sides, share ? shared : NULL),
	};
	return 0;
}

void placement_free_members(struct placement *placement)
{
	if (!placement)
		return;
	free(placement->server_cpus);
	free(placement->load_cpus);
	free(placement->not_comparable);
	*placement = (struct placement){};
}
