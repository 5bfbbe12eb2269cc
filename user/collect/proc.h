/* The other way to look: what /proc shows of the followed threads, once a second, without privileges. It fills
 * the same slots as the probes do, with less: time on a CPU and in the run queue, and switches. Causes, system
 * calls and what lived shorter than a step are not seen. */
#ifndef WAKEWHY_COLLECT_PROC_H
#define WAKEWHY_COLLECT_PROC_H

#include "collect/internal.h"
#include "collect/proc_text.h"

#define PROC_STEP_NS WK_SECOND_NS

/* What is known of threads[i] besides. */
struct proc_note {
	uint64_t start_ticks; /* with its id: which thread it is, for ids are used again */
	struct proc_figures last;
	uint32_t seen; /* number of the last look that found it */
};

struct proc_process {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t since_ns; /* followed since: children that are older are not its later children */
	uint32_t group;
	uint32_t flags; /* of its threads: enum wk_thread_flags */
	bool alive;
};

/* A thread that the last look found, by its id. */
struct proc_place {
	pid_t tid;
	size_t i; /* in threads */
};

struct proc_watch {
	VEC(struct wk_thread) threads; /* the collector's slots; what has died stays */
	VEC(struct proc_note) notes;   /* of the same number */
	VEC(struct proc_process) processes;
	VEC(struct proc_place) places; /* by tid, rising */
	size_t placed; /* processes when places were made: later ones are not in it */
	struct wk_window window;
	struct wk_glob name;
	uint64_t now_ns, looked_ns; /* begin of this look and of the one before */
	uint64_t tick_ns;
	uint64_t boottime_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	uint64_t unseen_ends;
	uint32_t look; /* number of this look */
	uint32_t alive;
	uint32_t refused; /* threads beyond the limit, in this look */
	bool counting;
	bool no_children; /* this kernel has no file children: parents are looked up instead */
	int timer_fd;
};

/* proc.c: what the functions of collect.h do with this backend. */
int collect_proc_open(struct collector *c, struct diag *diag);
void collect_proc_free(struct collector *c); /* NULL in it is fine */
int collect_proc_seed(struct collector *c, struct diag *diag);
int collect_proc_add(struct collector *c, pid_t pid, uint32_t group, struct diag *diag);
void collect_proc_reset(struct collector *c);
void collect_proc_open_window(struct collector *c);
void collect_proc_close_window(struct collector *c);
void collect_proc_service(struct collector *c);
void collect_proc_settle(struct collector *c);

/* proc_look.c: one look at all that is followed, and at what is to be followed from now on. */
void collect_proc_look(struct collector *c);
/* Follows a process from now on, or with since_ns (0: none) one that was born since then from its birth; one
 * that is older is left alone. -ESRCH: there is none. */
int collect_proc_follow(struct collector *c, pid_t pid, uint32_t group, uint32_t flags,
			uint64_t since_ns);
uint64_t collect_proc_now_ns(clockid_t clock);

#endif
