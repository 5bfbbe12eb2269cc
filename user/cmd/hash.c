/* wakewhy hash: SHA-256 of a short string to hex, over and over, for each style of API. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/experiment.h"
#include "cmd/nearest.h"
#include "cmd/signals.h"

#define DEFAULT_HASH_NS (3 * WK_SECOND_NS)
/* Start and warm-up of a script. */
#define READY_LIMIT_NS (60 * WK_SECOND_NS)
/* Beyond the time asked for; and for a number of operations, whatever that takes. */
#define EXTRA_LIMIT_NS (60 * WK_SECOND_NS)
#define OPS_LIMIT_NS (3600 * WK_SECOND_NS)
/* For the bar alone: what start and warm-up take as a rule. */
#define USUAL_START_NS WK_SECOND_NS
#define MAX_VARIANTS 16

static const struct option_default defaults[] = {
	{OPTION_DURATION, "3s"},
	{OPTION_RUNS, "1"},
	{OPTION_VARIANT, "all that a runtime has"},
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
		"digest is checked. -d is its length; with --ops each does so many instead.\n",
	.examples = "  sudo wakewhy hash bun node deno\n"
		    "  sudo wakewhy hash --ops 5M --variant sync,webcrypto node floor\n",
	.accepts = OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_OPS) |
		   OPTION_BIT(OPTION_VARIANT) | OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT),
	.defaults = defaults,
	.max_operands = SIZE_MAX,
};

/* One style of one runtime. */
struct style {
	struct contestant *contestant;
	const char *variant; /* of the family's table */
	bool out;
};

