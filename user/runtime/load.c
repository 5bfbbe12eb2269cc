/* The load on a server: wrk, as a process of its own on CPUs of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/deadline.h"
#include "runtime/load.h"
#include "runtime/program.h"
#include "runtime/words.h"
#include "runtime/workshop.h"

#define PROGRAM "wrk"
/* What it prints is some 500 bytes. */
#define OUTPUT_BYTES_MAX 16384

struct load {
	struct workshop *shop;
	struct launched launched;
	int out_fd; /* what it prints, errors too: a file in memory */
	char *directory;
};

/* ---- what it prints --------------------------------------------------------------------------- */

/* What is left of a line while it is read. */
struct line {
	const char *at, *end;
};

/* Takes `text` off the line's start. */
static bool take(struct line *line, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(line->end - line->at) < n || memcmp(line->at, text, n))
		return false;
	line->at += n;
	return true;
}

/* Takes digits off the line's start: a number of 64 bits. */
static bool take_number(struct line *line, uint64_t *ret_number)
{
	const char *start = line->at;
	uint64_t number = 0;

	for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*line->at - '0'), &number))
			return false;
	*ret_number = number;
	return line->at > start;
}

/* What is known so far of its output. */
struct parse {
	unsigned requests_lines, socket_lines, status_lines, last_lines;
	uint64_t requests, errors;
};

/* "connect 0, read 3, write 0, timeout 1", and nothing after it. */
static bool take_socket_errors(struct parse *parse, struct line *line)
{
	static const char *const names[] = {"connect ", ", read ", ", write ", ", timeout "};
	uint64_t number;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!take(line, names[i]) || !take_number(line, &number) ||
		    __builtin_add_overflow(parse->errors, number, &parse->errors))
			return false;
	return line->at == line->end;
}

/* False: it begins like a line that we know and goes on otherwise. */
static bool take_line(struct parse *parse, struct line *line)
{
	struct line number_line = *line;
	uint64_t number;

	if (take(line, "  Socket errors: ")) {
		parse->socket_lines++;
		return take_socket_errors(parse, line);
	}
	if (take(line, "  Non-2xx or 3xx responses: ")) {
		parse->status_lines++;
		return take_number(line, &number) && line->at == line->end &&
		       !__builtin_add_overflow(parse->errors, number, &parse->errors);
	}
	if (take(line, "Transfer/sec:"))
		parse->last_lines++;
	/* "  17271 requests in 1.01s, 2.50MB read" */
	if (take(&number_line, "  ") && take_number(&number_line, &number) &&
	    take(&number_line, " requests in ")) {
		parse->requests_lines++;
		parse->requests = number;
	}
	return true;
}

bool load_parse(const char *bytes, size_t n, uint64_t *ret_requests, uint64_t *ret_errors)
{
	struct parse parse = {};
	const char *at = bytes, *end = bytes + n;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct line line = {at, newline ? newline : end};

		if (!take_line(&parse, &line))
			return false;
		at = line.end + 1;
		if (!newline)
			break;
	}
	if (parse.requests_lines != 1 || parse.last_lines != 1 || parse.socket_lines > 1 ||
	    parse.status_lines > 1)
		return false;
	*ret_requests = parse.requests;
	*ret_errors = parse.errors;
	return true;
}

/* ---- its life --------------------------------------------------------------------------------- */

int load_find(struct diag *diag)
{
	char *path;
	int err = program_find(PROGRAM, &path, NULL);

	if (err) {
		diag_set(diag, -ENOENT, "serve needs the load generator wrk, and it is not on PATH");
		return diag_hint(diag, -ENOENT,
				 "install its package: apt-get install wrk, or 'make demo'");
	}
	free(path);
	return 0;
}

