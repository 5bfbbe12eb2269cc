/* Where server and load generator run, on machines of every shape. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/placement.h"

/* core of CPU 0, 1, 2 …, and its node. */
struct machine {
	const char *name;
	uint32_t cpus;
	uint32_t core[24], node[24];
	bool unknown, hypervisor;
	uint32_t isolated; /* a bit for each CPU */
	bool unbalanced;   /* these are: the kernel spreads no threads over them */
};

static const struct machine one = {"one", 1, {0}, {0}, false, false, 0};
static const struct machine pair = {"pair", 2, {0, 0}, {0}, false, false, 0}; /* siblings */
static const struct machine two = {"two", 2, {0, 1}, {0}, false, false, 0};
static const struct machine two_guest = {"two_guest", 2, {0, 1}, {0}, false, true, 0};
static const struct machine three = {"three", 3, {0, 1, 2}, {0}, false, false, 0};
static const struct machine four = {"four", 4, {0, 1, 2, 3}, {0}, false, false, 0};
static const struct machine four_guest = {"four_guest", 4, {0, 1, 2, 3}, {0}, false, true, 0};
static const struct machine four_unknown = {"four_unknown", 4, {0, 1, 2, 3}, {0}, true, false, 0};
/* As the article's: 8 cores, siblings 8 apart. */
static const struct machine smt = {"smt",
				   16,
				   {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7},
				   {0},
				   false,
				   false,
				   0};
static const struct machine smt_guest = {"smt_guest", 8, {0, 0, 2, 2, 4, 4, 6, 6}, {0}, false, true, 0};
static const struct machine twelve = {"twelve",
				      12,
				      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
				      {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
				      false,
				      false,
				      0};
static const struct machine isolated = {"isolated",	 8, {0, 1, 2, 3, 4, 5, 6, 7}, {0}, false, false,
					1U << 6 | 1U << 7};
static const struct machine unbalanced = {"unbalanced", 8, {0, 1, 2, 3, 4, 5, 6, 7}, {0}, false, false,
					  1U << 0 | 1U << 1 | 1U << 2, true};

static struct topology make(const struct machine *machine)
{
	struct topology topology = {.known = !machine->unknown, .hypervisor = machine->hypervisor};

	for (uint32_t i = 0; i < machine->cpus; i++)
		*vec_push(&topology.cpus) =
			(struct topology_cpu){i, machine->core[i], machine->node[i],
					      machine->isolated >> i & 1,
					      machine->unbalanced && machine->isolated >> i & 1};
	return topology;
}

static struct cpulist list(const char *text)
{
	struct cpulist cpus;

	assert_int_equal(cpulist_parse(&cpus, text, NULL), 0);
	return cpus;
}

/* What no objection says. */
#define FINE NULL
#define TWO                                                                                        \
	"2 physical cores: server and load generator get one each, none is left for the kernel's " \
	"network work and for others"
#define HIDDEN "a hypervisor hides which CPUs share a core"
#define UNBALANCED "isolated CPUs: the kernel spreads no threads over them"
#define EACH   "each side needs 2 physical cores of its own; the server has "

static const struct {
	const struct machine *machine;
	const char *allowed; /* NULL: all */
	const char *cpus, *load_cpus;
	bool force;
	const char *server, *load, *objection;
} choices[] = {
	/* Nothing given. */
	{&two, NULL, NULL, NULL, false, "0", "1", TWO},
	{&two_guest, NULL, NULL, NULL, false, "0", "1", TWO "; " HIDDEN},
	{&three, NULL, NULL, NULL, false, "0-1", "2", EACH "2, the load generator 1"},
	{&four, NULL, NULL, NULL, false, "0-1", "2-3", FINE},
	{&four_guest, NULL, NULL, NULL, false, "0-1", "2-3", HIDDEN},
	{&four_unknown, NULL, NULL, NULL, false, "0-1", "2-3",
	 "this machine does not show which CPUs share a core"},
	{&smt, NULL, NULL, NULL, false, "0-1", "2-6", FINE}, /* 7 is left free */
	{&smt_guest, NULL, NULL, NULL, false, "0,2", "4,6", FINE},
	{&twelve, NULL, NULL, NULL, false, "0,2", "1,3-4,6,8,10", FINE}, /* a node first */
	{&isolated, NULL, NULL, NULL, false, "6-7", "0-4", FINE},
	{&unbalanced, "0-6", NULL, NULL, false, "3-4", "0-1,5-6", UNBALANCED},
	{&unbalanced, "0,3-7", NULL, NULL, false, "3-4", "5-7", FINE},
	{&unbalanced, NULL, "1", "3-4", false, "1", "3-4", EACH "1, the load generator 2"},
	{&unbalanced, NULL, "1-2", "3-4", false, "1-2", "3-4", UNBALANCED},
	{&smt, "0-1,8-9", NULL, NULL, false, "0", "1", TWO},
	{&smt, "1-2,4,9-12", NULL, NULL, false, "1-2", "4,11", FINE},
	/* One side given. */
	{&four, NULL, "3", NULL, false, "3", "0-1", EACH "1, the load generator 2"},
	{&smt, NULL, "10,3", NULL, false, "3,10", "0-1,4-6", FINE},
	{&smt, NULL, NULL, "1,8-9", false, "2-3", "1,8-9", FINE},
	{&two, NULL, NULL, "0", false, "1", "0", TWO},
	/* Siblings are one core, however many CPUs they are. */
	{&smt, NULL, "2,10", "3,4", false, "2,10", "3-4", EACH "1, the load generator 2"},
	{&smt, NULL, "2,3", "4-7,12-15", false, "2-3", "4-7,12-15", FINE},
	/* Forced. */
	{&smt, NULL, "2-3", "3-11", true, "2-3", "3-11",
	 "server and load generator share a core, CPUs 2 and 10 (--force)"},
	{&smt, NULL, "2-3", "4-5", true, "2-3", "4-5", FINE}, /* nothing was */
	{&one, NULL, NULL, NULL, true, "0", "0", "server and load generator share CPU 0 (--force)"},
	{&pair, NULL, NULL, NULL, true, "0-1", "0-1", "server and load generator share CPU 0 (--force)"},
	{&two, NULL, "0-1", NULL, true, "0-1", "0-1", "server and load generator share CPU 0 (--force)"},
	{&four_unknown, NULL, "0-1", "1-2", true, "0-1", "1-2",
	 "server and load generator share CPU 1 (--force); this machine does not show which CPUs "
	 "share a core"},
};

static void cores_are_kept_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct topology topology = make(choices[i].machine);
		struct placement_wish wish = {
			.allowed = list(choices[i].allowed ? choices[i].allowed : "0-63"),
			.server_cpus = choices[i].cpus,
			.load_cpus = choices[i].load_cpus,
			.force = choices[i].force,
		};
		struct cpulist load;
		struct placement placement;
		struct diag diag;

		if (!choices[i].allowed)
			for (unsigned cpu = 63; cpu >= choices[i].machine->cpus; cpu--)
				wish.allowed.bits[0] &= ~(1ULL << cpu);
		if (placement_choose(&placement, &topology, &wish, &diag))
			fail_msg("%s, row %zu: %s", choices[i].machine->name, i, diag.what);
		assert_string_equal(placement.server_cpus, choices[i].server);
		assert_string_equal(placement.load_cpus, choices[i].load);
		load = list(placement.load_cpus);
		assert_int_equal(placement.n_load_cpus, cpulist_count(&load));
		if (choices[i].objection)
			assert_string_equal(placement.not_comparable, choices[i].objection);
		else
			assert_null(placement.not_comparable);
		placement_free_members(&placement);
		topology_free_members(&topology);
	}
	placement_free_members(NULL);
}

