/* How the runs were made: in what order, which windows were disturbed, what the experiment says of
 * itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/part.h"

/* What was measured of whom, named before the rest is only counted. */
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

static bool conduct_same(const struct capture *a, const struct capture *b)
{
	return !strcmp(conduct_text(a->label), conduct_text(b->label)) &&
	       !strcmp(conduct_text(a->workload), conduct_text(b->workload)) &&
	       !strcmp(conduct_text(a->variant), conduct_text(b->variant));
}

/* Repeats of one measurement that count, and how many of them stayed disturbed. */
struct conduct_tally {
	const struct capture *like; /* the first of them */
	size_t runs, disturbed;
	const struct capture *first; /* that is disturbed; NULL: none is */
};

struct conduct_tallies {
	VEC(struct conduct_tally) all; /* by first appearance */
};

static struct conduct_tally *conduct_tally(struct conduct_tallies *tallies,
					   const struct capture *like)
{
	struct conduct_tally *tally;

	for (size_t i = 0; i < tallies->all.n; i++)
		if (conduct_same(tallies->all.items[i].like, like))
			return &tallies->all.items[i];
	tally = vec_push(&tallies->all);
	tally->like = like;
	return tally;
}

static void conduct_count(struct conduct_tallies *tallies, const struct result *result)
{
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct capture *capture = result->runs.items[i].capture;
		struct conduct_tally *tally;

		if (capture->replaced)
			continue;
		tally = conduct_tally(tallies, capture);
		tally->runs++;
		if (!conduct_doubtful(capture))
			continue;
		tally->disturbed++;
		tally->first = tally->first ? tally->first : capture;
	}
}

static void conduct_add_disturbed(struct report *report, const struct conduct_tally *tally)
{
	const struct capture *first = tally->first;
	const char *variant = conduct_text(first->variant);

	if (tally->runs == 1)
		report_add_note(report, NOTE_WARNING, "disturbed: %s of %s%s%s: %s",
				conduct_text(first->workload), conduct_text(first->label),
				*variant ? " " : "", variant, first->disturbed);
	else
		report_add_note(report, NOTE_WARNING,
				"disturbed: %s of %s%s%s, %zu of %zu runs; the first of them, run %" PRIu64
				": %s", conduct_text(first->workload), conduct_text(first->label),
				*variant ? " " : "", variant, tally->disturbed, tally->runs,
				(uint64_t)first->repeat + 1, first->disturbed);
}

void disturbed_build(struct report *report, const struct result *result)
{
	struct conduct_tallies tallies = {0};
	size_t more = 0, told = 0;

	conduct_count(&tallies, result);
	for (size_t i = 0; i < tallies.all.n; i++) {
		const struct conduct_tally *tally = &tallies.all.items[i];

		if (tally->first && told++ < CONDUCT_DOUBTS)
			conduct_add_disturbed(report, tally);
		else
			more += tally->disturbed;
	}
	if (more)
		report_add_note(report, NOTE_WARNING, "disturbed: %zu more run%s", more, more == 1 ? "" : "s");
	free(tallies.all.items);
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
