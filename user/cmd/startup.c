/* wakewhy startup: a one-line program, started over and over on each runtime. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/experiment.h"
#include "cmd/signals.h"

#define DEFAULT_RUNS 60
#define DEFAULT_WARMUP 3
/* A one-line program that has not ended by then hangs. */
#define LIMIT_NS (60 * WK_SECOND_NS)
/* What a job left running is given to end by itself. */
#define GRACE_NS WK_SECOND_NS

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
		"The runtimes take turns, so that none has the quiet half of the machine's day. Times are\n"
		"stamped in the kernel: at the exec call, at the first write to standard output, at the exit\n"
		"of the last thread.\n",
	.examples = "  sudo wakewhy startup floor bun node\n"
		    "  sudo wakewhy startup -r 20 old=./bun-1.3.14 new=./bun-1.4.0\n"
		    "  sudo wakewhy startup --cmd 'grep=grep -c x /etc/passwd' floor\n",
	.accepts = OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_WARMUP) | OPTION_BIT(OPTION_CMD) |
		   OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT),
	.defaults = defaults,
	.max_operands = SIZE_MAX,
};

/* How many rounds there are, and where we are. */
struct startup_plan {
	uint32_t warmup, runs;
	uint64_t begun_ns;
	size_t done; /* starts, of all runtimes */
	size_t total;
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

static uint64_t rusage_ns(const struct rusage *rusage)
{
	return (uint64_t)(rusage->ru_utime.tv_sec + rusage->ru_stime.tv_sec) * WK_SECOND_NS +
	       (uint64_t)(rusage->ru_utime.tv_usec + rusage->ru_stime.tv_usec) * 1000;
}

/* Starts it once. repeat NULL: a warm-up, forgotten by the next reset. */
static int start_once(struct experiment *experiment, const struct contestant *contestant,
		      const uint32_t *repeat, struct diag *diag)
{
	struct collector *collector = experiment->session.collector;
	struct job_options options = {};
	struct capture *capture;
	struct rusage rusage;
	struct job *job;
	int status, err = collector_reset(collector, diag);

	if (!err)
		err = experiment_start(experiment, contestant, 0, &options, &job, diag);
	if (err)
		return err;
	err = job_await_end(job, LIMIT_NS, signals_stop(), &status, &rusage, diag);
	if (!err)
		experiment_await_empty(experiment, GRACE_NS);
	collector_close_window(collector);
	job_end(job);
	if (err || !repeat)
		return err;
	err = experiment_take(experiment, contestant, 0, NULL, *repeat, &capture, diag);
	if (err)
		return err;
	capture->exit_status = status;
	capture->rusage_oncpu_ns = rusage_ns(&rusage);
	fill_startup(capture);
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static void show(struct experiment *experiment, const struct startup_plan *plan, const char *label,
		 uint32_t round)
{
	uint64_t elapsed_ns = session_now_ns() - plan->begun_ns, left_ns = UINT64_MAX;

	if (plan->done)
		left_ns = elapsed_ns / plan->done * (plan->total - plan->done);
	if (round < plan->warmup)
		progress_say(experiment->session.progress, "startup %s, warm-up", label);
	else
		progress_say(experiment->session.progress, "startup %s, %u of %u", label,
			     round - plan->warmup + 1, plan->runs);
	progress_update(experiment->session.progress, plan->done, plan->total, left_ns);
}

/* One start of each runtime that is still in. Returns false when a signal has ended it, at the
 * contestant *ret_at. */
static bool play_round(struct experiment *experiment, struct startup_plan *plan, uint32_t round,
		       size_t *ret_at)
{
	uint32_t repeat = round - plan->warmup;

	for (size_t i = 0; i < experiment->contestants.n; i++) {
		struct contestant *contestant = &experiment->contestants.items[i];
		struct diag diag = {};
		int err;

		*ret_at = i;
		if (contestant->out)
			continue;
		if (experiment_stopped(experiment))
			return false;
		show(experiment, plan, contestant->runtime.label, round);
		err = start_once(experiment, contestant, round < plan->warmup ? NULL : &repeat, &diag);
		if (err && experiment_stopped(experiment))
			return false;
		plan->done++;
		if (!err)
			continue;
		experiment_failed(experiment, contestant, NULL, &diag);
		contestant->out = true;
		plan->total -= plan->warmup + plan->runs - round - 1;
	}
	return true;
}

static void play(struct experiment *experiment, struct startup_plan *plan)
{
	size_t at = 0;

	for (uint32_t round = 0; round < plan->warmup + plan->runs; round++) {
		if (play_round(experiment, plan, round, &at))
			continue;
		for (size_t i = 0; i < experiment->contestants.n; i++) {
			uint32_t rounds = round + (i < at);

			if (!experiment->contestants.items[i].out)
				experiment_interrupted(
					experiment, &experiment->contestants.items[i], NULL,
					rounds > plan->warmup ? rounds - plan->warmup : 0, plan->runs);
		}
		return;
	}
}

static int startup(struct experiment *experiment)
{
	const struct options *options = &experiment->session.options;
	/* Timing each probe costs more than a short start bears. */
	struct collect_options collect = {
		.stamp_output = true,
		.open_at_exec = true,
		.series_seconds = LIMIT_NS / WK_SECOND_NS + 2,
	};
	struct startup_plan plan = {
		.warmup = options_given(options, OPTION_WARMUP) ? options->warmup : DEFAULT_WARMUP,
		.runs = options->runs ? options->runs : DEFAULT_RUNS,
	};
	int status = experiment_open(experiment, &collect);

	if (status)
		return status;
	for (size_t i = 0; i < experiment->contestants.n; i++)
		plan.total += experiment->contestants.items[i].out ? 0 : plan.warmup + plan.runs;
	plan.begun_ns = session_now_ns();
	play(experiment, &plan);
	return experiment_publish(experiment);
}

int cmd_startup(int argc, char **argv)
{
	struct experiment experiment;
	int status;

	if (experiment_begin(&experiment, &usage, WORKLOAD_STARTUP, argc, argv, &status))
		status = startup(&experiment);
	experiment_end(&experiment);
	return status;
}
