/* What a job says and is told: the lines of the protocol in workloads.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "runtime/deadline.h"
#include "runtime/job.h"
#include "runtime/words.h"

/* SHA-256 of "Hello world!!!", by sha256sum(1). */
#define DIGEST "4354dfda70c8f0d3991b9de3d56dcb6e9f2fc6c0316d235b63afeb388471ada4"

/* ---- lines ------------------------------------------------------------------------------------
 */

/* Takes the first line out of the buffer; NULL when there is none yet. The caller frees. */
static char *take_line(struct job *job)
{
	char *end = memchr(job->line, '\n', job->line_bytes);
	size_t n = end ? (size_t)(end - job->line) : 0;
	char *line;

	if (!end)
		return NULL;
	line = mem_zalloc(n + 1);
	memcpy(line, job->line, n);
	job->line_bytes -= n + 1;
	memmove(job->line, end + 1, job->line_bytes);
	return line;
}

/* Reads what is there. 0, or 1 at the end of its output. */
static int fill(struct job *job)
{
	ssize_t n =
		read(job->out_fd, job->line + job->line_bytes, sizeof(job->line) - job->line_bytes);

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return 1;
	job->line_bytes += (size_t)n;
	return 0;
}

/* Waits for a line. waiting_for is part of the message when there is none in time. */
static int read_line(struct job *job, uint64_t timeout_ns, const volatile int *stop,
		     const char *waiting_for, char **ret_line, struct diag *diag)
{
	uint64_t deadline_ns = deadline_after(timeout_ns);
	struct pollfd fds[] = {{.fd = job->out_fd, .events = POLLIN},
			       {.fd = job->launched.pidfd, .events = POLLIN}};
	char time[UNITS_TEXT_BYTES];

	while (!(*ret_line = take_line(job))) {
		int ready;

		if (job->line_bytes == sizeof(job->line))
			return job_complain(job, -EPROTO, diag, "said a line without an end");
		ready = deadline_poll_beside(fds, 2, deadline_ns, stop, &job->beside);
		if (ready == -ETIMEDOUT)
			return job_complain(job, ready, diag, "did not say '%s' within %s",
					    waiting_for,
					    units_format_duration_plain(time, (double)timeout_ns));
		if (ready < 0)
			return diag_set(diag, ready, "%s: %s", job->label, strerror(-ready));
		/* What it said before it ended comes first. */
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) {
			if (fill(job))
				fds[0].fd = -1;
		} else if (fds[1].revents) {
			return job_complain_ended(job, diag);
		}
	}
	return 0;
}

static int nonsense(const struct job *job, const char *line, const char *expected,
		    struct diag *diag)
{
	char *words = words_last_of(line, strlen(line));

	diag_set(diag, -EPROTO, "%s %s said '%s' where '%s' was expected",
		 workload_name(job->workload), job->label, words, expected);
	free(words);
	return -EPROTO;
}

/* Decimal digits only, above 0. */
static bool parse_number(const char *text, size_t n, uint64_t *ret_number)
{
	char *end;

	if (!n || strspn(text, "0123456789") < n)
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return !errno && end == text + n && *ret_number > 0;
}

/* A line to its standard input. It may be dead: then EPIPE, and no SIGPIPE for us. */
static int write_line(int fd, const char *line)
{
	static const struct timespec at_once;
	sigset_t pipe_set, old, pending;
	size_t n = strlen(line);
	int err;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	sigprocmask(SIG_BLOCK, &pipe_set, &old);
	err = write(fd, line, n) == (ssize_t)n ? 0 : -errno;
	if (err == -EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_set, NULL, &at_once);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* ---- the protocol -----------------------------------------------------------------------------
 */

static int take_port(struct job *job, const char *line, struct diag *diag)
{
	uint64_t port;

	if (strncmp(line, "port ", 5) || !parse_number(line + 5, strlen(line + 5), &port) ||
	    port > 65535)
		return nonsense(job, line, "port N", diag);
	job->port = (unsigned)port;
	return 0;
}

static int take_ready(struct job *job, const char *line, struct diag *diag)
{
	static const char unsupported[] = "unsupported ";
	size_t n = strlen(unsupported);

	if (!strcmp(line, "ready"))
		return 0;
	if (strncmp(line, unsupported, n))
		return nonsense(job, line, "ready", diag);
	return diag_set(diag, -ENOTSUP, "%s does not support it: %s", job->label, line + n);
}

int job_await_ready(struct job *job, uint64_t timeout_ns, const volatile int *stop,
		    struct diag *diag)
{
	bool is_server = job_is_server(job);
	char *line = NULL;
	int err;

	if (!job->out_is_pipe) /* start-up and commands say nothing */
		return 0;
	err = read_line(job, timeout_ns, stop, is_server ? "port N" : "ready", &line, diag);
	if (!err)
		err = is_server ? take_port(job, line, diag) : take_ready(job, line, diag);
	free(line);
	return err;
}

int job_hash_go(struct job *job, struct diag *diag)
{
	int err;

	job->begun_ns = deadline_now_ns();
	err = write_line(job->in_fd, "go\n");
	return err == -EPIPE ? job_complain_ended(job, diag)
	       : err ? diag_set(diag, err, "cannot tell %s to go: %s", job->label, strerror(-err))
		     : 0;
}

static int take_done(const struct job *job, const char *line, uint64_t *ret_operations,
		     struct diag *diag)
{
	const char *number = line + 5;
	const char *digest = strncmp(line, "done ", 5) ? NULL : strchr(number, ' ');
	uint64_t operations;

	if (!digest || !parse_number(number, (size_t)(digest - number), &operations))
		return nonsense(job, line, "done OPERATIONS DIGEST", diag);
	if (job->hash_ops && operations != job->hash_ops)
		return diag_set(diag, -EPROTO, "hash %s did %llu operations instead of %llu",
				job->label, (unsigned long long)operations,
				(unsigned long long)job->hash_ops);
	if (strcmp(digest + 1, DIGEST))
		return nonsense(job, line, "done OPERATIONS " DIGEST, diag);
	*ret_operations = operations;
	return 0;
}

int job_hash_await(struct job *job, uint64_t timeout_ns, const volatile int *stop,
		   uint64_t *ret_operations, struct diag *diag)
{
	char *line = NULL;
	int err = read_line(job, timeout_ns, stop, "done", &line, diag);

	job->over_ns = deadline_now_ns();
	if (!err)
		err = take_done(job, line, ret_operations, diag);
	free(line);
	return err;
}
