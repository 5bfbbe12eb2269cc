/* Which bouts an experiment has, in which order, and how long they take: all that is known of a
 * schedule without playing it. */
#include <stdlib.h>

#include "cmd/schedule.h"

#define DEFAULT_RETRIES 2
/* --until gives up here. */
#define UNTIL_RUNS_FACTOR 10
#define UNTIL_RUNS_LEAST 300

void schedule_init(struct schedule *ret_schedule, struct experiment *experiment,
		   const struct bout_kind *kind, uint32_t default_runs, uint32_t default_warmup)
{
	const struct options *options = &experiment->session.options;
	struct schedule schedule = {
		.kind = kind,
		.runs = options->runs ? options->runs : default_runs,
		.warmup = options_given(options, OPTION_WARMUP) ? options->warmup : default_warmup,
		.until = options->until,
		.retries = options_given(options, OPTION_RETRIES) ? options->retries : DEFAULT_RETRIES,
		.bare = kind->has_bare && !options->no_bare,
	};

	schedule.max_runs = schedule.runs * UNTIL_RUNS_FACTOR;
	if (schedule.max_runs < UNTIL_RUNS_LEAST)
		schedule.max_runs = UNTIL_RUNS_LEAST;
	*ret_schedule = schedule;
}

void schedule_add_all(struct schedule *schedule, struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->contestants.n; i++)
		if (!experiment->contestants.items[i].out)
			vec_push(&schedule->entries)->contestant = &experiment->contestants.items[i];
}

void schedule_free_members(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->entries.n; i++)
		for (size_t j = 0; j < ENTRY_VALUES; j++)
			free(schedule->entries.items[i].values[j].items);
	free(schedule->entries.items);
	*schedule = (struct schedule){};
}

/* ---- order ------------------------------------------------------------------------------------- */

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
#define SPLITMIX_STEP 0x9e3779b97f4a7c15ULL

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += SPLITMIX_STEP;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 … n - 1, each as likely as the others: what lies beyond the last whole n is drawn again. */
static uint64_t draw(uint64_t *state, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, number;

	do
		number = splitmix(state);
	while (number >= limit);
	return number % n;
}

void schedule_order(uint64_t seed, uint32_t round, size_t n, size_t *ret_order)
{
	/* Rounds begin at points far from one another, or their draws would overlap. */
	uint64_t start = seed + round * SPLITMIX_STEP, state = splitmix(&start);

	for (size_t i = 0; i < n; i++)
		ret_order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t other = (size_t)draw(&state, i), last = ret_order[i - 1];

		ret_order[i - 1] = ret_order[other];
		ret_order[other] = last;
	}
}

/* ---- time -------------------------------------------------------------------------------------- */

/* Of one bout: what those before took, or what the workload says before there were any. */
static uint64_t bout_ns(const struct experiment *experiment, const struct schedule *schedule,
			const struct entry *entry, bool bare)
{
	struct bout bout = {.contestant = entry->contestant, .variant = entry->variant, .bare = bare};

	if (entry->played[bare])
		return entry->spent_ns[bare] / entry->played[bare];
	return schedule->kind->estimate_ns(experiment, &bout);
}

uint64_t schedule_left_ns(const struct experiment *experiment, const struct schedule *schedule,
			  uint32_t runs)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *entry = &schedule->entries.items[i];

		if (entry->out)
			continue;
		if (entry->done[0] < runs)
			sum_ns += (schedule->warmup - entry->warm + runs - entry->done[0]) *
				  bout_ns(experiment, schedule, entry, false);
		if (schedule->bare && entry->done[1] < runs)
			sum_ns += (runs - entry->done[1]) *
				  bout_ns(experiment, schedule, entry, true);
	}
	return sum_ns;
}

uint64_t schedule_estimate_ns(const struct experiment *experiment, const struct schedule *schedule)
{
	return schedule_left_ns(experiment, schedule, schedule->runs);
}
