/* One measurement from its command line to its report: what run, attach and the experiments share. */
#include "cmd/session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/signals.h"
#include "collect/kernel.h"

/* Stacks of one thread in a second, unless the user says otherwise: enough to see each wake of a thread
 * that idles, too few to slow one that wakes all the time. */
#define STACKS_PER_S 200

uint64_t session_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * WK_SECOND_NS + (uint64_t)now.tv_nsec;
}

bool session_readable(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) == 1;
}

/* The names that recordings use for architectures, whatever the kernel calls them. */
static const char *arch_name(const char *machine)
{
	if (!strcmp(machine, "x86_64"))
		return "x86-64";
	if (!strcmp(machine, "aarch64"))
		return "arm64";
	return machine;
}

/* Before the options are parsed: parsing changes the order of argv. */
static void describe_tool(struct capture_tool *tool, int argc, char **argv)
{
	char started[UNITS_TEXT_BYTES];
	struct utsname name = {};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	uname(&name);
	tool->version = mem_strdup(WAKEWHY_VERSION);
	tool->kernel = mem_strdup(name.release);
	tool->arch = mem_strdup(arch_name(name.machine));
	tool->started = mem_strdup(units_format_time(started, (int64_t)time(NULL)));
	tool->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	*vec_push(&tool->command) = mem_strdup("wakewhy");
	for (int i = 0; i < argc; i++)
		*vec_push(&tool->command) = mem_strdup(argv[i]);
}

bool session_begin(struct session *ret_session, const struct command_usage *usage, int argc,
		   char **argv, bool to_stderr, int *ret_status)
{
	struct session *session = ret_session;
	struct diag diag = {};
	int err;

	*session = (struct session){.usage = usage};
	describe_tool(&session->recording.tool, argc, argv);
	if (!options_parse(&session->options, usage, argc, argv, ret_status))
		return false;
	if (session->options.backend == BACKEND_PROC && usage->no_proc) {
		*ret_status = options_usage_error(usage, "--backend proc cannot serve here: %s", usage->no_proc);
		return false;
	}
	if (session->options.backend == BACKEND_PROC && (session->options.stacks || session->options.sample_hz)) {
		*ret_status = options_usage_error(usage, "--backend proc cannot take stacks: leave out %s",
						  session->options.stacks ? "--stacks" : "--sample");
		return false;
	}
	err = outputs_open(&session->outputs, &session->options, to_stderr, &diag);
	if (err == -EINVAL) {
		*ret_status = options_usage_error(usage, "%s%s%s", diag.what, *diag.hint ? "; " : "",
						  diag.hint);
		return false;
	}
	if (!err)
		err = signals_begin(&diag);
	if (err) {
		log_diag(&diag);
		*ret_status = EXIT_FAILED;
		return false;
	}
	return true;
}

/* stacks in collect are what the command takes by default. */
static void set_stacks(struct collect_options *collect, const struct options *options)
{
	collect->sample_hz = options->sample_hz;
	collect->stacks_per_s = STACKS_PER_S;
	if (options_given(options, OPTION_STACK_LIMIT))
		collect->stacks_per_s = options->stack_limit;
	if (options_given(options, OPTION_STACKS))
		collect->stacks = options->stacks;
	else if (options->sample_hz && !collect->stacks)
		collect->stacks = WK_STACKS_KERNEL | WK_STACKS_USER;
}

/* Frames of a kernel that hides its addresses would be numbers that change from boot to boot, the probes' own
 * among them. Returns EXIT_DONE, or the status to end with where nothing else was wanted. */
static int leave_out_kernel(const struct session *session, struct collect_options *collect)
{
	static const char why[] = "the kernel hides its names (/proc/kallsyms) from this process";
	const char *remedy = kernel_sysctl("kptr_restrict") > 1
				     ? "sysctl kernel.kptr_restrict=1 shows them to root"
				     : "run it with sudo, or give it CAP_SYSLOG too";

	if (!(collect->stacks & WK_STACKS_KERNEL) || session->options.backend == BACKEND_PROC ||
	    !kernel_capabilities_suffice(kernel_capabilities()) || kernel_shows_addresses())
		return EXIT_DONE;
	if (collect->stacks == WK_STACKS_KERNEL) {
		struct diag diag;

		diag_set(&diag, -EPERM, "--stacks=k: %s", why);
		diag_hint(&diag, -EPERM, "%s, or leave --stacks=k out", remedy);
		log_diag(&diag);
		return EXIT_NOT_SUPPORTED;
	}
	collect->stacks &= ~(uint32_t)WK_STACKS_KERNEL;
	if (options_given(&session->options, OPTION_STACKS) || session->options.sample_hz)
		log_warn("%s: stacks have no kernel part (%s)", why, remedy);
	return EXIT_DONE;
}

static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES || err == -ENOTSUP;
}

/* May /proc do instead of probes, which are not permitted or not there? */
static bool may_do_from_proc(const struct session *session, const struct collect_options *options)
{
	return !options->cgroup_id && session->usage->accepts & OPTION_BIT(OPTION_BACKEND) &&
	       !session->usage->no_proc;
}

static bool may_fall_back(const struct session *session, const struct collect_options *options)
{
	return session->options.backend == BACKEND_AUTO && may_do_from_proc(session, options);
}

