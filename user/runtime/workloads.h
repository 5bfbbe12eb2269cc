/* A workload on a runtime: from its script to the marks it sets.
 *
 * The scripts talk in lines on standard output and read lines from standard input:
 *	startup	prints "hello" and ends
 *	idle	prints "port N", serves "hola" on 127.0.0.1:N (port chosen by the kernel), until killed
 *	serve	the same server as idle's
 *	hash	argv: VARIANT ops N | VARIANT ns N; warms up, prints "ready", waits for a line ("go"),
 *		hashes, prints "done OPERATIONS HEXDIGEST", waits for end of input, ends
 */
#ifndef WAKEWHY_RUNTIME_WORKLOADS_H
#define WAKEWHY_RUNTIME_WORKLOADS_H

#include "runtime/deadline.h"
#include "runtime/launch.h"
#include "runtime/runtimes.h"

/* Scripts and floor programs in their private directory, ready to run. */
struct workshop;
int workshop_create(struct workshop **ret_shop, const char *user, struct diag *diag);
void workshop_remove(struct workshop *shop); /* NULL is fine */

struct job_options {
	enum workload workload;
	const char *variant; /* hash only */
	uint64_t hash_ops;   /* 0: by time */
	uint64_t hash_ns;
	const char *user;
	const char *cpus;
	struct deadline_beside beside; /* what is done while the job is waited for */
};

/* One run of one workload on one runtime. */
struct job;
/* Starts it stopped at the gate. -ENOTSUP when the runtime has no such variant. */
int job_prepare(struct job **ret_job, struct workshop *shop, const struct runtime *runtime,
		const struct job_options *options, struct diag *diag);
pid_t job_pid(const struct job *job);
int job_pidfd(const struct job *job);
/* idle, serve: the port it listens on, once job_await_ready has returned 0; 0 before, and for commands. */
unsigned job_port(const struct job *job);
/* Opens the gate. Failures carry the runtime's last words. For startup a failed exec is told by
 * job_await_end, for to be woken by exec would cost the start-up time. */
int job_release(struct job *job, struct diag *diag);
/* Waits for "port N" / "ready", at most timeout_ns. -ETIMEDOUT, -EPIPE (it ended first), -EPROTO
 * (nonsense), -ENOTSUP (this version lacks the variant: "unsupported REASON"), -EINTR (a signal set
 * *stop), each with its last words in diag. At once for startup and for commands. */
int job_await_ready(struct job *job, uint64_t timeout_ns, const volatile int *stop, struct diag *diag);
/* hash: says "go", waits for "done", checks the digest. */
int job_hash_go(struct job *job, struct diag *diag);
int job_hash_await(struct job *job, uint64_t timeout_ns, const volatile int *stop,
		   uint64_t *ret_operations, struct diag *diag);
/* startup: waits for the end, checks status and output ("hello"; any output for --cmd). -EIO (a status
 * other than 0), -EPROTO (other output), -ETIMEDOUT, -EINTR. For the others, whose end is always too early,
 * -EPIPE with the last words. */
int job_await_end(struct job *job, uint64_t timeout_ns, const volatile int *stop, int *ret_status,
		  struct rusage *ret_rusage, struct diag *diag);
/* By our own clock, measured alike whoever watches the job, ns: startup, from the opening of the gate
 * until its end was seen; hash, from "go" until "done". 0: that is not over yet. */
uint64_t job_outer_ns(const struct job *job);
/* rss and pss of the process tree now (smaps_rollup). */
int job_memory(const struct job *job, uint64_t *ret_rss_bytes, uint64_t *ret_pss_bytes);
/* Ends it, kills what is left, frees; NULL is fine. */
void job_end(struct job *job);

#endif