static int launch(struct load *load, const struct load_options *options, struct diag *diag)
{
	char *connections = mem_printf("-c%u", options->connections);
	char *threads = mem_printf("-t%u", options->threads);
	char *seconds = mem_printf("-d%us", options->seconds);
	char *url = mem_printf("http://127.0.0.1:%u/", options->port);
	char *argv[] = {PROGRAM, threads, connections, seconds, url, NULL};
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int err = null_fd < 0 ? diag_set(diag, -errno, "cannot open /dev/null: %s", strerror(errno))
			      : 0;

	if (!err)
		err = launch_prepare(&load->launched,
				     &(struct launch_options){
					     .argv = argv,
					     .directory = load->directory,
					     .user = options->user,
					     .cpus = options->cpus,
					     .stdin_fd = null_fd,
					     .stdout_fd = load->out_fd,
					     .stderr_fd = load->out_fd,
					     .own_group = true,
					     .clean_environment = true,
					     .mark = load->directory,
					     .file_limit_bytes = WORDS_MAX_BYTES,
				     },
				     diag);
	if (!err)
		workshop_guard(load->shop, load->launched.pid);
	if (null_fd >= 0)
		close(null_fd);
	free(url);
	free(seconds);
	free(threads);
	free(connections);
	return err;
}

int load_prepare(struct load **ret_load, struct workshop *shop, const struct load_options *options,
		 struct diag *diag)
{
	struct load *load = mem_zalloc(sizeof(*load));
	int err;

	load->shop = shop;
	load->out_fd = words_create(diag);
	err = load->out_fd < 0 ? load->out_fd : 0;
	if (!err)
		err = workshop_make_directory(shop, &load->directory, diag);
	if (!err)
		err = launch(load, options, diag);
	if (err) {
		load_end(load);
		return err;
	}
	*ret_load = load;
	return 0;
}

pid_t load_pid(const struct load *load)
{
	return load->launched.pid;
}

int load_pidfd(const struct load *load)
{
	return load->launched.pidfd;
}

int load_release(struct load *load, struct diag *diag)
{
	return launch_release(&load->launched, diag);
}

/* Fills diag with what is wrong and its last words. Returns err. */
static int complain(const struct load *load, int err, struct diag *diag, const char *what)
{
	char *words = words_last(load->out_fd);

	diag_set(diag, err, "the load generator " PROGRAM " %s%s%s", what, *words ? ": " : "", words);
	free(words);
	return err;
}

static int await_end(const struct load *load, uint64_t timeout_ns, const volatile int *stop,
		     struct diag *diag)
{
	struct pollfd end = {.fd = load->launched.pidfd, .events = POLLIN};
	int ready = deadline_poll(&end, 1, deadline_after(timeout_ns), stop);

	if (ready == -ETIMEDOUT)
		return complain(load, ready, diag, "did not end in time");
	if (ready < 0)
		return diag_set(diag, ready, PROGRAM ": %s", strerror(-ready));
	return 0;
}

static int read_result(const struct load *load, struct load_result *result, struct diag *diag)
{
	size_t n;
	char *output = words_head(load->out_fd, OUTPUT_BYTES_MAX, &n);
	bool understood = n < OUTPUT_BYTES_MAX &&
			  load_parse(output, n, &result->requests, &result->errors);

	free(output);
	if (!understood)
		return complain(load, -EPROTO, diag, "printed what it never prints");
	if (!result->requests)
		return complain(load, -EPROTO, diag, "got no answer");
	return 0;
}

int load_await(struct load *load, uint64_t timeout_ns, const volatile int *stop,
	       struct load_result *ret_result, struct diag *diag)
{
	struct load_result result = {};
	struct rusage rusage;
	int status = 0;
	int err = await_end(load, timeout_ns, stop, diag);

	if (!err)
		err = launch_wait(&load->launched, &status, &rusage);
	if (!err && status) {
		char *ending = words_ending(status);

		err = complain(load, -EIO, diag, ending);
		free(ending);
	}
	if (!err)
		err = read_result(load, &result, diag);
	if (err)
		return err;
	result.cpu_ns = launch_cpu_ns(&rusage);
	*ret_result = result;
	return 0;
}

void load_end(struct load *load)
{
	pid_t pid;

	if (!load)
		return;
	pid = load->launched.pid;
	launch_kill(&load->launched);
	if (pid > 0)
		workshop_guard(load->shop, -pid);
	if (load->out_fd >= 0)
		close(load->out_fd);
	free(load->directory);
	free(load);
}
