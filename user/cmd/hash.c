/* wakewhy hash: SHA-256 of a short string to hex, over and over, for each style of API. */
#include <stdlib.h>
#include <string.h>

#include "cmd/bout.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/privileges.h"
#include "cmd/signals.h"

#define DEFAULT_HASH_NS (3 * WK_SECOND_NS)
/* Start and warm-up of a script. */
#define READY_LIMIT_NS (60 * WK_SECOND_NS)
/* Beyond the time asked for; and for a number of operations, whatever that takes. */
#define EXTRA_LIMIT_NS (60 * WK_SECOND_NS)
#define OPS_LIMIT_NS (3600 * WK_SECOND_NS)
/* For the bar alone: what start and warm-up, and a digest, take as a rule. */
#define USUAL_START_NS WK_SECOND_NS
#define USUAL_OP_NS 2000
#define MAX_VARIANTS 16

static const struct option_default defaults[] = {
	{OPTION_DURATION, "3s"},
	{OPTION_RUNS, "1"},
	{OPTION_VARIANT, "all that a runtime has"},
	{OPTION_RETRIES, "2"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "hash",
	.operands = "RUNTIME...",
	.summary = "SHA-256 of 'Hello world!!!' to hex, over and over, for each style of API",
	.details = EXPERIMENT_RUNTIME_HELP
		"\n"
		"sync feeds and finishes a hash object, oneshot calls one function, webcrypto awaits\n"
		"crypto.subtle.digest one by one. The window is the hashing alone, after a warm-up, and the\n"
		"digest is checked. -d is its length; with --ops each does so many instead. Each also hashes\n"
		"with the probes detached, which tells what they cost. A window that others disturbed is\n"
		"measured again.\n",
	.examples = "  sudo wakewhy hash bun node deno\n"
		    "  sudo wakewhy hash --ops 5M --variant sync,webcrypto node floor\n",
	.no_proc = "it asks for system calls and wakeups of each operation, which /proc does not tell",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_OPS) |
		   OPTION_BIT(OPTION_VARIANT) | OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_RETRIES) |
		   OPTION_BIT(OPTION_NO_BARE) | OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) |
		   BUDGET_BASELINE,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
	.privileges = PRIVILEGES_LAUNCH,
};

/* ---- which styles ------------------------------------------------------------------------------ */

/* Every variant that any family has; no doubles; ended by NULL. */
static void known_variants(const char *ret_names[MAX_VARIANTS + 1])
{
	size_t n = 0;

	for (const struct family *family = families; family->name; family++) {
		for (const char *const *v = family->variants; v && *v; v++) {
			size_t i = 0;

			while (i < n && strcmp(ret_names[i], *v))
				i++;
			if (i == n && n < MAX_VARIANTS)
				ret_names[n++] = *v;
		}
	}
	ret_names[n] = NULL;
}

static bool listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (list) {
		if (!strncmp(list, name, n) && (list[n] == ',' || !list[n]))
			return true;
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	return false;
}

/* Each word of the list must be a variant of somebody. */
static int check_variants(const char *list)
{
	const char *names[MAX_VARIANTS + 1];

	known_variants(names);
	while (list) {
		size_t n = strcspn(list, ","), i = 0;
		char *word;
		const char *near;
		int status;

		while (names[i] && (strlen(names[i]) != n || strncmp(names[i], list, n)))
			i++;
		if (!names[i]) {
			word = mem_strndup(list, n);
			near = nearest_of(word, names);
			status = options_usage_error(&usage, "--variant: there is no '%s'%s%s; 'wakewhy list "
						     "workloads' lists them", word,
						     near ? ", did you mean " : "", near ? near : "");
			free(word);
			return status;
		}
		list = list[n] ? list + n + 1 : NULL;
	}
	return EXIT_DONE;
}

static void add_styles(struct schedule *schedule, struct experiment *experiment)
{
	const char *wanted = experiment->session.options.variants;

	for (size_t i = 0; i < experiment->contestants.n; i++) {
		struct contestant *contestant = &experiment->contestants.items[i];
		const struct family *family = contestant->runtime.family;
		size_t before = schedule->entries.n;
		struct diag diag = {};

		if (contestant->out)
			continue;
		for (const char *const *v = family ? family->variants : NULL; v && *v; v++) {
			struct entry *entry;

			if (wanted && !listed(wanted, *v))
				continue;
			entry = vec_push(&schedule->entries);
			entry->contestant = contestant;
			entry->variant = *v;
		}
		if (schedule->entries.n > before)
			continue;
		diag_set(&diag, -ENOTSUP, "it has no %s", wanted ? wanted : "hash script");
		experiment_failed(experiment, contestant, NULL, &diag);
	}
}

/* ---- one run ----------------------------------------------------------------------------------- */

