/* Limits of cgroups, of machines that are made of a few files. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cgroup.h"
#include "tests/unit/folder.h"

/* Mounts as systemd makes them: version 2 alone, its top at `top` below the root of the folder. */
static void put_mounts(const struct folder *folder, const char *format)
{
	char text[1024];

	/* Some formats have the root once, some twice. */
	/* cppcheck-suppress wrongPrintfScanfArgNum */
	snprintf(text, sizeof(text), format, folder->root, folder->root);
	folder_put(folder, "proc/self/mountinfo", text);
}

#define UNIFIED                                                                                    \
	"22 1 0:20 / /proc rw,nosuid - proc proc rw\n"                                             \
	"30 22 0:26 / %s/top rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

static void unified_machine(struct folder *folder)
{
	folder_make(folder);
	put_mounts(folder, UNIFIED);
	folder_put(folder, "proc/7/cgroup", "0::/a/b\n");
	folder_put(folder, "top/cgroup.procs", ""); /* the root has no limit */
	folder_put(folder, "top/a/cpu.max", "max 100000\n");
	folder_put(folder, "top/a/b/cpu.max", "max 100000\n");
}

static void assert_limits(const struct folder *folder, pid_t pid, size_t n, double cpus,
			  uint64_t throttled_ns)
{
	struct cgroup_limits limits = {0};

	cgroup_limits_add(&limits, folder->proc, pid);
	cgroup_limits_add(&limits, folder->proc, pid); /* none twice */
	assert_int_equal(limits.items.n, n);
	assert_true(cgroup_limits_cpus(&limits) == cpus);
	assert_int_equal(cgroup_limits_throttled_ns(&limits), throttled_ns);
	cgroup_limits_free_members(&limits);
}

static void no_limit_is_none(void **state)
{
	struct folder f;

	(void)state;
	unified_machine(&f);
	assert_limits(&f, 7, 0, 0, 0);
	assert_limits(&f, 8, 0, 0, 0); /* no such process */
	folder_remove(&f);
}

static void limits_of_all_cgroups_above_hold(void **state)
{
	struct folder f;

	(void)state;
	unified_machine(&f);
	folder_put(&f, "top/a/cpu.max", "50000 100000\n");
	folder_put(&f, "top/a/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 12000\n");
	assert_limits(&f, 7, 1, 0.5, 12000000);
	folder_put(&f, "top/a/b/cpu.max", "150000 100000\n");
	folder_put(&f, "top/a/b/cpu.stat", "throttled_usec 1\nnr_bursts 0\n");
	assert_limits(&f, 7, 2, 0.5, 12001000);
	/* A container's own top. */
	folder_put(&f, "top/cpu.max", "20000 100000\n");
	assert_limits(&f, 7, 3, 0.2, 12001000);
	folder_remove(&f);
}

static void two_processes_have_the_limits_of_both(void **state)
{
	struct cgroup_limits limits = {0};
	struct folder f;

	(void)state;
	unified_machine(&f);
	folder_put(&f, "proc/8/cgroup", "0::/a/c\n");
	folder_put(&f, "top/a/cpu.max", "200000 100000\n");
	folder_put(&f, "top/a/c/cpu.max", "10000 100000\n");
	cgroup_limits_add(&limits, f.proc, 7);
	assert_true(cgroup_limits_cpus(&limits) == 2);
	cgroup_limits_add(&limits, f.proc, 8);
	assert_int_equal(limits.items.n, 2);
	assert_true(cgroup_limits_cpus(&limits) == 0.1);
	cgroup_limits_free_members(&limits);
	folder_remove(&f);
}

static void version_1_has_a_hierarchy_for_the_controller(void **state)
{
	struct folder f;

	(void)state;
	folder_make(&f);
	put_mounts(&f, "25 1 0:22 / /wrong rw - cgroup cgroup rw,cpuset\n"
		       "26 1 0:23 / %s/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n");
	folder_put(&f, "proc/7/cgroup", "5:cpuset:/wrong\n4:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c\n");
	folder_put(&f, "cpu/a/cpu.cfs_quota_us", "25000\n");
	folder_put(&f, "cpu/a/cpu.cfs_period_us", "100000\n");
	folder_put(&f, "cpu/a/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 777\n");
	folder_put(&f, "cpu/cpu.cfs_quota_us", "-1\n");
	folder_put(&f, "cpu/cpu.cfs_period_us", "100000\n");
	assert_limits(&f, 7, 1, 0.25, 777);
	folder_remove(&f);
}

/* As in a container that sees the host's paths: its mount shows a part of the tree. */
static void a_mount_of_a_part_is_looked_up_below_it(void **state)
{
	struct folder f;

	(void)state;
	folder_make(&f);
	put_mounts(&f, "30 22 0:26 /docker/1f %s/a\\040b ro - cgroup2 cgroup2 rw\n");
	folder_put(&f, "proc/7/cgroup", "0::/docker/1f/app\n");
	folder_put(&f, "proc/8/cgroup", "0::/docker/1f\n");
	folder_put(&f, "proc/9/cgroup", "0::/../../2e\n");
	folder_put(&f, "a b/cpu.max", "30000 60000\n");
	folder_put(&f, "a b/app/cpu.max", "max 60000\n");
	folder_put(&f, "2e/cpu.max", "1000 60000\n");
	assert_limits(&f, 7, 1, 0.5, 0);
	assert_limits(&f, 8, 1, 0.5, 0);
	assert_limits(&f, 9, 0, 0, 0);
	folder_remove(&f);
}

static void nonsense_is_no_limit(void **state)
{
	static const char *const limits[] = {"",	 "\n",	   "x y\n", "100000\n", "-1 100000\n",
					     "0 100000", "nan 1",  "1 0",   "inf 100000",
					     "100000 1e300", "100000 -5"};
	static const char *const cgroups[] = {"", "\n", "0", "0:", "0::", "0::a/b", "::/a/b", ":::::\n"};
	static const char *const mounts[] = {"",     "\n",	 " - \n", " - cgroup2\n", "1 2 3 - cgroup2 x rw",
					     "1 2 3 / - cgroup2 x rw", "30 22 0:26 / %s/top"};
	struct folder f;

	(void)state;
	unified_machine(&f);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		folder_put(&f, "top/a/b/cpu.max", limits[i]);
		assert_limits(&f, 7, 0, 0, 0);
	}
	folder_put(&f, "top/a/b/cpu.max", "100000 100000");
	assert_limits(&f, 7, 1, 1, 0);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		put_mounts(&f, mounts[i]);
		assert_limits(&f, 7, 0, 0, 0);
	}
	put_mounts(&f, UNIFIED);
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++) {
		folder_put(&f, "proc/7/cgroup", cgroups[i]);
		assert_limits(&f, 7, 0, 0, 0);
	}
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_limit_is_none),
		cmocka_unit_test(limits_of_all_cgroups_above_hold),
		cmocka_unit_test(two_processes_have_the_limits_of_both),
		cmocka_unit_test(version_1_has_a_hierarchy_for_the_controller),
		cmocka_unit_test(a_mount_of_a_part_is_looked_up_below_it),
		cmocka_unit_test(nonsense_is_no_limit),
	};

	return cmocka_run_group_tests_name("collect_cgroup", tests, NULL, NULL);
}
