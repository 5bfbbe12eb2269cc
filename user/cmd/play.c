/* Playing a schedule: rounds, blocks of probed and bare bouts, retries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/schedule.h"

struct player {
	struct experiment *experiment;
	struct schedule *schedule;
	size_t first_run, first_bare; /* of this schedule in the recording */
	bool *kept;		      /* by an earlier invocation: see kept_at() */
	uint32_t kept_rounds;
	uint32_t target; /* rounds that count, as far as can be told */
	uint64_t rest_ns; /* of the whole plan, after this schedule */
};

static bool go_on(const struct player *player)
{
	return !player->experiment->cannot_keep && !experiment_stopped(player->experiment);
}

/* ---- what an earlier invocation has kept ------------------------------------------------------- */

static bool *kept_at(const struct player *player, const struct entry *entry, const struct bout *bout)
{
	size_t i = (size_t)(entry - player->schedule->entries.items);

	if (!player->kept || bout->warm_up || bout->repeat >= player->kept_rounds)
		return NULL;
	return &player->kept[(i * player->kept_rounds + bout->repeat) * 2 + bout->bare];
}

static bool has_value(const struct player *player, const struct capture *capture, double *ret_value)
{
	const struct metric *metric = metric_find(player->schedule->kind->metric);
	struct run run;
	bool has;

	run_init(&run, capture);
	has = metric && metric->get(&run, ret_value);
	run_free_members(&run);
	return has;
}

/* A place for each repeat: values of a round are compared with one another. */
static void note_value(struct entry *entry, enum entry_value which, uint32_t repeat, double value)
{
	while (entry->values[which].n <= repeat)
		*vec_push(&entry->values[which]) = NAN;
	if (isfinite(value))
		entry->values[which].items[repeat] = value;
}

/* Notes for --until what is new in the recording. */
static void note_bout(const struct player *player, struct entry *entry, const struct bout *bout,
		      size_t first_run, size_t first_bare)
{
	const struct recording *recording = &player->experiment->session.recording;
	double metric = NAN, outer_ns = NAN, bare_ns = NAN;

	if (player->schedule->until <= 0)
		return;
	for (size_t i = first_run; i < recording->runs.n; i++) {
		const struct capture *capture = &recording->runs.items[i];

		if (capture->replaced)
			continue;
		if (!has_value(player, capture, &metric))
			metric = NAN;
		outer_ns = capture->outer_ns ? (double)capture->outer_ns : NAN;
	}
	if (recording->bare.n > first_bare)
		bare_ns = (double)recording->bare.items[recording->bare.n - 1].outer_ns;
	note_value(entry, ENTRY_METRIC, bout->repeat, metric);
	note_value(entry, ENTRY_OUTER, bout->repeat, outer_ns);
	note_value(entry, ENTRY_BARE, bout->repeat, bare_ns);
}

static void recall_bout(struct player *player, struct entry *entry, uint32_t repeat, bool bare)
{
	const struct recording *recording = &player->experiment->session.recording;
	const struct keeper *keeper = &player->schedule->keeper;
	size_t first_run = recording->runs.n, first_bare = recording->bare.n;
	struct bout bout = {
		.contestant = entry->contestant,
		.variant = entry->variant,
		.repeat = repeat,
		.bare = bare,
	};

	if (!keeper->has(keeper->context, &bout))
		return;
	*kept_at(player, entry, &bout) = true;
	entry->done[bare]++;
	note_bout(player, entry, &bout, first_run, first_bare);
}

static void recall(struct player *player)
{
	struct schedule *schedule = player->schedule;

	if (!schedule->keeper.has)
		return;
	player->kept_rounds = schedule->until > 0 ? schedule->max_runs : schedule->runs;
	player->kept = mem_calloc(schedule->entries.n * player->kept_rounds, 2 * sizeof(bool));
	for (size_t i = 0; i < schedule->entries.n; i++) {
		for (uint32_t repeat = 0; repeat < player->kept_rounds; repeat++) {
			recall_bout(player, &schedule->entries.items[i], repeat, false);
			if (schedule->bare)
				recall_bout(player, &schedule->entries.items[i], repeat, true);
		}
	}
}

/* ---- the bar ----------------------------------------------------------------------------------- */

