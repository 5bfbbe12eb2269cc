/* Why threads wake: causes in words, roots and their chains, periods, phases, herds, hand-off loops,
 * and threads that are busy without sleeping. */
#ifndef WAKEWHY_MODEL_WHY_H
#define WAKEWHY_MODEL_WHY_H

#include "model/cause.h"
#include "model/run.h"

/* Periodic where the intervals support it (docs/metrics.md has the rule). */
struct why_period {
	bool known;
	double period_ns;
	double jitter_ns; /* standard deviation of the intervals that support it */
};

/* A rate that changed for good within the window. */
struct why_phase {
	bool known;
	uint64_t at_ns; /* after the window's start */
	double before_per_s, after_per_s;
};

/* One thread woken for one reason: a row of the report, and of "causes" in JSON. The rows of a run
 * add up: wakeups to its wakeups, oncpu_ns to its on-CPU time. */
struct why_cause {
	const struct run_thread *thread;
	const struct cause_rule *rule;
	char *text;	       /* "its own 100 ms futex timeout" */
	const char *mechanism; /* "futex"; "" where there is none */
	const struct run_thread *waker; /* a followed thread, or NULL */
	uint64_t wakeups;
	uint64_t oncpu_ns, runq_ns, sleep_ns;
	uint64_t futile;
	uint64_t timeout_ns; /* asked for, on average; 0: none */
	struct why_period period;
	struct why_phase phase;
	/* As a root: what it led to, itself included. 0 when it never began a chain. */
	uint64_t root_wakeups, root_oncpu_ns;
	uint64_t chained_wakeups; /* of root_wakeups: those of chains, not of itself */
	uint32_t number;	  /* of its first capture_cause */
};

/* Part of a chain: what a cause did because of a root. Both index why.causes. */
struct why_charge {
	size_t root, cause; /* root == SIZE_MAX: not known */
	uint64_t wakeups, oncpu_ns, futile;
};

struct why_edge {
	const struct run_thread *from, *to;
	uint64_t wakeups;
	const char *mechanism;
};

/* Threads that wake each other on and on. */
struct why_loop {
	VEC(const struct run_thread *) threads; /* the hub first: it is woken once a round */
	uint64_t rounds;
	double rounds_per_s;
	double oncpu_ns, runq_ns, syscalls, wakeups; /* of a round, all threads */
};

struct why_herd {
	const struct run_thread *waker;
	uint64_t herds;
	double threads; /* woken on average */
	uint32_t most;
};

/* A thread that repeats one call without sleeping. */
struct why_spin {
	const struct run_thread *thread;
	const char *call;
	double calls_per_s;
	double share; /* of its calls */
	double oncpu_share; /* of the window */
};

struct why {
	bool known; /* false: the recording holds no causes */
	VEC(struct why_cause) causes;	/* by on-CPU time of the root, then wakeups, falling */
	VEC(struct why_charge) charges; /* by root, then on-CPU time falling */
	VEC(struct why_edge) edges;
	VEC(struct why_loop) loops;
	VEC(struct why_herd) herds;
	VEC(struct why_spin) spins;
	uint64_t unknown_wakeups, unknown_oncpu_ns;
	bool timeline_whole; /* every wake is on the timeline */
	size_t *row_of; /* by number of a cause in the capture; see why_row_of() */
	size_t n_numbers;
};

/* Derives ret_why, which points into run and its capture. arch names the system calls. */
void why_init(struct why *ret_why, const struct run *run, const char *arch);
void why_free_members(struct why *why);
/* Place in why->causes of the cause that charges and the timeline call `number`; SIZE_MAX: none. */
size_t why_row_of(const struct why *why, uint32_t number);

#endif
