/* wakewhy serve: the server of idle on each runtime, under a load generator. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "cmd/bout.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/signals.h"
#include "runtime/load.h"

#define DEFAULT_SERVE_NS (10 * WK_SECOND_NS)
#define DEFAULT_CONNECTIONS 64
/* Before the window: a tenth of it, and no less than this. */
#define WARM_UP_SHARE 10
#define WARM_UP_LEAST_S 1
/* A server says its port within this time. */
#define READY_LIMIT_NS (30 * WK_SECOND_NS)
/* A server that has no thread any more is gone within this time. */
#define END_LIMIT_NS (5 * WK_SECOND_NS)
/* Beyond the time that the load generator was given. */
#define EXTRA_LIMIT_NS (30 * WK_SECOND_NS)
/* For the bar alone: what start-up takes as a rule. */
#define USUAL_START_NS (WK_SECOND_NS / 2)
/* Descriptors of either side that are no connections. */
#define OTHER_FILES 64
/* A load generator that used more of its CPUs may be what was measured. */
#define LOAD_CPU_LIMIT 0.90

static const struct option_default defaults[] = {
	{OPTION_DURATION, "10s"},
	{OPTION_RUNS, "1"},
	{OPTION_CONNECTIONS, "64"},
	{OPTION_CPUS, "two cores of their own"},
	{OPTION_LOAD_CPUS, "other cores, at most six"},
	{OPTION_RETRIES, "2"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "serve",
	.operands = "RUNTIME...",
	.summary = "Requests per second of an HTTP server on each runtime, under the load generator wrk",
	.details = EXPERIMENT_RUNTIME_HELP
		"\n"
		"wrk must be on PATH. It asks over --connections connections to 127.0.0.1 without a pause,\n"
		"first for a warm-up of a tenth of the time, then for the window. Server and load generator\n"
		"run on physical cores of their own; where that cannot be, or where either has fewer than\n"
		"two, or where the load generator itself was the limit, the figures are marked as not\n"
		"comparable. Each is also measured with the probes detached, which tells what they cost. A\n"
		"window that others disturbed is measured again.\n",
	.examples = "  sudo wakewhy serve bun node deno floor\n"
		    "  sudo wakewhy serve -d 30 --cpus 2-3 --load-cpus 4-9 old=./bun-1.3.14 new=./bun-1.4.0\n",
	.no_proc = "it asks for system calls and wakeups of each request, which /proc does not tell",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_RUNS) |
		   OPTION_BIT(OPTION_CONNECTIONS) | OPTION_BIT(OPTION_CPUS) |
		   OPTION_BIT(OPTION_LOAD_CPUS) | OPTION_BIT(OPTION_FORCE) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_RETRIES) |
		   OPTION_BIT(OPTION_NO_BARE) | OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) |
		   BUDGET_BASELINE,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
	.privileges = PRIVILEGES_LAUNCH,
};

/* ---- how it is loaded -------------------------------------------------------------------------- */

static uint32_t window_s(const struct options *options)
{
	uint64_t ns = options->duration_ns ? options->duration_ns : DEFAULT_SERVE_NS;

	return (uint32_t)(ns / WK_SECOND_NS);
}

static uint32_t warm_up_s(const struct options *options)
{
	uint32_t share_s = window_s(options) / WARM_UP_SHARE;

	return share_s > WARM_UP_LEAST_S ? share_s : WARM_UP_LEAST_S;
}

static uint32_t connections(const struct options *options)
{
	return options->connections ? options->connections : DEFAULT_CONNECTIONS;
}

/* A thread for each CPU. wrk gives each the same number of connections, and leaves the rest out. */
static struct load_options load_options(const struct experiment *experiment, unsigned port,
					uint32_t seconds)
{
	const struct options *options = &experiment->session.options;
	uint32_t wanted = connections(options), threads = experiment->placement.n_load_cpus;

	threads = threads < wanted ? threads : wanted;
	return (struct load_options){
		.port = port,
		.connections = wanted / threads * threads,
		.threads = threads,
		.seconds = seconds,
		.user = options->user,
		.cpus = experiment->placement.load_cpus,
	};
}

static char *describe(const struct experiment *experiment)
{
	struct load_options load = load_options(experiment, 0, 0);
	const char *server_cpus = experiment->placement.server_cpus;

	return mem_printf("server on CPU%s %s; wrk on CPU%s %s, %u connection%s, %u thread%s",
			  server_cpus[strspn(server_cpus, "0123456789")] ? "s" : "", server_cpus,
			  experiment->placement.n_load_cpus > 1 ? "s" : "", load.cpus,
			  load.connections, load.connections == 1 ? "" : "s", load.threads,
			  load.threads == 1 ? "" : "s");
}

