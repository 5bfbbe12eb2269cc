/* One measurement from its command line to its report: what run, attach and the experiments share. */
#ifndef WAKEWHY_CMD_SESSION_H
#define WAKEWHY_CMD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "collect/collect.h"
#include "model/capture.h"

struct session {
	const struct command_usage *usage;
	struct options options;
	struct outputs *outputs;
	struct progress *progress; /* NULL: none wanted */
	struct collector *collector;
	bool takes_stacks; /* the collector has something to read all the time */
	bool from_proc; /* the collector has no probes: it looks at /proc once a second */
	struct recording recording;
	/* The whole's length for the bar, and how much of it is over; total 0: not known. */
	uint64_t plan_total_ns;
	uint64_t plan_done_ns;
	struct diag failed; /* what session_fail told last, for those who go on without it */
};

/* Parses, opens outputs, notes signals, describes the tool. Returns true to go on; false: end with
 * *ret_status (everything was said). session_end is due either way. */
bool session_begin(struct session *ret_session, const struct command_usage *usage, int argc,
		   char **argv, bool to_stderr, int *ret_status);
/* Opens the collector. Returns an exit status: EXIT_DONE, or the one to end with after the reason
 * was printed. options->max_threads, syscalls and follow are filled from the command line. */
int session_open_collector(struct session *session, struct collect_options *options);
/* Prints a diag, off the bar, and returns EXIT_FAILED. */
int session_fail(struct session *session, const struct diag *diag);
/* Signals end us again; writes everything everywhere. Returns an exit status. */
int session_publish(struct session *session);
void session_end(struct session *session);

/* What ended a wait; several may come together. */
enum session_event {
	SESSION_TIME = 1 << 0,	 /* the deadline */
	SESSION_ENDED = 1 << 1,	 /* pidfd is readable */
	SESSION_EMPTY = 1 << 2,	 /* no followed thread is left */
	SESSION_SIGNAL = 1 << 3, /* one waits in signals_take */
};
/* Waits for any of these, serving the collector and the bar meanwhile. pidfd -1: none;
 * deadline_ns (CLOCK_MONOTONIC) UINT64_MAX: none. -errno after the collector failed (diag). */
int session_wait(struct session *session, int pidfd, uint64_t deadline_ns, struct diag *diag);

/* Draws the bar when it is due: plan_done_ns and elapsed_ns more of the plan are over. */
void session_show(struct session *session, uint64_t elapsed_ns);

/* CLOCK_MONOTONIC. */
uint64_t session_now_ns(void);
/* A descriptor that has something to read (a pidfd: the process has ended). */
bool session_readable(int fd);

#endif
