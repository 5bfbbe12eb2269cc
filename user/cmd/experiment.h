/* A workload on several runtimes: what startup, idle and hash share. */
#ifndef WAKEWHY_CMD_EXPERIMENT_H
#define WAKEWHY_CMD_EXPERIMENT_H

#include "cmd/session.h"
#include "runtime/workloads.h"

/* A runtime of this experiment. */
struct contestant {
	struct runtime runtime;
	bool out; /* it failed: no more runs of it */
};

struct experiment {
	struct session session;
	enum workload workload;
	VEC(struct contestant) contestants;
	struct workshop *shop;
	int status; /* to end with, unless publishing says worse */
};

/* The line of --help about RUNTIME operands. */
#define EXPERIMENT_RUNTIME_HELP                                                                    \
	"RUNTIME is NAME (found on PATH), PATH, LABEL=NAME, LABEL=PATH or LABEL=FAMILY:PATH; 'wakewhy\n" \
	"list runtimes' lists the families. 'floor' is built in: the same in plain C. Under sudo they run\n" \
	"as the user who called sudo, unless -u says otherwise.\n"

/* Parses, opens outputs, finds the runtimes. One that is not there is a failure, and the others go on.
 * Returns true to go on; false: end with *ret_status. experiment_end is due either way. */
bool experiment_begin(struct experiment *ret_experiment, const struct command_usage *usage,
		      enum workload workload, int argc, char **argv, int *ret_status);
/* Opens the collector, asks the runtimes for their versions (those that cannot be run are out, a
 * failure each), opens the workshop. Returns EXIT_DONE or the status to end with. */
int experiment_open(struct experiment *experiment, struct collect_options *collect);

/* Starts a job of a contestant, followed as `group`. 0 and *ret_job, or -errno with diag. */
int experiment_start(struct experiment *experiment, const struct contestant *contestant,
		     uint32_t group, const struct job_options *options, struct job **ret_job,
		     struct diag *diag);
/* Takes what the group did, describes it, and appends it to the recording (valid until the next). */
int experiment_take(struct experiment *experiment, const struct contestant *contestant,
		    uint32_t group, const char *variant, uint32_t repeat,
		    struct capture **ret_capture, struct diag *diag);
/* Waits until no followed thread is left, at most limit_ns; a signal ends the wait too. */
void experiment_await_empty(struct experiment *experiment, uint64_t limit_ns);

/* A failure: one line now, an entry in the report, exit status 1 at the end. variant may be NULL. */
void experiment_failed(struct experiment *experiment, const struct contestant *contestant,
		       const char *variant, const struct diag *diag);
/* A signal has ended it: what is measured is reported, the rest left out. */
bool experiment_stopped(const struct experiment *experiment);
/* Records that a contestant got `done` of `wanted` runs because of that. */
void experiment_interrupted(struct experiment *experiment, const struct contestant *contestant,
			    const char *variant, uint32_t done, uint32_t wanted);

/* Removes what was put on disk, writes the results; returns the exit status. */
int experiment_publish(struct experiment *experiment);
void experiment_end(struct experiment *experiment);

#endif
