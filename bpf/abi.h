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
#define WK_CPU_NONE (~0U) /* it has not been seen on a CPU yet */

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

/* ---- why a thread runs: raw evidence, turned into words by user space (model/cause.c) ----------- */

/* In what context a waking was made. Numbers are in recordings: never renumbered. */
enum wk_context {
	WK_CONTEXT_NONE,    /* no waking was seen */
	WK_CONTEXT_THREAD,  /* a followed thread: waker is its serial */
	WK_CONTEXT_PROCESS, /* a thread of a process that is not followed: waker is its pid */
	WK_CONTEXT_KERNEL,  /* a kernel thread: waker is its pid */
	WK_CONTEXT_HRTIMER, /* an expiring high-resolution timer: function, object */
	WK_CONTEXT_TIMER,   /* an expiring timer of the timer wheel: function, object */
	WK_CONTEXT_SOFTIRQ, /* another soft interrupt: waker is its vector */
	WK_CONTEXT_IRQ,	    /* a device's interrupt: waker is its number */
	WK_CONTEXT_BIRTH,   /* not a wake: the thread was created, by the followed thread `waker` */
	WK_CONTEXT_BEFORE,  /* not a wake: it ran already when the window opened */
	WK_CONTEXT_EXPIRED, /* no waking was seen, but it had slept as long as it had asked for */
};

#define WK_NO_CALL 0xffff

/* What makes one cause of one thread different from another. No holes: it is a hash key. */
struct wk_cause_key {
	__u32 serial;	      /* of the thread that woke */
	__u16 sleep_call;     /* the call it was blocked in; WK_NO_CALL: none (a page fault) */
	__u16 wake_call;      /* the call the waker was in */
	__u32 waker;	      /* see enum wk_context */
	__u8 context;	      /* enum wk_context */
	__u8 uninterruptible; /* it slept in state D */
	__u16 timeout_class;  /* of the timeout it had asked for, see cause_timeout_class(); 0: none */
	__u64 function;	      /* of the timer */
	__u64 object;	      /* the timer; 0 for one on the sleeper's own stack */
};

#define WK_NAME_BYTES 40

/* One cause of one thread, numbered from 1. Intervals are from one such wake to the next. A place whose cause was
 * taken out because its thread had died serves again under another number: no number names two causes. */
struct wk_cause {
	struct wk_cause_key key;
	__u64 wakeups;
	__u64 first_ns, last_ns;
	__u64 interval_ns;     /* the first one */
	__u64 interval_square; /* sum over all of (interval - interval_ns)², in units of 2^10 ns²;
				* WK_NEVER: one differed by more than 4 s */
	__u64 timeouts;	       /* wakes whose sleep had asked for a timeout */
	__u64 timeout_sum_ns;
	char name[WK_NAME_BYTES]; /* of the waker, the timer's function, or the device */
};

/* What a thread did because of one cause, charged to one root. A root is the cause that began the
 * chain: of the same thread, or of one that led to it by waking. */
struct wk_charge {
	__u32 cause;
	__u32 root; /* 0: not known (it began before the probes) */
	__u64 wakeups;
	__u64 oncpu_ns;
	__u64 runq_ns;
	__u64 futile;	/* wakes after which it ran shortly, called nothing of use, and slept again */
	__u64 sleep_ns; /* time asleep that these wakes ended, in the window */
};

/* Key of a charge's number. */
struct wk_charge_key {
	__u32 cause;
	__u32 root;
};

#define WK_HIST_SUB 16	  /* buckets in an octave: 6 % resolution or better */
#define WK_HIST_LOW 16	  /* first octave: 2^16 ns, 65 µs; shorter intervals are not entered */
#define WK_HIST_OCTAVES 28 /* up to 2^44 ns, 4.9 hours */
#define WK_HIST_BUCKETS (WK_HIST_SUB * WK_HIST_OCTAVES)

struct wk_hist {
	__u32 count[WK_HIST_BUCKETS];
};

/* One wake on the timeline; kept up to a rate and an amount. */
struct wk_wake_event {
	__u64 time_ns; /* of the switch-in */
	__u32 cause;
	__u32 root;
};

/* What the last waking of a thread was seen to be. */
struct wk_waking {
	__u8 context;
	__u8 reserved;
	__u16 call;
	__u32 waker;
	__u64 function;
	__u64 object;
	__u32 root;  /* that the waker, a followed thread, was running for */
	__u32 stack; /* of the waker; 0: not taken, or an interrupt woke it */
	char name[WK_COMM_BYTES]; /* of a waker that is not followed, or a device */
};

/* ---- stacks: where in the code ------------------------------------------------------------------- */

/* What is taken at each wake: flags of wk_config.stacks. */
enum wk_stacks {
	WK_STACKS_KERNEL = 1 << 0,
	WK_STACKS_USER = 1 << 1, /* by frame pointers, in the kernel */
	WK_STACKS_COPY = 1 << 2, /* registers and the top of the user stack: unwound by user space */
};

#define WK_STACK_FRAMES 127	   /* kernel.perf_event_max_stack's default */
#define WK_STACK_COPY_BYTES 16384  /* at most, of the user stack */
#define WK_STACK_REGS 33	   /* in the numbering of DWARF: x86-64 uses 17 (16 is the
				    * instruction pointer), arm64 33 (31 sp, 32 pc) */