/* ---- one bout ---------------------------------------------------------------------------------- */

struct served {
	struct load_result load;
	uint64_t outer_ns; /* of wrk, from the opening of its gate until its end was seen */
	bool has_memory;
	uint64_t rss_bytes, pss_bytes;		   /* at the end */
	uint64_t rss_start_bytes, pss_start_bytes; /* of a server that nobody has asked yet; 0: not known */
};

/* The server has ended: its last words come with what job_await_end finds. */
static int complain_ended(struct job *job, struct diag *diag)
{
	struct rusage rusage;
	int status, err = job_await_end(job, END_LIMIT_NS, NULL, &status, &rusage, diag);

	return err ? err : diag_set(diag, -EPIPE, "it ended while it was asked");
}

/* Until wrk has ended, or has had its time. The end of either, too early, is an error, and so is a
 * signal. */
static int await_load(struct experiment *experiment, const struct load *load, struct job *job,
		      uint32_t seconds, struct diag *diag)
{
	struct session *session = &experiment->session;
	uint64_t deadline_ns = session_now_ns() + seconds * WK_SECOND_NS + EXTRA_LIMIT_NS;
	int events = session_wait(session, load_pidfd(load), deadline_ns, diag);

	if (events < 0)
		return events;
	if (events & SESSION_SIGNAL)
		return diag_set(diag, -EINTR, "interrupted");
	if (events & SESSION_EMPTY || session_readable(job_pidfd(job)))
		return complain_ended(job, diag);
	return 0;
}

/* Lets wrk ask for so many seconds, in a window that holds that alone. */
static int press(struct experiment *experiment, struct job *job, uint32_t seconds, bool window,
		 struct served *served, struct diag *diag)
{
	struct load_options options = load_options(experiment, job_port(job), seconds);
	struct collector *collector = experiment->session.collector;
	struct load *load;
	uint64_t begun_ns;
	int err = load_prepare(&load, experiment->shop, &options, diag);

	if (err)
		return err;
	if (window) {
		collector_exclude(collector, load_pid(load));
		collector_open_window(collector, 0);
	}
	begun_ns = session_now_ns();
	err = load_release(load, diag);
	if (!err)
		err = await_load(experiment, load, job, seconds, diag);
	served->outer_ns = session_now_ns() - begun_ns;
	if (window)
		collector_close_window(collector);
	if (!err)
		err = load_await(load, 0, NULL, &served->load, diag);
	load_end(load);
	return err;
}

static int serve(struct experiment *experiment, const struct bout *bout, struct job *job,
		 struct served *served, struct diag *diag)
{
	const struct options *options = &experiment->session.options;
	struct served warm_up;
	int err = job_await_ready(job, READY_LIMIT_NS, signals_stop(), diag);

	if (!err) {
		job_memory(job, &served->rss_start_bytes, &served->pss_start_bytes);
		err = press(experiment, job, warm_up_s(options), false, &warm_up, diag);
	}
	if (!err)
		err = press(experiment, job, window_s(options), !bout->bare, served, diag);
	if (!err)
		served->has_memory = !job_memory(job, &served->rss_bytes, &served->pss_bytes);
	return err;
}

/* The placement's objection, and one of its own where the load generator had no time left. It has a thread
 * for each CPU, or fewer: a CPU without a thread is no reserve. */
static char *objection(const struct experiment *experiment, const struct served *served)
{
	uint32_t threads = load_options(experiment, 0, 0).threads;
	double share = (double)served->load.cpu_ns / (double)served->outer_ns / threads;
	const char *before = experiment->placement.not_comparable;

	before = before ? before : "";
	if (share > LOAD_CPU_LIMIT)
		return mem_printf("%s%sthe load generator was the bottleneck: its %u thread%s used %.0f %% "
				  "of a CPU%s", before, *before ? "; " : "", threads,
				  threads == 1 ? "" : "s", share * 100, threads == 1 ? "" : " each");
	return *before ? mem_strdup(before) : NULL;
}

