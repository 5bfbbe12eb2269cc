/* wakewhy study: every workload on every runtime, one after the other, in one report. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/bout.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/store.h"
#include "record/claims.h"

/* How much of a workload is measured. */
struct amount {
	uint32_t runs, warmup;
	uint64_t duration_ns; /* 0: the workload has none, or counts operations */
	uint64_t ops;
	bool bare;
};

struct study_size {
	const char *name;
	uint32_t retries; /* of a disturbed window */
	struct amount of[WORKLOAD_MAX];
};

/* Intervals come from runs; those of idle windows from the seconds of one. */
static const struct study_size quick = {
	/* Nothing twice: its length is promised. */
	"quick", 0, {
		[WORKLOAD_STARTUP] = {.runs = 10, .warmup = 1, .bare = true},
		[WORKLOAD_IDLE] = {.runs = 1, .duration_ns = 12 * WK_SECOND_NS},
		[WORKLOAD_SERVE] = {.runs = 1, .duration_ns = 2 * WK_SECOND_NS},
		[WORKLOAD_HASH] = {.runs = 3, .duration_ns = WK_SECOND_NS / 2},
	},
};
static const struct study_size usual = {
	"usual", 2, {
		[WORKLOAD_STARTUP] = {.runs = 30, .warmup = 3, .bare = true},
		[WORKLOAD_IDLE] = {.runs = 1, .duration_ns = 60 * WK_SECOND_NS},
		[WORKLOAD_SERVE] = {.runs = 5, .duration_ns = 5 * WK_SECOND_NS, .bare = true},
		[WORKLOAD_HASH] = {.runs = 5, .duration_ns = WK_SECOND_NS, .bare = true},
	},
};
static const struct study_size full = {
	"full", 2, {
		[WORKLOAD_STARTUP] = {.runs = 60, .warmup = 3, .bare = true},
		[WORKLOAD_IDLE] = {.runs = 1, .duration_ns = 300 * WK_SECOND_NS},
		[WORKLOAD_SERVE] = {.runs = 5, .duration_ns = 30 * WK_SECOND_NS, .bare = true},
		[WORKLOAD_HASH] = {.runs = 1, .ops = 5000000},
	},
};

static const struct option_default defaults[] = {
	{OPTION_RUNS, "30; 10 with --quick, 60 with --full"},
	{OPTION_RETRIES, "2; 0 with --quick"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "study",
	.operands = "RUNTIME...",
	.summary = "Start-up, idle, requests, hashing, size and memory of each runtime, in one report",
	.details = EXPERIMENT_RUNTIME_HELP
		"\n"
		"            starts   idle    serve      hash, each style   of four runtimes and floor\n"
		"  --quick     10     12 s    2 s           3 x 0.5 s       under three minutes\n"
		"  (usual)     30     60 s    5 x 5 s       5 x 1 s         about a quarter of an hour\n"
		"  --full      60    300 s    5 x 30 s      5M digests      some two hours\n"
		"\n"
		"-r changes the number of starts alone. With --resume DIR each measurement is kept in DIR as\n"
		"soon as it is made. The same command goes on from there, after Ctrl-C or kill -9, in the same\n"
		"order; nothing is measured twice. DIR/study.wkw has all of it, for 'wakewhy report'.\n"
		"A file for --claims is described in docs/claims-format.md.\n",
	.examples = "  sudo wakewhy study --quick old=./bun-1.3.14 new=./bun-1.4.0 node floor\n"
		    "  sudo wakewhy study --resume kept --claims articles.json zig=./bun-1.3.14 \\\n"
		    "      rust=./bun-1.4.0 node deno floor -o study.html\n",
	.no_proc = "it measures starts and operations, which take less than the second between two looks at /proc",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_LOAD_CPUS) | OPTION_BIT(OPTION_FORCE) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_RETRIES) |
		   OPTION_BIT(OPTION_NO_BARE) | OPTION_BIT(OPTION_QUICK) | OPTION_BIT(OPTION_FULL) |
		   OPTION_BIT(OPTION_RESUME) | OPTION_BIT(OPTION_CLAIMS) |
		   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) | BUDGET_ALL,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
	/* A collector for each workload; what --resume keeps. */
	.privileges = PRIVILEGES_LAUNCH | PRIVILEGES_LOAD | PRIVILEGES_FILES,
};

