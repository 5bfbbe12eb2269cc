/* How the runs were made: in what order, which windows were disturbed, what the experiment says of
 * itself. */
#include <inttypes.h>
#include <stdio.h>

#include "report/number.h"
#include "report/part.h"

/* Windows named one by one before the rest is only counted. */
#define CONDUCT_DOUBTS 5

static const char *conduct_text(const char *text)
{
	return text ? text : "";
}

/* A window that stayed disturbed: what was measured again stands for the one that it replaces. */
static bool conduct_doubtful(const struct capture *capture)
{
	return capture->disturbed && !capture->replaced;
}

void disturbed_build(struct report *report, const struct result *result)
{
	size_t n = 0;

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;
		char which[NUMBER_BYTES] = "";

		if (!conduct_doubtful(capture) || ++n > CONDUCT_DOUBTS)
			continue;
		if (result->runs.n > 1)
			snprintf(which, sizeof(which), ", run %" PRIu32, capture->repeat + 1);
		report_add_note(report, NOTE_WARNING, "disturbed: %s of %s%s%s%s: %s",
				conduct_text(capture->workload), conduct_text(capture->label),
				capture->variant ? " " : "", conduct_text(capture->variant), which,
				capture->disturbed);
	}
	if (n > CONDUCT_DOUBTS)
		report_add_note(report, NOTE_WARNING, "disturbed: %zu more", n - CONDUCT_DOUBTS);
}

/* How many windows of the workload were measured again, and what had disturbed the last of them. */
static void conduct_add_replaced(struct report *report, const struct part *part)
{
	const struct result *result = part->result;
	const char *reason = NULL;
	size_t n = 0;

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;

		if (!capture->replaced || !part_is(part, conduct_text(capture->workload)))
			continue;
		reason = conduct_text(capture->disturbed);
		n++;
	}
	if (n)
		report_add_note(report, NOTE_TEXT, "%zu %s disturbed (%s%s) and measured again.", n,
				n == 1 ? "window was" : "windows were", n == 1 ? "" : "the last: ",
				reason);
}

void conduct_build(struct report *report, const struct part *part)
{
	const struct recording *recording = part->result->recording;

	conduct_add_replaced(report, part);
	for (size_t i = 0; i < recording->remarks.n; i++)
		if (part_is(part, conduct_text(recording->remarks.items[i].workload)))
			report_add_note(report, NOTE_WARNING, "%s: %s", part->workload,
					conduct_text(recording->remarks.items[i].text));
}

void order_build(struct report *report, const struct result *result)
{
	const struct recording *recording = result->recording;

	if (recording->seed && recording->runs.n + recording->bare.n > 1)
		report_add_note(report, NOTE_TEXT,
				"The order of the runs was drawn from seed %" PRIu64
				": --seed %" PRIu64 " repeats it.", recording->seed, recording->seed);
}
