/* What was observed, as plain values: the one thing that collect/ makes, record/ stores and model/
 * explains. Nothing here is derived; nothing here needs the kernel it came from. */
#ifndef WAKEWHY_MODEL_CAPTURE_H
#define WAKEWHY_MODEL_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "bpf/abi.h"

/* Strings are owned by the struct that holds them, NUL-terminated, and may hold any other byte:
 * whoever shows one makes it safe (base/text.h). Times are nanoseconds of CLOCK_MONOTONIC. */

struct capture_syscall {
	uint32_t nr;
	uint64_t count;
};

struct capture_thread {
	struct wk_thread t;
	VEC(struct capture_syscall) syscalls; /* by number, rising, none with count 0 */
};

/* How often a cause came at an interval that falls into a bucket (abi.h: WK_HIST_…). */
struct capture_interval {
	uint32_t bucket;
	uint32_t count;
};

/* Why a thread woke; number is what charges and the timeline call it. */
struct capture_cause {
	uint32_t number;
	struct wk_cause c;
	VEC(struct capture_interval) intervals; /* by bucket, rising */
};

/* One image of a process: a process that executes twice has two. */
struct capture_image {
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns; /* of the process */
	uint64_t exec_ns;  /* 0: the image was there when the probes were attached, or forked without exec */
	uint32_t group;
	char comm[WK_COMM_BYTES + 1];
	char *argv;	   /* arguments, each ended by NUL, argv_bytes in all; NULL: not known */
	size_t argv_bytes;
	size_t argv_cut;   /* bytes of argv left out */
};

/* A file that frames are in. */
struct capture_module {
	char *path;	/* as the process saw it; "[vdso]" for the kernel's own */
	char *build_id; /* hex digits; "" where the file has none, or could not be read */
};

/* Where code is. Numbers are in recordings: never renumbered. */
enum frame_kind {
	FRAME_KERNEL = 0,
	FRAME_FILE = 1, /* mapped from a file */
	FRAME_JIT = 2,	/* made at run time: named by the perf map of the process, or not at all */
};

struct capture_frame {
	uint32_t kind;	 /* enum frame_kind */
	uint32_t module; /* FRAME_FILE: place in modules */
	uint64_t offset; /* FRAME_FILE: in the file; else its address. Of a caller: of the last byte of
			  * its call, so that it is never the next function's first */
	uint64_t address; /* FRAME_FILE: what the file itself calls that place (objdump, addr2line); 0: not
			   * known */
	char *name;	 /* as a person writes it (demangled); "": not known */
	uint64_t into;	 /* bytes from where `name` begins */
};

/* Equal stacks are one, whatever they were taken for. */
struct capture_stack {
	uint32_t pid;
	bool truncated;	    /* it went on, but could not be followed */
	uint32_t kernel;    /* so many of its frames, the first ones, are the kernel's */
	VEC(uint32_t) frames; /* places in capture.frames, innermost first */
};

#define STACK_NONE UINT32_MAX

/* What wakes of one cause slept in, and who woke them from where. */
struct capture_wake_stack {
	uint32_t cause;		 /* its number */
	uint32_t sleeper, waker; /* places in capture.stacks; STACK_NONE: not taken */
	uint64_t wakeups;
	uint64_t sleep_ns;
};

/* How often a thread was found running this. */
struct capture_sample {
	uint32_t serial; /* of the thread */
	uint32_t stack;	 /* STACK_NONE: not taken */
	uint64_t count;
};

struct capture_probe {
	char *name;
	uint64_t runs;
	uint64_t ns;
	uint64_t misses; /* times that the kernel skipped it */
};

/* What the machine is, and what was not ours on it over the window. Shares are 0 to 1; those of others
 * are NaN where they are not known: the kernel counts in ticks, too coarse for windows under 0.5 s. */
struct capture_noise {
	double other_cpu_share;	     /* CPU time of others, of all CPUs */
	double used_other_share;     /* the same, of the CPUs that the workload was allowed on */
	double steal_share;
	double irq_share;
	uint32_t cpus_online;
	uint32_t cpus_used;	     /* the workload was allowed on */
	uint32_t cores_used;	     /* physical cores that these are on; 0: not known */
	uint32_t siblings_shared;    /* of cpus_used: how many have a sibling hyper-thread */
	uint32_t isolated_used;	     /* of cpus_used: how many are kept free of others by the kernel */
	uint32_t numa_nodes;	     /* that cpus_used are on; 0: not known */
	bool hypervisor;	     /* a virtual machine: cores are what the host calls so */
	int32_t turbo;		     /* 1 on, -1 off, 0 not known */
	double quota_cpus;	     /* CPUs that the cgroup may use at most; 0: no limit */
	uint64_t throttled_ns;	     /* the cgroup's threads were held back by that limit */
	uint64_t suspended_ns;	     /* the machine slept in the window */
	char *governor;		     /* "" when the machine shows none */
};

struct capture_startup {
	bool present;
	uint64_t exec_to_first_output_ns; /* 0: it wrote nothing to descriptor 1 */
	uint64_t exec_to_exit_ns;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t max_rss_bytes;
};

struct capture_runtime {
	bool present;
	char *family;
	char *version;
	char *path;
	uint64_t size_bytes;
};

