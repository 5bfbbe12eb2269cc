/* Starts: how long from exec to the first output and to the end, and what that took.
 *
 *	                first output ms   exit ms   (min–max)   CPU ms   wakeups   syscalls   …
 *	  floor                   0.412     0.530   (0.5–0.8)    0.210         0         31
 *	  rust                     2.41      2.93   (2.9–3.1)     2.80         4        190
 */
#include "report/figures.h"

static const struct figure startup_figures[] = {
	{"exec_to_first_output_ns", "to output ms", 1e-6, 2, FIGURE_PER_RUN, 0, 0},
	{"exec_to_exit_ns", "to exit ms", 1e-6, 2, FIGURE_PER_RUN, 0, FIGURE_RANGE},
	{"oncpu_ns", "CPU ms", 1e-6, 2, FIGURE_PER_RUN, 0, 0},
	{"wakeups", "wakeups", 1, 1, FIGURE_PER_RUN, 10, 0},
	{"syscalls", "syscalls", 1, 0, FIGURE_PER_RUN, 10, 0},
	{"minor_faults", "minor faults", 1, 0, FIGURE_PER_RUN, 10, 0},
	{"major_faults", "major faults", 1, 0, FIGURE_PER_RUN, 10, FIGURE_RARE},
	{"max_rss_bytes", "peak MB", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{"size_bytes", "program MB", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{0},
};

void startup_build(struct report *report, const struct part *part)
{
	struct figures figures;

	figures_begin(&figures, report, part, startup_figures);
	for (size_t i = 0; i < part->groups.n; i++)
		figures_add_group(&figures, &part->groups.items[i], 0);
	figures_add_ratios(&figures, NULL, 0);
	figures_end(&figures, report);
	report_add_note(
		report, NOTE_TEXT,
		"Times run from the call of exec to the first write to standard output and to "
		"the end of the last thread.");
}
