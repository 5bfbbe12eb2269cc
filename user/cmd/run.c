/* wakewhy run: a command from its first instruction to the last exit of all that it started. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/budget.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/session.h"
#include "cmd/signals.h"
#include "runtime/identity.h"
#include "runtime/launch.h"

#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND 127
/* A day: a run has no length that is known before. */
#define SERIES_SECONDS 86400
/* How long those that the command left behind may live before somebody is told that we wait. */
#define NOTICE_NS WK_SECOND_NS
/* From being asked to end to being killed; from the command's end to ours when we were asked. */
#define PATIENCE_NS (2 * WK_SECOND_NS)
#define MAX_SURVIVORS 4096

static const struct option_default defaults[] = {
	{OPTION_DURATION, "until all have ended"},
	{OPTION_MAX_THREADS, "16384"},
	{OPTION_FORMAT, "text"},
	{0, NULL},
};

static const struct command_usage usage = {
	.name = "run",
	.operands = "-- CMD [ARG...]",
	.summary = "Profile a command from its first instruction to its last exit",
	.details =
		"CMD keeps standard input and output: the report goes to standard error when it has ended,\n"
		"or to the files of -o. Under sudo CMD runs as the user who called sudo, not as root, unless\n"
		"-u says otherwise. The window ends when CMD and all that it started have ended. With -d it\n"
		"ends then, and what still runs is ended.\n"
		"\n"
		"Ctrl-C reaches CMD as without wakewhy; a second one ends the window and what still runs. The\n"
		"exit status is CMD's own (128 + N after signal N), 127 or 126 where it could not be started,\n"
		"0 after -d.\n",
	.examples = "  sudo wakewhy run -- ls -R /usr\n"
		    "  sudo wakewhy run -o out.wkw -o out.json -- make\n",
	.accepts = OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_NO_FOLLOW) | OPTION_BIT(OPTION_DURATION) |
		   OPTION_BIT(OPTION_CPUS) | OPTION_BIT(OPTION_USER) |
		   OPTION_BIT(OPTION_NO_SYSCALLS) | OPTIONS_OF_STACKS | OPTION_BIT(OPTION_MAX_THREADS) |
		   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORMAT) |
		   BUDGET_RATES | BUDGET_BASELINE,
	.defaults = defaults,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.stop_at_operand = true,
	.privileges = PRIVILEGES_LAUNCH,
};

/* The command while it runs, and what has become of it. */
struct run_command {
	struct launched launched;
	bool refused; /* exec failed: it never ran */
	bool ended;
	bool cut; /* the window was ended before the command or what it started had ended */
	bool by_duration;
	int status; /* as wait() gives it */
	struct rusage rusage;
	unsigned signals;
	bool asked; /* somebody wants us to end, not only the terminal the command */
};

static int start_status(int err)
{
	return err == -ENOENT ? EXIT_NOT_FOUND
	       : err == -EACCES || err == -ENOEXEC ? EXIT_CANNOT_EXECUTE
						   : EXIT_FAILED;
}

/* ---- those that are left ----------------------------------------------------------------------- */

static void read_name(pid_t pid, char *name, size_t bytes)
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	in = fopen(path, "re");
	if (!in || !fgets(name, (int)bytes, in))
		snprintf(name, bytes, "process");
	name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
}

static void say_who_is_left(const struct session *session)
{
	pid_t pids[MAX_SURVIVORS];
	size_t n = collector_survivors(session->collector, pids, MAX_SURVIVORS);
	char name[64];

	if (!n)
		return;
	read_name(pids[0], name, sizeof(name));
	if (n == 1)
		log_info("%s(%d) still runs; Ctrl-C ends the window", name, (int)pids[0]);
	else
		log_info("%s(%d) and %zu more still run; Ctrl-C ends the window", name, (int)pids[0],
			 n - 1);
}

/* Sends a signal to every followed process that is alive; returns how many there were. */
static size_t signal_all(const struct session *session, int signo)
{
	pid_t pids[MAX_SURVIVORS];
	size_t n = collector_survivors(session->collector, pids, MAX_SURVIVORS);

	for (size_t i = 0; i < n; i++)
		kill(pids[i], signo);
	return n;
}

/* ---- while it runs ----------------------------------------------------------------------------- */

/* Returns true when the window is to be cut. What the terminal sent has reached the command by itself;
 * what somebody sent to us alone is passed on. */
static bool take_signal(struct run_command *command)
{
	struct signal_seen seen;

	while (signals_take(&seen)) {
		command->signals++;
		if (command->ended || command->signals > 1)
			return true;
		if (!seen.sent)
			continue;
		command->asked = true;
		kill(command->launched.pid, seen.signo);
	}
	return false;
}

static int on_end(const struct session *session, struct run_command *command, struct diag *diag)
{
	int err = launch_confirm(&command->launched, diag);

	/* As long as it is not reaped its figures are there. */
	collector_look(session->collector);

	command->refused = err;
	if (!err)
		err = launch_wait(&command->launched, &command->status, &command->rusage);
	command->ended = true;
	return err;
}

/* The wait for those that the command left behind: once they have outlived it for a while, it is said. */
struct run_notice {
	uint64_t due_ns;
	bool said;
};

static uint64_t next_deadline(const struct run_command *command, const struct run_notice *notice,
			      uint64_t end_ns)
{
	if (!command->ended || notice->said || notice->due_ns > end_ns)
		return end_ns;
	return notice->due_ns;
}

