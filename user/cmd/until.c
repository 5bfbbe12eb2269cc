/* --until: is the worst known ratio of a schedule known well enough? */
#include "cmd/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/stat.h"

/* As the report does: what counts as the same does not change an interval. */
#define SAME_WITHIN 0.02

static bool is_floor(const struct entry *entry)
{
	const struct family *family = entry->contestant->runtime.family;

	return family && family->builtin;
}

static bool same_variant(const struct entry *a, const struct entry *b)
{
	return a->variant && b->variant ? !strcmp(a->variant, b->variant) : a->variant == b->variant;
}

/* The first of its variant that is not floor; NULL: there is none. */
static const struct entry *base_of(const struct schedule *schedule, const struct entry *other)
{
	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *entry = &schedule->entries.items[i];

		if (!entry->out && !is_floor(entry) && same_variant(entry, other))
			return entry;
	}
	return NULL;
}

/* By rounds, as the report does where both sides have the same. */
static double half_width(const struct entry *base, const struct entry *other, uint64_t seed)
{
	size_t n = base->values.n < other->values.n ? base->values.n : other->values.n;
	struct stat_ratio ratio = stat_compare_rounds(base->values.items, other->values.items, n,
						      SAME_WITHIN, seed);

	/* Two or three runs that happen to agree would end it too early. */
	if (ratio.has_interval && ratio.method != STAT_BY_FEW)
		return ratio.ratio > 0 ? (ratio.ci_high - ratio.ci_low) / 2 / ratio.ratio
		       : ratio.ci_high > ratio.ci_low ? INFINITY
						      : 0;
	/* No run will ever give a ratio to nothing. */
	return stat_summarise(base->values.items, n).median == 0 ? 0 : INFINITY;
}

struct schedule_pair schedule_widest(const struct schedule *schedule)
{
	struct schedule_pair widest = {};

	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *other = &schedule->entries.items[i];
		const struct entry *base = base_of(schedule, other);
		double width;

		if (other->out || !base || base == other)
			continue;
		width = half_width(base, other, schedule->seed);
		if (!widest.base || width > widest.half_width)
			widest = (struct schedule_pair){base, other, width};
	}
	return widest;
}

/* An interval narrows with the square root of the number of runs. */
uint32_t until_rounds(const struct schedule *schedule, uint32_t rounds)
{
	struct schedule_pair pair = schedule_widest(schedule);
	double factor = pair.half_width / schedule->until, wanted;

	if (pair.half_width <= schedule->until)
		return rounds;
	wanted = fmax(rounds * factor * factor, rounds + 1);
	return wanted < schedule->max_runs ? (uint32_t)wanted : schedule->max_runs;
}

static char *name_of(const struct entry *entry)
{
	const char *label = entry->contestant->runtime.label;

	return entry->variant ? mem_printf("%s %s", label, entry->variant) : mem_strdup(label);
}

void until_tell(struct experiment *experiment, const struct schedule *schedule, uint32_t rounds)
{
	struct schedule_pair pair = schedule_widest(schedule);
	const char *why = experiment_stopped(experiment) ? "interrupted" : "ended";
	struct capture_remark *remark;
	char *base, *other;

	if (pair.half_width <= schedule->until)
		return;
	base = name_of(pair.base);
	other = name_of(pair.other);
	remark = vec_push(&experiment->session.recording.remarks);
	remark->workload = mem_strdup(workload_name(schedule->kind->workload));
	if (isfinite(pair.half_width))
		remark->text = mem_printf("%s after %u rounds, before --until %.3g %% was reached: %s / %s "
					  "is known to ±%.2g %%", why, rounds, schedule->until * 100,
					  other, base, pair.half_width * 100);
	else
		remark->text = mem_printf("%s after %u rounds, before --until %.3g %% was reached: %s / %s "
					  "has no interval yet", why, rounds, schedule->until * 100,
					  other, base);
	free(base);
	free(other);
}
