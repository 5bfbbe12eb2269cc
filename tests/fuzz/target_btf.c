/* Type information: kernels that are whole but for one tracepoint or feature, and whose further types are made up.
 * The graph is a valid one, as a kernel's is: libbpf reads its bytes, and that is not ours to test. */
#include <errno.h>
#include <string.h>

#include "bpf/config.h"
#include "collect/shapes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/btf_made.h"

/* The bytes that are left; 0 for ever at their end. */
struct input {
	const uint8_t *at, *end;
};

static unsigned int next(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Any type there is, the one that will be made next (types may be about themselves), or void. */
static int some_type(struct input *in, const struct btf *btf)
{
	return (int)(next(in) % (btf__type_cnt(btf) + 1));
}

static void add_members(struct input *in, struct btf *btf, int is_enum)
{
	static const char *const names[] = {"bpf_storage", "BPF_FUNC_task_pt_regs", "other"};
	unsigned int n = next(in) % 8;

	for (unsigned int i = 0; i < n; i++) {
		const char *name = names[next(in) % 3];

		if (is_enum)
			btf__add_enum_value(btf, name, i);
		else
			btf__add_field(btf, name, some_type(in, btf), i * 64, 0);
	}
}

static void add_type(struct input *in, struct btf *btf, const char *tracepoint)
{
	static const char *const names[] = {"task_struct", "bpf_func_id", "other"};
	char name[64];
	unsigned int n;

	switch (next(in) % 7) {
	case 0:
		btf__add_ptr(btf, some_type(in, btf));
		break;
	case 1:
		btf__add_const(btf, some_type(in, btf));
		break;
	case 2:
		btf__add_func_proto(btf, some_type(in, btf));
		n = next(in) % 8;
		for (unsigned int i = 0; i < n; i++)
			btf__add_func_param(btf, NULL, some_type(in, btf));
		break;
	case 3:
		snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
		btf__add_typedef(btf, name, some_type(in, btf));
		break;
	case 4:
		btf__add_struct(btf, names[next(in) % 3], 64);
		add_members(in, btf, 0);
		break;
	case 5:
		btf__add_enum(btf, names[next(in) % 3], 4);
		add_members(in, btf, 1);
		break;
	default:
		btf__add_fwd(btf, names[next(in) % 3], BTF_FWD_STRUCT);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct input in = {bytes, bytes + n};
	struct wk_config cfg = {.slots = 7}, before = cfg;
	struct diag diag = {0};
	unsigned int flags = next(&in);
	const char *without;
	uint64_t hooks = 0;
	struct btf *btf;
	size_t rows = 0;
	int err;

	while (kernel_hooks[rows].tracepoint)
		rows++;
	FUZZ_CHECK(rows > 0);
	without = kernel_hooks[next(&in) % rows].tracepoint;
	btf = btf_made(flags, without);
	while (in.at < in.end)
		add_type(&in, btf, without);
	err = shapes_config(&cfg, btf, &diag);
	hooks = shapes_missing_hooks(btf);
	for (size_t i = 0; i < rows; i++)
		if (kernel_hooks[i].needed && hooks >> i & 1)
			FUZZ_CHECK(err == -ENOTSUP);
	if (shapes_missing_feature(btf))
		FUZZ_CHECK(err == -ENOTSUP);
	FUZZ_CHECK(!err || (err == -ENOTSUP && diag.what[0] && diag.hint[0]));
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): nothing may have been written, not even between */
	FUZZ_CHECK(!err || !memcmp(&cfg, &before, sizeof(cfg)));
	FUZZ_CHECK(cfg.slots == 7);
	btf__free(btf);
	return 0;
}
