/* What a report says about the surroundings: the lines, as whole strings. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/part.h"
#include "tests/unit/sample.h"

#define ITSELF "wakewhy itself: 2 wakeups and 310 µs of CPU in the window; "
#define QUIET  ITSELF "other processes used 1.2 % of the CPUs, interrupts 0 %, steal 0.1 %.\n"

/* Its notes, a line each; renderers wrap them and make them safe. */
static char *said(const struct recording *recording)
{
	struct report report = {0};
	struct strbuf text = {0};
	struct result result;

	result_init(&result, recording);
	noise_build(&report, &result);
	for (size_t i = 0; i < report.blocks.n; i++)
		strbuf_printf(&text, "%s\n", report.blocks.items[i].text);
	report_free_members(&report);
	result_free_members(&result);
	return strbuf_take(&text);
}

/* One run with this noise. */
static void assert_said(struct capture_noise noise, uint64_t window_ns, const char *expected)
{
	struct recording recording = {0};
	struct capture *capture;
	char *text;

	sample_tool(&recording);
	capture = sample_add_run(&recording, "zig", "idle", NULL, 0);
	capture->end_ns = capture->start_ns + window_ns;
	free(capture->noise.governor);
	noise.governor = mem_strdup(noise.governor ? noise.governor : "");
	capture->noise = noise;
	text = said(&recording);
	assert_string_equal(text, expected);
	free(text);
	recording_free_members(&recording);
}

/* Two CPUs that others used a little. */
static struct capture_noise quiet(void)
{
	return (struct capture_noise){.other_cpu_share = 0.0123,
				      .used_other_share = 0.0123,
				      .steal_share = 0.001,
				      .cpus_online = 2,
				      .cpus_used = 2};
}

static void a_quiet_machine_has_one_line(void **state)
{
	(void)state;
	assert_said(quiet(), SAMPLE_WINDOW_NS, QUIET);
}

static void others_on_our_cpus_are_told_apart(void **state)
{
	struct capture_noise noise = quiet();

	(void)state;
	noise.cpus_used = 1;
	noise.used_other_share = 0.002;
	assert_said(noise, SAMPLE_WINDOW_NS,
		    ITSELF "other processes used 1.2 % of the CPUs (0.2 % of the workload's), "
			   "interrupts 0 %, steal 0.1 %.\n");
	noise.other_cpu_share = 0.215;
	noise.used_other_share = 0.43;
	assert_said(noise, SAMPLE_WINDOW_NS,
		    ITSELF "other processes used 22 % of the CPUs (43 % of the workload's), "
			   "interrupts 0 %, steal 0.1 %.\n"
			   "busy machine: others used up to 43 % of the workload's CPUs; sleepers wake "
			   "more and later, and times grow\n");
	/* Elsewhere alone. */
	noise.used_other_share = 0;
	assert_said(noise, SAMPLE_WINDOW_NS,
		    ITSELF "other processes used 22 % of the CPUs (0 % of the workload's), "
			   "interrupts 0 %, steal 0.1 %.\n"
			   "busy machine: others used up to 22 % of the CPUs; sleepers wake more and "
			   "later, and times grow\n");
}

static void stolen_time_is_said_early(void **state)
{
	struct capture_noise noise = quiet();

	(void)state;
	noise.steal_share = 0.02;
	assert_said(noise, SAMPLE_WINDOW_NS,
		    ITSELF "other processes used 1.2 % of the CPUs, interrupts 0 %, steal 2.0 %.\n"
			   "stolen time: the hypervisor took up to 2.0 % of the CPUs; CPU times hold "
			   "part of it\n");
}

static void what_is_not_known_is_no_zero(void **state)
{
	struct capture_noise noise = quiet();

	(void)state;
	noise.other_cpu_share = noise.used_other_share = NAN;
	noise.steal_share = 0.5; /* one tick */
	assert_said(noise, WK_SECOND_NS / 100,
		    ITSELF "what others used is not known: the kernel's ticks are too coarse for "
			   "windows under half a second.\n");
	assert_said(noise, SAMPLE_WINDOW_NS, ITSELF "what others used is not known.\n");
}

