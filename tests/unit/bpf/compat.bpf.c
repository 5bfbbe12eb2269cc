/* The questions of bpf/compat.bpf.h, asked of a task that is a piece of memory: where its fields are, and whether it
 * has them, is what the types say that the program is loaded with. */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/abi.h"
#include "bpf/config.h"

const volatile struct wk_config cfg = {};

#include "bpf/compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* A task, and behind it what it points to. */
__u64 memory[64] = {};
/* Words of the memory that hold the address of another one. */
__u32 signal_at = 0, signal_to = 0;
/* Arguments of the tracepoints. */
__u64 args[4] = {};

__u32 task_state = 0;
__u32 switch_state = 0;
int queued = 0;
int group_dead = 0;
__u64 rss_pages = 0;

/* The answers are not known when this is compiled. */
static __always_inline void *opaque(void *p)
{
	asm volatile("" : "+r"(p));
	return p;
}

SEC("raw_tp")
int scheduling(void *ctx)
{
	struct task_struct *task = opaque(memory);

	task_state = compat_task_state(task);
	switch_state = compat_switch_state(args, task);
	queued = compat_task_queued(task);
	return 0;
}

SEC("raw_tp")
int ending(void *ctx)
{
	__u32 at = signal_at, to = signal_to;

	if (at >= 64 || to >= 64)
		return 0;
	memory[at] = (__u64)&memory[to];
	group_dead = compat_exit_group_dead(args, opaque(memory));
	return 0;
}

SEC("raw_tp")
int resident(void *ctx)
{
	rss_pages = compat_mm_rss_pages(opaque(memory));
	return 0;
}
