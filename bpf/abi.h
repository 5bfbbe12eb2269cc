/* What the kernel side counts and the user side reads: the one header both include.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC. A thread that is followed owns a slot in the
 * `threads` map; its number is kept in task storage. The slot outlives the thread: it is given
 * back only after user space has read it.
 */
#ifndef WAKEWHY_ABI_H
#define WAKEWHY_ABI_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* System calls counted one by one. The highest number of Linux 6.18 is 469 on x86-64 and arm64
 * alike; a larger one is counted as invalid. A table of 480 counters with its storage header fits
 * a page: one more page for each thread would be wasted otherwise. */
#define WK_SYSCALLS 480
#define WK_COMM_BYTES 16
#define WK_ARGV_BYTES 1024
#define WK_SECOND_NS 1000000000ULL
#define WK_NEVER (~0ULL)

/* What a thread is doing, as the scheduler's probes saw it last. */
enum wk_state {
	WK_STATE_NONE,	  /* the slot is not in use */
	WK_STATE_NEW,	  /* created, has not run */
	WK_STATE_RUNNING, /* on a CPU since since_ns */
	WK_STATE_READY,	  /* left the CPU runnable (preempted, yielded) at since_ns */
	WK_STATE_BLOCKED, /* left the CPU asleep at since_ns */
	WK_STATE_DEAD,	  /* left the CPU for the last time; the figures are final */
};

enum wk_thread_flags {
	WK_FLAG_GATED = 1 << 0,	      /* waits at the gate; nothing counts before its exec */
	WK_FLAG_FOLLOW = 1 << 1,      /* its child processes are followed too */
	WK_FLAG_BASED = 1 << 2,	      /* base and own_base are set */
	WK_FLAG_LEADER = 1 << 3,      /* thread group leader when last looked at */
	WK_FLAG_KTHREAD = 1 << 4,     /* kernel thread */
	WK_FLAG_SEEDED = 1 << 5,      /* lived already when the probes were attached */
	WK_FLAG_LAST_EXIT = 1 << 6,   /* the last thread of its process to exit: carries the process's
					 exit code and peak memory */
	WK_FLAG_FIRST = 1 << 7,	      /* started by wakewhy itself at the gate */
};

/* The counters of one thread over the window. docs/metrics.md defines each. */
struct wk_counters {
	__u64 wakeups;
	__u64 cancelled_sleeps;
	__u64 starts;
	__u64 oncpu_ns;
	__u64 runq_ns;
	__u64 runq_waits;
	__u64 runq_max_ns;
	__u64 switches_voluntary;
	__u64 switches_preempted;
	__u64 idle_exits;
	__u64 migrations;
	__u64 syscalls;		/* every entered call, the two below included */
	__u64 syscalls_compat;	/* 32-bit calls: other numbers, not in the table */
	__u64 syscalls_invalid; /* numbers outside the table */
	__u64 active_seconds;
};

/* The kernel's own accounting of the same thread, read at a switch-out, when it is up to date. */
struct wk_kernel {
	__u64 oncpu_ns; /* se.sum_exec_runtime: the first field of /proc/PID/schedstat */
	__u64 voluntary;
	__u64 preempted;
};

struct wk_thread {
	/* State, written by the scheduler's probes. */
	__u64 since_ns;
	__u64 wake_ns; /* last waking since the last switch-in; 0: none */
	__u64 second_end_ns;
	__u64 second_oncpu_ns; /* on CPU in the second that ends at second_end_ns */
	__u32 second_wakeups;
	__u32 second; /* its number, counted from the window's start */
	__u32 state;  /* enum wk_state */
	__u32 flags;  /* enum wk_thread_flags */
	__u32 wakings; /* since the last switch-in: all but the one that ended a sleep are cancelled */
	__u32 cpu;     /* it ran on last */

	struct wk_counters count;

	/* Ours and the kernel's figures at the same switch-out: own_base and base at the first one in
	 * the window, last at the latest not after it. Their differences must agree. */
	struct wk_kernel last;
	struct wk_kernel base;
	struct wk_kernel own_base;

