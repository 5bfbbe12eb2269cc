/* Facts of the machine and the kernel: what is made of the texts that /proc and /sys show. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/kernel.h"
#include "collect/machine.h"
#include "tests/unit/folder.h"

#define TICK_NS 10000000ULL

static void stat_adds_what_belongs_together(void **state)
{
	/* user nice system idle iowait irq softirq steal guest guest_nice */
	static const char text[] = "cpu  1000 20 300 40000 5000 6 70 800 90 9\n"
				   "cpu0 1 1 1 1 1 1 1 1 1 1\n";
	struct machine_cpu_times t;

	(void)state;
	assert_int_equal(machine_parse_stat(text, 100, &t), 0);
	assert_int_equal(t.busy_ns, 1320 * TICK_NS);
	assert_int_equal(t.idle_ns, 45000 * TICK_NS);
	assert_int_equal(t.irq_ns, 76 * TICK_NS);
	assert_int_equal(t.steal_ns, 800 * TICK_NS);
}

static void stat_of_old_kernels_ends_early(void **state)
{
	struct machine_cpu_times t;

	(void)state;
	assert_int_equal(machine_parse_stat("cpu  1 2 3 4\nctxt 9\n", 1000, &t), 0);
	assert_int_equal(t.busy_ns, 6000000);
	assert_int_equal(t.idle_ns, 4000000);
	assert_int_equal(t.irq_ns + t.steal_ns, 0);
}

static void stat_refuses_nonsense(void **state)
{
	static const char *const texts[] = {
		"",
		"cpu",
		"cpu ",
		"cpu0 1 2 3 4",
		"cpu  1 2 3",
		"cpu  1 2 3 x",
		"cpu  -1 2 3 4",
		"cpu  99999999999999999999999 2 3 4",
		"cpu  1 2 3 4 18446744073709551615",
	};
	struct machine_cpu_times t;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_true(machine_parse_stat(texts[i], 100, &t) < 0);
	assert_true(machine_parse_stat("cpu  1 2 3 4", 0, &t) < 0);
	assert_true(machine_parse_stat("cpu  1 2 3 4", -1, &t) < 0);
}

static void some_cpus_are_added_up(void **state)
{
	static const char text[] = "cpu  111 111 111 111 111 111 111 111 0 0\n"
				   "cpu0 1 2 3 4 5 6 7 8 0 0\n"
				   "cpu1 100 0 0 100 0 0 0 0 0 0\n"
				   "cpu12 10 20 30 40 50 60 70 80 0 0\n"
				   "intr 5 cpu0 9 9 9 9\n"
				   "softirq 1 2 3";
	struct cpulist cpus = {0};
	struct machine_cpu_times t;

	(void)state;
	assert_int_equal(machine_parse_stat_of(text, 100, &cpus, &t), -ENOENT);
	cpulist_add(&cpus, 0);
	cpulist_add(&cpus, 12);
	cpulist_add(&cpus, 2); /* off */
	assert_int_equal(machine_parse_stat_of(text, 100, &cpus, &t), 0);
	assert_int_equal(t.busy_ns, 66 * TICK_NS);
	assert_int_equal(t.idle_ns, 99 * TICK_NS);
	assert_int_equal(t.irq_ns, 143 * TICK_NS);
	assert_int_equal(t.steal_ns, 88 * TICK_NS);
	assert_int_equal(machine_parse_stat_of("cpu0 1 2 x", 100, &cpus, &t), -EINVAL);
	assert_int_equal(machine_parse_stat_of("cpu0 1 2 3 18446744073709551615", 100, &cpus, &t),
			 -ERANGE);
	assert_int_equal(machine_parse_stat_of("", 100, &cpus, &t), -ENOENT);
	assert_int_equal(machine_parse_stat_of(text, 0, &cpus, &t), -EINVAL);
}

static void time_of_a_process_is_behind_its_name(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(machine_parse_process_stat("812 (a) S 1) R 1 1 1 0 -1 4194560 9 9 9 9 "
						    "100 20 3 4 20 0 1 0 55",
						    100, &ns),
			 0);
	assert_int_equal(ns, 127 * TICK_NS);
	assert_int_equal(machine_parse_process_stat("812 (wrk", 100, &ns), -EINVAL);
	assert_int_equal(machine_parse_process_stat("812 (wrk) S 1 1 1", 100, &ns), -EINVAL);
	assert_int_equal(machine_parse_process_stat("", 100, &ns), -EINVAL);
	assert_int_equal(machine_parse_process_stat("1 () S 1 1 1 0 -1 0 9 9 9 9 9999999999999 0 0 0 20", 100,
						    &ns),
			 -ERANGE); /* times the length of a tick it would run over */
	assert_int_equal(machine_process_ns(getpid(), &ns), 0);
	assert_true(machine_process_ns(0, &ns) < 0);
}

