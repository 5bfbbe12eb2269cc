/* What /proc says of a thread: parsers of its texts. A process chooses its own name, so nothing in them can be
 * taken for granted. */
#ifndef WAKEWHY_COLLECT_PROC_TEXT_H
#define WAKEWHY_COLLECT_PROC_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"

/* Of /proc/PID/task/TID/stat. */
struct proc_stat {
	char comm[WK_COMM_BYTES]; /* cut to 15 bytes */
	char state;		  /* R S D T t Z X I … */
	pid_t ppid;
	bool kernel_thread;
	uint64_t minor_faults, major_faults;
	uint64_t start_ticks; /* since the machine was started, in ticks of _SC_CLK_TCK */
};

/* Of schedstat and status: all since the thread was born. */
struct proc_figures {
	uint64_t oncpu_ns, runq_ns, runs; /* schedstat; runs: times that it got a CPU */
	uint64_t voluntary, preempted;	  /* status: switches */
};

/* All return 0, or -EINVAL and write nothing where the text is not of that shape. */
int proc_parse_stat(const char *text, struct proc_stat *ret_stat);
/* Fills the first three members, and leaves the others alone. */
int proc_parse_schedstat(const char *text, struct proc_figures *figures);
/* Fills the last two members, and leaves the others alone. */
int proc_parse_status(const char *text, struct proc_figures *figures);

/* The next of the ids in a text such as "12 345 " (/proc/PID/task/TID/children): returns the text behind it,
 * or NULL at its end and at what is no id. */
const char *proc_next_id(const char *text, pid_t *ret_id);
/* The id that a file in /proc or in a folder task is named after; 0: it is none. */
pid_t proc_id_of_name(const char *name);

#endif
