/* wakewhy idle: an HTTP server on each runtime, and nobody to talk to. */
#include <stdlib.h>

#include "cmd/bout.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/signals.h"

#define DEFAULT_WINDOW_NS (60 * WK_SECOND_NS)
/* A server says its port within this time. */
#define READY_LIMIT_NS (30 * WK_SECOND_NS)
/* Start-up is over when QUIET_SLICES slices in a row stayed below 2 % of a CPU. */
#define SLICE_NS (WK_SECOND_NS / 4)
#define QUIET_SLICES 3
#define QUIET_SHARE_PERCENT 2
#define SETTLE_LIMIT_NS (30 * WK_SECOND_NS)
/* For the bar alone: what start-up takes as a rule. */
#define USUAL_SETTLE_NS (2 * WK_SECOND_NS)

static const struct option_default defaults[] = {
	{OPTION_DURATION, "60s"},
	{OPTION_RUNS, "1"},
	{OPTION_RETRIES, "2"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "idle",
	.operands = "RUNTIME...",
	.summary = "Start an HTTP server on each runtime, talk to nobody, and watch",
	.details = EXPERIMENT_RUNTIME_HELP
		"\n"
		"The window opens when start-up is over: when the process has used less than 2 % of a CPU\n"
		"for three quarters of a second (or after 30 s, and then the report says so). Some\n"
		"runtimes change their pace after half a minute: a short window shows the first phase only.\n"
		"With --cmd it is the command that stands idle, whatever it is. A window that others\n"
		"disturbed is measured again.\n",
	.examples = "  sudo wakewhy idle -d 20 floor bun node\n"
		    "  sudo wakewhy idle --parallel old=./bun-1.3.14 new=./bun-1.4.0 -o idle.wkw\n",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_CMD) |
		   OPTION_BIT(OPTION_PARALLEL) | OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_RETRIES) |
		   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) |
		   BUDGET_RATES | BUDGET_BASELINE,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
	.privileges = PRIVILEGES_LAUNCH,
};

/* A server while it stands idle: one of a batch that shares a window. */
struct server {
	struct bout bout;
	struct job *job; /* NULL: it failed, or was not started */
	uint64_t started_ns;
	uint64_t rss_bytes, pss_bytes; /* when the window opened; 0: not known */
	int err; /* it failed, with diag */
	struct diag diag;
};

/* Servers that are watched together: one, or all of them with --parallel. */
struct batch {
	struct experiment *experiment;
	struct server *servers;
	size_t n;
	bool settled;
	bool cut; /* a signal ended the window */
	bool measured;
};

static uint64_t window_ns(const struct experiment *experiment)
{
	uint64_t asked_ns = experiment->session.options.duration_ns;

	return asked_ns ? asked_ns : DEFAULT_WINDOW_NS;
}

/* ---- servers ----------------------------------------------------------------------------------- */

static void server_failed(struct server *server, int err, const struct diag *diag)
{
	server->err = err;
	server->diag = *diag;
	job_end(server->job);
	server->job = NULL;
}

static size_t servers_alive(const struct batch *batch)
{
	size_t n = 0;

	for (size_t i = 0; i < batch->n; i++)
		n += batch->servers[i].job != NULL;
	return n;
}

/* A server that has ended is no idle server. Its last words come with what job_await_end finds. */
static void check_servers(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		struct server *server = &batch->servers[i];
		struct diag diag = {};
		struct rusage rusage;
		int status;

		if (!server->job || !session_readable(job_pidfd(server->job)))
			continue;
		if (!job_await_end(server->job, 0, NULL, &status, &rusage, &diag))
			diag_set(&diag, -EPIPE, "it ended while it was to stand idle");
		server_failed(server, -EPIPE, &diag);
	}
}

static void start_servers(struct batch *batch)
{
	struct job_options options = {};

	for (size_t i = 0; i < batch->n && !experiment_stopped(batch->experiment); i++) {
		struct server *server = &batch->servers[i];
		struct diag diag = {};
		int err;

		server->started_ns = session_now_ns();
		err = experiment_start(batch->experiment, &server->bout, (uint32_t)i, &options,
				       &server->job, &diag);
		if (!err)
			err = job_await_ready(server->job, READY_LIMIT_NS, signals_stop(), &diag);
		if (err && !experiment_stopped(batch->experiment))
			server_failed(server, err, &diag);
	}
}

/* ---- settling ---------------------------------------------------------------------------------- */

