/* The life of a job: one workload on one runtime, from the gate to its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "runtime/deadline.h"
#include "runtime/job.h"
#include "runtime/process_tree.h"
#include "runtime/strays.h"
#include "runtime/words.h"
#include "runtime/workshop.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- complaints -------------------------------------------------------------------------------
 */

int job_complain(const struct job *job, int err, struct diag *diag, const char *fmt, ...)
{
	struct strbuf what = {0};
	char *words = words_last(job->err_fd);
	va_list args;

	if (!*words && !job->out_is_pipe) {
		free(words);
		words = words_last(job->out_fd);
	} else if (!*words) {
		free(words);
		words = words_last_of(job->line, job->line_bytes);
	}
	va_start(args, fmt);
	strbuf_vprintf(&what, fmt, args);
	va_end(args);
	diag_set(diag, err, "%s %s %s%s%s", workload_name(job->workload), job->label,
		 strbuf_text(&what), *words ? ": " : "", words);
	strbuf_free_members(&what);
	free(words);
	return err;
}

/* How it ended, without reaping it; NULL when it has not. The caller frees. */
static char *peek_ending(const struct job *job)
{
	siginfo_t info = {0};

	if (job->launched.reaped ||
	    waitid(P_PID, (id_t)job->launched.pid, &info, WEXITED | WNOWAIT | WNOHANG) ||
	    !info.si_pid)
		return NULL;
	return words_ending(info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status);
}

static int confirm(struct job *job, struct diag *diag)
{
	int err = job->confirmed ? 0 : launch_confirm(&job->launched, diag);

	job->confirmed = true;
	return err;
}

int job_complain_ended(struct job *job, struct diag *diag)
{
	int err = confirm(job, diag);
	char *ending = err ? NULL : peek_ending(job);

	if (!err)
		err = job_complain(job, -EPIPE, diag, "%s", ending ? ending : "ended early");
	free(ending);
	return err;
}

/* ---- what is run ------------------------------------------------------------------------------
 */

struct arguments {
	VEC(char *) list;
};

static void add(struct arguments *arguments, const char *text)
{
	*vec_push(&arguments->list) = mem_strdup(text);
}

static void free_arguments(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->list.n; i++)
		free(arguments->list.items[i]);
	free(arguments->list.items);
}

static void add_hash(struct arguments *arguments, const struct job_options *options)
{
	char *limit =
		mem_printf("%llu", (unsigned long long)(options->hash_ops ? options->hash_ops
									  : options->hash_ns));

	add(arguments, options->variant);
	add(arguments, options->hash_ops ? "ops" : "ns");
	add(arguments, limit);
	free(limit);
}

/* PROGRAM [its options] SCRIPT [VARIANT ops|ns N], or sh -c. */
static void build_arguments(struct arguments *arguments, const struct job *job,
			    const struct runtime *runtime, const struct job_options *options)
{
	char *text;

	if (runtime->command) {
		text = mem_printf("exec %s", runtime->command);
		add(arguments, "/bin/sh");
		add(arguments, "-c");
		add(arguments, text);
	} else {
		text = workshop_script(job->shop, runtime->family, job->workload);
		if (!runtime->family->builtin)
			add(arguments, runtime->path);
		for (const char *const *at = runtime->family->run_argv; *at; at++)
			add(arguments, *at);
		add(arguments, text);
		if (job->workload == WORKLOAD_HASH)
			add_hash(arguments, options);
		else if (runtime->family->builtin)
			add(arguments, workload_name(job->workload));
	}
	free(text);
	vec_push(&arguments->list); /* the NULL at the end */
}

static int check_hash(const struct runtime *runtime, const struct job_options *options,
		      struct diag *diag)
{
	if (runtime->command)
		return diag_set(diag, -ENOTSUP, "%s: hash runs on runtimes, not on commands",
				runtime->label);
	if (!options->variant || (!options->hash_ops && !options->hash_ns))
		return diag_set(diag, -EINVAL, "hash needs a variant, and operations or a time");
	for (const char *const *at = runtime->family->variants; *at; at++)
		if (!strcmp(*at, options->variant))
			return 0;
	return diag_set(diag, -ENOTSUP, "%s: %s has no variant '%s'", runtime->label,
			runtime->family->name, options->variant);
}

static int check(const struct runtime *runtime, const struct job_options *options, struct diag *diag)
{
	if (options->workload == WORKLOAD_HASH)
		return check_hash(runtime, options, diag);
	if (options->workload == WORKLOAD_SERVE && runtime->command)
		return diag_set(diag, -ENOTSUP, "%s: serve runs on runtimes, not on commands",
				runtime->label);
	return 0;
}

/* ---- its descriptors --------------------------------------------------------------------------
 */

/* The child's ends, which we close when it has them. */
struct stdio {
	int in_fd, out_fd;
};

static int open_pipe(int *reader, int *writer, struct diag *diag)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
	*reader = ends[0];
	*writer = ends[1];
	return 0;
}

/* Where nobody waits for a line, output goes to a file in memory: no reader is woken by it, and it
 * is never blocked by a full pipe. */
