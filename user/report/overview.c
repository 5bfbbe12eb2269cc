/* Commands and live processes: the totals of each label. */
#include "report/figures.h"

/* Totals for commands, which end; rates for windows on what lives on. Figures that a workload has
 * no value for are left out. */
static const struct figure overview_figures[] = {
	{"wakeups", "wakeups", 1, 0, FIGURE_PER_RUN, 10, FIGURE_RANGE},
	{"wakeups_per_s", "wakeups/s", 1, 2, FIGURE_PER_SECOND, 10, 0},
	{"oncpu_ns", "CPU ms", 1e-6, 3, FIGURE_PER_RUN, 0.1, FIGURE_RANGE},
	{"cpu_ms_per_s", "CPU ms/s", 1, 3, FIGURE_PER_SECOND, 0.1, 0},
	{"runq_ns", "run queue ms", 1e-6, 3, FIGURE_PER_RUN, 0.1, 0},
	{"runq_max_ns", "max µs", 1e-3, 0, FIGURE_PER_RUN, 0, 0},
	{"switches_per_s", "switches/s", 1, 2, FIGURE_PER_SECOND, 10, 0},
	{"idle_exits_per_s", "idle exits/s", 1, 2, FIGURE_PER_SECOND, 10, 0},
	{"syscalls", "syscalls", 1, 0, FIGURE_PER_RUN, 10, 0},
	{"syscalls_per_s", "syscalls/s", 1, 1, FIGURE_PER_SECOND, 10, 0},
	{"active_seconds", "active seconds", 1, 0, FIGURE_PER_RUN, 0, FIGURE_WINDOW},
	{0},
};

void overview_build(struct report *report, const struct part *part)
{
	struct figures figures;

	figures_begin(&figures, report, part, overview_figures);
	for (size_t i = 0; i < part->groups.n; i++)
		figures_add_group(&figures, &part->groups.items[i], 0);
	figures_add_ratios(&figures, NULL, 0);
	figures_end(&figures, report);
}