static void show(const struct player *player, const struct bout *bout)
{
	struct session *session = &player->experiment->session;
	const struct schedule *schedule = player->schedule;
	char *which = mem_printf("%s %s%s%s%s", workload_name(schedule->kind->workload),
				 bout->contestant->runtime.label, bout->variant ? " " : "",
				 bout->variant ? bout->variant : "",
				 bout->bare ? " without probes" : "");

	session->plan_total_ns =
		session->plan_done_ns + player->rest_ns +
		schedule_left_ns(player->experiment, schedule, player->target);
	if (bout->warm_up)
		progress_say(session->progress, "%s, warm-up", which);
	else if (player->target > 1)
		progress_say(session->progress, "%s, %u of %u", which, bout->repeat + 1,
			     player->target);
	else
		progress_say(session->progress, "%s", which);
	session_show(session, 0);
	free(which);
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* ---- one bout ---------------------------------------------------------------------------------- */

/* A variant that this version of the runtime lacks is no failure unless somebody asked for it. */
static void leave_out(struct player *player, struct entry *entry, int err, const struct diag *diag)
{
	struct experiment *experiment = player->experiment;

	entry->out = true;
	if (err == -ENOTSUP && entry->variant && !experiment->session.options.variants) {
		progress_clear(experiment->session.progress);
		log_info("%s %s %s is left out: %s", workload_name(experiment->workload),
			 entry->contestant->runtime.label, entry->variant, diag->what);
	} else {
		experiment_failed(experiment, entry->contestant, entry->variant, diag);
	}
}

static int attach(struct player *player, bool bare, struct diag *diag)
{
	struct collector *collector = player->experiment->session.collector;

	return bare ? collector_pause(collector, diag) : collector_resume(collector, diag);
}

static bool cut(const struct player *player, size_t first_run)
{
	const struct recording *recording = &player->experiment->session.recording;

	return recording->runs.n > first_run && recording->runs.items[recording->runs.n - 1].partial;
}

/* Plays it, and books what it gave and took. */
static void play_bout(struct player *player, struct entry *entry, const struct bout *bout)
{
	struct session *session = &player->experiment->session;
	const struct keeper *keeper = &player->schedule->keeper;
	size_t first_run = session->recording.runs.n, first_bare = session->recording.bare.n;
	uint64_t done_ns = session->plan_done_ns, begun_ns = session_now_ns();
	struct diag diag = {};
	int err;

	show(player, bout);
	err = attach(player, bout->bare, &diag);
	if (!err)
		err = retry_play(player->experiment, player->schedule, bout, &diag);
	if (err && experiment_stopped(player->experiment))
		return;
	entry->spent_ns[bout->bare] += session_now_ns() - begun_ns;
	session->plan_done_ns = done_ns + session_now_ns() - begun_ns;
	entry->played[bout->bare]++;
	if (err) {
		leave_out(player, entry, err, &diag);
		return;
	}
	if (bout->warm_up) {
		entry->warm++;
		return;
	}
	entry->done[bout->bare]++;
	note_bout(player, entry, bout, first_run, first_bare);
	if (!keeper->keep || cut(player, first_run))
		return;
	if (keeper->keep(keeper->context, bout, first_run, first_bare, &diag)) {
		player->experiment->status = session_fail(session, &diag);
		player->experiment->cannot_keep = true;
	}
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* Each entry once, in the round's order. */
static void play_block(struct player *player, uint32_t round, bool bare)
{
	struct schedule *schedule = player->schedule;
	size_t n = schedule->entries.n, *order = mem_calloc(n, sizeof(*order));
	struct bout bout = {.bare = bare, .warm_up = round < schedule->warmup};

	bout.repeat = bout.warm_up ? round : round - schedule->warmup;
	schedule_order(schedule->seed, round, n, order);
	for (size_t i = 0; i < n && go_on(player); i++) {
		struct entry *entry = &schedule->entries.items[order[i]];
		const bool *kept;

		bout.contestant = entry->contestant;
		bout.variant = entry->variant;
		kept = kept_at(player, entry, &bout);
		if (entry->out || (kept && *kept) ||
		    (bout.warm_up && entry->done[0] >= schedule->runs))
			continue;
		play_bout(player, entry, &bout);
	}
	free(order);
}

/* Which block is first is drawn apart, or it would go with the order of the entries. */
static void play_round(struct player *player, uint32_t round)
{
	const struct schedule *schedule = player->schedule;
	size_t blocks[2] = {0, 1};

	if (!schedule->bare || round < schedule->warmup) {
		play_block(player, round, false);
		return;
	}
	schedule_order(~schedule->seed, round, 2, blocks);
	for (size_t i = 0; i < 2; i++)
		play_block(player, round, blocks[i]);
}

static void play_rounds(struct player *player)
{
	const struct schedule *schedule = player->schedule;
	uint32_t round = 0;

	while (go_on(player) && round < schedule->warmup + player->target) {
		play_round(player, round++);
		if (schedule->until > 0 && go_on(player) && round >= schedule->warmup + schedule->runs)
			player->target = until_rounds(schedule, round - schedule->warmup);
	}
	if (schedule->until > 0)
		until_tell(player->experiment, schedule, round - schedule->warmup);
}

/* A run is done with all that belongs to it. */
static void tell_missing(struct player *player)
{
	const struct schedule *schedule = player->schedule;

	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *entry = &schedule->entries.items[i];
		uint32_t done = entry->done[0];

		if (schedule->bare && entry->done[1] < done)
			done = entry->done[1];
		if (!entry->out && done < schedule->runs)
			experiment_interrupted(player->experiment, entry->contestant,
					       entry->variant, done, schedule->runs);
	}
}

/* ---- order of the recording -------------------------------------------------------------------- */

struct place {
	uint32_t repeat;
	size_t entry, index;
};

static size_t entry_of(const struct schedule *schedule, const char *label, const char *variant)
{
	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *entry = &schedule->entries.items[i];

		if (!strcmp(entry->contestant->runtime.label, label) &&
		    (variant && entry->variant ? !strcmp(variant, entry->variant)
					       : variant == entry->variant))
			return i;
	}
	return schedule->entries.n;
}