struct capture {
	/* What was run. */
	char *label;
	char *workload;	   /* run attach startup idle hash */
	char *variant;	   /* NULL, or sync oneshot webcrypto */
	uint32_t repeat;   /* 0 for the first */
	struct capture_runtime runtime;
	/* By our own clock, with and without probes alike (struct capture_bare): startup: from the
	 * opening of the gate until its end was seen; hash, serve: the operations. 0: not known. */
	uint64_t outer_ns;
	char *disturbed;      /* what others did to the window, in words; NULL: nothing above the limits */
	bool replaced;	      /* disturbed, and measured again: shown, but in no summary */
	char *conditions;     /* serve: where server and load generator ran, and how it was loaded, in
			       * words; NULL: nothing to say */
	char *not_comparable; /* why its figures must not be compared; NULL: they may be */

	/* When. */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t settle_ns;    /* how long start-up took before the window opened (idle); 0: none */
	bool settled;	       /* the process had gone quiet by then */
	bool partial;	       /* ended by a signal or a limit before its time */
	int exit_status;       /* of the command as wait() gives it; -1: it did not end in the window */
	bool syscalls_counted; /* false under --no-syscalls */
	bool probes_timed;     /* runs and ns of each probe were measured */
	/* 0: counted by probes. Else read from /proc in such steps: only time on a CPU and in the run queue
	 * and switches are known then, and wakeups are voluntary switches. */
	uint64_t step_ns;
	uint64_t unseen_ends;  /* threads that ended between two steps: what they did in the last is missing */

	/* What was seen. */
	VEC(struct capture_thread) threads;
	VEC(struct capture_image) images;
	VEC(struct wk_second) seconds; /* of the window, the last one may be cut short */
	bool causes_counted;	       /* false in recordings older than causes */
	VEC(struct capture_cause) causes;
	VEC(struct wk_charge) charges;
	VEC(struct wk_wake_event) timeline; /* rising in time */
	uint64_t timeline_left_out;	    /* wakes that are not on it */

	/* Where in the code. */
	uint32_t stacks_mode; /* enum wk_stacks; 0: no stacks were taken */
	uint32_t sample_hz;   /* 0: no samples were taken */
	VEC(struct capture_module) modules;
	VEC(struct capture_frame) frames;
	VEC(struct capture_stack) stacks;
	VEC(struct capture_wake_stack) wake_stacks; /* by cause, rising; of a cause that has any, they are
						     * together all its wakes, give or take those that
						     * were in the middle of things at the edges */
	VEC(struct capture_sample) samples;	    /* by serial, rising */

	/* What the workload itself said. */
	struct capture_startup startup;
	bool has_result;
	uint64_t operations;
	uint64_t errors;       /* serve: requests that failed, or took more than two seconds */
	bool has_memory;
	uint64_t rss_bytes, pss_bytes;		   /* of the process tree, at the window's end */
	uint64_t rss_start_bytes, pss_start_bytes; /* at its beginning: after start-up; 0: not known */
	/* How long stretches on a CPU and waits for one were, by bucket (abi.h: WK_SPAN_…). */
	bool has_spans;
	struct wk_spans spans;

	/* What may be wrong with it. */
	uint64_t lost[WK_LOST_MAX];
	uint64_t inferred_switches; /* not traced by the kernel; rebuilt from its accounting */
	VEC(struct capture_probe) probes;
	uint64_t observer_wakeups;
	uint64_t observer_oncpu_ns;
	uint64_t rusage_oncpu_ns; /* of the command and its waited-for children by wait4; 0: not known */
	struct capture_noise noise;
};

struct capture_tool {
	char *version;
	char *kernel;
	char *arch;    /* x86-64, arm64: decides the names of system calls */
	char *started; /* RFC 3339 */
	uint32_t cpus;
	VEC(char *) command;
};

/* The same work done with the probes detached: what they cost is the difference of outer_ns. */
struct capture_bare {
	char *label;
	char *workload;
	char *variant; /* or NULL */
	uint32_t repeat;
	uint64_t outer_ns;   /* as in struct capture */
	uint64_t operations; /* 0: startup */
};

/* A figure that somebody has published, to be shown beside what was measured here. */
struct claim {
	char *source;	/* "article 1" */
	char *what;	/* "cold start" */
	char *label;	/* of the runtime it is about */
	char *base;	/* claimed against this label; NULL: a plain figure */
	char *workload; /* that measures it here; "" : out of scope, shown with its text alone */
	char *variant;	/* or NULL */
	char *metric;	/* id in the table of metrics */
	double value;	/* in the metric's unit; with base: label's figure divided by base's */
	double low, high; /* range that the source gives; NaN: none */
	uint64_t window_ns; /* length of the window that it is about, where that decides; 0: any */
	char *text;	/* as the source words it */
};

/* What one invocation measured, and what a .wkw file holds. */
struct recording {
	struct capture_tool tool;
	VEC(struct capture) runs;
	VEC(struct capture_bare) bare;
	VEC(struct claim) claims;
	uint64_t seed; /* of the order in which things were measured; 0: as they were given */
	/* What the experiment has to say of how it went: sentences without their full stop. */
	VEC(struct capture_remark { char *workload; char *text; }) remarks;
	/* Labels of what could not be measured, each with its reason: shown in every report. */
	VEC(struct capture_failure { char *label; char *workload; char *reason; }) failures;
};

void capture_free_members(struct capture *capture);
void claim_free_members(struct claim *claim);
void recording_free_members(struct recording *recording);

/* Shortest time that bucket 0 to WK_SPAN_BUCKETS - 1 of struct wk_spans holds. */
uint64_t span_low_ns(uint32_t bucket);

/* Name of a loss as it is printed and as JSON spells it, "" beyond the last. */
const char *capture_lost_name(enum wk_lost lost);

#endif
