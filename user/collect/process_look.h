/* A process as /proc shows it, safe against a reused id. */
#ifndef WAKEWHY_COLLECT_PROCESS_LOOK_H
#define WAKEWHY_COLLECT_PROCESS_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose it is, and where it lives. */
struct process_look {
	bool known;
	uint32_t euid;
	uint32_t inner_pid; /* its id in its own pid namespace; 0: not known */
	bool root_is_ours;  /* its root directory and mounts are our own */
	uint64_t start_ns;  /* when it was forked, of CLOCK_BOOTTIME, cut to a tick; 0: not known */
};

/* Directory /proc/PID of the process that had this id at time_ns (CLOCK_MONOTONIC; UINT64_MAX: now), or
 * -1 when it is gone. All that is opened below it is of that process, or fails. The caller closes. */
int process_open(pid_t pid, uint64_t time_ns);
/* known stays false where it cannot be read. */
void process_look(int process_fd, struct process_look *ret_look);

#endif