static uint64_t hash_ns(const struct options *options)
{
	return options->duration_ns ? options->duration_ns : DEFAULT_HASH_NS;
}

static uint64_t limit_ns(const struct options *options)
{
	return options->ops ? OPS_LIMIT_NS : hash_ns(options) + EXTRA_LIMIT_NS;
}

/* job_hash_await, with the bar kept going where there is one. */
static int await_done(struct experiment *experiment, struct job *job, uint64_t bout_begun_ns,
		      uint64_t *ret_operations, struct diag *diag)
{
	struct session *session = &experiment->session;
	uint64_t interval_ns = progress_interval_ns(session->progress);
	uint64_t begun_ns = session_now_ns(), now_ns = begun_ns;
	uint64_t end_ns = begun_ns + limit_ns(&session->options);
	int err;

	do {
		uint64_t left_ns = end_ns - now_ns;

		err = job_hash_await(job, left_ns < interval_ns ? left_ns : interval_ns,
				     signals_stop(), ret_operations, diag);
		now_ns = session_now_ns();
		session_show(session, now_ns - bout_begun_ns);
	} while (err == -ETIMEDOUT && now_ns < end_ns);
	return err;
}

/* Hashes once, in a window that holds the hashing and nothing else. */
static int hash(struct experiment *experiment, const struct bout *bout, struct job *job,
		uint64_t bout_begun_ns, uint64_t *ret_operations, struct diag *diag)
{
	struct collector *collector = experiment->session.collector;
	int err = job_await_ready(job, READY_LIMIT_NS, signals_stop(), diag);

	if (err)
		return err;
	if (!bout->bare)
		collector_open_window(collector, 0);
	err = job_hash_go(job, diag);
	if (!err)
		err = await_done(experiment, job, bout_begun_ns, ret_operations, diag);
	if (!bout->bare)
		collector_close_window(collector);
	return err;
}

static int take_hash(struct experiment *experiment, const struct bout *bout, uint64_t outer_ns,
		     uint64_t operations, struct diag *diag)
{
	struct capture *capture;
	int err;

	if (bout->warm_up)
		return 0;
	if (bout->bare) {
		experiment_take_bare(experiment, bout, outer_ns, operations);
		return 0;
	}
	err = experiment_take(experiment, bout, 0, &capture, diag);
	if (err)
		return err;
	capture->has_result = true;
	capture->operations = operations;
	capture->outer_ns = outer_ns;
	return 0;
}

static int play(struct experiment *experiment, const struct bout *bout, struct diag *diag)
{
	const struct options *options = &experiment->session.options;
	struct job_options job_options = {
		.variant = bout->variant,
		.hash_ops = options->ops,
		.hash_ns = options->ops ? 0 : hash_ns(options),
	};
	uint64_t begun_ns = session_now_ns(), operations = 0;
	struct job *job;
	int err = bout->bare ? 0 : collector_reset(experiment->session.collector, diag);

	if (!err)
		err = experiment_start(experiment, bout, 0, &job_options, &job, diag);
	if (err)
		return err;
	err = hash(experiment, bout, job, begun_ns, &operations, diag);
	if (!err)
		err = take_hash(experiment, bout, job_outer_ns(job), operations, diag);
	job_end(job);
	return err;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static uint64_t estimate_ns(const struct experiment *experiment, const struct bout *bout)
{
	const struct options *options = &experiment->session.options;

	(void)bout;
	return USUAL_START_NS + (options->ops ? options->ops * USUAL_OP_NS : hash_ns(options));
}

static const struct bout_kind hash_kind = {
	.workload = WORKLOAD_HASH,
	.play = play,
	.estimate_ns = estimate_ns,
	.has_bare = true,
	.may_retry = true,
	.metric = "operations_per_s",
};

int hash_plan(struct experiment *experiment, struct schedule *ret_schedule)
{
	const struct options *options = &experiment->session.options;
	int status = EXIT_DONE;

	if (options->ops && options->duration_ns)
		return options_usage_error(&usage, "-d and --ops exclude each other");
	if (options->variants)
		status = check_variants(options->variants);
	if (status)
		return status;
	schedule_init(ret_schedule, experiment, &hash_kind, 1, 0);
	/* Timing each probe costs more than the hand-offs of an awaited digest bear. */
	ret_schedule->collect = (struct collect_options){
		.series_seconds = (uint32_t)(limit_ns(options) / WK_SECOND_NS) + 2,
	};
	status = experiment_open(experiment, WORKLOAD_HASH, &ret_schedule->collect);
	if (!status)
		add_styles(ret_schedule, experiment);
	return status;
}

int cmd_hash(int argc, char **argv)
{
	return experiment_main(&usage, WORKLOAD_HASH, hash_plan, schedule_play, argc, argv);
}