/* One stack, in the ring `stacks`. Behind it: kernel_frames addresses, user_frames addresses (both
 * innermost first), registers (with copied_bytes only, WK_STACK_REGS of them), copied bytes from
 * the stack pointer upwards. Stacks that are equal get one id and come once. The id of a copy, with
 * WK_STACK_COPIED set, belongs to a slot and an enum stack_place: it stands for the last one taken there, until
 * the row that names it has come, and so there are never more of them than threads have room for. */
struct wk_stack {
	__u32 id;  /* from 1; 0: this is a struct wk_stack_row */
	__u32 pid; /* process, as wakewhy's pid namespace shows it; 0: a kernel thread's, or not visible */
	__u64 time_ns;
	__u16 kernel_frames;
	__u16 user_frames;
	__u32 copied_bytes;
};

/* Key of `stack_counts`. */
struct wk_stack_key {
	__u32 what;    /* number of a cause, or WK_STACK_SAMPLE | serial of the thread that was running */
	__u32 sleeper; /* id of its stack when it fell asleep, or of the sample; 0: none was taken */
	__u32 waker;   /* id of the stack of who woke it; 0: none was taken, or an interrupt did */
};
#define WK_STACK_SAMPLE (1U << 31)
#define WK_STACK_COPIED (1U << 31) /* in an id: a copy's */

/* One wake, or one sample, that has a copy: in the ring `stacks`, behind its stacks. Nothing would ever be added
 * to an entry of `stack_counts` with the id of a copy, and they would fill it. */
struct wk_stack_row {
	__u32 zero; /* where a stack has its id */
	struct wk_stack_key key;
	__u64 sleep_ns;
};

struct wk_stack_count {
	__u64 count;
	__u64 sleep_ns; /* that these wakes ended, in the window */
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
	__u32 cpu;     /* it ran on last, or WK_CPU_NONE */

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

	/* Why it runs. */
	struct wk_waking waking;     /* the last one */
	struct wk_cause_key key;     /* of `cause`: the same again needs no look-up */
	__u32 serial;		     /* number of this thread among all that were followed */
	__u32 cause, root, charge;   /* what it runs for now; 0: not known */
	__u32 charge_cause, charge_root; /* of `charge` */
	__u64 timeout_ns;	     /* asked for by the sleep it is in or came from; 0: none */
	__u64 run_ns;		     /* on CPU since it woke, */
	__u64 woke_ns;		     /* which was then */
	__u64 event_ns;		     /* of its last entry on the timeline */
	__u16 sleep_call;
	__u8 uninterruptible;
	__u8 reserved3;
	/* Threads that this one woke at once, see burst_count(): herds are three or more. */
	__u32 burst;
	__u32 burst_first, burst_last; /* serials of the first and the last of them */
	__u64 burst_ns; /* when the last one was woken */
	__u64 herds, herd_woken;
	__u32 herd_max;
	__u32 events; /* on the timeline, of the rush of wakes that is going on */

	/* Where in the code. The limit of stacks: each that is taken adds its part of a second. */
	__u32 sleep_stack; /* when it fell asleep last; 0: not taken */
	__u32 slot;	   /* its own number */
	__u64 stacks_asleep_ns, stacks_woken_ns; /* its own, and those of who woke it */
};

/* Value of the task storage: the slot and the system calls by number. The table lives and dies with
 * the thread, so it costs memory for followed threads only; it is copied to `dead_syscalls` when
 * the thread dies. The totals in wk_counters are its sums, made by user space: a system call then
 * costs one look-up. */
struct wk_task {
	__u32 slot_plus_1; /* 0: not followed (yet) */
#define WK_NO_SLOT (~0U) /* none was free: counted as lost, once */
	__u32 busy;	   /* calls since it woke that are more than a wait */
	__u32 burst_busy;  /* that, when it last woke another thread */
	__u32 reserved;
	__u64 compat;  /* 32-bit calls */
	__u64 invalid; /* numbers outside the table */
	__u64 syscalls[WK_SYSCALLS];
};

/* How long stretches on a CPU and waits in a run queue were, of all followed threads of a group. Half
 * octaves: bucket 0 holds all below 384 ns, bucket b from there on begins at
 * 2^(8 + b / 2) ns, times 1.5 where b is odd; the last has no end (from 13.7 minutes on). */
#define WK_SPAN_BUCKETS 64
struct wk_spans {
	__u64 oncpu[WK_SPAN_BUCKETS];
	__u64 runq[WK_SPAN_BUCKETS];
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
	WK_LOST_CAUSES,		/* no room for another cause: its wakes are counted as unknown */
	WK_LOST_STACKS,		/* no room for a stack: its wakes count as without one; no figure suffers */
	WK_LOST_COPIES,		/* no room for a copy: frame pointers stand in; no figure suffers */
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
_Static_assert(sizeof(struct wk_stack) == 24, "no holes in a stack");
_Static_assert(sizeof(struct wk_stack_key) == 12, "no holes in a key");
_Static_assert(sizeof(struct wk_stack_row) == 24, "no holes in a row");

#endif
