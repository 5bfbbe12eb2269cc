/* The threads of a group's runs added up: a thread that comes back in every repeat is one. */
#ifndef WAKEWHY_REPORT_THREAD_SUMS_H
#define WAKEWHY_REPORT_THREAD_SUMS_H

#include "report/part.h"

struct thread_sum {
	const char *label; /* borrowed from a run */
	/* Where it began, of a thread that is called as its process's main thread is; borrowed; "" else, and
	 * where it is not known. */
	const char *begin;
	uint32_t process;  /* number of its process in the order of start; UINT32_MAX: not known */
	const struct capture_thread *seen;    /* in the first run that had it */
	struct wk_counters count;	      /* sums; runq_max_ns is the largest */
	VEC(struct capture_syscall) syscalls; /* sums by number, falling count */
};

struct thread_sums {
	size_t n_runs;
	size_t n_processes; /* most that any run had */
	double window_ns;   /* of all runs together */
	double operations;
	struct wk_counters total;
	VEC(struct thread_sum) threads;
};

enum thread_order { THREADS_BY_CPU, THREADS_BY_WAKEUPS };

void thread_sums_init(struct thread_sums *ret_sums, const struct group *group,
		      enum thread_order order);
void thread_sums_free_members(struct thread_sums *sums);

#endif