struct styles {
	VEC(struct style) all;
	uint32_t runs;
	uint64_t hash_ns; /* for the bar and the limit */
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

static void collect_styles(struct experiment *experiment, struct styles *styles)
{
	const char *wanted = experiment->session.options.variants;

	for (size_t i = 0; i < experiment->contestants.n; i++) {
		struct contestant *contestant = &experiment->contestants.items[i];
		const struct family *family = contestant->runtime.family;
		size_t before = styles->all.n;
		struct diag diag = {};

		if (contestant->out)
			continue;
		for (const char *const *v = family ? family->variants : NULL; v && *v; v++) {
			struct style *style;

			if (wanted && !listed(wanted, *v))
				continue;
			style = vec_push(&styles->all);
			style->contestant = contestant;
			style->variant = *v;
		}
		if (styles->all.n > before)
			continue;
		diag_set(&diag, -ENOTSUP, "it has no %s", wanted ? wanted : "hash script");
		experiment_failed(experiment, contestant, NULL, &diag);
	}
}

/* ---- one run ----------------------------------------------------------------------------------- */

/* job_hash_await, with the bar kept going where there is one. */
static int await_done(struct experiment *experiment, struct job *job, uint64_t limit_ns,
		      uint64_t *ret_operations, struct diag *diag)
{
	struct session *session = &experiment->session;
	uint64_t interval_ns = progress_interval_ns(session->progress);
	uint64_t begun_ns = session_now_ns(), elapsed_ns = 0;
	int err;

	do {
		uint64_t left_ns = limit_ns - elapsed_ns;

		err = job_hash_await(job, left_ns < interval_ns ? left_ns : interval_ns,
				     signals_stop(), ret_operations, diag);
		elapsed_ns = session_now_ns() - begun_ns;
		if (session->plan_total_ns)
			session_show(session, USUAL_START_NS + elapsed_ns);
	} while (err == -ETIMEDOUT && elapsed_ns < limit_ns);
	return err;
}

/* Hashes once in a window that holds the hashing and nothing else. */
static int hash(struct experiment *experiment, struct job *job, uint64_t limit_ns,
		uint64_t *ret_operations, struct diag *diag)
{
	struct collector *collector = experiment->session.collector;
	int err = job_await_ready(job, READY_LIMIT_NS, signals_stop(), diag);

	if (err)
		return err;
	collector_open_window(collector, 0);
	err = job_hash_go(job, diag);
	if (!err)
		err = await_done(experiment, job, limit_ns, ret_operations, diag);
	collector_close_window(collector);
	return err;
}

static int run_style(struct experiment *experiment, const struct styles *styles,
		     const struct style *style, uint32_t repeat, struct diag *diag)
{
	uint64_t ops = experiment->session.options.ops, operations = 0;
	struct job_options options = {
		.variant = style->variant,
		.hash_ops = ops,
		.hash_ns = ops ? 0 : styles->hash_ns,
	};
	struct capture *capture;
	struct job *job;
	int err = collector_reset(experiment->session.collector, diag);

	if (!err)
		err = experiment_start(experiment, style->contestant, 0, &options, &job, diag);
	if (err)
		return err;
	err = hash(experiment, job, ops ? OPS_LIMIT_NS : styles->hash_ns + EXTRA_LIMIT_NS,
		   &operations, diag);
	if (!err)
		err = experiment_take(experiment, style->contestant, 0, style->variant, repeat,
				      &capture, diag);
	if (!err) {
		capture->has_result = true;
		capture->operations = operations;
	}
	job_end(job);
	return err;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static void show(struct experiment *experiment, const struct styles *styles,
		 const struct style *style, uint32_t repeat, size_t done)
{
	struct session *session = &experiment->session;
	size_t total = styles->all.n * styles->runs;
	uint64_t one_ns = styles->hash_ns + USUAL_START_NS;

	if (styles->runs > 1)
		progress_say(session->progress, "hash %s %s, %u of %u", style->contestant->runtime.label,
			     style->variant, repeat + 1, styles->runs);
	else
		progress_say(session->progress, "hash %s %s", style->contestant->runtime.label,
			     style->variant);
	if (session->options.ops) {
		progress_update(session->progress, done, total, UINT64_MAX);
		return;
	}
	session->plan_total_ns = one_ns * total;
	session->plan_done_ns = one_ns * done;
	session_show(session, 0);
}

/* A style that this version of the runtime lacks is no failure unless somebody asked for it. */
static void leave_out(struct experiment *experiment, const struct style *style, int err,
		      const struct diag *diag, uint32_t done, uint32_t wanted)
{
	if (experiment_stopped(experiment)) {
		experiment_interrupted(experiment, style->contestant, style->variant, done, wanted);
	} else if (err == -ENOTSUP && !experiment->session.options.variants) {
		progress_clear(experiment->session.progress);
		log_info("hash %s %s is left out: %s", style->contestant->runtime.label,
			 style->variant, diag->what);
	} else {
		experiment_failed(experiment, style->contestant, style->variant, diag);
	}
}

static void play(struct experiment *experiment, struct styles *styles)
{
	for (uint32_t repeat = 0; repeat < styles->runs; repeat++) {
		for (size_t i = 0; i < styles->all.n; i++) {
			struct style *style = &styles->all.items[i];
			struct diag diag = {};
			int err = -EINTR;

			if (style->out)
				continue;
			show(experiment, styles, style, repeat, repeat * styles->all.n + i);
			if (!experiment_stopped(experiment))
				err = run_style(experiment, styles, style, repeat, &diag);
			if (!err)
				continue;
			style->out = true;
			leave_out(experiment, style, err, &diag, repeat, styles->runs);
		}
	}
}

static int run(struct experiment *experiment)
{
	const struct options *options = &experiment->session.options;
	struct styles styles = {
		.runs = options->runs ? options->runs : 1,
		.hash_ns = options->duration_ns ? options->duration_ns : DEFAULT_HASH_NS,
	};
	/* Timing each probe costs more than the hand-offs of an awaited digest bear. */
	struct collect_options collect = {
		.series_seconds = (uint32_t)((options->ops ? OPS_LIMIT_NS
							   : styles.hash_ns + EXTRA_LIMIT_NS) /
					     WK_SECOND_NS) + 2,
	};
	int status = EXIT_DONE;

	if (options->ops && options->duration_ns)
		return options_usage_error(&usage, "-d and --ops exclude each other");
	if (options->variants)
		status = check_variants(options->variants);
	if (!status)
		status = experiment_open(experiment, &collect);
	if (status)
		return status;
	collect_styles(experiment, &styles);
	play(experiment, &styles);
	free(styles.all.items);
	return experiment_publish(experiment);
}

int cmd_hash(int argc, char **argv)
{
	struct experiment experiment;
	int status;

	if (experiment_begin(&experiment, &usage, WORKLOAD_HASH, argc, argv, &status))
		status = run(&experiment);
	experiment_end(&experiment);
	return status;
}
