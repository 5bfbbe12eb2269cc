/* The configuration of the kernel side: set by user space before loading, constant afterwards, so
 * that the verifier drops what is switched off. The defaults load on their own. */
#ifndef WAKEWHY_CONFIG_H
#define WAKEWHY_CONFIG_H

#include "bpf/glob.h"

/* Where a system call takes its timeout. */
enum wk_timeout_kind {
	WK_TIMEOUT_NONE,
	WK_TIMEOUT_MS,	      /* an int of milliseconds, negative: for ever */
	WK_TIMEOUT_TIMESPEC,  /* pointer to a relative timespec */
	WK_TIMEOUT_TIMEVAL,   /* pointer to a relative timeval */
	WK_TIMEOUT_REALTIME,  /* pointer to an absolute timespec of CLOCK_REALTIME */
	WK_TIMEOUT_FUTEX,     /* by futex operation (argument 1) */
	WK_TIMEOUT_SLEEP,     /* clock_nanosleep: clock in argument 0, flags in argument 1 */
	WK_TIMEOUT_CLOCK,     /* absolute timespec of the clock in the next argument */
	WK_TIMEOUT_URING,     /* io_uring_enter: flags in argument 3, struct in argument 4 */
};

struct wk_call {
	__u8 timeout; /* enum wk_timeout_kind */
	__u8 arg;     /* which argument, from 0 */
	__u8 quiet;   /* a wait, a wake or a yield: a wake that calls nothing else may be futile */
	__u8 reserved;
};

struct wk_config {
	__u32 slots;		/* in the threads map */
	__u32 recycle_at;	/* dead slots that wait before user space is woken */
	__u32 series_seconds;	/* in the seconds map, for each group */
	__u32 groups;		/* in the seconds map */
	__u32 page_bytes;
	__u32 causes;		/* in the causes map; charges has twice as many */
	__u32 cause_mask;	/* of a cause's number: its place in the map; 2^n - 1, at least causes - 1 */
	__u32 futile_ns;	/* a wake that ran shorter than this may be futile */
	__u32 stacks;		/* enum wk_stacks; 0: none */
	__u32 stacks_per_s;	/* of one thread, at most in a second; 0: no limit */
	__u32 sample_hz;	/* of what runs, by stacks; 0: no samples */
	__u32 stack_copy_bytes; /* of the user stack, at most WK_STACK_COPY_BYTES */
	__u64 cgroup_id;	/* follow what is in this cgroup; 0: none */
	struct wk_glob name;	/* follow processes of this name, */
	__u8 by_name;		/* if set */
	__u8 all;		/* follow everything */
	__u8 kernel_threads;	/* kernel threads too (with all) */
	__u8 follow;		/* child processes of followed ones */
	__u8 count_syscalls;
	__u8 timeline;		/* send wakes to the timeline */
	__u8 stamp_output;	/* stamp the exec call at the gate and first writes to descriptor 1 */
	__u8 open_at_exec;	/* the exec of a gated process opens the window */
	__u8 switch_has_state;	/* sched_switch's fourth argument is the state (since 5.18) */
	__u8 exit_has_group_dead; /* sched_process_exit's second argument (since 6.16) */
	__s32 nr_execve, nr_execveat, nr_write, nr_writev; /* numbers on this architecture */
};

#endif
