/* A workload on several runtimes: what startup, idle, hash, serve and study share. */
#ifndef WAKEWHY_CMD_EXPERIMENT_H
#define WAKEWHY_CMD_EXPERIMENT_H

#include "cmd/placement.h"
#include "cmd/session.h"
#include "runtime/workloads.h"

/* A runtime of this experiment. */
struct contestant {
	struct runtime runtime;
	bool out; /* it cannot be run at all */
};

struct bout;
struct schedule;

struct experiment {
	struct session session;
	enum workload workload;	     /* that is planned or played now */
	enum workload collector_for; /* the workload that session.collector was opened for */
	VEC(struct contestant) contestants;
	struct workshop *shop;
	struct placement placement; /* of serve, once it is planned */
	int status;	/* to end with; 0: that of publishing */
	bool cannot_keep; /* a keeper failed: nothing more is measured (bout.h) */
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
/* Before the first workload: opens the collector, asks the runtimes for their versions (those that
 * cannot be run are out, a failure each), opens the workshop. Afterwards it only notes the workload.
 * Returns EXIT_DONE or the status to end with. */
int experiment_open(struct experiment *experiment, enum workload workload,
		    const struct collect_options *collect);
/* Opens another collector where it was opened for another workload. Returns EXIT_DONE, or the status
 * to end with after the reason was printed: there is no collector then. */
int experiment_switch(struct experiment *experiment, enum workload workload,
		      const struct collect_options *collect);
/* The seed of the order of bouts: that of the options, or one that is drawn once. It is in the
 * recording from then on. */
uint64_t experiment_seed(struct experiment *experiment);

/* Starts a job of a bout's contestant, followed as `group` (or not at all when the bout is bare), on the
 * CPUs of the job's options, or where they name none on those of --cpus.
 * 0 and *ret_job, or -errno with diag. */
int experiment_start(struct experiment *experiment, const struct bout *bout, uint32_t group,
		     const struct job_options *options, struct job **ret_job, struct diag *diag);
/* Takes what the group did, describes it, and appends it to the recording (valid until the next). */
int experiment_take(struct experiment *experiment, const struct bout *bout, uint32_t group,
		    struct capture **ret_capture, struct diag *diag);
/* Appends what a bare bout gave: ns by our own clock, and operations (0: startup). */
void experiment_take_bare(struct experiment *experiment, const struct bout *bout, uint64_t outer_ns,
			  uint64_t operations);
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

/* All of a command of one workload: parse, plan, play, publish. Returns the exit status. */
typedef int experiment_plan(struct experiment *experiment, struct schedule *ret_schedule);
typedef void experiment_play(struct experiment *experiment, struct schedule *schedule);
int experiment_main(const struct command_usage *usage, enum workload workload, experiment_plan *plan,
		    experiment_play *play, int argc, char **argv);

/* Removes what was put on disk, writes the results; returns the exit status. */
int experiment_publish(struct experiment *experiment);
void experiment_end(struct experiment *experiment);

#endif
