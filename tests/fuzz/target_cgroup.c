/* Mounts, memberships and limits of control groups. */
#include "collect/cgroup.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

/* The order of the pieces of an input. */
static const char *const names[] = {
	"proc/self/mountinfo", "proc/7/cgroup",		 "cg/cpu.max",	     "cg/a/cpu.max",
	"cg/a/cpu.stat",       "cg/a/b/cpu.cfs_quota_us", "cg/a/b/cpu.cfs_period_us", "cg/a/b/cpu.stat",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *root = fuzz_folder(names, sizeof(names) / sizeof(*names), bytes, n);
	char *proc = mem_printf("%s/proc", root);
	struct cgroup_limits limits = {};
	double cpus;

	free(cgroup_mount(proc, NULL, NULL));
	cgroup_limits_add(&limits, proc, 7);
	cgroup_limits_add(&limits, proc, 7);
	cpus = cgroup_limits_cpus(&limits);
	/* 0 or a number that is one: a limit is a ratio of two numbers above 0. */
	FUZZ_CHECK(limits.items.n ? cpus > 0 && cpus < 1e15 : cpus == 0);
	for (size_t i = 1; i < limits.items.n; i++)
		FUZZ_CHECK(limits.items.items[i].cpus >= cpus);
	cgroup_limits_throttled_ns(&limits);
	cgroup_limits_free_members(&limits);
	free(proc);
	return 0;
}