	/* Who it is. Ids are those that wakewhy's own pid namespace shows. */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 group;	   /* the target it belongs to, inherited by children */
	__u32 host_tid;	   /* in the initial pid namespace */
	__s32 exit_code;   /* as wait() gives it: status << 8 | signal */
	__u64 start_ns;	   /* task_struct.start_time */
	__u64 exec_call_ns; /* entry of the execve call that passed the gate */
	__u64 exec_ns;	   /* last exec of this thread; 0: none seen */
	__u64 output_ns;   /* first write to descriptor 1 */
	__u64 exit_ns;	   /* passed the exit probe */
	__u64 end_ns;	   /* left the CPU for the last time */
	__u64 minor_faults; /* of this thread since it is followed (since exec, at the gate); set when
			     * it exits, a base before that */
	__u64 major_faults;
	__u64 max_rss_bytes; /* peak of the process's memory, where WK_FLAG_LAST_EXIT is set */
	__u64 seed_ns; /* when it was found alive; 0: born under our eyes */
	__u64 edge_ns; /* on-CPU time added when the window was closed on a running thread */
	char comm[WK_COMM_BYTES];
};

/* Value of the task storage: the slot and the system calls by number. The table lives and dies with
 * the thread, so it costs memory for followed threads only; it is copied to `dead_syscalls` when
 * the thread dies. The totals in wk_counters are its sums, made by user space: a system call then
 * costs one look-up. */
struct wk_task {
	__u32 slot_plus_1; /* 0: not followed (yet) */
	__u32 reserved;
	__u64 compat;  /* 32-bit calls */
	__u64 invalid; /* numbers outside the table */
	__u64 syscalls[WK_SYSCALLS];
};

/* One second of the window. Whole seconds of one thread that runs on and on are entered as a
 * difference: full_delta rises at the first and falls after the last, so any length costs O(1). */
struct wk_second {
	__u64 oncpu_ns;
	__u64 wakeups;
	__s64 full_delta;
};

/* What can be lost, each with its own counter and a name: capture_lost_name(). */
enum wk_lost {
	WK_LOST_THREADS,	/* no free slot: the thread was not followed */
	WK_LOST_STORAGE,	/* task storage refused (memory or contention) */
	WK_LOST_SYSCALL_TABLES, /* a dead thread's calls by number could not be kept */
	WK_LOST_SERIES,		/* seconds beyond the end of the series */
	WK_LOST_EVENTS,		/* ring buffer full: the arguments of an exec */
	WK_LOST_MAX,
};

/* The window, in memory that user space writes and the probes read. */
struct wk_window {
	__u64 start_ns; /* WK_NEVER: not open yet */
	__u64 end_ns;	/* WK_NEVER: still open */
	__u32 open;	/* system calls count while this is set */
	__u32 reserved;
};

enum wk_event_type {
	WK_EVENT_EXEC = 1,
	WK_EVENT_RECYCLE, /* many dead slots wait: please read them and give them back */
	WK_EVENT_EMPTY,	  /* the last followed thread has died */
};

struct wk_event {
	__u32 type; /* enum wk_event_type */
	__u32 slot;
	__u64 time_ns;
};

struct wk_event_exec {
	struct wk_event event;
	__u32 pid;
	__u32 ppid;
	__u32 argv_bytes; /* of argv, NUL after each argument */
	__u32 argv_cut;	  /* bytes that did not fit */
	__u32 group;
	__u32 reserved;
	__u64 start_ns;
	char comm[WK_COMM_BYTES];
	char argv[WK_ARGV_BYTES];
};

/* What a pass of the task iterator is to do; written by user space, counted into by the pass. */
enum wk_seed_mode {
	WK_SEED_MATCH,	  /* follow what matches: targets, name, cgroup, all */
	WK_SEED_GATED,	  /* follow process `pid`, which waits at the gate */
	WK_SEED_SETTLE,	  /* write struct wk_task of each followed thread to the reader */
	WK_SEED_UNFOLLOW, /* forget all */
};

struct wk_seed {
	__u32 mode;
	__u32 pid;
	__u32 group;
	__u32 followed; /* threads newly followed by this pass */
};

_Static_assert(sizeof(struct wk_counters) == 15 * 8, "no holes in counters");
_Static_assert(sizeof(struct wk_thread) % 8 == 0, "slots stay aligned");
_Static_assert(sizeof(struct wk_task) <= 4096 - 128, "storage fits a page with its header");
_Static_assert(sizeof(struct wk_second) == 24, "no holes in a second");

#endif
