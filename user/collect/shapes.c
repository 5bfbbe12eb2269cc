/* Questions to a kernel's type information. */
#include "collect/shapes.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/config.h"
#include "collect/kernel.h"

/* What is in no tracepoint's type. The later ones imply that the earlier ones are there, and others with
 * them: each row is the first thing that its kernel brought. */
static const struct feature_question {
	struct kernel_feature feature;
	__u32 kind; /* BTF_KIND_STRUCT or BTF_KIND_ENUM */
	const char *type;
	const char *member;
} features[] = {
	/* a10787e6d58c; before that only security modules had it. */
	{{"task storage for tracing programs", "5.13"}, BTF_KIND_STRUCT, "task_struct", "bpf_storage"},
	/* dd6e10fbd9fb: tells what a sleeper waits for. */
	{{"the BPF helper task_pt_regs", "5.15"}, BTF_KIND_ENUM, "bpf_func_id", "BPF_FUNC_task_pt_regs"},
};

static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name)
{
	for (__u32 i = 0; i < btf_vlen(t); i++) {
		__u32 at = btf_is_enum(t) ? btf_enum(t)[i].name_off : btf_members(t)[i].name_off;
		const char *found = btf__name_by_offset(btf, at);

		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

/* Modules and headers may bring further types of one name: any of them will do. */
static bool answer(const struct btf *btf, const struct feature_question *question)
{
	__u32 n = btf__type_cnt(btf);

	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name;

		if (btf_kind(t) != question->kind)
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (name && !strcmp(name, question->type) && has_member(btf, t, question->member))
			return true;
	}
	return false;
}

const struct kernel_feature *shapes_missing_feature(const struct btf *btf)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		if (!answer(btf, &features[i]))
			return &features[i].feature;
	return NULL;
}

/* The kernel names the type of a tracepoint's probe btf_trace_NAME. */
static int hook_type(const struct btf *btf, const char *tracepoint)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
}

uint64_t shapes_missing_hooks(const struct btf *btf)
{
	uint64_t missing = 0;

	for (size_t i = 0; kernel_hooks[i].tracepoint; i++)
		if (hook_type(btf, kernel_hooks[i].tracepoint) < 0)
			missing |= 1ULL << i;
	return missing;
}

/* How many arguments does a tracepoint have, the context left out? -errno where there is no telling.
 * *ret_args are they. */
static int hook_args(const struct btf *btf, const char *tracepoint, const struct btf_param **ret_args)
{
	const struct btf_type *t;
	int id = hook_type(btf, tracepoint);

	if (id < 0)
		return id;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (!t || !btf_is_ptr(t))
		return -EINVAL;
	t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_func_proto(t) || btf_vlen(t) < 1)
		return -EINVAL;
	*ret_args = btf_params(t) + 1;
	return btf_vlen(t) - 1;
}

static bool is_pointer(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	return t && btf_is_ptr(t);
}

static int refuse_missing(const struct btf *btf, struct diag *diag)
{
	const struct kernel_feature *feature = shapes_missing_feature(btf);
	uint64_t hooks = shapes_missing_hooks(btf);

	for (size_t i = 0; kernel_hooks[i].tracepoint; i++)
		if (kernel_hooks[i].needed && hooks >> i & 1)
			return diag_hint(diag,
					 diag_set(diag, -ENOTSUP,
						  "this kernel has no tracepoint %s for BPF (%s)",
						  kernel_hooks[i].tracepoint, kernel_hooks[i].use),
					 KERNEL_HOOK_HINT);
	if (feature)
		return diag_hint(diag,
				 diag_set(diag, -ENOTSUP, "this kernel lacks %s, which came with %s",
					  feature->name, feature->since),
				 KERNEL_FEATURE_HINT);
	return 0;
}

int shapes_config(struct wk_config *cfg, const struct btf *btf, struct diag *diag)
{
	const struct btf_param *args;
	int n, err = refuse_missing(btf, diag);

	if (err)
		return err;
	n = hook_args(btf, "sched_switch", &args);
	if (n < 3)
		return diag_hint(diag,
				 diag_set(diag, -ENOTSUP,
					  "this kernel's sched_switch has other arguments than any that is "
					  "known"),
				 "run a released kernel");
	/* fa2c3254d7cf had the state before prev and next; 9c2136be0878 moved it. */
	if (!is_pointer(btf, args[1].type) || !is_pointer(btf, args[2].type))
		return diag_hint(diag,
				 diag_set(diag, -ENOTSUP,
					  "this kernel's sched_switch has its arguments in an order "
					  "that only 5.18 release candidates had"),
				 "run a released kernel");
	cfg->switch_has_state = n >= 4;
	cfg->exit_has_group_dead = hook_args(btf, "sched_process_exit", &args) >= 2;
	return 0;
}
