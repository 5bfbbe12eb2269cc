/* Cores, nodes and isolated CPUs of machines that are made of a few files. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/topology.h"
#include "tests/unit/folder.h"

/* ---- a machine in a folder --------------------------------------------------------------------- */

static void put_siblings(const struct folder *folder, unsigned cpu, const char *siblings)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/topology/core_cpus_list", cpu);
	folder_put(folder, name, siblings);
}

/* Eight CPUs, cores {0,4} {1,5} {2,6} {3,7}, two nodes of two cores each. */
static void machine_with_siblings(struct folder *folder)
{
	folder_make(folder);
	folder_put(folder, "sys/devices/system/cpu/online", "0-7\n");
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		char siblings[16];

		snprintf(siblings, sizeof(siblings), "%u,%u\n", cpu % 4, cpu % 4 + 4);
		put_siblings(folder, cpu, siblings);
	}
	folder_put(folder, "sys/devices/system/node/online", "0-1\n");
	folder_put(folder, "sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
	folder_put(folder, "sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
}

static void topology_of(const struct folder *folder, struct topology *ret_topology)
{
	struct diag diag = {0};

	assert_int_equal(topology_read(ret_topology, folder->sys, folder->proc, &diag), 0);
}

static struct cpulist cpus(const char *text)
{
	struct cpulist list;

	assert_int_equal(cpulist_parse(&list, text, NULL), 0);
	return list;
}

static uint32_t cores_of(const struct topology *topology, const char *text)
{
	struct cpulist list = cpus(text);

	return topology_cores(topology, &list);
}

static uint32_t nodes_of(const struct topology *topology, const char *text)
{
	struct cpulist list = cpus(text);

	return topology_nodes(topology, &list);
}

static uint32_t siblings_of(const struct topology *topology, const char *text)
{
	struct cpulist list = cpus(text);

	return topology_siblings(topology, &list);
}

static uint32_t isolated_of(const struct topology *topology, const char *text)
{
	struct cpulist list = cpus(text);

	return topology_isolated(topology, &list);
}

static void assert_picked(const struct topology *topology, const char *allowed, size_t max,
			  const char *expected)
{
	struct cpulist list = cpus(allowed);
	uint32_t picked[16];
	char text[128] = "";
	size_t n = topology_pick_cores(topology, &list, picked, max);

	assert_in_range(n, 0, max);
	for (size_t i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s%u", i ? " " : "", picked[i]);
	assert_string_equal(text, expected);
}

/* "a b", or "" where they share no core. */
static void assert_shared(const struct topology *topology, const char *a, const char *b,
			  const char *expected)
{
	struct cpulist first = cpus(a), second = cpus(b);
	uint32_t on_a, on_b;
	char text[64] = "";

	if (topology_share_core(topology, &first, &second, &on_a, &on_b))
		snprintf(text, sizeof(text), "%u %u", on_a, on_b);
	assert_string_equal(text, expected);
}

/* ---- what is asked of it ----------------------------------------------------------------------- */

static void siblings_are_one_core(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	machine_with_siblings(&m);
	topology_of(&m, &t);
	assert_true(t.known);
	assert_false(t.hypervisor);
	assert_int_equal(t.cpus.n, 8);
	assert_int_equal(t.cpus.items[6].cpu, 6);
	assert_int_equal(t.cpus.items[6].core, 2);
	assert_int_equal(cores_of(&t, "0-7"), 4);
	assert_int_equal(cores_of(&t, "0,4"), 1);
	assert_int_equal(cores_of(&t, "0,1,4"), 2);
	assert_int_equal(cores_of(&t, ""), 0);
	assert_int_equal(siblings_of(&t, "0-7"), 8);
	assert_int_equal(siblings_of(&t, "3"), 1);
	assert_shared(&t, "0-1", "2-3,6", "");
	/* The article's own trap: 2 with 10, 3 with 11. */
	assert_shared(&t, "2-3", "4-5,7", "3 7");
	assert_shared(&t, "7", "3", "7 3");
	assert_shared(&t, "1", "1", "1 1");
	topology_free_members(&t);
	folder_remove(&m);
}

static void nodes_are_counted(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	machine_with_siblings(&m);
	topology_of(&m, &t);
	assert_int_equal(nodes_of(&t, "0-7"), 2);
	assert_int_equal(nodes_of(&t, "0,5"), 1);
	assert_int_equal(nodes_of(&t, "1-2"), 2);
	topology_free_members(&t);
	folder_remove(&m);
}

static void one_cpu_of_each_core_is_picked(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	machine_with_siblings(&m);
	topology_of(&m, &t);
	assert_picked(&t, "0-7", 16, "0 1 2 3");
	assert_picked(&t, "0-7", 2, "0 1");
	assert_picked(&t, "0-7", 0, "");
	assert_picked(&t, "2,4-7", 16, "2 4 5 7");
	assert_picked(&t, "0,4", 16, "0");
	assert_picked(&t, "", 16, "");
	topology_free_members(&t);
	folder_remove(&m);
}

/* All but those that the kernel spreads no threads over: they come last. */
static void isolated_cores_are_picked_first(void **state)
{
	static const struct {
		const char *name;
		uint32_t unbalanced;
		const char *picked, *first;
	} files[] = {
		{"sys/devices/system/cpu/isolated", 3, "0 1 3 2", "0"},
		/* 7 is isolated, and its sibling 3 is not: 7 it is, and 3 no more. */
		{"sys/devices/system/cpu/nohz_full", 0, "2 7 0 1", "2"},
		{"sys/fs/cgroup/cpuset.cpus.isolated", 3, "0 1 3 2", "0"},
	};
	struct cpulist all;

	assert_int_equal(cpulist_parse(&all, "0-7", NULL), 0);

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct topology t;
		struct folder m;

		machine_with_siblings(&m);
		folder_put(&m, "sys/devices/system/cpu/nohz_full", "  (null)\n");
		folder_put(&m, files[i].name, "2,6-7\n");
		topology_of(&m, &t);
		assert_int_equal(isolated_of(&t, "0-7"), 3);
		assert_int_equal(isolated_of(&t, "0-2"), 1);
		assert_int_equal(topology_unbalanced(&t, &all), files[i].unbalanced);
		assert_picked(&t, "0-7", 16, files[i].picked);
		assert_picked(&t, "0-7", 1, files[i].first);
		topology_free_members(&t);
		folder_remove(&m);
	}
}

static void offline_cpus_are_nobodys_siblings(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	folder_make(&m);
	folder_put(&m, "sys/devices/system/cpu/online", "0-1,4\n");
	put_siblings(&m, 0, "0,4\n");
	put_siblings(&m, 1, "1\n"); /* 5 is off */
	put_siblings(&m, 4, "0,4\n");
	topology_of(&m, &t);
	assert_true(t.known);
	assert_int_equal(t.cpus.n, 3);
	assert_int_equal(cores_of(&t, "0-7"), 2);
	assert_int_equal(siblings_of(&t, "0-7"), 2);
	assert_picked(&t, "0-7", 16, "0 1");
	assert_picked(&t, "5", 16, "");
	topology_free_members(&t);
	folder_remove(&m);
}

static void old_kernels_call_it_otherwise(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	folder_make(&m);
	folder_put(&m, "sys/devices/system/cpu/online", "0-1\n");
	folder_put(&m, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
	folder_put(&m, "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
	topology_of(&m, &t);
	assert_true(t.known);
	assert_int_equal(cores_of(&t, "0-1"), 1);
	topology_free_members(&t);
	folder_remove(&m);
}

/* ---- machines that do not say, or lie ---------------------------------------------------------- */

static void no_topology_is_not_known(void **state)
{
	struct topology t;
	struct folder m;

	(void)state;
	folder_make(&m);
	folder_put(&m, "sys/devices/system/cpu/online", "0-3\n");
	put_siblings(&m, 0, "0,2\n"); /* of one CPU alone: no answer either */
	topology_of(&m, &t);
	assert_false(t.known);
	assert_int_equal(t.cpus.n, 4);
	assert_int_equal(cores_of(&t, "0-3"), 0);
	assert_int_equal(nodes_of(&t, "0-3"), 0);
	assert_int_equal(siblings_of(&t, "0-3"), 0);
	assert_int_equal(isolated_of(&t, "0-3"), 0);
	assert_picked(&t, "1-3", 2, "1 2");
	assert_shared(&t, "0", "2", "");
	assert_shared(&t, "0-2", "2-3", "2 2");
	topology_free_members(&t);
	folder_remove(&m);
}

static void without_sys_the_cpus_come_from_proc(void **state)
{
	struct diag diag = {0};
	struct topology t;
	struct folder m;

	(void)state;
	folder_make(&m);
	assert_int_equal(topology_read(&t, m.sys, m.proc, &diag), -EIO);
	assert_string_equal(diag.what, "cannot tell which CPUs are online");
	folder_put(&m, "proc/stat",
	    "cpu  9 9 9 9\ncpu0 1 2 3 4\ncpu3 1 2 3 4\ncpu99999999999999999999 1\ncpux 1\ncpu4\n"
	    "intr 5");
	topology_of(&m, &t);
	assert_false(t.known);
	assert_int_equal(t.cpus.n, 2);
	assert_int_equal(t.cpus.items[1].cpu, 3);
	topology_free_members(&t);
	folder_remove(&m);
}

static void nonsense_is_not_known(void **state)
{
	static const char *const lists[] = {"", "\n", "x", "0-", "-1", "0,,1", "5-3", "0-99999999",
					    "1", "0 1", "18446744073709551616", "0\n1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct topology t;
		struct folder m;

		folder_make(&m);
		folder_put(&m, "sys/devices/system/cpu/online", "0\n");
		put_siblings(&m, 0, lists[i]);
		folder_put(&m, "sys/devices/system/node/online", lists[i]);
		folder_put(&m, "sys/devices/system/node/node0/cpulist", lists[i]);
		folder_put(&m, "sys/devices/system/cpu/isolated", lists[i]);
		topology_of(&m, &t);
		assert_false(t.known);
		assert_int_equal(cores_of(&t, "0"), 0);
		assert_int_equal(nodes_of(&t, "0"), 0);
		assert_int_equal(isolated_of(&t, "0"), 0);
		topology_free_members(&t);
		folder_remove(&m);
	}
}

static void the_largest_list_is_read(void **state)
{
	struct topology t;
	struct folder m;
	char text[1 << 17] = "";
	size_t n = 0;

	(void)state;
	/* Every CPU in a core of its own name, and a list longer than any kernel writes. */
	folder_make(&m);
	folder_put(&m, "sys/devices/system/cpu/online", "0-8191\n");
	put_siblings(&m, 8191, "0-8191\n");
	while (n + 8 < sizeof(text))
		n += (size_t)sprintf(text + n, "0,");
	put_siblings(&m, 0, text);
	topology_of(&m, &t);
	assert_int_equal(t.cpus.n, 8192);
	assert_false(t.known);
	assert_picked(&t, "8190-8191", 16, "8190 8191");
	topology_free_members(&t);
	folder_remove(&m);
}

static void a_virtual_machine_is_told_by_its_flags(void **state)
{
	static const struct {
		const char *file, *text;
		bool hypervisor;
	} rows[] = {
		{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n", true},
		{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor", true},
		{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\nmodel\t: hypervisor \n", false},
		{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisorx vme\n", false},
		{"proc/cpuinfo", "", false},
		{"sys/hypervisor/type", "xen\n", true},
		{"proc/device-tree/hypervisor/compatible", "linux,kvm", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct topology t;
		struct folder m;

		folder_make(&m);
		folder_put(&m, "sys/devices/system/cpu/online", "0\n");
		folder_put(&m, rows[i].file, rows[i].text);
		topology_of(&m, &t);
		assert_int_equal(t.hypervisor, rows[i].hypervisor);
		topology_free_members(&t);
		folder_remove(&m);
	}
}

/* What the C library counts by other ways, of this machine. */
static void this_machine_is_read(void **state)
{
	struct diag diag = {0};
	struct topology t;

	(void)state;
	assert_int_equal(topology_read(&t, "/sys", "/proc", &diag), 0);
	assert_int_equal(t.cpus.n, sysconf(_SC_NPROCESSORS_ONLN));
	if (t.known)
		assert_in_range(cores_of(&t, "0-8191"), 1, t.cpus.n);
	topology_free_members(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siblings_are_one_core),
		cmocka_unit_test(nodes_are_counted),
		cmocka_unit_test(one_cpu_of_each_core_is_picked),
		cmocka_unit_test(isolated_cores_are_picked_first),
		cmocka_unit_test(offline_cpus_are_nobodys_siblings),
		cmocka_unit_test(old_kernels_call_it_otherwise),
		cmocka_unit_test(no_topology_is_not_known),
		cmocka_unit_test(without_sys_the_cpus_come_from_proc),
		cmocka_unit_test(nonsense_is_not_known),
		cmocka_unit_test(the_largest_list_is_read),
		cmocka_unit_test(a_virtual_machine_is_told_by_its_flags),
		cmocka_unit_test(this_machine_is_read),
	};

	return cmocka_run_group_tests_name("collect_topology", tests, NULL, NULL);
}
