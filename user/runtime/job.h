/* One run of one workload on one runtime: shared by job.c (its life) and job_talk.c (what it says). */
#ifndef WAKEWHY_RUNTIME_JOB_H
#define WAKEWHY_RUNTIME_JOB_H

#include "runtime/workloads.h"

#define JOB_LINE_BYTES 4096

struct job {
	struct workshop *shop;
	enum workload workload;
	bool is_command; /* of --cmd: speaks no protocol */
	uint64_t hash_ops;
	struct deadline_beside beside;
	char *label;
	char *directory; /* its working directory, and its mark */

	struct launched launched;
	bool confirmed; /* exec is known to have succeeded */

	int in_fd;	/* our end of its standard input, or -1 */
	int out_fd;	/* its standard output: a file in memory, or our end of a pipe */
	bool out_is_pipe;
	int err_fd;	/* a file in memory */
	char line[JOB_LINE_BYTES]; /* read from the pipe, not yet used */
	size_t line_bytes;
	unsigned port;	/* of a server: 0 until ready */
	uint64_t begun_ns, over_ns; /* of what job_outer_ns tells; 0: not yet */
};

/* idle and serve run the same server. */
static inline bool job_is_server(const struct job *job)
{
	return job->workload == WORKLOAD_IDLE || job->workload == WORKLOAD_SERVE;
}

/* Fills diag with the label, what is wrong and the job's last words. Returns err. */
__attribute__((format(printf, 4, 5))) int job_complain(const struct job *job, int err,
						       struct diag *diag, const char *fmt, ...);
/* The end of a job that should have gone on: -EPIPE, or why it was never executed. */
int job_complain_ended(struct job *job, struct diag *diag);

#endif
