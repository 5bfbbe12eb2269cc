/* The configuration of the kernel side: set by user space before loading, constant afterwards, so
 * that the verifier drops what is switched off. The defaults load on their own. */
#ifndef WAKEWHY_CONFIG_H
#define WAKEWHY_CONFIG_H

#include "bpf/glob.h"

struct wk_config {
	__u32 slots;		/* in the threads map */
	__u32 recycle_at;	/* dead slots that wait before user space is woken */
	__u32 series_seconds;	/* in the seconds map, for each group */
	__u32 groups;		/* in the seconds map */
	__u32 page_bytes;
	__u64 cgroup_id;	/* follow what is in this cgroup; 0: none */
	struct wk_glob name;	/* follow processes of this name, */
	__u8 by_name;		/* if set */
	__u8 all;		/* follow everything */
	__u8 kernel_threads;	/* kernel threads too (with all) */
	__u8 follow;		/* child processes of followed ones */
	__u8 count_syscalls;
	__u8 stamp_output;	/* stamp the exec call at the gate and first writes to descriptor 1 */
	__u8 open_at_exec;	/* the exec of a gated process opens the window */
	__u8 switch_has_state;	/* sched_switch's fourth argument is the state (since 5.18) */
	__u8 exit_has_group_dead; /* sched_process_exit's second argument (since 6.16) */
	__s32 nr_execve, nr_execveat, nr_write, nr_writev; /* numbers on this architecture */
};

#endif
