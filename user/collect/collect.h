/* The kernel side: load, attach, seed, open and close the window, read. The only room that knows
 * libbpf. */
#ifndef WAKEWHY_COLLECT_COLLECT_H
#define WAKEWHY_COLLECT_COLLECT_H

#include <sys/types.h>

#include "base/diag.h"
#include "model/capture.h"

struct collector;

/* How threads are observed. */
enum collect_backend {
	COLLECT_BPF,  /* probes in the kernel: all figures, exact */
	COLLECT_PROC, /* looks at /proc once a second, without privileges: time on a CPU and in the run
		       * queue, and switches; see collector_look() */
};

struct collect_options {
	enum collect_backend backend;
	uint32_t max_threads;	/* alive at once; 0: 16,384 */
	uint32_t series_seconds; /* length of the per-second series; 0: 4,096 */
	uint32_t groups;	/* kept apart (see collector_add_gated); 0: 1 */
	bool syscalls;		/* count system calls (slows every call on the machine) */
	bool follow;		/* children of followed processes too */
	bool timeline;		/* keep the wakes themselves too, up to a rate and an amount */
	bool stamp_output;	/* stamp exec calls and first writes: needs syscalls */
	bool open_at_exec;	/* the exec of a gated process opens the window */
	uint32_t stacks;	/* with each cause: enum wk_stacks; 0: none */
	uint32_t stacks_per_s;	/* of one thread, at most in a second; 0: no limit */
	uint32_t sample_hz;	/* how often each CPU looks what code a followed thread runs; 0: never */
	bool time_probes;	/* runs and ns of each probe (costs some 30 ns a run) */
	/* What is followed from the start and as it appears; all may be unset (gated processes only). */
	bool all;
	bool kernel_threads;	/* with all */
	const char *name_glob;	/* of the process's name (comm) */
	uint64_t cgroup_id;	/* id of a cgroup v2 directory (its inode number); 0: none */
	const pid_t *pids;	/* as this process sees them */
	size_t n_pids;
};

/* Loads and attaches the probes. -EPERM or -ENOTSUP with the reason and the remedy in diag where
 * this machine or this user cannot measure. The window is not open yet. */
int collector_open(struct collector **ret_collector, const struct collect_options *options,
		   struct diag *diag);
/* Detaches and frees everything; NULL is fine. */
void collector_free(struct collector *collector);

/* Forgets all threads and counters of the window before, keeps the probes: for the next repeat. */
int collector_reset(struct collector *collector, struct diag *diag);

/* Takes the probes off the kernel, and forgets all as collector_reset does; puts them back. Nothing is
 * loaded again. Doing either twice is fine; between them only collector_reset and these may be
 * called. */
int collector_pause(struct collector *collector, struct diag *diag);
int collector_resume(struct collector *collector, struct diag *diag);

/* Follows what options name among the live threads. -ESRCH when a pid of the list does not exist or
 * nothing matches a glob or cgroup that cannot match later either. */
int collector_seed(struct collector *collector, struct diag *diag);
/* Follows a process of ours that waits at the gate (runtime/launch.h), as group `group`: nothing of
 * it counts before its exec. */
int collector_add_gated(struct collector *collector, pid_t pid, uint32_t group, struct diag *diag);

/* A process of ours that works for the measurement and is not followed, as the load generator of
 * `serve`: what it uses is not others' use of the machine. To be said before the window opens, and again
 * after collector_reset; it is to be waited for (wait4) only after the window has closed, else what
 * others did is not known. */
void collector_exclude(struct collector *collector, pid_t pid);

/* Opens the window now / closes it now. With open_at_exec the probes open it. Times in ns of
 * CLOCK_MONOTONIC; closing twice keeps the first. With a duration (0: none) the probes end the
 * window by themselves on the nanosecond, however late it is closed; only system calls, which are
 * counted without looking at the clock, go on until then. */
uint64_t collector_open_window(struct collector *collector, uint64_t duration_ns);
uint64_t collector_close_window(struct collector *collector);

/* Readable when the kernel side needs attention: poll it, then call collector_service. Never wakes
 * periodically. */
int collector_fd(const struct collector *collector);
/* COLLECT_PROC: reads now what /proc shows, beside the looks that collector_service() takes once a second. What
 * a thread did after the last look before it was reaped is lost. COLLECT_BPF: nothing to do. */
void collector_look(struct collector *collector);
/* Handles what the kernel side has to say. *ret_empty is set once no followed thread is left. */
int collector_service(struct collector *collector, bool *ret_empty, struct diag *diag);
/* Followed threads alive now. */
uint32_t collector_alive(const struct collector *collector);
/* Ids of the followed processes that are alive now, at most max of them; returns how many. */
size_t collector_survivors(const struct collector *collector, pid_t *ret_pids, size_t max);
/* Sum of the kernel's own on-CPU time (schedstat) of the followed live threads, in ns. */
uint64_t collector_schedstat_ns(const struct collector *collector);

/* Closes the window if it is open, and moves what group `group` did into ret_capture: window,
 * threads, images, seconds, lost (of all groups), probes, observer, noise and what it disturbed. The
 * caller fills the rest (label, workload …). */
int collector_take(struct collector *collector, uint32_t group, struct capture *ret_capture,
		   struct diag *diag);

#endif
