/* Idle servers: how often each wakes, and what that costs.
 *
 *	               wakeups/s   CPU ms/s   syscalls/s   idle exits/s   active seconds
 *	  floor             0.00      0.000          0.0           0.00          0 of 20
 *	  rust              3.00      0.244          8.5           1.50         20 of 20
 *	  zig              12.10      0.740         34.0          10.95         20 of 20
 *	  zig / rust       4.03×      3.03×        4.00×          7.30×
 */
#include "report/figures.h"

static const struct figure idle_figures[] = {
	{"wakeups_per_s", "wakeups/s", 1, 2, FIGURE_PER_SECOND, 10, FIGURE_RANGE},
	{"cpu_ms_per_s", "CPU ms/s", 1, 3, FIGURE_PER_SECOND, 0.1, FIGURE_RANGE},
	{"syscalls_per_s", "syscalls/s", 1, 2, FIGURE_PER_SECOND, 10, 0},
	{"idle_exits_per_s", "idle exits/s", 1, 2, FIGURE_PER_SECOND, 10, 0},
	{"active_seconds", "active seconds", 1, 0, FIGURE_PER_RUN, 0, FIGURE_WINDOW},
	{"rss_bytes", "RSS MB", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{"pss_bytes", "PSS MB", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{0},
};

void idle_build(struct report *report, const struct part *part)
{
	struct figures figures;

	figures_begin(&figures, report, part, idle_figures);
	for (size_t i = 0; i < part->groups.n; i++)
		figures_add_group(&figures, &part->groups.items[i], 0);
	figures_add_ratios(&figures, NULL, 0);
	figures_end(&figures, report);
}