static int place_compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->repeat != right->repeat)
		return left->repeat < right->repeat ? -1 : 1;
	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	return left->index < right->index ? -1 : 1;
}

/* Puts n things of `bytes` each into the order of their places. */
static void reorder(void *things, struct place *places, size_t n, size_t bytes)
{
	char *copy = mem_calloc(n, bytes);

	memcpy(copy, things, n * bytes);
	qsort(places, n, sizeof(*places), place_compare);
	for (size_t i = 0; i < n; i++)
		memcpy((char *)things + i * bytes, copy + places[i].index * bytes, bytes);
	free(copy);
}

/* What comes first in a recording is the base of comparisons: that must not be left to chance. */
static void order_recording(struct player *player)
{
	struct recording *recording = &player->experiment->session.recording;
	size_t n_runs = recording->runs.n - player->first_run;
	size_t n_bare = recording->bare.n - player->first_bare;
	struct capture *runs = recording->runs.items + player->first_run;
	struct capture_bare *bare = recording->bare.items + player->first_bare;
	struct place *places = mem_calloc(n_runs + n_bare, sizeof(*places));

	for (size_t i = 0; i < n_runs; i++)
		places[i] = (struct place){
			runs[i].repeat,
			entry_of(player->schedule, runs[i].label, runs[i].variant), i};
	if (n_runs)
		reorder(runs, places, n_runs, sizeof(*runs));
	for (size_t i = 0; i < n_bare; i++)
		places[i] = (struct place){
			bare[i].repeat,
			entry_of(player->schedule, bare[i].label, bare[i].variant), i};
	if (n_bare)
		reorder(bare, places, n_bare, sizeof(*bare));
	free(places);
}

void schedule_play(struct experiment *experiment, struct schedule *schedule)
{
	struct session *session = &experiment->session;
	struct player player = {
		.experiment = experiment,
		.schedule = schedule,
		.first_run = session->recording.runs.n,
		.first_bare = session->recording.bare.n,
		.target = schedule->runs,
	};
	uint64_t planned_ns = schedule_estimate_ns(experiment, schedule);
	int status = experiment_switch(experiment, schedule->kind->workload, &schedule->collect);

	if (status) {
		experiment->status = status;
		return;
	}
	schedule->seed = experiment_seed(experiment);
	player.rest_ns = above(above(session->plan_total_ns, session->plan_done_ns), planned_ns);
	recall(&player);
	play_rounds(&player);
	if (!go_on(&player))
		tell_missing(&player);
	session->plan_total_ns = session->plan_done_ns + player.rest_ns;
	order_recording(&player);
	free(player.kept);
}