static int take_serve(struct experiment *experiment, const struct bout *bout,
		      const struct served *served, struct diag *diag)
{
	struct capture *capture;
	int err;

	if (bout->warm_up)
		return 0;
	if (bout->bare) {
		experiment_take_bare(experiment, bout, served->outer_ns,
				     served->load.requests);
		return 0;
	}
	err = experiment_take(experiment, bout, 0, &capture, diag);
	if (err)
		return err;
	capture->has_result = true;
	capture->operations = served->load.requests;
	capture->errors = served->load.errors;
	capture->outer_ns = served->outer_ns;
	capture->has_memory = served->has_memory;
	capture->rss_bytes = served->rss_bytes;
	capture->pss_bytes = served->pss_bytes;
	capture->rss_start_bytes = served->rss_start_bytes;
	capture->pss_start_bytes = served->pss_start_bytes;
	capture->conditions = describe(experiment);
	capture->not_comparable = objection(experiment, served);
	return 0;
}

static int play(struct experiment *experiment, const struct bout *bout, struct diag *diag)
{
	struct job_options options = {.cpus = experiment->placement.server_cpus};
	struct served served = {};
	struct job *job;
	int err = bout->bare ? 0 : collector_reset(experiment->session.collector, diag);

	if (!err)
		err = experiment_start(experiment, bout, 0, &options, &job, diag);
	if (err)
		return err;
	err = serve(experiment, bout, job, &served, diag);
	if (!err)
		err = take_serve(experiment, bout, &served, diag);
	job_end(job);
	return err;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static uint64_t estimate_ns(const struct experiment *experiment, const struct bout *bout)
{
	const struct options *options = &experiment->session.options;

	(void)bout;
	return USUAL_START_NS + (warm_up_s(options) + window_s(options)) * WK_SECOND_NS;
}

static const struct bout_kind serve_kind = {
	.workload = WORKLOAD_SERVE,
	.play = play,
	.estimate_ns = estimate_ns,
	.has_bare = true,
	.may_retry = true,
	.metric = "operations_per_s",
};

static int check_options(const struct options *options)
{
	struct rlimit files;

	if (options->duration_ns % WK_SECOND_NS)
		return options_usage_error(&usage, "-d: the load generator runs for whole seconds");
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur != RLIM_INFINITY &&
	    connections(options) + OTHER_FILES > files.rlim_cur)
		return options_usage_error(
			&usage, "--connections: %u are too many, a process may open %llu files here "
			"(ulimit -n)", connections(options), (unsigned long long)files.rlim_cur);
	return EXIT_DONE;
}

/* Fills experiment->placement. Returns EXIT_DONE, or the status to end with after the reason was printed. */
static int choose_place(struct experiment *experiment)
{
	const struct options *options = &experiment->session.options;
	struct placement_wish wish = {
		.server_cpus = options->cpus,
		.load_cpus = options->load_cpus,
		.force = options->force,
	};
	struct topology topology;
	struct diag diag = {};
	int err = topology_read(&topology, "/sys", "/proc", &diag);

	if (err)
		return session_fail(&experiment->session, &diag);
	if (sched_getaffinity(0, sizeof(wish.allowed), (cpu_set_t *)&wish.allowed))
		err = diag_set(&diag, -errno, "cannot tell which CPUs may be used: %s",
			       strerror(errno));
	placement_free_members(&experiment->placement);
	if (!err)
		err = placement_choose(&experiment->placement, &topology, &wish, &diag);
	topology_free_members(&topology);
	if (err == -EINVAL)
		return options_usage_error(&usage, "%s%s%s", diag.what, *diag.hint ? "; " : "",
					   diag.hint);
	if (!err)
		return EXIT_DONE;
	session_fail(&experiment->session, &diag);
	return err == -ENOTSUP ? EXIT_NOT_SUPPORTED : EXIT_FAILED;
}

int serve_plan(struct experiment *experiment, struct schedule *ret_schedule)
{
	const struct options *options = &experiment->session.options;
	struct diag diag = {};
	int status = check_options(options);

	if (!status)
		status = choose_place(experiment);
	if (status)
		return status;
	if (load_find(&diag)) {
		session_fail(&experiment->session, &diag);
		return EXIT_NOT_SUPPORTED;
	}
	schedule_init(ret_schedule, experiment, &serve_kind, 1, 0);
	/* Timing each probe costs more than a server under load bears. */
	ret_schedule->collect = (struct collect_options){
		.series_seconds = window_s(options) + (uint32_t)(EXTRA_LIMIT_NS / WK_SECOND_NS) + 2,
	};
	status = experiment_open(experiment, WORKLOAD_SERVE, &ret_schedule->collect);
	if (!status)
		schedule_add_all(ret_schedule, experiment);
	return status;
}

int cmd_serve(int argc, char **argv)
{
	return experiment_main(&usage, WORKLOAD_SERVE, serve_plan, schedule_play, argc, argv);
}