static void turbo_is_told_by_either_switch(void **state)
{
	static const struct {
		const char *file, *text;
		int turbo;
	} rows[] = {
		{"intel_pstate/no_turbo", "0\n", 1}, {"intel_pstate/no_turbo", "1\n", -1},
		{"cpufreq/boost", "1\n", 1},	     {"cpufreq/boost", "0\n", -1},
		{"cpufreq/boost", "10\n", 0},	     {"cpufreq/boost", "", 0},
		{"cpufreq/other", "1\n", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct folder f;
		char name[128];

		folder_make(&f);
		snprintf(name, sizeof(name), "sys/devices/system/cpu/%s", rows[i].file);
		folder_put(&f, name, rows[i].text);
		assert_int_equal(machine_turbo(f.sys), rows[i].turbo);
		folder_remove(&f);
	}
}

static void time_never_runs_backwards(void **state)
{
	struct machine_cpu_times a = {100, 10, 50, 1000}, b = {150, 10, 40, 1500}, d;

	(void)state;
	d = machine_cpu_times_between(&a, &b);
	assert_int_equal(d.busy_ns, 50);
	assert_int_equal(d.irq_ns, 0);
	assert_int_equal(d.steal_ns, 0);
	assert_int_equal(d.idle_ns, 500);
}

/* What the C library counts by other ways. */
static void cpus_agree_with_the_c_library(void **state)
{
	struct cpulist online, allowed;

	(void)state;
	assert_int_equal(machine_online_cpus(&online, NULL), 0);
	assert_int_equal(cpulist_count(&online), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(machine_allowed_cpus(&allowed, NULL), 0);
	assert_in_range(cpulist_count(&allowed), 1, cpulist_count(&online));
	assert_int_equal(machine_thread_cpus(getpid(), &online, NULL), 0);
	assert_memory_equal(&online, &allowed, sizeof(online));
	assert_true(machine_thread_cpus(0, &online, NULL) < 0);
}

/* user and system alone differ from getrusage; the sum over all classes is the machine's age. */
static void cpu_times_add_up_to_uptime(void **state)
{
	struct machine_cpu_times t;
	struct cpulist online;
	char *text = machine_read_file("/proc/uptime", 256);
	double up_s, sum_s;

	(void)state;
	assert_non_null(text);
	up_s = strtod(text, NULL);
	free(text);
	assert_int_equal(machine_cpu_times(&t, NULL), 0);
	assert_int_equal(machine_online_cpus(&online, NULL), 0);
	sum_s = (double)(t.busy_ns + t.irq_ns + t.steal_ns + t.idle_ns) / 1e9;
	/* Virtual machines lose ticks; a wrong unit would be off by ten and more. */
	assert_true(sum_s < 1.2 * up_s * (double)cpulist_count(&online) + 1);
	{
		struct machine_cpu_times of;
		char *stat = machine_read_stat();

		/* The first line is the sum of the others, each rounded. */
		assert_non_null(stat);
		assert_int_equal(machine_parse_stat_of(stat, 100, &online, &of), 0);
		assert_int_equal(machine_parse_stat(stat, 100, &t), 0);
		free(stat);
		assert_in_range(of.busy_ns, 0, t.busy_ns);
		assert_in_range(t.busy_ns - of.busy_ns, 0, 4 * TICK_NS * cpulist_count(&online));
	}
	assert_true(sum_s > 0.5 * up_s * (double)cpulist_count(&online) - 1);
}

static void files_are_read_up_to_a_limit(void **state)
{
	char *text = machine_read_file("/proc/self/status", 5);

	(void)state;
	assert_string_equal(text, "Name:");
	free(text);
	assert_null(machine_read_file("/proc/self/no-such-file", 10));
	assert_int_equal(errno, ENOENT);
	assert_null(machine_read_file("/proc/self", 10));
	assert_int_equal(errno, EISDIR);
}

static void lockdown_is_the_word_in_brackets(void **state)
{
	(void)state;
	assert_int_equal(kernel_parse_lockdown("[none] integrity confidentiality\n"),
			 KERNEL_LOCKDOWN_NONE);
	assert_int_equal(kernel_parse_lockdown("none [integrity] confidentiality\n"),
			 KERNEL_LOCKDOWN_INTEGRITY);
	assert_int_equal(kernel_parse_lockdown("none integrity [confidentiality]\n"),
			 KERNEL_LOCKDOWN_CONFIDENTIALITY);
	assert_int_equal(kernel_parse_lockdown("none integrity\n"), KERNEL_LOCKDOWN_UNKNOWN);
	assert_int_equal(kernel_parse_lockdown(""), KERNEL_LOCKDOWN_UNKNOWN);
}

static void capabilities_that_suffice(void **state)
{
	uint64_t bpf = 1ULL << CAP_BPF, perfmon = 1ULL << CAP_PERFMON;

	(void)state;
	assert_false(kernel_capabilities_suffice(0));
	assert_false(kernel_capabilities_suffice(bpf));
	assert_false(kernel_capabilities_suffice(perfmon));
	assert_true(kernel_capabilities_suffice(bpf | perfmon));
	assert_true(kernel_capabilities_suffice(1ULL << CAP_SYS_ADMIN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_adds_what_belongs_together),
		cmocka_unit_test(stat_of_old_kernels_ends_early),
		cmocka_unit_test(stat_refuses_nonsense),
		cmocka_unit_test(some_cpus_are_added_up),
		cmocka_unit_test(time_of_a_process_is_behind_its_name),
		cmocka_unit_test(turbo_is_told_by_either_switch),
		cmocka_unit_test(time_never_runs_backwards),
		cmocka_unit_test(cpus_agree_with_the_c_library),
		cmocka_unit_test(cpu_times_add_up_to_uptime),
		cmocka_unit_test(files_are_read_up_to_a_limit),
		cmocka_unit_test(lockdown_is_the_word_in_brackets),
		cmocka_unit_test(capabilities_that_suffice),
	};

	return cmocka_run_group_tests_name("collect_machine", tests, NULL, NULL);
}
