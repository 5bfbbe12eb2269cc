/* What the child of a launch does between fork and exec: written by the parent, read by the child,
 * in one shared mapping, for the child has no heap. */
#ifndef WAKEWHY_RUNTIME_LAUNCH_PLAN_H
#define WAKEWHY_RUNTIME_LAUNCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/cpulist.h"
#include "runtime/identity.h"
#include "runtime/launch.h"

enum launch_stage {
	LAUNCH_GATE, /* set up, waiting */
	LAUNCH_STDIO,
	LAUNCH_GROUP,
	LAUNCH_CPUS,
	LAUNCH_LIMIT,
	LAUNCH_USER,
	LAUNCH_DIRECTORY,
	LAUNCH_PARENT, /* we died meanwhile */
	LAUNCH_EXEC,
};

/* What the child says on error_fd; end of file instead of a second message: exec succeeded. */
struct launch_message {
	int32_t stage;
	int32_t error; /* an errno, 0 at the gate */
};

struct launch_plan {
	size_t bytes; /* of the whole mapping, strings included */

	const char *path;
	char **argv;
	char **shell_argv; /* for a script without an interpreter line, as a shell does */
	char **environment;
	const char *directory; /* NULL: stay */
	struct identity identity; /* name, home and shell are NULL here */
	bool pin;
	struct cpulist cpus;
	int stdio[3]; /* -1: inherit */
	int gate_fd, error_fd; /* the child's ends, both above 2 */
	int gate_far_fd;       /* the parent's end, which the child must not hold open */
	pid_t parent;
	bool own_group;
	bool keep_hangup; /* nohup(1) is to work through us */
	uint64_t file_limit_bytes;

	struct rusage before; /* the child's own, just before exec */
};

/* Resolves the program, the user and the CPUs; the descriptors of gate and error are the caller's to
 * fill. Errors as launch_prepare. */
int launch_plan_make(struct launch_plan **ret_plan, const struct launch_options *options,
		     struct diag *diag);
void launch_plan_free(struct launch_plan *plan); /* NULL is fine */

/* Never returns. Only async-signal-safe calls; all signals are blocked on entry. */
__attribute__((noreturn)) void launch_child(struct launch_plan *plan);

#endif
