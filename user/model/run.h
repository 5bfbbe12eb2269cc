/* What a capture means: totals, labels, order, and whether it can be trusted. */
#ifndef WAKEWHY_MODEL_RUN_H
#define WAKEWHY_MODEL_RUN_H

#include "model/capture.h"

/* A label that stays the same between runs and versions: the thread's last name ("(unnamed)" where
 * that is empty); "name#2", "name#3" … by order of creation among threads of one process that share
 * it. The main thread always comes first. Bytes from outside: see base/text.h. */
struct run_thread {
	const struct capture_thread *seen;
	char *label;
};

/* One process image as the JSON contract lists it, with what its threads told about its end. */
struct run_process {
	const struct capture_image *image;
	const struct wk_thread *main; /* main thread of its last image; NULL: not seen, or an
					 earlier image */
	char *comm;		      /* last name of its main thread */
	uint64_t exit_ns; /* 0: still there when the window closed, or replaced by another exec */
	int exit_status;  /* as wait() gives it; -1 while exit_ns is 0 */
};

/* One second of the window over all threads; the last one may be cut short. */
struct run_interval {
	uint64_t oncpu_ns;
	uint64_t wakeups;
};

struct run_trust {
	bool ok;
	VEC(char *) reasons; /* sentences; empty when ok; may hold names from outside */
	/* Sums over the threads that could be compared (see docs/metrics.md). */
	uint64_t threads_compared;
	uint64_t oncpu_ns_kernel, oncpu_ns_own;
	uint64_t runq_ns; /* of the same threads: the kernel may charge it as on-CPU time */
	uint64_t preempted; /* switches of the same threads: the kernel may have charged their last moments to others */
	uint64_t switches_kernel, switches_own;
	/* The thread that differs most. */
	uint64_t worst_oncpu_diff_ns, worst_switches_diff;
	uint64_t misses; /* probe runs that the kernel skipped */
	uint64_t lost;	 /* all losses together, but for stacks: no figure is made of them */
};

struct run {
	const struct capture *capture; /* not owned */
	uint64_t window_ns;
	struct wk_counters totals;	   /* active_seconds: seconds in which any thread ran */
	VEC(struct run_thread) threads;	   /* sorted by on-CPU time, then wakeups, falling */
	VEC(const struct run_thread *) mains; /* of threads: main threads, by process id */
	VEC(struct run_process) processes; /* in order of start, then exec */
	VEC(struct run_interval) series;   /* one for each of the capture's seconds */
	struct run_trust trust;
};

/* Derives ret_run, which points into capture: capture must outlive it. Any capture is accepted. */
void run_init(struct run *ret_run, const struct capture *capture);
void run_free_members(struct run *run);
/* Has a thread that is not the main thread of its process the name of one that is? It has not been given one
 * then. */
bool run_thread_named_as_main(const struct run *run, const struct run_thread *thread);
/* Second i of the series; false (and nothing written) where there is none. */
bool run_second(const struct run *run, size_t i, uint64_t *ret_oncpu_ns, uint64_t *ret_wakeups);

#endif
