/* wakewhy startup: a one-line program, started over and over on each runtime. */
#include "cmd/bout.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/signals.h"
#include "runtime/launch.h"

#define DEFAULT_RUNS 60
#define DEFAULT_WARMUP 3
/* A one-line program that has not ended by then hangs. */
#define LIMIT_NS (60 * WK_SECOND_NS)
/* What a job left running is given to end by itself. */
#define GRACE_NS WK_SECOND_NS
/* For the bar alone, until there has been one: a start, and what is done around it. */
#define USUAL_START_NS (60 * 1000000ULL)

static const struct option_default defaults[] = {
	{OPTION_RUNS, "60"},
	{OPTION_WARMUP, "3"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "startup",
	.operands = "RUNTIME...",
	.summary = "Start a one-line program N times on each runtime",
	.details = EXPERIMENT_RUNTIME_HELP
		"\n"
		"The runtimes take turns, in an order that is drawn for each round, so that none has the\n"
		"quiet half of the machine's day. Times are stamped in the kernel: at the exec call, at the\n"
		"first write to standard output, at the exit of the last thread. In each round every runtime\n"
		"is also started once with the probes detached, which tells what they cost.\n",
	.examples = "  sudo wakewhy startup floor bun node\n"
		    "  sudo wakewhy startup -r 20 old=./bun-1.3.14 new=./bun-1.4.0\n"
		    "  sudo wakewhy startup --cmd 'grep=grep -c x /etc/passwd' floor\n",
	.no_proc = "a start takes milliseconds, and /proc is looked at once a second",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_WARMUP) | OPTION_BIT(OPTION_CMD) |
		   OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_UNTIL) |
		   OPTION_BIT(OPTION_NO_BARE) | OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) |
		   OPTION_BIT(OPTION_MAX_STARTUP) | BUDGET_BASELINE,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
	.privileges = PRIVILEGES_LAUNCH,
};

/* ---- one start --------------------------------------------------------------------------------- */

static const struct wk_thread *first_thread(const struct capture *capture)
{
	for (size_t i = 0; i < capture->threads.n; i++)
		if (capture->threads.items[i].t.flags & WK_FLAG_FIRST)
			return &capture->threads.items[i].t;
	return NULL;
}

/* Fills what the threads' stamps say about the first process. Where the exec call was not stamped
 * (--no-syscalls) the exec itself, some tens of microseconds later, begins the time. */
static void fill_startup(struct capture *capture)
{
	const struct wk_thread *first = first_thread(capture);
	struct capture_startup *startup = &capture->startup;
	uint64_t begin_ns, output_ns = UINT64_MAX, end_ns = 0;

	if (!first)
		return;
	begin_ns = first->exec_call_ns ? first->exec_call_ns : first->exec_ns;
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;

		if (t->output_ns && t->output_ns < output_ns)
			output_ns = t->output_ns;
		if (t->pid != first->pid)
			continue;
		if (t->end_ns > end_ns)
			end_ns = t->end_ns;
		if (t->exit_ns) { /* before that they are a base, not a count */
			startup->minor_faults += t->minor_faults;
			startup->major_faults += t->major_faults;
		}
		if (t->flags & WK_FLAG_LAST_EXIT)
			startup->max_rss_bytes = t->max_rss_bytes;
	}
	startup->present = begin_ns && end_ns > begin_ns;
	if (!startup->present)
		return;
	startup->exec_to_exit_ns = end_ns - begin_ns;
	if (output_ns != UINT64_MAX && output_ns > begin_ns)
		startup->exec_to_first_output_ns = output_ns - begin_ns;
}

static int take_start(struct experiment *experiment, const struct bout *bout, uint64_t outer_ns,
		      int status, const struct rusage *rusage, struct diag *diag)
{
	struct capture *capture;
	int err = experiment_take(experiment, bout, 0, &capture, diag);

	if (err)
		return err;
	capture->exit_status = status;
	capture->rusage_oncpu_ns = launch_cpu_ns(rusage);
	capture->outer_ns = outer_ns;
	fill_startup(capture);
	return 0;
}

static int play(struct experiment *experiment, const struct bout *bout, struct diag *diag)
{
	struct collector *collector = experiment->session.collector;
	struct job_options options = {};
	struct rusage rusage;
	struct job *job;
	uint64_t outer_ns;
	int status, err = bout->bare ? 0 : collector_reset(collector, diag);

	if (!err)
		err = experiment_start(experiment, bout, 0, &options, &job, diag);
	if (err)
		return err;
	err = job_await_end(job, LIMIT_NS, signals_stop(), &status, &rusage, diag);
	outer_ns = job_outer_ns(job);
	if (!bout->bare) {
		if (!err)
			experiment_await_empty(experiment, GRACE_NS);
		collector_close_window(collector);
	}
	job_end(job);
	if (err || bout->warm_up)
		return err;
	if (!bout->bare)
		return take_start(experiment, bout, outer_ns, status, &rusage, diag);
	experiment_take_bare(experiment, bout, outer_ns, 0);
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static uint64_t estimate_ns(const struct experiment *experiment, const struct bout *bout)
{
	(void)experiment;
	(void)bout;
	return USUAL_START_NS;
}

static const struct bout_kind startup_kind = {
	.workload = WORKLOAD_STARTUP,
	.play = play,
	.estimate_ns = estimate_ns,
	.has_bare = true,
	.metric = "exec_to_exit_ns",
	.bare_decides = true,
};

int startup_plan(struct experiment *experiment, struct schedule *ret_schedule)
{
	int status;

	schedule_init(ret_schedule, experiment, &startup_kind, DEFAULT_RUNS, DEFAULT_WARMUP);
	/* Timing each probe costs more than a short start bears. */
	ret_schedule->collect = (struct collect_options){
		.stamp_output = true,
		.open_at_exec = true,
		.series_seconds = LIMIT_NS / WK_SECOND_NS + 2,
	};
	status = experiment_open(experiment, WORKLOAD_STARTUP, &ret_schedule->collect);
	if (!status)
		schedule_add_all(ret_schedule, experiment);
	return status;
}

int cmd_startup(int argc, char **argv)
{
	return experiment_main(&usage, WORKLOAD_STARTUP, startup_plan, schedule_play, argc, argv);
}
