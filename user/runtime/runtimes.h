/* What can be measured: a row for each family of runtimes, and the runtimes a user names. */
#ifndef WAKEWHY_RUNTIME_RUNTIMES_H
#define WAKEWHY_RUNTIME_RUNTIMES_H

#include "base/diag.h"
#include "model/capture.h"

enum workload { WORKLOAD_STARTUP, WORKLOAD_IDLE, WORKLOAD_HASH, WORKLOAD_SERVE, WORKLOAD_MAX };
const char *workload_name(enum workload workload);
const char *workload_meaning(enum workload workload); /* one line for `list workloads` */

/* A family: how its programs are recognised, asked for their version, and made to run a script. */
struct family {
	const char *name;	   /* bun */
	const char *const *bases;  /* base names that belong to it (bun, node, nodejs …), NULL-terminated */
	const char *extension;	   /* of its scripts: "mjs" */
	const char *const *version_argv; /* after the program: {"--version", NULL} */
	const char *const *run_argv;	 /* between program and script: {"run", "-A", NULL} for deno */
	const char *const *variants;	 /* of hash: {"sync", "oneshot", "webcrypto", NULL} */
	/* Embedded scripts, indexed by enum workload. */
	struct { const char *text; size_t bytes; } scripts[WORKLOAD_MAX];
	bool builtin;			 /* floor */
};
extern const struct family families[]; /* ended by name NULL */

/* One runtime as the command line names it: NAME, PATH, LABEL=NAME, LABEL=PATH, LABEL=FAMILY:PATH. */
struct runtime {
	char *label;
	const struct family *family; /* NULL for --cmd */
	char *path;		     /* absolute; of the extracted program for floor, set by the session */
	char *command;		     /* of --cmd 'LABEL=COMMAND LINE', else NULL */
	char *version;		     /* "" until runtime_probe */
	uint64_t size_bytes;
};

/* Parses and resolves one argument (PATH is searched for a NAME). -EINVAL / -ENOENT with diag. */
int runtime_parse(struct runtime *ret_runtime, const char *text, struct diag *diag);
int runtime_parse_command(struct runtime *ret_runtime, const char *text, struct diag *diag);
/* Asks for its version, as the workload's user, within 10 s; finds its size. -EIO … with its last
 * words in diag when it cannot be run. */
int runtime_probe(struct runtime *runtime, const char *user, struct diag *diag);
void runtime_free_members(struct runtime *runtime);

#endif
