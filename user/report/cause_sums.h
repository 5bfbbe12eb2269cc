/* The causes of a group's runs added up: a cause that comes back in every repeat is one, and so is
 * one that threads of the same name share.
 *
 *	HeapHelper ×7   futex wake by bun   140 wakeups      sum.label, sum.text, sum.wakeups
 */
#ifndef WAKEWHY_REPORT_CAUSE_SUMS_H
#define WAKEWHY_REPORT_CAUSE_SUMS_H

#include "report/part.h"

/* Threads of one name. A process's main thread is told apart from others of its name. */
struct thread_family {
	char comm[WK_COMM_BYTES + 1];
	bool is_main;
};

struct cause_sum {
	const struct cause_rule *rule;
	const char *mechanism;
	size_t family, waker_family; /* in families; waker_family SIZE_MAX: none that is followed */
	char *label;		     /* owned: of its threads; from outside, see base/text.h */
	char *text;		     /* owned: the cause in words */
	size_t threads;		     /* in the run where they are most */
	uint64_t wakeups, oncpu_ns, runq_ns, sleep_ns, futile;
	double timeout_ns; /* asked for, on average; 0: none */
	struct why_period period;
	struct why_phase phase;
};

/* Where the chain began that a cause was charged to. */
enum root_kind {
	ROOT_CAUSE,   /* number: in causes */
	ROOT_LOOP,    /* number: in loops: threads that hand work to and fro have no beginning */
	ROOT_EARLIER, /* before the window opened, or not known */
};

struct charge_sum {
	enum root_kind kind;
	size_t root; /* see kind */
	size_t cause;
	uint64_t wakeups, oncpu_ns, futile;
};

struct loop_sum {
	char *label; /* owned: "node and libuv-worker ×4" */
	size_t hub;  /* family of the thread that is woken once a round */
	double rounds;
	double oncpu_ns, runq_ns, syscalls, wakeups; /* of all rounds */
	bool syscalls_counted;
};

struct cause_sums {
	bool known; /* some run looked at causes */
	size_t n_runs;
	double window_ns, operations; /* of all runs together */
	uint64_t wakeups, oncpu_ns;   /* of all threads, explained or not */
	uint64_t unknown_wakeups;
	VEC(struct thread_family) families;
	VEC(struct cause_sum) causes;
	VEC(struct charge_sum) charges; /* by kind, root, cause; each once */
	VEC(struct loop_sum) loops;
	/* Of each run of the group, of each cause in its why: the place in causes; SIZE_MAX: it did nothing.
	 * NULL: the run holds no causes. */
	VEC(size_t *) sum_of;
};

/* Runs of the group that hold no causes are left out. ret_sums points into the group's runs. */
void cause_sums_init(struct cause_sums *ret_sums, const struct group *group);
void cause_sums_free_members(struct cause_sums *sums);

/* How much alike two causes must be to be taken for one and the same. */
enum cause_likeness {
	CAUSE_SAME, /* rule, threads' name, mechanism, words (process ids aside), and a timeout or
		     * period that is much the same */
	CAUSE_OF_MAIN, /* the same, but main threads may have any name: another program's */
	CAUSE_TIMED, /* CAUSE_OF_MAIN, or any two timers or timeouts of one mechanism and period */
};

/* x is one of a's causes, y one of b's; a and b may be the same. */
bool cause_sum_like(const struct cause_sums *a, const struct cause_sum *x,
		    const struct cause_sums *b, const struct cause_sum *y,
		    enum cause_likeness likeness);

#endif
