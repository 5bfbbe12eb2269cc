/* Servers under load: what a request costs, and what memory the server takes for it.
 *
 *	                              requests/s   CPU µs/request   wakeups/request   errors
 *	  rust                           183,000             5.21             0.021        0
 *	  zig                            176,000             5.44             0.023        0
 *	  zig / rust                       0.96×            1.04×             1.09×
 *
 * Figures that must not be compared say so in their own row, wherever it is copied to:
 *
 *	  zig (not comparable)            31,200             14.4             0.016        0
 */
#include <stdlib.h>
#include <string.h>

#include "report/figures.h"

static const struct figure serve_figures[] = {
	{"operations_per_s", "requests/s", 1, 0, FIGURE_PER_RUN, 0, FIGURE_RANGE},
	{"cpu_ns_per_op", "CPU µs/request", 1e-3, 2, FIGURE_PER_OPERATION, 0, FIGURE_RANGE},
	{"wakeups_per_op", "wakeups/request", 1, 3, FIGURE_PER_OPERATION, 0.01, 0},
	{"syscalls_per_op", "syscalls/request", 1, 2, FIGURE_PER_OPERATION, 0.01, 0},
	{"errors", "errors", 1, 0, FIGURE_PER_RUN, 1, 0},
	{0},
};

static const struct figure memory_figures[] = {
	{"rss_start_bytes", "RSS MB at start", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{"rss_bytes", "RSS MB at end", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{"pss_start_bytes", "PSS MB at start", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{"pss_bytes", "PSS MB at end", 1e-6, 1, FIGURE_PER_RUN, 0, 0},
	{0},
};

static const char *serve_conditions(const struct group *group)
{
	return group->runs.items[0]->capture->conditions;
}

/* Writes it into the row itself. */
static void serve_mark(struct row *row)
{
	struct cell *name = &row->cells.items[0];
	char *text = mem_printf("%s (not comparable)", name->text);

	free(name->text);
	name->text = text;
}

static void serve_add_table(struct report *report, const struct part *part,
			    const struct figure *list)
{
	struct figures figures;

	figures_begin(&figures, report, part, list);
	for (size_t i = 0; i < part->groups.n; i++) {
		figures_add_group(&figures, &part->groups.items[i], 0);
		if (group_not_comparable(&part->groups.items[i]))
			serve_mark(&figures.table->rows.items[figures.table->rows.n - 1]);
	}
	if (part_comparable(part))
		figures_add_ratios(&figures, NULL, 0);
	figures_end(&figures, report);
}

/* "bun, node" of those groups about whom `of` says the same as about the one at `first`; all: it is
 * said of every group. The caller frees. */
static char *serve_names(const struct part *part, size_t first,
			 const char *(*of)(const struct group *group), bool *ret_all)
{
	const char *text = of(&part->groups.items[first]);
	struct strbuf names = {0};
	size_t n = 0;

	for (size_t i = 0; i < part->groups.n; i++) {
		const char *other = of(&part->groups.items[i]);

		if (!other || strcmp(other, text))
			continue;
		strbuf_printf(&names, "%s%s", n++ ? ", " : "", part->groups.items[i].label);
	}
	*ret_all = n == part->groups.n;
	return strbuf_take(&names);
}

/* One note for each different thing that is said, with the names of those it is said of. */
static void serve_add_notes(struct report *report, const struct part *part, enum note_kind kind,
			    const char *(*of)(const struct group *group), const char *before,
			    const char *after)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const char *text = of(&part->groups.items[i]);
		bool told = false, all;
		char *names;

		for (size_t j = 0; j < i && text && !told; j++) {
			const char *earlier = of(&part->groups.items[j]);

			told = earlier && !strcmp(earlier, text);
		}
		if (!text || told)
			continue;
		names = serve_names(part, i, of, &all);
		report_add_note(report, kind, "%s%s%s%s%s", before, all ? "" : names,
				all ? "" : ": ", text, after);
		free(names);
	}
}

void serve_build(struct report *report, const struct part *part)
{
	serve_add_table(report, part, serve_figures);
	serve_add_notes(report, part, NOTE_WARNING, group_not_comparable, "not comparable: ",
			"; no ratio and no verdict is given");
	serve_add_notes(report, part, NOTE_TEXT, serve_conditions, "Load: ", ".");
	serve_add_table(report, part, memory_figures);
}