static int open_either(struct session *session, struct collect_options *options, struct diag *diag)
{
	int err;

	if (session->options.backend == BACKEND_PROC)
		options->backend = COLLECT_PROC;
	err = collector_open(&session->collector, options, diag);
	if (err && is_refusal(err) && may_fall_back(session, options)) {
		log_warn("%s; measured from /proc instead, without causes, stacks and system calls (%s)", diag->what,
			 diag->hint);
		options->backend = COLLECT_PROC;
		err = collector_open(&session->collector, options, diag);
	}
	session->from_proc = options->backend == COLLECT_PROC;
	return err;
}

/* What is opened is open: from here on only what this command still does is permitted. */
static void drop_privileges(const struct session *session)
{
	unsigned uses = session->usage->privileges | PRIVILEGES_PROCESSES;

	if (!session->from_proc)
		uses |= PRIVILEGES_PROBES;
	if (session->options.outputs.n)
		uses |= PRIVILEGES_FILES;
	privileges_keep(uses);
}

int session_open_collector(struct session *session, struct collect_options *options)
{
	struct diag diag = {};
	int err, status;

	if (session->options.backend == BACKEND_PROC && options->cgroup_id)
		return options_usage_error(session->usage, "--backend proc cannot follow a cgroup: name processes by -p or -n");
	options->max_threads = session->options.max_threads;
	options->syscalls = !session->options.no_syscalls;
	options->follow = !session->options.no_follow;
	options->stamp_output &= options->syscalls;
	set_stacks(options, &session->options);
	status = leave_out_kernel(session, options);
	if (status)
		return status;
	err = open_either(session, options, &diag);
	session->takes_stacks = !session->from_proc && (options->stacks || options->sample_hz);
	if (!err) {
		drop_privileges(session);
		return EXIT_DONE;
	}
	if (err == -EPERM && may_do_from_proc(session, options)) {
		struct diag told = diag;

		diag_hint(&diag, err, "%s; --backend proc measures without, but no causes", told.hint);
	}
	log_diag(&diag);
	return is_refusal(err) ? EXIT_NOT_SUPPORTED : EXIT_FAILED;
}

int session_fail(struct session *session, const struct diag *diag)
{
	progress_clear(session->progress);
	log_diag(diag);
	session->failed = *diag;
	return EXIT_FAILED;
}

int session_publish(struct session *session)
{
	progress_clear(session->progress);
	signals_end();
	return outputs_publish(session->outputs, &session->recording);
}

void session_end(struct session *session)
{
	progress_free(session->progress);
	collector_free(session->collector);
	outputs_free(session->outputs);
	recording_free_members(&session->recording);
	options_free_members(&session->options);
	*session = (struct session){};
}

/* ---- waiting ----------------------------------------------------------------------------------- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void session_show(struct session *session, uint64_t elapsed_ns)
{
	uint64_t total = session->plan_total_ns;
	uint64_t done = smaller(session->plan_done_ns + elapsed_ns, total);

	progress_update(session->progress, done, total, total ? total - done : UINT64_MAX);
}

/* Polls once, until deadline_ns or the bar's next turn. */
static int poll_once(struct pollfd *fds, nfds_t n, uint64_t deadline_ns, uint64_t interval_ns)
{
	uint64_t now = session_now_ns();
	uint64_t left = deadline_ns > now ? deadline_ns - now : 0, wait = left;
	struct timespec timeout;

	if (deadline_ns == UINT64_MAX)
		wait = UINT64_MAX;
	wait = smaller(wait, interval_ns);
	timeout.tv_sec = (time_t)(wait / WK_SECOND_NS);
	timeout.tv_nsec = (long)(wait % WK_SECOND_NS);
	if (ppoll(fds, n, wait == UINT64_MAX ? NULL : &timeout, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	return 0;
}

static int serve_collector(struct session *session, struct diag *diag)
{
	bool empty = false;
	int err = collector_service(session->collector, &empty, diag);

	return err ? err : empty ? SESSION_EMPTY : 0;
}

int session_wait(struct session *session, int pidfd, uint64_t deadline_ns, struct diag *diag)
{
	struct pollfd fds[] = {
		{.fd = signals_fd(), .events = POLLIN},
		{.fd = pidfd, .events = POLLIN}, /* poll skips -1 */
		{.fd = session->collector ? collector_fd(session->collector) : -1, .events = POLLIN},
	};
	uint64_t begun_ns = session_now_ns(), now = begun_ns;
	int events = 0, err = 0;

	while (!events) {
		session_show(session, now - begun_ns);
		err = poll_once(fds, 3, deadline_ns, progress_interval_ns(session->progress));
		if (err)
			return diag_set(diag, err, "cannot wait: %s", strerror(-err));
		now = session_now_ns();
		if (session_readable(fds[0].fd))
			events |= SESSION_SIGNAL;
		if (pidfd >= 0 && fds[1].revents)
			events |= SESSION_ENDED;
		if (now >= deadline_ns)
			events |= SESSION_TIME;
		if (fds[2].revents) {
			err = serve_collector(session, diag);
			if (err < 0)
				return err;
			events |= err;
		}
		for (size_t i = 0; i < 3; i++)
			fds[i].revents = 0;
	}
	session->plan_done_ns += now - begun_ns;
	return events;
}
