/* wakewhy selftest: are the figures right on this kernel? Known subjects, measured, beside what they must be. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/selftest_checks.h"
#include "cmd/session.h"
#include "runtime/selftest.h"

/* Of each subject; the longest takes less than a second. */
#define PATIENCE_NS (15 * WK_SECOND_NS)
/* Threads that all subjects have together, with room. */
#define THREADS 1024

static const struct command_usage usage = {
	.name = "selftest",
	.operands = "",
	.summary = "Measure programs whose right figures are known, on this kernel",
	.details = "Sleeps, hand-overs, timers, forks, spins and calls, each a known number of times, in children\n"
		   "of wakewhy itself; each figure is shown beside what it must be. Takes some seconds. Exit\n"
		   "status 0: all are right, 5: one is not, 4: this machine cannot measure. Formats are text,\n"
		   "markdown and json.\n",
	.examples = "  sudo wakewhy selftest\n"
		    "  sudo wakewhy selftest -f json | jq '.checks[] | select(.ok | not)'\n",
	.accepts = OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT),
	.privileges = PRIVILEGES_LAUNCH,
};

struct selftest {
	struct session session;
	struct selftest_child *children[SELFTEST_MAX];
	bool done[SELFTEST_MAX];
	struct selftest_result result;
	struct report report;
};

static int start_all(struct selftest *selftest, struct diag *diag)
{
	int err = 0;

	for (int id = 0; id < SELFTEST_MAX && !err; id++)
		err = selftest_start(&selftest->children[id], id, diag);
	return err;
}

static void end_all(struct selftest *selftest)
{
	for (int id = 0; id < SELFTEST_MAX; id++) {
		selftest_free(selftest->children[id]);
		selftest->children[id] = NULL;
	}
}

/* Lets one subject work. -EINTR after a signal. */
static int play(struct selftest *selftest, enum selftest_id id, struct diag *diag)
{
	struct selftest_child *child = selftest->children[id];
	int events;

	if (!selftest_go(child))
		return 0;
	progress_say(selftest->session.progress, "selftest %s", selftest_name(id));
	events = session_wait(&selftest->session, selftest_fd(child), session_now_ns() + PATIENCE_NS, diag);
	if (events < 0)
		return events;
	if (events & SESSION_SIGNAL)
		return diag_set(diag, -EINTR, "stopped by a signal");
	selftest->done[id] = events & SESSION_ENDED && selftest_done(child);
	return 0;
}

/* All subjects in one window, one after the other. */
static int measure(struct selftest *selftest, struct capture *ret_capture, struct diag *diag)
{
	struct session *session = &selftest->session;
	uint64_t begun_ns;
	int err = collector_seed(session->collector, diag);

	if (err)
		return err;
	session->progress = progress_new(session->options.quiet);
	begun_ns = collector_open_window(session->collector, 0);
	for (int id = 0; id < SELFTEST_MAX && !err; id++)
		err = play(selftest, id, diag);
	selftest->result.took_ns = collector_close_window(session->collector) - begun_ns;
	if (!err)
		err = collector_take(session->collector, 0, ret_capture, diag);
	progress_clear(session->progress);
	return err;
}

static void check_all(struct selftest *selftest, const struct capture *capture)
{
	struct selftest_result *result = &selftest->result;
	struct run run;
	struct why why;

	run_init(&run, capture);
	why_init(&why, &run, selftest->session.recording.tool.arch);
	for (int id = 0; id < SELFTEST_MAX; id++) {
		/* A subject that could not work is told by its figure: nothing was measured right of it. */
		if (selftest->done[id])
			selftest_check_subject(result, id, selftest_told(selftest->children[id]), &run, &why);
		else
			selftest_add(result, selftest_name(id), "finished", SELFTEST_COUNT, 0, 1, 1);
	}
	selftest_check_run(result, &run, &why);
	why_free_members(&why);
	run_free_members(&run);
}

static int render(FILE *out, const struct format *format, const struct render_style *style,
		  const void *what, struct diag *diag)
{
	const struct selftest *selftest = what;

	if (!strcmp(format->name, "json"))
		return render_selftest_json(out, &selftest->result, diag);
	if (!strcmp(format->name, "markdown"))
		return render_report_markdown(out, &selftest->report, diag);
	return render_report_text(out, &selftest->report, style, diag);
}

/* Subjects are forked first, so that they hold nothing of the collector. */
static int run_selftest(struct selftest *selftest)
{
	struct session *session = &selftest->session;
	pid_t pids[SELFTEST_MAX];
	struct collect_options collect = {
		.timeline = true,
		.series_seconds = 600,
		.pids = pids,
		.n_pids = SELFTEST_MAX,
	};
	struct capture capture = {};
	struct diag diag = {};
	int status;

	if (start_all(selftest, &diag))
		return session_fail(session, &diag);
	for (int id = 0; id < SELFTEST_MAX; id++)
		pids[id] = selftest_pid(selftest->children[id]);
	session->options.max_threads = THREADS;
	status = session_open_collector(session, &collect);
	if (status)
		return status;
	if (measure(selftest, &capture, &diag))
		return session_fail(session, &diag);
	selftest->result.tool = &session->recording.tool;
	check_all(selftest, &capture);
	capture_free_members(&capture);
	selftest_build(&selftest->report, &selftest->result);
	status = outputs_write(session->outputs, render, selftest);
	return !status && !selftest_ok(&selftest->result) ? EXIT_NOT_TRUSTED : status;
}

int cmd_selftest(int argc, char **argv)
{
	struct selftest selftest = {};
	int status;

	if (session_begin(&selftest.session, &usage, argc, argv, false, &status))
		status = outputs_of_report(&selftest.session.options)
				 ? run_selftest(&selftest)
				 : options_usage_error(&usage, "its formats are text, markdown and json");
	end_all(&selftest);
	report_free_members(&selftest.report);
	selftest_free_members(&selftest.result);
	session_end(&selftest.session);
	return status;
}
