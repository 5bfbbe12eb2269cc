/* The options that all commands share: one table that parses and that help is printed from. */
#ifndef WAKEWHY_CMD_OPTIONS_H
#define WAKEWHY_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"
#include "render/render.h"

enum option_id {
	OPTION_PID,
	OPTION_NAME,
	OPTION_CGROUP,
	OPTION_ALL,
	OPTION_KERNEL,
	OPTION_NO_FOLLOW,
	OPTION_DURATION,
	OPTION_RUNS,
	OPTION_WARMUP,
	OPTION_OPS,
	OPTION_VARIANT,
	OPTION_CMD,
	OPTION_PARALLEL,
	OPTION_CPUS,
	OPTION_USER,
	OPTION_NO_SYSCALLS,
	OPTION_STACKS,
	OPTION_STACK_LIMIT,
	OPTION_SAMPLE,
	OPTION_ALL_FRAMES,
	OPTION_MAX_THREADS,
	OPTION_BACKEND,
	OPTION_SEED,
	OPTION_UNTIL,
	OPTION_RETRIES,
	OPTION_NO_BARE,
	OPTION_CONNECTIONS,
	OPTION_LOAD_CPUS,
	OPTION_FORCE,
	OPTION_QUICK,
	OPTION_FULL,
	OPTION_RESUME,
	OPTION_CLAIMS,
	OPTION_MAX_WAKEUPS,
	OPTION_MAX_CPU,
	OPTION_MAX_STARTUP,
	OPTION_BASELINE,
	OPTION_TOLERANCE,
	OPTION_OUTPUT,
	OPTION_FORMAT,
	OPTION_QUIET,
	OPTION_VERBOSE,
	OPTION_VERSION,
	OPTION_HELP,
	OPTION_MAX,
};
#define OPTION_BIT(id) (1ULL << (id))
/* Where in the code: taken together or not at all. */
#define OPTIONS_OF_STACKS                                                                          \
	(OPTION_BIT(OPTION_STACKS) | OPTION_BIT(OPTION_STACK_LIMIT) | OPTION_BIT(OPTION_SAMPLE) |  \
	 OPTION_BIT(OPTION_ALL_FRAMES))
/* Every command takes these. */
#define OPTIONS_ALWAYS                                                                             \
	(OPTION_BIT(OPTION_QUIET) | OPTION_BIT(OPTION_VERBOSE) | OPTION_BIT(OPTION_VERSION) |      \
	 OPTION_BIT(OPTION_HELP))

/* --backend: how threads are observed. */
enum backend_choice {
	BACKEND_AUTO, /* by probes; from /proc where these are not permitted or not there */
	BACKEND_BPF,
	BACKEND_PROC,
};

/* A default that --help shows, where it differs between commands. */
struct option_default {
	enum option_id id;
	const char *text; /* "60" */
};

/* How a command is called: what its --help prints, and what it accepts. */
struct command_usage {
	const char *name;     /* "startup" */
	const char *operands; /* "RUNTIME..."; "" when it takes none */
	const char *summary;  /* one sentence without a full stop */
	const char *details;  /* more lines for --help, each ended by \n; NULL: none */
	const char *examples; /* lines of commands, each ended by \n; NULL: none */
	uint64_t accepts;     /* OPTION_BITs; OPTIONS_ALWAYS are added */
	/* Why this command cannot measure from /proc (--backend proc); NULL: it can, or takes no --backend. */
	const char *no_proc;
	const struct option_default *defaults; /* ended by text NULL; NULL: none */
	size_t min_operands, max_operands;     /* max 0: none at all; SIZE_MAX: no limit */
	unsigned privileges; /* PRIVILEGES_… beyond those of every measurement (cmd/privileges.h) */
	bool stop_at_operand; /* what follows the first operand belongs to somebody else (run) */
};

/* Values as the user gave them; "not given" is 0, NULL, empty or false unless said otherwise. All
 * strings are borrowed from argv. */
struct options {
	uint64_t given; /* OPTION_BITs that were on the command line */
	VEC(pid_t) pids; /* no doubles */
	const char *name_glob;
	const char *cgroup;
	bool all;
	bool kernel;
	bool no_follow;
	uint64_t duration_ns;
	uint32_t runs;
	uint32_t warmup; /* 0 may have been given: see given */
	uint64_t ops;
	const char *variants; /* "sync,webcrypto" */
	VEC(const char *) commands; /* LABEL=COMMAND LINE */
	bool parallel;
	const char *cpus; /* a well-formed list that is not empty: "0,2-3" */
	const char *user;
	bool no_syscalls;
	uint32_t stacks;      /* enum wk_stacks; 0 may have been given */
	uint32_t stack_limit; /* of one thread, in a second; 0 may have been given */
	uint32_t sample_hz;
	bool all_frames;
	uint32_t max_threads;
	enum backend_choice backend;
	uint64_t seed;	      /* of the order of runs */
	double until;	      /* half the width of an interval, as a share of 1: 0.02; 0: not given */
	uint32_t retries;     /* 0 may have been given */
	bool no_bare;
	uint32_t connections;
	const char *load_cpus; /* as cpus */
	bool force;
	bool quick, full;
	const char *resume;
	const char *claims;
	double max_wakeups;    /* wakeups a second; 0 may have been given */
	double max_cpu;	       /* ms on CPU a second; 0 may have been given */
	uint64_t max_startup_ns;
	const char *baseline;
	double tolerance;      /* 0.05; 0 may have been given */
	VEC(const char *) outputs; /* "-" is standard output */
	const struct format *format;
	bool quiet;
	bool verbose;
	char **operands; /* what is left of argv, ended by NULL */
	size_t n_operands;
};

/* Parses argv (argv[0] is the command's name; the order of argv may change). Returns true to go on.
 * Returns false when wakewhy must end with *ret_status: after --help or --version (printed), or
 * after an error (one line on standard error has said what, and what would be right). Either way
 * options is to be freed. */
bool options_parse(struct options *ret_options, const struct command_usage *usage, int argc,
		   char **argv, int *ret_status);
static inline bool options_given(const struct options *options, enum option_id id)
{
	return options->given & OPTION_BIT(id);
}
/* For what a command checks itself: prints "wakewhy: COMMAND: … (try 'wakewhy COMMAND --help')" and
 * returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int options_usage_error(const struct command_usage *usage,
							      const char *fmt, ...);
void options_free_members(struct options *options);

#endif
