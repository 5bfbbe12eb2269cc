/* What is asked of a kernel's type information, on kernels that are made of a few types. */
#include "tests/unit/unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/config.h"
#include "collect/kernel.h"
#include "collect/shapes.h"
#include "tests/unit/btf_made.h"
#include "wakewhy.skel.h"

static struct wk_config asked(struct btf *btf)
{
	struct wk_config cfg = {.slots = 7};
	struct diag diag = {0};

	assert_int_equal(shapes_config(&cfg, btf, &diag), 0);
	assert_int_equal(cfg.slots, 7);
	btf__free(btf);
	return cfg;
}

/* Refused, in these words, and nothing is changed. */
static void assert_refused(struct btf *btf, const char *what, const char *hint)
{
	struct wk_config cfg, before;
	struct diag diag = {0};

	memset(&cfg, 0x5a, sizeof(cfg));
	before = cfg;
	assert_int_equal(shapes_config(&cfg, btf, &diag), -ENOTSUP);
	assert_string_equal(diag.what, what);
	assert_string_equal(diag.hint, hint);
	assert_memory_equal(&cfg, &before, sizeof(cfg));
	btf__free(btf);
}

static void the_state_is_an_argument_since_5_18(void **state)
{
	(void)state;
	assert_true(asked(btf_made(0, NULL)).switch_has_state);
	assert_false(asked(btf_made(BTF_SWITCH_WITHOUT_STATE, NULL)).switch_has_state);
}

static void the_order_of_release_candidates_is_refused(void **state)
{
	(void)state;
	assert_refused(btf_made(BTF_SWITCH_STATE_FIRST, NULL),
		       "this kernel's sched_switch has its arguments in an order that only 5.18 "
		       "release candidates had",
		       "run a released kernel");
}

static void the_last_exit_is_an_argument_since_6_16(void **state)
{
	(void)state;
	assert_false(asked(btf_made(0, NULL)).exit_has_group_dead);
	assert_true(asked(btf_made(BTF_EXIT_GROUP_DEAD, NULL)).exit_has_group_dead);
	/* One question does not answer the other. */
	assert_true(asked(btf_made(BTF_EXIT_GROUP_DEAD, NULL)).switch_has_state);
	assert_false(asked(btf_made(BTF_EXIT_GROUP_DEAD | BTF_SWITCH_WITHOUT_STATE, NULL)).switch_has_state);
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	assert_refused(btf_made(BTF_NO_STORAGE | BTF_NO_REGS_HELPER, NULL),
		       "this kernel lacks task storage for tracing programs, which came with 5.13",
		       KERNEL_FEATURE_HINT);
	assert_refused(btf_made(BTF_NO_REGS_HELPER, NULL),
		       "this kernel lacks the BPF helper task_pt_regs, which came with 5.15",
		       KERNEL_FEATURE_HINT);
	for (size_t i = 0; kernel_hooks[i].tracepoint; i++) {
		const struct kernel_hook *hook = &kernel_hooks[i];
		struct btf *btf = btf_made(0, hook->tracepoint);
		char what[128];

		assert_true(shapes_missing_hooks(btf) == 1ULL << i);
		snprintf(what, sizeof(what), "this kernel has no tracepoint %s for BPF (%s)",
			 hook->tracepoint, hook->use);
		if (hook->needed)
			assert_refused(btf, what, KERNEL_HOOK_HINT);
		else
			asked(btf);
	}
}

static void types_of_one_name_are_all_looked_at(void **state)
{
	(void)state;
	asked(btf_made(BTF_TWO_TASKS, NULL));
}

static void no_types_are_no_kernel(void **state)
{
	struct btf *btf = btf__new_empty();

	(void)state;
	assert_non_null(shapes_missing_feature(btf));
	assert_refused(btf, "this kernel has no tracepoint sched_switch for BPF (on-CPU time and switches)",
		       KERNEL_HOOK_HINT);
}

/* What no kernel has had yet: it must not be taken for one of the known shapes. */
static void unknown_arguments_are_refused(void **state)
{
	const char *const what =
		"this kernel's sched_switch has other arguments than any that is known";
	int pointer, proto;

	(void)state;
	for (int shape = 0; shape < 6; shape++) {
		struct btf *btf = btf_made(0, "sched_switch");

		pointer = btf__add_ptr(btf, 0);
		proto = shape == 0 ? pointer : btf__add_func_proto(btf, 0);
		for (int i = 1; i < shape && i < 4; i++) /* the context and at most two more */
			btf__add_func_param(btf, NULL, pointer);
		btf__add_typedef(btf, "btf_trace_sched_switch",
				 shape == 5 ? proto : btf__add_ptr(btf, proto));
		assert_refused(btf, what, "run a released kernel");
	}
}

static void hooks_are_those_of_the_programs(void **state)
{
	struct wakewhy_bpf *skel = wakewhy_bpf__open();
	struct bpf_program *program;
	uint64_t found = 0;

	(void)state;
	assert_non_null(skel);
	bpf_object__for_each_program(program, skel->obj)
	{
		const char *section = bpf_program__section_name(program);
		size_t i = 0;

		if (strncmp(section, "tp_btf/", 7))
			continue;
		while (kernel_hooks[i].tracepoint && strcmp(kernel_hooks[i].tracepoint, section + 7))
			i++;
		assert_non_null(kernel_hooks[i].tracepoint);
		found |= 1ULL << i;
	}
	for (size_t i = 0; kernel_hooks[i].tracepoint; i++)
		assert_true(found >> i & 1);
	wakewhy_bpf__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_is_an_argument_since_5_18),
		cmocka_unit_test(the_order_of_release_candidates_is_refused),
		cmocka_unit_test(the_last_exit_is_an_argument_since_6_16),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(types_of_one_name_are_all_looked_at),
		cmocka_unit_test(no_types_are_no_kernel),
		cmocka_unit_test(unknown_arguments_are_refused),
		cmocka_unit_test(hooks_are_those_of_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