static const struct {
	const struct machine *machine;
	const char *allowed, *cpus, *load_cpus;
	bool force;
	int err;
	const char *what;
} refusals[] = {
	{&one, "0", NULL, NULL, false, -ENOTSUP, "need a physical core each, and there is only one"},
	{&pair, "0-1", NULL, NULL, false, -ENOTSUP, "need a physical core each, and there is only one"},
	{&smt, "3,11", NULL, NULL, false, -ENOTSUP, "need a physical core each, and there is only one"},
	/* The article's own mistake. */
	{&smt, "0-15", "2-3", "10-11", false, -EINVAL,
	 "CPU 2 of --cpus and CPU 10 of --load-cpus are one physical core, that of CPUs 2,10"},
	{&smt, "0-15", "0-3", "3-9", false, -EINVAL, "CPU 0 of --cpus and CPU 8 of --load-cpus are"},
	{&four, "0-3", "0-2", "2-3", false, -EINVAL, "CPU 2 is in both --cpus and --load-cpus"},
	{&two, "0-1", "0-1", NULL, false, -EINVAL,
	 "--cpus leaves no physical core for the load generator"},
	{&pair, "0-1", NULL, "1", false, -EINVAL,
	 "--load-cpus leaves no physical core for the server"},
	/* Not there, or not ours: no force helps. */
	{&four, "0-3", "0,4", NULL, true, -EINVAL,
	 "--cpus: CPU 4 is not among those that may be used here, 0-3"},
	{&four, "0-1", "0", "2", true, -EINVAL, "--load-cpus: CPU 2 is not among those"},
	{&four, "0-63", "0", "8191", true, -EINVAL, "--load-cpus: CPU 8191 is not among those"},
	{&four, "0-63", "63", NULL, true, -EINVAL, "--cpus: CPU 63 is not among those"},
};

static void what_shares_a_core_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct topology topology = make(refusals[i].machine);
		struct placement_wish wish = {list(refusals[i].allowed), refusals[i].cpus,
					  refusals[i].load_cpus, refusals[i].force};
		struct placement placement = {};
		struct diag diag = {};

		assert_int_equal(placement_choose(&placement, &topology, &wish, &diag), refusals[i].err);
		if (!strstr(diag.what, refusals[i].what))
			fail_msg("row %zu: %s", i, diag.what);
		assert_null(placement.server_cpus);
		assert_int_equal(!!strstr(diag.hint, "--force"), !refusals[i].force);
		topology_free_members(&topology);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_are_kept_apart),
		cmocka_unit_test(what_shares_a_core_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
