/* The load on a server: wrk, as a process of its own on CPUs of its own. */
#ifndef WAKEWHY_RUNTIME_LOAD_H
#define WAKEWHY_RUNTIME_LOAD_H

#include "runtime/workloads.h"

struct load_options {
	unsigned port;	      /* on 127.0.0.1 */
	uint32_t connections; /* kept open; at least as many as threads */
	uint32_t threads;
	uint32_t seconds; /* wrk knows whole ones only */
	const char *user; /* as in launch_options */
	const char *cpus;
};

/* What wrk says of itself, and what it used. */
struct load_result {
	uint64_t requests; /* that were answered, whatever the status */
	uint64_t errors;   /* connects, reads and writes that failed, answers that took more than two
			    * seconds or had a status of 400 or above */
	uint64_t cpu_ns;   /* on CPUs, all its threads */
};

struct load;
/* Is wrk there? -ENOENT with what installs it. */
int load_find(struct diag *diag);
/* Starts wrk stopped at the gate, guarded by the workshop: it ends when we do, however that is. */
int load_prepare(struct load **ret_load, struct workshop *shop, const struct load_options *options,
		 struct diag *diag);
pid_t load_pid(const struct load *load);
int load_pidfd(const struct load *load); /* readable when it has ended */
/* Opens the gate, and returns when exec has succeeded. */
int load_release(struct load *load, struct diag *diag);
/* Waits for its end, at most timeout_ns (0: it has ended), reaps it, and reads what it said. -ETIMEDOUT, -EINTR (a
 * signal set *stop), -EIO (it failed), -EPROTO (nonsense, or no request was answered), each with its last
 * words in diag. */
int load_await(struct load *load, uint64_t timeout_ns, const volatile int *stop,
	       struct load_result *ret_result, struct diag *diag);
/* Ends it, frees; NULL is fine. */
void load_end(struct load *load);

/* Reads the counts out of n bytes that wrk printed: exactly one line of requests, at most one of each kind
 * of errors, and the line that comes last. False: that is not what wrk prints. */
bool load_parse(const char *bytes, size_t n, uint64_t *ret_requests, uint64_t *ret_errors);

#endif
