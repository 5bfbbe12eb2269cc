/* Small kernels made of type information alone: what a test needs of each shape, and nothing else. */
#ifndef WAKEWHY_TESTS_BTF_MADE_H
#define WAKEWHY_TESTS_BTF_MADE_H

#include <bpf/btf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "collect/kernel.h"

/* A kernel with all that the probes need, but for what the flags leave out or change. */
enum btf_made {
	BTF_NO_STORAGE = 1 << 0,	 /* before a10787e6d58c (5.13) */
	BTF_NO_REGS_HELPER = 1 << 1,	 /* before dd6e10fbd9fb (5.15) */
	BTF_SWITCH_WITHOUT_STATE = 1 << 2, /* before fa2c3254d7cf (5.18) */
	BTF_SWITCH_STATE_FIRST = 1 << 3, /* between that and 9c2136be0878 (5.18) */
	BTF_EXIT_GROUP_DEAD = 1 << 4,	 /* since 6.16 */
	BTF_TWO_TASKS = 1 << 5,		 /* another struct of the same name, without fields, comes first */
};

/* typedef void (*btf_trace_NAME)(void *, …), as the kernel has it; `kinds` has a letter for each argument
 * behind the context: p a pointer, i an integer. */
static void add_tracepoint(struct btf *btf, const char *tracepoint, const char *kinds)
{
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int pointer = btf__add_ptr(btf, 0);
	int proto = btf__add_func_proto(btf, 0);
	char name[64];

	btf__add_func_param(btf, NULL, pointer);
	for (; *kinds; kinds++)
		btf__add_func_param(btf, NULL, *kinds == 'p' ? pointer : number);
	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	btf__add_typedef(btf, name, btf__add_ptr(btf, proto));
}

static const char *kinds_of(const char *tracepoint, unsigned int flags)
{
	if (!strcmp(tracepoint, "sched_switch")) {
		if (flags & BTF_SWITCH_WITHOUT_STATE)
			return "ipp";
		return flags & BTF_SWITCH_STATE_FIRST ? "iipp" : "ippi";
	}
	if (!strcmp(tracepoint, "sched_process_exit"))
		return flags & BTF_EXIT_GROUP_DEAD ? "pi" : "p";
	return "p";
}

static void add_task(struct btf *btf, unsigned int flags)
{
	int pointer = btf__add_ptr(btf, 0);

	if (flags & BTF_TWO_TASKS)
		btf__add_struct(btf, "task_struct", 0);
	btf__add_struct(btf, "task_struct", 16);
	btf__add_field(btf, "stack", pointer, 0, 0);
	if (!(flags & BTF_NO_STORAGE))
		btf__add_field(btf, "bpf_storage", pointer, 64, 0);
}

static void add_helpers(struct btf *btf, unsigned int flags)
{
	btf__add_enum(btf, "bpf_func_id", 4);
	btf__add_enum_value(btf, "BPF_FUNC_unspec", 0);
	btf__add_enum_value(btf, "BPF_FUNC_task_storage_get", 156);
	if (!(flags & BTF_NO_REGS_HELPER))
		btf__add_enum_value(btf, "BPF_FUNC_task_pt_regs", 175);
}

/* Freed by the caller with btf__free(). without: a tracepoint that it has not; may be NULL. */
static inline struct btf *btf_made(unsigned int flags, const char *without)
{
	struct btf *btf = btf__new_empty();

	add_task(btf, flags);
	add_helpers(btf, flags);
	for (size_t i = 0; kernel_hooks[i].tracepoint; i++)
		if (!without || strcmp(without, kernel_hooks[i].tracepoint))
			add_tracepoint(btf, kernel_hooks[i].tracepoint,
				       kinds_of(kernel_hooks[i].tracepoint, flags));
	return btf;
}

#endif