/* In this order: what needs the quietest machine, and the least time, first. */
static const struct study_part {
	enum workload workload;
	experiment_plan *plan;
} parts[] = {
	{WORKLOAD_STARTUP, startup_plan},
	{WORKLOAD_IDLE, idle_plan},
	{WORKLOAD_SERVE, serve_plan},
	{WORKLOAD_HASH, hash_plan},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

struct study {
	struct experiment experiment;
	const struct study_size *size;
	struct options given; /* as they were on the command line; borrowed */
	struct schedule schedules[N_PARTS];
	bool planned[N_PARTS]; /* the others are left out */
	struct store *store; /* NULL: nothing is kept */
};

/* ---- options --------------------------------------------------------------------------------- */

/* What this workload is planned and played with. */
static void set_options(struct study *study, enum workload workload)
{
	struct options *options = &study->experiment.session.options;
	const struct amount *amount = &study->size->of[workload];

	*options = study->given;
	options->given |= OPTION_BIT(OPTION_WARMUP) | OPTION_BIT(OPTION_RETRIES);
	options->warmup = amount->warmup;
	options->duration_ns = amount->duration_ns;
	options->ops = amount->ops;
	options->no_bare |= !amount->bare;
	if (!options->runs || workload != WORKLOAD_STARTUP)
		options->runs = amount->runs;
	if (!options_given(&study->given, OPTION_RETRIES))
		options->retries = study->size->retries;
}

static int read_claims(struct study *study)
{
	const char *path = study->given.claims;
	struct session *session = &study->experiment.session;
	struct diag diag = {};
	FILE *in;
	int err;

	if (!path)
		return EXIT_DONE;
	in = fopen(path, "re");
	if (!in) {
		diag_set(&diag, -errno, "--claims: %s: %s", path, strerror(errno));
		return session_fail(session, &diag);
	}
	err = claims_read(in, path, &session->recording, &diag);
	fclose(in);
	return err ? session_fail(session, &diag) : EXIT_DONE;
}

static int check_options(struct study *study)
{
	study->given = study->experiment.session.options;
	if (study->given.quick && study->given.full)
		return options_usage_error(&usage, "--quick and --full exclude each other");
	study->size = study->given.quick ? &quick : study->given.full ? &full : &usual;
	return read_claims(study);
}

/* ---- the directory --------------------------------------------------------------------------- */

/* All that decides how things are measured, in words. */
static char *settings(const struct study *study)
{
	const struct options *given = &study->given;
	struct strbuf text = {};

	strbuf_printf(&text, "%s", study->size->name);
	if (given->runs)
		strbuf_printf(&text, ", %u starts", given->runs);
	if (options_given(given, OPTION_RETRIES))
		strbuf_printf(&text, ", %u retries", given->retries);
	if (given->no_bare)
		strbuf_add(&text, ", always with probes");
	if (given->no_syscalls)
		strbuf_add(&text, ", system calls not counted");
	if (given->max_threads)
		strbuf_printf(&text, ", %u threads", given->max_threads);
	if (given->cpus)
		strbuf_printf(&text, ", on CPUs %s", given->cpus);
	if (given->load_cpus)
		strbuf_printf(&text, ", load on CPUs %s", given->load_cpus);
	if (given->force)
		strbuf_add(&text, ", on shared cores too");
	if (given->user)
		strbuf_printf(&text, ", as %s", given->user);
	return strbuf_take(&text);
}

static void add_runtime(struct plan *plan, const struct runtime *runtime)
{
	struct plan_runtime *planned = vec_push(&plan->runtimes);
	bool is_builtin = runtime->family && runtime->family->builtin;

	planned->label = mem_strdup(runtime->label);
	planned->family = mem_strdup(runtime->family ? runtime->family->name : "");
	planned->version = mem_strdup(runtime->version ? runtime->version : "");
	planned->path = mem_strdup(is_builtin || !runtime->path ? "" : runtime->path);
	planned->size_bytes = runtime->size_bytes;
}

static void make_plan(struct study *study, struct plan *ret_plan)
{
	struct experiment *experiment = &study->experiment;
	const struct capture_tool *tool = &experiment->session.recording.tool;
	struct plan plan = {
		.tool = mem_strdup(tool->version),
		.kernel = mem_strdup(tool->kernel),
		.arch = mem_strdup(tool->arch),
		.started = mem_strdup(tool->started),
		.size = settings(study),
		.seed = experiment_seed(experiment),
	};

	for (size_t i = 0; i < experiment->contestants.n; i++)
		add_runtime(&plan, &experiment->contestants.items[i].runtime);
	*ret_plan = plan;
}

/* Before anything is planned: the seed decides the order. */
static int open_store(struct study *study)
{
	struct session *session = &study->experiment.session;
	const struct plan *plan;
	struct diag diag = {};

	if (!study->given.resume)
		return EXIT_DONE;
	if (store_open(&study->store, study->given.resume, &diag))
		return session_fail(session, &diag);
	plan = store_plan(study->store);
	if (plan && !study->given.seed)
		session->recording.seed = plan->seed;
	return EXIT_DONE;
}

/* When the runtimes have said their versions. After a signal some were not asked any more: that is no
 * plan to go on with, and nothing is touched. */
static int begin_store(struct study *study)
{
	struct session *session = &study->experiment.session;
	char **started = &session->recording.tool.started;
	struct diag diag = {};
	struct plan plan;
	int err;

	if (experiment_stopped(&study->experiment)) {
		store_free(study->store);
		study->store = NULL;
	}
	if (!study->store)
		return EXIT_DONE;
	make_plan(study, &plan);
	err = store_begin(study->store, &plan, &diag);
	plan_free_members(&plan);
	if (err)
		return session_fail(session, &diag);
	free(*started);
	*started = mem_strdup(store_plan(study->store)->started);
	for (size_t i = 0; i < N_PARTS; i++)
		study->schedules[i].keeper = store_keeper(study->store, &study->experiment);
	return EXIT_DONE;
}

static void finish_store(struct study *study)
{
	struct session *session = &study->experiment.session;
	struct diag diag = {};

	if (!study->store)
		return;
	if (store_finish(study->store, &session->recording, &diag))
		study->experiment.status = session_fail(session, &diag);
	if (experiment_stopped(&study->experiment)) {
		progress_clear(session->progress);
		log_info("study: the same command with --resume '%s' goes on from here",
			 study->given.resume);
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A machine without a load generator, or with one core, can do the rest all the same. */
static void leave_serve_out(struct study *study)
{
	struct session *session = &study->experiment.session;
	const struct diag *why = &session->failed;
	struct capture_failure *failure = vec_push(&session->recording.failures);

	failure->label = mem_strdup("every runtime");
	failure->workload = mem_strdup(workload_name(WORKLOAD_SERVE));
	failure->reason = mem_printf("%s%s%s", why->what, *why->hint ? "; " : "", why->hint);
	study->experiment.status = EXIT_FAILED;
}

static int plan_part(struct study *study, size_t at)
{
	struct experiment *experiment = &study->experiment;
	struct schedule *schedule = &study->schedules[at];
	int status;

	set_options(study, parts[at].workload);
	status = parts[at].plan(experiment, schedule);
	if (!status) {
		experiment->session.plan_total_ns += schedule_estimate_ns(experiment, schedule);
		study->planned[at] = true;
	} else if (parts[at].workload == WORKLOAD_SERVE && status != EXIT_USAGE) {
		leave_serve_out(study);
		status = EXIT_DONE;
	}
	return status;
}

static int plan_all(struct study *study)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < N_PARTS && !status; i++)
		status = plan_part(study, i);
	return status;
}

/* Long is what it takes: people want to know before they wait. */
static void tell_length(const struct study *study)
{
	const struct session *session = &study->experiment.session;
	size_t kept = study->store ? store_kept(study->store) : 0;
	char whole[UNITS_TEXT_BYTES];

	units_format_duration_plain(whole, (double)session->plan_total_ns);
	if (kept)
		log_info("study: '%s' keeps %zu measurements; the whole takes about %s, the rest less",
			 study->given.resume, kept, whole);
	else
		log_info("study: it takes about %s", whole);
}

static int run(struct study *study)
{
	int status = check_options(study);

	if (!status)
		status = open_store(study);
	if (!status)
		status = plan_all(study);
	if (!status)
		status = begin_store(study);
	if (status)
		return status;
	tell_length(study);
	/* After a signal as well: what is kept of the later ones belongs into the report. */
	for (size_t i = 0; i < N_PARTS; i++) {
		if (!study->planned[i])
			continue;
		set_options(study, parts[i].workload);
		schedule_play(&study->experiment, &study->schedules[i]);
	}
	finish_store(study);
	return experiment_publish(&study->experiment);
}

int cmd_study(int argc, char **argv)
{
	struct study study = {};
	int status;

	if (experiment_begin(&study.experiment, &usage, WORKLOAD_STARTUP, argc, argv, &status))
		status = run(&study);
	for (size_t i = 0; i < N_PARTS; i++)
		schedule_free_members(&study.schedules[i]);
	store_free(study.store);
	experiment_end(&study.experiment);
	return status;
}
