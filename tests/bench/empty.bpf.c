/* Programs that do nothing on the hooks that wakewhy uses: the least that any tool on them can
 * cost. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define EMPTY(hook)                                                                                \
	SEC("tp_btf/" #hook)                                                                       \
	int hook(void *ctx)                                                                        \
	{                                                                                          \
		(void)ctx;                                                                         \
		return 0;                                                                          \
	}

EMPTY(sched_switch)
EMPTY(sched_waking)
EMPTY(sched_wakeup_new)
EMPTY(sched_process_fork)
EMPTY(sched_process_exec)
EMPTY(sched_process_exit)
EMPTY(task_rename)
EMPTY(hrtimer_expire_entry)
EMPTY(hrtimer_expire_exit)
EMPTY(timer_expire_entry)
EMPTY(timer_expire_exit)
EMPTY(softirq_entry)
EMPTY(softirq_exit)
EMPTY(irq_handler_entry)
EMPTY(irq_handler_exit)
EMPTY(sys_enter)
