/* The first line of a part: what was measured, for how long, on what.
 *
 *	idle · 20 s after a 3.1 s start-up · 2 CPUs · Linux 6.18 · x86-64
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "report/number.h"
#include "report/part.h"

#define HEADING_SUBJECT_BYTES 60

/* Least and greatest of something over the runs of a part. */
struct span {
	double least, most;
};

static struct span heading_span(const struct part *part, double (*get)(const struct run *run))
{
	struct span span = {INFINITY, -INFINITY};

	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];

		for (size_t j = 0; j < group->runs.n; j++) {
			double value = get(group->runs.items[j]);

			span.least = fmin(span.least, value);
			span.most = fmax(span.most, value);
		}
	}
	return span;
}

static double heading_window_ns(const struct run *run)
{
	return (double)run->window_ns;
}

/* 0 stands for a run that has none: floor is never waited for. */
static double heading_settle_ns(const struct run *run)
{
	return run->capture->settle_ns ? (double)run->capture->settle_ns : NAN;
}

static double heading_operations(const struct run *run)
{
	return run->capture->has_result ? (double)run->capture->operations : 0;
}

/* "20 s", or "19.2 s to 20 s" where the difference shows. A window that was closed a little late is
 * still the window that was asked for. */
static void heading_add_duration(struct strbuf *text, struct span ns)
{
	char least[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];

	units_format_duration_plain(least, ns.least);
	units_format_duration_plain(most, ns.most);
	if (ns.most - ns.least <= ns.most / 200)
		strbuf_add(text, most);
	else
		strbuf_printf(text, "%s to %s", least, most);
}

/* "60 runs each", "58 to 60 runs each"; nothing where nothing repeats. */
static void heading_add_runs(struct strbuf *text, const struct part *part)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < part->groups.n; i++) {
		size_t n = part->groups.items[i].runs.n;

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	if (most < 2)
		return;
	if (least == most)
		strbuf_printf(text, " · %zu runs%s", most, part->groups.n > 1 ? " each" : "");
	else
		strbuf_printf(text, " · %zu to %zu runs each", least, most);
}

/* What a part that profiled one thing was about: the command where it was started by us, which
 * makes it the first process; else the label. */
static void heading_add_subject(struct strbuf *text, const struct part *part)
{
	const struct group *group = &part->groups.items[0];
	const struct run *run = group->runs.items[0];
	struct strbuf command = {0};
	char *subject;

	if (part->groups.n != 1)
		return;
	if (part_is(part, "run") && run->processes.n)
		part_add_command(&command, run->processes.items[0].image);
	subject = part_shorten(command.n ? strbuf_text(&command) : group->label,
			       HEADING_SUBJECT_BYTES);
	strbuf_printf(text, " · %s", subject);
	free(subject);
	strbuf_free_members(&command);
}

static void heading_add_window(struct strbuf *text, const struct part *part)
{
	struct span window_ns = heading_span(part, heading_window_ns);
	struct span settle_ns = heading_span(part, heading_settle_ns);
	struct span operations = heading_span(part, heading_operations);
	char number[NUMBER_BYTES];

	if (part_is(part, "startup")) /* the table says how long */
		return;
	strbuf_add(text, " · ");
	if (part_is(part, "hash") && operations.least > 0 && operations.least == operations.most) {
		strbuf_printf(text, "%s operations", number_real(number, operations.most, 0));
		return;
	}
	heading_add_duration(text, window_ns);
	if (!isfinite(settle_ns.most))
		return;
	strbuf_add(text, settle_ns.least == settle_ns.most ? " after a " : " after ");
	heading_add_duration(text, settle_ns);
	strbuf_add(text, settle_ns.least == settle_ns.most ? " start-up" : " of start-up");
}

void heading_build(struct report *report, const struct part *part)
{
	const struct capture_tool *tool = &part->result->recording->tool;
	struct strbuf text = {0};

	strbuf_add(&text, part->workload);
	if (part_is(part, "run") || part_is(part, "attach"))
		heading_add_subject(&text, part);
	heading_add_window(&text, part);
	heading_add_runs(&text, part);
	strbuf_printf(&text, " · %u CPU%s · Linux %s · %s", tool->cpus, tool->cpus == 1 ? "" : "s",
		      tool->kernel, tool->arch);
	report_add_heading(report, "%s", strbuf_text(&text));
	strbuf_free_members(&text);
}
