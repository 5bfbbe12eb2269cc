/* Asks a program for its version. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/deadline.h"
#include "runtime/launch.h"
#include "runtime/probe.h"
#include "runtime/words.h"

#define TIMEOUT_NS	  10000000000ULL
#define OUTPUT_BYTES	  4096
#define VERSION_MAX_BYTES 64
#define ARGUMENTS_MAX	  8

/* ---- what it printed --------------------------------------------------------------------------
 */

/* Bytes of a version that starts at text: "22.23.2", "3.1.2p20", "1.4.0-canary.1+5f2e". */
static size_t version_bytes(const char *text)
{
	size_t n = 0;

	while (n < VERSION_MAX_BYTES &&
	       (isalnum((unsigned char)text[n]) || (text[n] && strchr(".-+~", text[n]))))
		n++;
	while (n && strchr(".-+~", text[n - 1]))
		n--;
	return n;
}

char *probe_find_version(const char *text)
{
	const char *first = NULL;

	for (const char *at = text; *at; at++) {
		size_t digits = strspn(at, "0123456789");

		if (!digits)
			continue;
		if (at[digits] == '.' && isdigit((unsigned char)at[digits + 1]))
			return mem_strndup(at, version_bytes(at));
		if (!first)
			first = at;
		at += digits - 1;
	}
	return first ? mem_strndup(first, version_bytes(first)) : NULL;
}

/* ---- the question -----------------------------------------------------------------------------
 */

struct probe {
	const char *path;
	struct launched launched;
	int null_fd, out_fd, err_fd;
	int status;
};

static int start(struct probe *probe, const char *const *arguments, const char *user,
		 struct diag *diag)
{
	char *argv[ARGUMENTS_MAX + 2] = {(char *)probe->path};
	struct launch_options options = {
		.argv = argv,
		.directory = "/", /* a configuration file in ours could change the answer */
		.user = user,
		.own_group = true,
		.clean_environment = true,
		.file_limit_bytes = WORDS_MAX_BYTES,
	};
	int err;

	for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
		argv[i + 1] = (char *)arguments[i];
	probe->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (probe->null_fd < 0)
		return diag_set(diag, -errno, "cannot open /dev/null: %s", strerror(errno));
	probe->out_fd = words_create(diag);
	if (probe->out_fd < 0)
		return probe->out_fd;
	probe->err_fd = words_create(diag);
	if (probe->err_fd < 0)
		return probe->err_fd;
	options.stdin_fd = probe->null_fd;
	options.stdout_fd = probe->out_fd;
	options.stderr_fd = probe->err_fd;
	err = launch_prepare(&probe->launched, &options, diag);
	return err ? err : launch_release(&probe->launched, diag);
}

static int await_end(struct probe *probe, struct diag *diag)
{
	struct pollfd end = {.fd = probe->launched.pidfd, .events = POLLIN};
	int ready = deadline_poll(&end, 1, deadline_after(TIMEOUT_NS), NULL);
	struct rusage rusage;

	if (ready == -ETIMEDOUT)
		return diag_set(diag, ready, "'%s' did not say its version within 10 s",
				probe->path);
	if (ready < 0)
		return diag_set(diag, ready, "cannot wait for '%s': %s", probe->path,
				strerror(-ready));
	launch_wait(&probe->launched, &probe->status, &rusage);
	return 0;
}

static int read_version(const struct probe *probe, char **ret_version, struct diag *diag)
{
	size_t n;
	char *output = words_head(probe->out_fd, OUTPUT_BYTES, &n);
	bool ended_well = WIFEXITED(probe->status) && WEXITSTATUS(probe->status) == 0;
	char *version = ended_well ? probe_find_version(output) : NULL;
	char *words = words_last(probe->err_fd);
	char *ending = words_ending(probe->status);
	int err = 0;

	if (!*words) {
		free(words);
		words = words_last_of(output, n);
	}
	if (!ended_well)
		err = diag_set(diag, -EIO, "'%s' cannot be run: asked for its version, it %s%s%s",
			       probe->path, ending, *words ? ": " : "", words);
	else if (!version)
		err = diag_set(diag, -EIO, "'%s' was asked for its version and said '%s'",
			       probe->path, words);
	else
		*ret_version = version;
	free(output);
	free(words);
	free(ending);
	return err;
}

int probe_version(char **ret_version, const char *path, const char *const *arguments,
		  const char *user, struct diag *diag)
{
	struct probe probe = {.path = path, .null_fd = -1, .out_fd = -1, .err_fd = -1};
	int err = start(&probe, arguments, user, diag);

	if (!err)
		err = await_end(&probe, diag);
	if (!err)
		err = read_version(&probe, ret_version, diag);
	launch_kill(&probe.launched);
	for (const int *fd = (const int[]){probe.null_fd, probe.out_fd, probe.err_fd, -1}; *fd >= 0;
	     fd++)
		close(*fd);
	return err;
}