/* Until the last followed process has ended, -d is over, or a signal cuts the window. 0 or -errno. */
static int watch(struct session *session, struct run_command *command, struct diag *diag)
{
	uint64_t duration_ns = session->options.duration_ns;
	uint64_t end_ns = duration_ns ? session_now_ns() + duration_ns : UINT64_MAX;
	struct run_notice notice = {};

	for (;;) {
		uint64_t deadline = next_deadline(command, &notice, end_ns);
		int err, events = session_wait(session, command->ended ? -1 : command->launched.pidfd,
					       deadline, diag);

		if (events < 0)
			return events;
		if (events & SESSION_ENDED) {
			err = on_end(session, command, diag);
			if (err)
				return err;
			notice.due_ns = session_now_ns() + NOTICE_NS;
			if (command->asked)
				end_ns = session_now_ns() + PATIENCE_NS;
		}
		if (command->ended && (events & SESSION_EMPTY || !collector_alive(session->collector)))
			return 0;
		command->cut = events & SESSION_SIGNAL && take_signal(command);
		if (command->cut)
			return 0;
		if (!(events & SESSION_TIME))
			continue;
		command->cut = deadline == end_ns;
		command->by_duration = command->cut && !command->asked;
		if (command->cut)
			return 0;
		notice.said = true;
		say_who_is_left(session);
	}
}

/* After the window was cut while the command ran: it is asked to end, and killed if it does not. What
 * it had left behind when it ended by itself (a daemon) is left alone. */
static void end_the_rest(struct session *session, struct run_command *command)
{
	uint64_t deadline_ns = session_now_ns() + PATIENCE_NS;
	struct diag diag = {};
	int events = 0;

	if (command->ended && !command->by_duration)
		return;
	if (!command->by_duration)
		deadline_ns = 0; /* it was asked before */
	else
		signal_all(session, SIGTERM);
	while (collector_alive(session->collector) && events >= 0 &&
	       !(events & (SESSION_TIME | SESSION_SIGNAL)))
		events = session_wait(session, -1, deadline_ns, &diag);
	/* Once more for those that were being born meanwhile. */
	for (int i = 0; i < 3 && signal_all(session, SIGKILL); i++)
		;
}

/* ---- result ------------------------------------------------------------------------------------ */

static int take(struct session *session, const struct run_command *command, struct diag *diag)
{
	const char *name = session->options.operands[0], *slash = strrchr(name, '/');
	struct capture capture = {};
	int err = collector_take(session->collector, 0, &capture, diag);

	if (err)
		return err;
	capture.label = mem_strdup(slash && slash[1] ? slash + 1 : name);
	capture.workload = mem_strdup("run");
	capture.partial = command->cut;
	capture.exit_status = command->ended ? command->status : -1;
	/* rusage covers the whole life, so it compares only where the window did. */
	if (command->ended && !command->cut)
		capture.rusage_oncpu_ns = launch_cpu_ns(&command->rusage);
	*vec_push(&session->recording.runs) = capture;
	return 0;
}

/* The command's own, unless an option asked for a verdict that goes before it. */
static int exit_status(const struct options *options, const struct run_command *command,
		       int published)
{
	bool judged = options->given & BUDGET_ALL;

	if (published == EXIT_FAILED || published == EXIT_BUDGET)
		return published;
	if (published == EXIT_NOT_TRUSTED)
		log_warn("the figures are not to be trusted; the report says why");
	if (published == EXIT_NOT_TRUSTED && judged)
		return EXIT_NOT_TRUSTED;
	if (command->by_duration)
		return EXIT_DONE;
	return WIFSIGNALED(command->status) ? 128 + WTERMSIG(command->status)
					    : WEXITSTATUS(command->status);
}

/* From the gate to the closed window. Returns 0, or the exit status to end with. */
static int measure(struct session *session, struct run_command *command)
{
	struct launch_options launch = {
		.argv = session->options.operands,
		.user = session->options.user,
		.cpus = session->options.cpus,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
	};
	struct diag diag = {};
	int err = launch_prepare(&command->launched, &launch, &diag);

	if (err) {
		log_diag(&diag);
		return start_status(err);
	}
	err = collector_add_gated(session->collector, command->launched.pid, 0, &diag);
	if (!err)
		err = launch_open(&command->launched, &diag);
	/* With -d the time begins at exec. Without, nothing of ours wakes up then, but to look whom /proc shows. */
	if (!err && (session->options.duration_ns || session->from_proc)) {
		err = launch_confirm(&command->launched, &diag);
		command->refused = err;
		collector_look(session->collector);
	}
	if (!err)
		err = watch(session, command, &diag);
	collector_close_window(session->collector);
	if (!command->refused)
		end_the_rest(session, command);
	if (!err)
		err = take(session, command, &diag);
	if (!err && !command->ended)
		err = launch_wait(&command->launched, &command->status, &command->rusage);
	launch_kill(&command->launched);
	if (!err)
		return 0;
	log_diag(&diag);
	return command->refused ? start_status(err) : EXIT_FAILED;
}

static int check_user(const struct session *session)
{
	struct identity identity = {};
	struct diag diag = {};
	int err = identity_resolve(&identity, session->options.user, &diag);

	identity_free_members(&identity);
	return err ? options_usage_error(&usage, "--user: %s", diag.what) : 0;
}

static int run(struct session *session)
{
	struct collect_options collect = {
		.open_at_exec = true,
		.time_probes = session->options.verbose,
		.timeline = true,
		.series_seconds = SERIES_SECONDS,
	};
	struct run_command command = {};
	int status = session->options.user ? check_user(session) : 0;

	if (!status)
		status = session_open_collector(session, &collect);
	if (!status)
		status = measure(session, &command);
	if (status)
		return status;
	return exit_status(&session->options, &command, session_publish(session));
}

int cmd_run(int argc, char **argv)
{
	struct session session;
	int status;

	if (session_begin(&session, &usage, argc, argv, true, &status))
		status = run(&session);
	session_end(&session);
	return status;
}