/* A slice of the time before the window: 0 when all is well, an event of session_wait or -errno else. */
static int wait_slice(struct session *session, struct diag *diag)
{
	uint64_t end_ns = session_now_ns() + SLICE_NS;

	for (;;) {
		int events = session_wait(session, -1, end_ns, diag);

		if (events < 0 || events & SESSION_SIGNAL)
			return events;
		if (events & SESSION_TIME)
			return 0;
	}
}

/* Until everything has been quiet for QUIET_SLICES slices. 0, an event or -errno. */
static int settle(struct batch *batch, struct diag *diag)
{
	struct session *session = &batch->experiment->session;
	uint64_t limit_ns = session_now_ns() + SETTLE_LIMIT_NS;
	uint64_t before_ns = session_now_ns(), before_cpu = collector_schedstat_ns(session->collector);
	unsigned quiet = 0;

	while (quiet < QUIET_SLICES && session_now_ns() < limit_ns) {
		int stopped = wait_slice(session, diag);
		uint64_t now_ns = session_now_ns();
		uint64_t cpu = collector_schedstat_ns(session->collector);
		uint64_t allowed_ns = (now_ns - before_ns) * QUIET_SHARE_PERCENT / 100 * batch->n;

		if (stopped)
			return stopped;
		check_servers(batch);
		if (!servers_alive(batch))
			return 0;
		/* The sum falls when a thread ends: that is no quiet either. */
		quiet = cpu >= before_cpu && cpu - before_cpu < allowed_ns ? quiet + 1 : 0;
		before_ns = now_ns;
		before_cpu = cpu;
	}
	batch->settled = quiet >= QUIET_SLICES;
	return 0;
}

/* ---- the window -------------------------------------------------------------------------------- */

static int watch(struct batch *batch, struct diag *diag)
{
	struct session *session = &batch->experiment->session;
	uint64_t long_ns = window_ns(batch->experiment), end_ns;
	int events;

	for (size_t i = 0; i < batch->n; i++) {
		struct server *server = &batch->servers[i];

		if (server->job)
			job_memory(server->job, &server->rss_bytes, &server->pss_bytes);
	}
	end_ns = collector_open_window(session->collector, long_ns) + long_ns;
	do {
		events = session_wait(session, batch->n == 1 ? job_pidfd(batch->servers[0].job) : -1,
				      end_ns, diag);
		batch->cut = events > 0 && events & SESSION_SIGNAL;
	} while (events >= 0 && !(events & (SESSION_TIME | SESSION_SIGNAL | SESSION_ENDED | SESSION_EMPTY)));
	collector_close_window(session->collector);
	return events < 0 ? events : 0;
}

/* From exec to the window: the stamp where there is one. */
static uint64_t settle_ns(const struct capture *capture, uint64_t started_ns)
{
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;

		if (t->flags & WK_FLAG_FIRST && t->exec_ns)
			started_ns = t->exec_ns;
	}
	return capture->start_ns > started_ns ? capture->start_ns - started_ns : 0;
}

static int take_server(struct batch *batch, uint32_t group, struct diag *diag)
{
	struct server *server = &batch->servers[group];
	struct capture *capture;
	uint64_t rss_bytes = 0, pss_bytes = 0;
	bool has_memory = !job_memory(server->job, &rss_bytes, &pss_bytes);
	int err = experiment_take(batch->experiment, &server->bout, group, &capture, diag);

	if (err)
		return err;
	capture->settle_ns = settle_ns(capture, server->started_ns);
	capture->settled = batch->settled;
	capture->partial = batch->cut;
	capture->has_memory = has_memory;
	capture->rss_bytes = rss_bytes;
	capture->pss_bytes = pss_bytes;
	capture->rss_start_bytes = server->rss_bytes;
	capture->pss_start_bytes = server->pss_bytes;
	return 0;
}

/* From settled servers to their captures. */
static int measure(struct batch *batch, struct diag *diag)
{
	int err = watch(batch, diag);

	if (err)
		return err;
	check_servers(batch);
	for (size_t i = 0; i < batch->n && !err; i++)
		if (batch->servers[i].job)
			err = take_server(batch, (uint32_t)i, diag);
	return err;
}

/* One batch from start to end. A failure of the collector is one of all its servers. */
static void run_batch(struct batch *batch)
{
	struct experiment *experiment = batch->experiment;
	struct diag diag = {};
	int err = collector_reset(experiment->session.collector, &diag);

	if (!err)
		start_servers(batch);
	if (!err && servers_alive(batch) && !experiment_stopped(experiment))
		err = settle(batch, &diag);
	if (!err && servers_alive(batch) && !experiment_stopped(experiment)) {
		err = measure(batch, &diag);
		batch->measured = !err;
	}
	for (size_t i = 0; i < batch->n; i++) {
		struct server *server = &batch->servers[i];

		if (err < 0 && !server->err)
			server_failed(server, err, &diag);
		job_end(server->job);
		server->job = NULL;
	}
}

