/* What an experiment is made of: bouts, each one measurement of one contestant, in an order that is
 * fair to all.
 *
 * A workload says how a bout is played (struct bout_kind); the schedule says which bouts there are
 * and in what order. A round holds each entry once; rounds are interleaved (A B C, A B C …) and each
 * round's order is shuffled from the seed, so that neither drift of the machine nor neighbours favour
 * anyone. `study` runs several schedules one after the other.
 */
#ifndef WAKEWHY_CMD_BOUT_H
#define WAKEWHY_CMD_BOUT_H

#include "cmd/experiment.h"

/* One measurement to be made. */
struct bout {
	struct contestant *contestant;
	const char *variant; /* NULL: the workload has none */
	uint32_t repeat;     /* 0 for the first that counts */
	bool warm_up;	     /* measured, and forgotten */
	bool bare;	     /* with the probes detached: only times and operations by our own clock */
};

struct bout_kind {
	enum workload workload;
	/* Measures once. Appends one capture to the recording, or with `bare` one struct capture_bare;
	 * nothing with `warm_up`. 0; -ENOTSUP: this contestant has no such variant; or another -errno, each
	 * with diag. Where a signal has ended it (experiment_stopped) any error will do. */
	int (*play)(struct experiment *experiment, const struct bout *bout, struct diag *diag);
	/* How long that is going to take, starting included, as well as can be said before: ns. */
	uint64_t (*estimate_ns)(const struct experiment *experiment, const struct bout *bout);
	bool has_bare;	/* it can be played without probes */
	bool may_retry; /* its windows are long enough for noise to be told: one that was disturbed is
			 * measured again */
	/* What --until looks at: a row of the table of metrics; with bare_decides the outer_ns of bare
	 * bouts, where the report judges by these (report/result.h: result_cost_shows). */
	const char *metric;
	bool bare_decides;
};

/* Keeps what was measured and knows what is measured already (study --resume). Both may be NULL. */
struct keeper {
	void *context;
	/* True: this bout was kept by an earlier invocation, is in the recording now (appended), and need
	 * not be played. Asked for each bout that counts before the first is played. */
	bool (*has)(void *context, const struct bout *bout);
	/* Called after each bout that counts, not for one that a signal has cut; captures from first_run
	 * and bare runs from first_bare on are new: more than one capture where a disturbed window was
	 * measured again. -errno with diag: it is not kept, and the experiment ends, with all schedules
	 * that were to come. */
	int (*keep)(void *context, const struct bout *bout, size_t first_run, size_t first_bare,
		    struct diag *diag);
};

/* What --until looks at, and what tells it which of them. */
enum entry_value {
	ENTRY_METRIC, /* of bouts with probes: kind->metric … */
	ENTRY_OUTER,  /* … and outer_ns */
	ENTRY_BARE,   /* of bare bouts: outer_ns */
	ENTRY_VALUES,
};

/* Who takes part, once for each variant. */
struct entry {
	struct contestant *contestant;
	const char *variant;
	bool out; /* it failed: no more bouts of it */
	/* While it plays. Of pairs, [0] is with probes and [1] bare. */
	uint32_t warm;		/* warm-ups done */
	uint32_t done[2];	/* bouts that count: played, or kept by an earlier invocation */
	uint32_t played[2];	/* bouts of this invocation, warm-ups too, and the time they took */
	uint64_t spent_ns[2];
	VEC(double) values[ENTRY_VALUES]; /* by repeat; NaN: none */
};

struct schedule {
	const struct bout_kind *kind;
	struct collect_options collect;
	VEC(struct entry) entries;
	uint32_t runs, warmup;
	uint32_t max_runs; /* with until: no more than so many */
	double until;	   /* see options.h; 0: just `runs` */
	uint32_t retries;  /* of a disturbed window */
	bool bare;	   /* each round has bare bouts too */
	uint64_t seed;	   /* set by schedule_play: the experiment's */
	struct keeper keeper;
};

/* Each fills a schedule from the options, checks what the workload needs, and opens the experiment
 * (experiment_open). Returns EXIT_DONE, or the status to end with after the reason was printed; the
 * schedule is to be freed either way. Bouts read the options while they are played: who changes them
 * between plans (study) must put them back before schedule_play. */
int startup_plan(struct experiment *experiment, struct schedule *ret_schedule);
int idle_plan(struct experiment *experiment, struct schedule *ret_schedule);
int hash_plan(struct experiment *experiment, struct schedule *ret_schedule);
int serve_plan(struct experiment *experiment, struct schedule *ret_schedule);

/* For *_plan: a schedule as the options say, with no entries yet; and an entry for each contestant
 * that can be run, without a variant. */
void schedule_init(struct schedule *ret_schedule, struct experiment *experiment,
		   const struct bout_kind *kind, uint32_t default_runs, uint32_t default_warmup);
void schedule_add_all(struct schedule *schedule, struct experiment *experiment);

/* How long all of it will take, ns, for a bar over several schedules: their sum goes into
 * session.plan_total_ns before the first is played. */
uint64_t schedule_estimate_ns(const struct experiment *experiment, const struct schedule *schedule);
/* Plays all bouts, with the collector that the workload needs. Failures become failures of the report
 * (experiment_failed), and the others go on; a signal ends it, and what is missing is told
 * (experiment_interrupted). The recording has the schedule's captures by round, and in a round in the
 * order of entries: start_ns tells in which order they were made. */
void schedule_play(struct experiment *experiment, struct schedule *schedule);
void schedule_free_members(struct schedule *schedule);

/* The order of round `round` (warm-up rounds are the first): a permutation of 0 … n - 1 that depends
 * on the seed alone. Fisher and Yates's shuffle on the generator SplitMix64. */
void schedule_order(uint64_t seed, uint32_t round, size_t n, size_t *ret_order);

/* The pair whose ratio is known worst: of each variant, the first entry that is not floor against each
 * other one. */
struct schedule_pair {
	const struct entry *base, *other; /* NULL: there is no pair */
	/* Half the 95 % interval of their ratio as a share of it; 0 where base's median is 0 and there
	 * is no ratio, infinite where there is no interval yet. */
	double half_width;
};
struct schedule_pair schedule_widest(const struct schedule *schedule);

#endif
