/* wakewhy attach: live processes, by id, name or cgroup, or the whole machine, for a window. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/budget.h"
#include "cmd/cgroup.h"
#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/signals.h"

#define DEFAULT_WINDOW_NS (10 * WK_SECOND_NS)
#define KINDS                                                                                      \
	(OPTION_BIT(OPTION_PID) | OPTION_BIT(OPTION_NAME) | OPTION_BIT(OPTION_CGROUP) |            \
	 OPTION_BIT(OPTION_ALL))

static const struct option_default defaults[] = {
	{OPTION_DURATION, "10s"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "attach",
	.operands = "",
	.summary = "Profile live processes, or the whole machine, for a window",
	.details = "One of -p, -n, -c or -a says whom. GLOB is matched against the process's name as\n"
		   "/proc/PID/comm has it (15 characters at most). PATH is a directory of the cgroup v2 file\n"
		   "system, or relative to where it is mounted. The window ends early when all processes of\n"
		   "-p have ended, and on Ctrl-C.\n",
	.examples = "  sudo wakewhy attach -p 1234,1240 -d 30\n"
		    "  sudo wakewhy attach -n 'node*' -o idle.wkw\n"
		    "  sudo wakewhy attach -a -d 5\n",
	.accepts = KINDS | OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_KERNEL) | OPTION_BIT(OPTION_NO_FOLLOW) |
		   OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_NO_SYSCALLS) |
		   OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) | OPTION_BIT(OPTION_OUTPUT) |
		   OPTION_BIT(OPTION_FORMAT) |
		   BUDGET_RATES,
	.defaults = defaults,
};

static uint64_t window_ns(const struct options *options)
{
	return options->duration_ns ? options->duration_ns : DEFAULT_WINDOW_NS;
}

/* Returns EXIT_DONE, or a status after the error was printed. */
static int check(const struct options *options)
{
	if (!(options->given & KINDS))
		return options_usage_error(&usage, "whom? -p PID, -n GLOB, -c PATH or -a is missing");
	if (options->all && options->given & KINDS & ~OPTION_BIT(OPTION_ALL))
		return options_usage_error(&usage, "-a is everybody; leave -p, -n and -c out");
	if (options->kernel && !options->all)
		return options_usage_error(&usage, "--kernel goes with -a alone");
	if (options->name_glob && strlen(options->name_glob) >= WK_COMM_BYTES)
		return options_usage_error(&usage, "-n '%s' is too long, a name has 15 characters at "
					   "most; end it with *", options->name_glob);
	return EXIT_DONE;
}

/* The name of a live process, "1234" where it has none. */
static char *process_name(pid_t pid)
{
	char path[64], name[64] = {};
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	in = fopen(path, "re");
	if (in && fgets(name, sizeof(name), in))
		name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
	return *name ? mem_printf("%s(%d)", name, (int)pid) : mem_printf("%d", (int)pid);
}

/* What the report calls what was measured: "nginx(812)", "node*", "system.slice/cron.service". */
static char *make_label(const struct options *options)
{
	struct strbuf label = {};

	if (options->all)
		return mem_strdup("machine");
	if (options->pids.n) {
		char *name = process_name(options->pids.items[0]);

		strbuf_add(&label, name);
		free(name);
		if (options->pids.n > 1)
			strbuf_printf(&label, " and %zu more", options->pids.n - 1);
	}
	if (options->name_glob)
		strbuf_printf(&label, "%s%s", label.n ? ", " : "", options->name_glob);
	if (options->cgroup)
		strbuf_printf(&label, "%s%s", label.n ? ", " : "", options->cgroup);
	return strbuf_take(&label);
}

/* Until the window is over, a signal cuts it (*ret_cut), or nobody can come any more. */
static int watch(struct session *session, uint64_t end_ns, bool *ret_cut, struct diag *diag)
{
	/* By name or cgroup, others may appear. */
	bool ends_empty = !(session->options.given & KINDS & ~OPTION_BIT(OPTION_PID));

	for (;;) {
		int events = session_wait(session, -1, end_ns, diag);

		if (events < 0)
			return events;
		if (events & SESSION_SIGNAL)
			*ret_cut = true;
		if (*ret_cut || events & SESSION_TIME || (events & SESSION_EMPTY && ends_empty))
			return 0;
	}
}

static int measure(struct session *session, const char *label, struct diag *diag)
{
	uint64_t length_ns = window_ns(&session->options), start_ns;
	struct capture capture = {};
	bool cut = false;
	int err = collector_seed(session->collector, diag);

	if (err)
		return err;
	session->progress = progress_new(session->options.quiet);
	session->plan_total_ns = length_ns;
	progress_say(session->progress, "attach %s", label);
	start_ns = collector_open_window(session->collector, length_ns);
	err = watch(session, start_ns + length_ns, &cut, diag);
	collector_close_window(session->collector);
	if (!err)
		err = collector_take(session->collector, 0, &capture, diag);
	if (err)
		return err;
	if (!capture.threads.n) {
		progress_clear(session->progress);
		log_warn("nobody matched %s in the window", label);
	}
	capture.label = mem_strdup(label);
	capture.workload = mem_strdup("attach");
	capture.partial = cut;
	*vec_push(&session->recording.runs) = capture;
	return 0;
}

/* A budget that nobody was there to be held against was not kept. */
static bool judged_nobody(const struct session *session)
{
	return session->options.given & BUDGET_ALL && !session->recording.runs.items[0].threads.n;
}

static int attach(struct session *session)
{
	const struct options *options = &session->options;
	struct collect_options collect = {
		.time_probes = options->verbose,
		.timeline = !options->all,
		.stacks = options->all ? 0 : WK_STACKS_KERNEL | WK_STACKS_COPY,
		.series_seconds = (uint32_t)(window_ns(options) / WK_SECOND_NS) + 64,
		.all = options->all,
		.kernel_threads = options->kernel,
		.name_glob = options->name_glob,
		.pids = options->pids.items,
		.n_pids = options->pids.n,
	};
	struct diag diag = {};
	char *label;
	int status = check(options);

	if (!status && options->cgroup && cgroup_resolve(options->cgroup, &collect.cgroup_id, &diag))
		status = session_fail(session, &diag);
	if (!status)
		status = session_open_collector(session, &collect);
	if (status)
		return status;
	label = make_label(options);
	if (measure(session, label, &diag))
		status = session_fail(session, &diag);
	free(label);
	if (status)
		return status;
	status = session_publish(session);
	return !status && judged_nobody(session) ? EXIT_FAILED : status;
}

int cmd_attach(int argc, char **argv)
{
	struct session session;
	int status;

	if (session_begin(&session, &usage, argc, argv, false, &status))
		status = attach(&session);
	session_end(&session);
	return status;
}
