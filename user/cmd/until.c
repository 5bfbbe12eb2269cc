/* --until: is the worst known ratio of a schedule known well enough? */
#include "cmd/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/result.h"

static const char *label_of(const struct entry *entry)
{
	return entry->contestant->runtime.label;
}

static bool is_floor(const struct entry *entry)
{
	return !strcmp(label_of(entry), RESULT_FLOOR_LABEL);
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

/* One kind of values of a base's rounds, and one of another entry's: by rounds, as the report does where
 * both sides have the same. */
static struct stat_ratio compare(const struct schedule *schedule, const struct entry *base,
				 enum entry_value of_base, const struct entry *other,
				 enum entry_value of_other, const char *what)
{
	size_t n_base = base->values[of_base].n, n_other = other->values[of_other].n;
	uint64_t seed = result_seed(label_of(base), label_of(other),
				    workload_name(schedule->kind->workload), base->variant, what);

	return stat_compare_rounds(base->values[of_base].items, other->values[of_other].items,
				   n_base < n_other ? n_base : n_other, RESULT_SAME_WITHIN, seed);
}

static bool is_slowed(const struct schedule *schedule, const struct entry *entry)
{
	struct stat_ratio cost =
		compare(schedule, entry, ENTRY_BARE, entry, ENTRY_OUTER, RESULT_COST_SEED);

	return result_cost_shows(&cost);
}

/* What the report's verdict on this pair is made of. */
static enum entry_value judged_by(const struct schedule *schedule, const struct entry *base,
				  const struct entry *other)
{
	bool bare = schedule->kind->bare_decides && schedule->bare &&
		    (is_slowed(schedule, base) || is_slowed(schedule, other));

	return bare ? ENTRY_BARE : ENTRY_METRIC;
}

static double half_width(const struct schedule *schedule, const struct entry *base,
			 const struct entry *other)
{
	enum entry_value by = judged_by(schedule, base, other);
	struct stat_ratio ratio = compare(schedule, base, by, other, by, schedule->kind->metric);

	/* Two or three runs that happen to agree would end it too early. */
	if (ratio.has_interval && ratio.method != STAT_BY_FEW)
		return ratio.ratio > 0 ? (ratio.ci_high - ratio.ci_low) / 2 / ratio.ratio
		       : ratio.ci_high > ratio.ci_low ? INFINITY
						      : 0;
	/* No run will ever give a ratio to nothing. */
	return stat_summarise(base->values[by].items, base->values[by].n).median == 0 ? 0 : INFINITY;
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
		width = half_width(schedule, base, other);
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
	return entry->variant ? mem_printf("%s %s", label_of(entry), entry->variant)
			      : mem_strdup(label_of(entry));
}

void until_tell(struct experiment *experiment, const struct schedule *schedule, uint32_t rounds)
{
	struct schedule_pair pair = schedule_widest(schedule);
	const char *why = experiment_stopped(experiment) ? "interrupted" : "ended";
	struct capture_remark *remark;
	char *base, *other;

	if (!pair.base || pair.half_width <= schedule->until)
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
