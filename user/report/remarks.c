/* Sentences that a part's figures need: what was cut short, not settled, not counted. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "report/number.h"
#include "report/part.h"

/* How many of a group's runs something is true of. */
static size_t remarks_count(const struct group *group, bool (*is)(const struct capture *capture))
{
	size_t n = 0;

	for (size_t i = 0; i < group->runs.n; i++)
		n += is(group->runs.items[i]->capture);
	return n;
}

static bool remarks_partial(const struct capture *capture)
{
	return capture->partial;
}

static bool remarks_unsettled(const struct capture *capture)
{
	return capture->settle_ns && !capture->settled;
}

static bool remarks_uncounted(const struct capture *capture)
{
	return !capture->syscalls_counted && !capture->step_ns; /* of those more is said, first of all */
}

static bool remarks_failed(const struct capture *capture)
{
	return capture->exit_status > 0;
}

/* "bun, node" of the groups with such runs, "" when there are none; "all" of several when there is
 * none without. The caller frees. */
static char *remarks_names(const struct part *part, bool (*is)(const struct capture *capture))
{
	struct strbuf text = {0};

	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];
		size_t n = remarks_count(group, is);
		char *name;

		if (!n)
			continue;
		name = group_name(group);
		strbuf_printf(&text, "%s%s", text.n ? ", " : "", name);
		if (n < group->runs.n)
			strbuf_printf(&text, " (%zu of %zu runs)", n, group->runs.n);
		free(name);
	}
	return strbuf_take(&text);
}

static void remarks_add_partial(struct report *report, const struct part *part)
{
	char *names = remarks_names(part, remarks_partial);

	if (*names)
		report_add_note(report, NOTE_WARNING,
				"partial: %s ended early, by a signal or a limit; the figures are "
				"those of the time that was measured",
				names);
	free(names);
}

static void remarks_add_unsettled(struct report *report, const struct part *part)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];
		size_t n = remarks_count(group, remarks_unsettled);
		char after[UNITS_TEXT_BYTES];
		uint64_t settle_ns = 0;
		char *name;

		if (!n)
			continue;
		for (size_t j = 0; j < group->runs.n; j++) {
			const struct capture *capture = group->runs.items[j]->capture;

			if (remarks_unsettled(capture) && capture->settle_ns > settle_ns)
				settle_ns = capture->settle_ns;
		}
		name = group_name(group);
		report_add_note(
			report, NOTE_WARNING,
			"%s: start-up was not over when the window opened, %s after it began", name,
			units_format_duration(after, (double)settle_ns));
		free(name);
	}
}

static void remarks_add_uncounted(struct report *report, const struct part *part)
{
	char *names = remarks_names(part, remarks_uncounted);

	if (*names)
		report_add_note(report, NOTE_TEXT, "System calls were not counted%s%s.",
				part->groups.n > 1 ? ": " : "", part->groups.n > 1 ? names : "");
	free(names);
}

/* Calls that the table by name has no place for. */
static void remarks_add_odd_calls(struct report *report, const struct part *part)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];
		uint64_t compat = 0, invalid = 0;
		char first[NUMBER_BYTES], second[NUMBER_BYTES];
		char *name;

		for (size_t j = 0; j < group->runs.n; j++) {
			compat += group->runs.items[j]->totals.syscalls_compat;
			invalid += group->runs.items[j]->totals.syscalls_invalid;
		}
		if (!compat && !invalid)
			continue;
		name = group_name(group);
		report_add_note(
			report, NOTE_TEXT,
			"%s: among its system calls are %s 32-bit ones and %s with a number "
			"that no call has; they are in the totals, not under a name.",
			name, number_real(first, (double)compat, 0),
			number_real(second, (double)invalid, 0));
		free(name);
	}
}

/* The command's own status, where it was not 0. */
static void remarks_add_status(struct report *report, const struct part *part)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];
		size_t n = remarks_count(group, remarks_failed);
		int status = 0;
		char *name;

		if (!n || part_is(part, "idle") || part_is(part, "serve")) /* servers are ended by us */
			continue;
		for (size_t j = 0; j < group->runs.n && !status; j++) {
			if (remarks_failed(group->runs.items[j]->capture))
				status = group->runs.items[j]->capture->exit_status;
		}
		name = group_name(group);
		if (status & 0x7f)
			report_add_note(report, NOTE_TEXT, "%s was ended by signal %d.", name,
					status & 0x7f);
		else
			report_add_note(report, NOTE_TEXT, "%s ended with status %d.", name,
					status >> 8 & 0xff);
		free(name);
	}
}

void remarks_build(struct report *report, const struct part *part)
{
	remarks_add_partial(report, part);
	remarks_add_unsettled(report, part);
	remarks_add_status(report, part);
	remarks_add_uncounted(report, part);
	remarks_add_odd_calls(report, part);
}