static int open_stdio(struct job *job, struct stdio *stdio, struct diag *diag)
{
	int err = 0;

	job->out_is_pipe = job->workload != WORKLOAD_STARTUP && !job->is_command;
	job->err_fd = words_create(diag);
	if (job->err_fd < 0)
		return job->err_fd;
	if (job->workload == WORKLOAD_HASH)
		err = open_pipe(&stdio->in_fd, &job->in_fd, diag);
	else if ((stdio->in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
		err = diag_set(diag, -errno, "cannot open /dev/null: %s", strerror(errno));
	if (err)
		return err;
	if (job->out_is_pipe)
		return open_pipe(&job->out_fd, &stdio->out_fd, diag);
	job->out_fd = words_create(diag);
	return job->out_fd < 0 ? job->out_fd : 0;
}

/* ---- its life ---------------------------------------------------------------------------------
 */

static int launch(struct job *job, const struct runtime *runtime, const struct job_options *options,
		  struct diag *diag)
{
	struct stdio stdio = {-1, -1};
	struct arguments arguments = {0};
	int err = open_stdio(job, &stdio, diag);

	if (!err)
		err = workshop_make_directory(job->shop, &job->directory, diag);
	if (!err) {
		build_arguments(&arguments, job, runtime, options);
		err = launch_prepare(
			&job->launched,
			&(struct launch_options){
				.argv = arguments.list.items,
				.directory = job->directory,
				.user = options->user,
				.cpus = options->cpus,
				.stdin_fd = stdio.in_fd,
				.stdout_fd = job->out_is_pipe ? stdio.out_fd : job->out_fd,
				.stderr_fd = job->err_fd,
				.own_group = true,
				.clean_environment = true,
				.mark = job->directory,
				.cache = job->is_command ? NULL : workshop_cache(job->shop),
				.file_limit_bytes = WORDS_MAX_BYTES,
			},
			diag);
	}
	if (!err)
		workshop_guard(job->shop, job->launched.pid);
	close_fd(&stdio.in_fd);
	close_fd(&stdio.out_fd);
	free_arguments(&arguments);
	return err;
}

int job_prepare(struct job **ret_job, struct workshop *shop, const struct runtime *runtime,
		const struct job_options *options, struct diag *diag)
{
	struct job *job;
	int err = check(runtime, options, diag);

	if (err)
		return err;
	job = mem_zalloc(sizeof(*job));
	job->shop = shop;
	job->workload = options->workload;
	job->is_command = runtime->command != NULL;
	job->hash_ops = options->hash_ops;
	job->beside = options->beside;
	job->label = mem_strdup(runtime->label);
	job->in_fd = job->out_fd = job->err_fd = -1;
	err = launch(job, runtime, options, diag);
	if (err) {
		job_end(job);
		return err;
	}
	*ret_job = job;
	return 0;
}

pid_t job_pid(const struct job *job)
{
	return job->launched.pid;
}

int job_pidfd(const struct job *job)
{
	return job->launched.pidfd;
}

unsigned job_port(const struct job *job)
{
	return job->port;
}

int job_release(struct job *job, struct diag *diag)
{
	int err;

	job->begun_ns = deadline_now_ns();
	err = launch_open(&job->launched, diag);
	/* A start-up is measured from exec on, and to be woken by it would cost it time: whether
	 * exec succeeded is asked when it has ended. */
	if (!err && job->workload != WORKLOAD_STARTUP)
		err = confirm(job, diag);
	return err;
}

/* ---- its end ----------------------------------------------------------------------------------
 */

static int check_output(const struct job *job, struct diag *diag)
{
	static const char expected[] = "hello\n";
	size_t n;
	char *output;
	int err = 0;

	if (job->is_command)
		return 0;
	output = words_head(job->out_fd, sizeof(expected), &n);
	if (n != strlen(expected) || memcmp(output, expected, n))
		err = job_complain(job, -EPROTO, diag, "did not print 'hello' alone");
	free(output);
	return err;
}

static int check_end(struct job *job, int status, struct diag *diag)
{
	char *ending = words_ending(status);
	int err = 0;

	if (job->workload != WORKLOAD_STARTUP)
		err = job_complain(job, -EPIPE, diag, "%s", ending);
	else if (status)
		err = job_complain(job, -EIO, diag, "%s", ending);
	free(ending);
	return err ? err : check_output(job, diag);
}

int job_await_end(struct job *job, uint64_t timeout_ns, const volatile int *stop, int *ret_status,
		  struct rusage *ret_rusage, struct diag *diag)
{
	struct pollfd end = {.fd = job->launched.pidfd, .events = POLLIN};
	int ready = deadline_poll_beside(&end, 1, deadline_after(timeout_ns), stop, &job->beside);
	char time[UNITS_TEXT_BYTES];
	uint64_t now_ns = deadline_now_ns();
	int err, status;
	struct rusage rusage;

	if (ready == -ETIMEDOUT)
		return job_complain(job, ready, diag, "did not end within %s",
				    units_format_duration_plain(time, (double)timeout_ns));
	if (ready < 0)
		return diag_set(diag, ready, "%s: %s", job->label, strerror(-ready));
	job->over_ns = now_ns;
	err = confirm(job, diag);
	if (!err)
		err = launch_wait(&job->launched, &status, &rusage);
	if (!err)
		err = check_end(job, status, diag);
	if (err)
		return err;
	*ret_status = status;
	*ret_rusage = rusage;
	return 0;
}

uint64_t job_outer_ns(const struct job *job)
{
	return job->over_ns > job->begun_ns ? job->over_ns - job->begun_ns : 0;
}

int job_memory(const struct job *job, uint64_t *ret_rss_bytes, uint64_t *ret_pss_bytes)
{
	return process_tree_memory(job->launched.pid, ret_rss_bytes, ret_pss_bytes);
}

void job_end(struct job *job)
{
	pid_t pid;

	if (!job)
		return;
	close_fd(&job->in_fd);
	pid = job->launched.pid;
	launch_kill(&job->launched);
	if (pid > 0)
		workshop_guard(job->shop, -pid);
	/* Our own scripts start nothing that leaves the group; a command may. */
	if (job->is_command && job->directory)
		strays_kill(job->directory);
	close_fd(&job->out_fd);
	close_fd(&job->err_fd);
	free(job->label);
	free(job->directory);
	free(job);
}
