/* Programs whose right figures are known, as forked children of wakewhy itself: what `selftest` measures. */
#ifndef WAKEWHY_RUNTIME_SELFTEST_H
#define WAKEWHY_RUNTIME_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

#define SELFTEST_THREADS 5

enum selftest_id {
	SELFTEST_SLEEPER,  /* sleeps on a grid of 25 ms */
	SELFTEST_PING,	   /* hands a byte to and fro with another process, through pipes */
	SELFTEST_HAND_OFF, /* hands the turn to and fro with another thread, through a futex */
	SELFTEST_TIMERFD,  /* waits for a timerfd through epoll */
	SELFTEST_ALARM,	   /* waits for the signal of setitimer */
	SELFTEST_SPAWNER,  /* forks, executes and waits for the end */
	SELFTEST_CANCEL,   /* asks for sleeps so short that they may be over before they begin */
	SELFTEST_YIELDER,  /* two threads that give each other one CPU */
	SELFTEST_SPINNER,  /* runs */
	SELFTEST_CROWD,	   /* two threads that run on one CPU */
	SELFTEST_CALLER,   /* four threads, each on its own CPU where there are so many, that call */
	SELFTEST_MAX,
};

/* What was asked for. */
#define SELFTEST_PERIOD_NS 25000000ULL /* of the sleeper, the timerfd and setitimer */
#define SELFTEST_SLEEPS 40
#define SELFTEST_ROUNDS 1000
#define SELFTEST_SPAWNS 20 /* every other one ends with status SELFTEST_STATUS, the others with 0 */
#define SELFTEST_STATUS 2
#define SELFTEST_CANCELS 5000
#define SELFTEST_YIELDS 10000
#define SELFTEST_CALLERS 4
#define SELFTEST_CALLS 100000

/* A thread's figures by its own reading, as the kernel keeps them. */
struct selftest_figures {
	uint64_t wall_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t voluntary, preempted; /* switches */
};

struct selftest_thread {
	pid_t pid, tid; /* 0: there is no such thread */
	struct selftest_figures born;	/* before it stood at the gate; of another thread, its maker's
					 * clock and nothing else */
	struct selftest_figures before, after; /* its work */
	/* After the main thread has waited for the others; of these the same as `after`. What follows is two
	 * calls on a socket, in the second of which it sleeps until its end. */
	struct selftest_figures last;
	uint64_t count; /* what it did, in the unit of its work */
	uint64_t uneven; /* of a period: intervals between its wakes that were a tenth off, by its own clock */
};

/* What a subject says of itself; threads[0] is its main thread. In memory shared with it. */
struct selftest_told {
	struct selftest_thread threads[SELFTEST_THREADS];
};

struct selftest_child;

/* "sleeper": also the name of its process. */
const char *selftest_name(enum selftest_id id);
/* Forks it; it sleeps at its gate when this returns. */
int selftest_start(struct selftest_child **ret_child, enum selftest_id id, struct diag *diag);
pid_t selftest_pid(const struct selftest_child *child);
/* Opens the gate; false: it has ended there. */
bool selftest_go(struct selftest_child *child);
/* Readable when it has done its work, or has ended before. */
int selftest_fd(const struct selftest_child *child);
/* After that: has it done its work? All its threads sleep on then. */
bool selftest_done(struct selftest_child *child);
/* Valid as long as the child, also after its end. */
const struct selftest_told *selftest_told(const struct selftest_child *child);
/* Kills it and what it started, reaps it; NULL is fine. */
void selftest_free(struct selftest_child *child);

/* ---- selftest_subjects.c: what they do ------------------------------------------------------------ */

/* A subject, in its own process. */
struct selftest_self {
	struct selftest_told *told;
	int gate; /* socket: the gate, and where it says that it is done */
	int pair[2]; /* socket: its threads and processes say there that they are done */
};

/* Returns when the work is done and all but the main thread sleep; ends the process where it cannot be
 * done. */
void selftest_work(struct selftest_self *self, enum selftest_id id);
/* Reads the calling thread's figures. */
struct selftest_figures selftest_figures(void);

#endif
