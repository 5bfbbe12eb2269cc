/* The command table, and nothing else. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/output.h"
#include "cmd/privileges.h"

static const struct command {
	const char *group; /* heading before it; NULL: as the one before */
	const char *name;
	cmd_main *main;
	const char *meaning;
} commands[] = {
	{"measure a program", "run", cmd_run,
	 "profile a command from its first instruction to its last exit"},
	{NULL, "attach", cmd_attach, "profile live processes, or the whole machine, for a window"},
	{"compare runtimes", "startup", cmd_startup, "start a one-line program N times on each runtime"},
	{NULL, "idle", cmd_idle, "start an HTTP server on each runtime, talk to nobody, watch"},
	{NULL, "serve", cmd_serve, "requests per second of an HTTP server under a load generator"},
	{NULL, "hash", cmd_hash, "SHA-256 of a short string, over and over, per API style"},
	{NULL, "study", cmd_study, "all of these, binary size and memory, in one report"},
	{"look", "report", cmd_report, "render saved recordings again; needs no privileges"},
	{NULL, "diff", cmd_diff, "explain the difference between two recordings, cause by cause"},
	{NULL, "list", cmd_list, "runtimes, workloads, causes, metrics and formats"},
	{NULL, "doctor", cmd_doctor, "can this machine measure, and what is missing or noisy?"},
	{NULL, "selftest", cmd_selftest, "are the figures right on this kernel? known programs, measured"},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	printf("wakewhy: why does this program wake up, and what does each wake-up cost?\n\n"
	       "usage: wakewhy COMMAND [OPTIONS] ...\n");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (commands[i].group)
			printf("\n%s\n", commands[i].group);
		printf("  %-10s %s\n", commands[i].name, commands[i].meaning);
	}
	printf("\n'wakewhy COMMAND --help' says more, 'wakewhy --version' the version. Measuring needs root.\n");
	return output_finish(stdout, "standard output");
}

static int print_version(void)
{
	printf("wakewhy %s\n", WAKEWHY_VERSION);
	return output_finish(stdout, "standard output");
}

static int unknown_command(const char *name)
{
	const char *names[N_COMMANDS + 1] = {}, *near;

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	near = nearest_of(name, names);
	if (near)
		log_error("there is no command '%s', did you mean '%s'? (try 'wakewhy --help')", name,
			  near);
	else
		log_error("there is no %s '%s' (try 'wakewhy --help')",
			  *name == '-' ? "option" : "command", name);
	return EXIT_USAGE;
}

/* A standard descriptor that is closed would be given to the next file that is opened. The wrong
 * direction makes every use of it fail, as it should. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(EXIT_FAILED);
}

static void on_broken_pipe(int signo)
{
	(void)signo;
}

int main(int argc, char **argv)
{
	/* Caught, not ignored: writing says EPIPE, and a program that we start gets the default again. */
	struct sigaction action = {.sa_handler = on_broken_pipe, .sa_flags = SA_RESTART};
	const char *name = argc > 1 ? argv[1] : "--help";

	hold_standard_descriptors();
	privileges_begin();
	sigaction(SIGPIPE, &action, NULL);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return print_help();
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return print_version();
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	return unknown_command(name);
}