/* ---- one after the other ----------------------------------------------------------------------- */

static int play(struct experiment *experiment, const struct bout *bout, struct diag *diag)
{
	struct server server = {.bout = *bout};
	struct batch batch = {.experiment = experiment, .servers = &server, .n = 1};

	run_batch(&batch);
	if (server.err)
		*diag = server.diag;
	return server.err ? server.err : batch.measured ? 0 : -EINTR;
}

static uint64_t estimate_ns(const struct experiment *experiment, const struct bout *bout)
{
	(void)bout;
	return window_ns(experiment) + USUAL_SETTLE_NS;
}

static const struct bout_kind idle_kind = {
	.workload = WORKLOAD_IDLE,
	.play = play,
	.estimate_ns = estimate_ns,
	.may_retry = true,
	.metric = "cpu_ms_per_s",
};

int idle_plan(struct experiment *experiment, struct schedule *ret_schedule)
{
	const struct options *options = &experiment->session.options;
	bool parallel = options->parallel;
	int status;

	if (parallel && options_given(options, OPTION_UNTIL))
		return options_usage_error(&usage, "--parallel and --until exclude each other");
	if (parallel && options_given(options, OPTION_RETRIES))
		return options_usage_error(&usage, "with --parallel no window is measured again: "
					   "leave --retries out");
	schedule_init(ret_schedule, experiment, &idle_kind, 1, 0);
	ret_schedule->collect = (struct collect_options){
		.time_probes = true,
		.timeline = true,
		.stacks = WK_STACKS_KERNEL | WK_STACKS_COPY,
		.groups = parallel ? (uint32_t)experiment->contestants.n : 1,
		.series_seconds = (uint32_t)(window_ns(experiment) / WK_SECOND_NS) + 64,
	};
	status = experiment_open(experiment, WORKLOAD_IDLE, &ret_schedule->collect);
	if (!status)
		schedule_add_all(ret_schedule, experiment);
	return status;
}

/* ---- all at once ------------------------------------------------------------------------------- */

/* What became of a server that was one of many. */
static void book(struct batch *batch, struct server *server, struct entry *entry)
{
	if (server->err) {
		experiment_failed(batch->experiment, entry->contestant, NULL, &server->diag);
		entry->out = true;
	} else if (batch->measured) {
		entry->done[0]++;
	}
}

static void play_together(struct experiment *experiment, struct schedule *schedule, uint32_t repeat)
{
	struct server *servers = mem_calloc(schedule->entries.n, sizeof(*servers));
	struct entry **entries = mem_calloc(schedule->entries.n, sizeof(struct entry *));
	struct batch batch = {.experiment = experiment, .servers = servers};

	for (size_t i = 0; i < schedule->entries.n; i++) {
		struct entry *entry = &schedule->entries.items[i];

		if (entry->out)
			continue;
		entries[batch.n] = entry;
		servers[batch.n++].bout =
			(struct bout){.contestant = entry->contestant, .repeat = repeat};
	}
	if (batch.n && !experiment_stopped(experiment))
		run_batch(&batch);
	for (size_t i = 0; i < batch.n; i++)
		book(&batch, &servers[i], entries[i]);
	free(entries);
	free(servers);
}

/* One window for all: no order, so no schedule. */
static void play_parallel(struct experiment *experiment, struct schedule *schedule)
{
	struct session *session = &experiment->session;
	uint64_t one_ns = estimate_ns(experiment, NULL);

	session->plan_total_ns = one_ns * schedule->runs;
	for (uint32_t repeat = 0; repeat < schedule->runs; repeat++) {
		session->plan_done_ns = one_ns * repeat;
		if (schedule->runs > 1)
			progress_say(session->progress, "idle all, %u of %u", repeat + 1,
				     schedule->runs);
		else
			progress_say(session->progress, "idle all");
		play_together(experiment, schedule, repeat);
	}
	for (size_t i = 0; i < schedule->entries.n; i++) {
		const struct entry *entry = &schedule->entries.items[i];

		if (!entry->out && entry->done[0] < schedule->runs)
			experiment_interrupted(experiment, entry->contestant, NULL, entry->done[0],
					       schedule->runs);
	}
}

static void play_idle(struct experiment *experiment, struct schedule *schedule)
{
	if (experiment->session.options.parallel)
		play_parallel(experiment, schedule);
	else
		schedule_play(experiment, schedule);
}

int cmd_idle(int argc, char **argv)
{
	return experiment_main(&usage, WORKLOAD_IDLE, idle_plan, play_idle, argc, argv);
}