static void the_worst_of_several_runs_is_told(void **state)
{
	struct recording recording = {0};
	char *text;

	(void)state;
	sample_tool(&recording);
	sample_add_run(&recording, "a", "idle", NULL, 0);
	sample_add_run(&recording, "a", "idle", NULL, 1)->noise.other_cpu_share = 0.05;
	sample_add_run(&recording, "a", "idle", NULL, 2)->noise.used_other_share = NAN;
	text = said(&recording);
	assert_string_equal(text, "wakewhy itself: 6 wakeups and 930 µs of CPU in all windows; other "
				  "processes used at most 5.0 % of the CPUs, interrupts 0 %, steal "
				  "0.1 %, as far as known (2 of 3 runs).\n");
	free(text);
	recording_free_members(&recording);
}

static void a_machine_is_told_with_its_effects(void **state)
{
	struct capture_noise noise = quiet();

	(void)state;
	noise.cpus_online = 8;
	noise.cpus_used = 8;
	noise.cores_used = 4;
	noise.siblings_shared = 8;
	noise.numa_nodes = 2;
	noise.turbo = 1;
	noise.quota_cpus = 1.5;
	noise.hypervisor = true;
	noise.isolated_used = 1;
	noise.governor = "powersave";
	assert_said(noise, SAMPLE_WINDOW_NS,
		    QUIET "Machine: virtual, so what a core is and when it runs is up to the host; the 8 "
			  "CPUs used are 4 physical cores, so busy threads slow one another; the CPUs "
			  "used are on 2 NUMA nodes, and memory of another is slower; 1 of the 8 CPUs "
			  "used is isolated from other work; frequency governor powersave, so short and "
			  "rare work runs at low clocks; turbo on, so clocks depend on heat and on the "
			  "other cores; its cgroup may use 1.50 CPUs and is held back beyond that.\n");
}

static void siblings_that_are_not_used_are_others(void **state)
{
	struct capture_noise noise = quiet();

	(void)state;
	noise.cores_used = 2;
	noise.siblings_shared = 2;
	noise.numa_nodes = 1;
	noise.turbo = -1;
	noise.governor = "performance";
	assert_said(noise, SAMPLE_WINDOW_NS,
		    QUIET "Machine: 2 of the 2 CPUs used share a core with a sibling, where others slow "
			  "the workload; frequency governor performance; turbo off.\n");
}

static void hostile_figures_are_not_shown(void **state)
{
	(void)state;
	assert_said((struct capture_noise){.other_cpu_share = INFINITY,
					   .used_other_share = INFINITY,
					   .steal_share = NAN,
					   .irq_share = INFINITY,
					   .governor = "\x1b[2J"},
		    SAMPLE_WINDOW_NS,
		    ITSELF "other processes used – of the CPUs, interrupts –, steal 0 %.\n"
			   "busy machine: others used up to – of the CPUs; sleepers wake more and later, "
			   "and times grow\n"
			   "Machine: frequency governor \x1b[2J, so short and rare work runs at low "
			   "clocks.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_machine_has_one_line),
		cmocka_unit_test(others_on_our_cpus_are_told_apart),
		cmocka_unit_test(stolen_time_is_said_early),
		cmocka_unit_test(what_is_not_known_is_no_zero),
		cmocka_unit_test(the_worst_of_several_runs_is_told),
		cmocka_unit_test(a_machine_is_told_with_its_effects),
		cmocka_unit_test(siblings_that_are_not_used_are_others),
		cmocka_unit_test(hostile_figures_are_not_shown),
	};

	return cmocka_run_group_tests_name("noise_report", tests, NULL, NULL);
}
