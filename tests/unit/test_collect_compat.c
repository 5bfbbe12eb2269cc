/* What the probes ask a kernel's types for (bpf/compat.bpf.h): the same questions in a small program that is loaded
 * with the types of kernels that are made here, and run on memory laid out as those say. */
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/config.h"
#include "collect/kernel.h"
#include "tests/unit/compat.skel.h"

/* Where the made kernels have what they have, in bytes: nothing is where the headers say. */
enum {
	STATE_AT = 40,
	ON_RQ_AT = 52,
	SE_AT = 64,
	DELAYED_AT = 11, /* in se */
	SIGNAL_AT = 96,
	LIVE_AT = 20, /* in the signals, which begin at: */
	SIGNALS_AT = 256,
	RSS_AT = 24, /* in a memory map */
	COUNTER_AT = 16, /* in a percpu_counter of: */
	COUNTER_BYTES = 40,
};

enum made {
	STATE_LONG = 1 << 0,  /* before 2f064a59a11f (5.14) */
	STATE_NONE = 1 << 1,  /* no kernel */
	DELAYED = 1 << 2,     /* since 152e11f6df29 (6.12) */
	RSS_ATOMIC = 1 << 3,  /* before f1a7941243c1 (6.2) */
};

struct types {
	struct btf *btf;
	int u8, u32, s64, word; /* word: a long */
};

static int add_counted(struct types *t, const char *name, int type, unsigned int at, unsigned int bytes)
{
	int id = btf__add_struct(t->btf, name, bytes);

	btf__add_field(t->btf, name[0] == 'p' ? "count" : "counter", type, at * 8, 0);
	return id;
}

static void add_task(struct types *t, unsigned int made)
{
	int atomic = add_counted(t, "atomic_t", t->u32, 0, 4), signals, se;

	atomic = btf__add_typedef(t->btf, "atomic_t", atomic);
	signals = btf__add_struct(t->btf, "signal_struct", 64);
	btf__add_field(t->btf, "live", atomic, LIVE_AT * 8, 0);
	signals = btf__add_ptr(t->btf, signals);
	se = btf__add_struct(t->btf, "sched_entity", 16);
	btf__add_field(t->btf, "on_rq", t->u8, 0, 0);
	if (made & DELAYED)
		btf__add_field(t->btf, "sched_delayed", t->u8, DELAYED_AT * 8, 0);
	btf__add_struct(t->btf, "task_struct", 128);
	if (made & STATE_LONG)
		btf__add_field(t->btf, "state", t->word, STATE_AT * 8, 0);
	else if (!(made & STATE_NONE))
		btf__add_field(t->btf, "__state", t->u32, STATE_AT * 8, 0);
	btf__add_field(t->btf, "on_rq", t->u32, ON_RQ_AT * 8, 0);
	btf__add_field(t->btf, "se", se, SE_AT * 8, 0);
	btf__add_field(t->btf, "signal", signals, SIGNAL_AT * 8, 0);
}

static void add_memory(struct types *t, unsigned int made)
{
	int stat;

	if (made & RSS_ATOMIC) {
		int atomic = btf__add_typedef(t->btf, "atomic_long_t",
					      add_counted(t, "atomic64_t", t->s64, 0, 8));
		int counts = btf__add_array(t->btf, t->u32, atomic, 4);

		stat = btf__add_struct(t->btf, "mm_rss_stat", 32);
		btf__add_field(t->btf, "count", counts, 0, 0);
	} else {
		int counter = add_counted(t, "percpu_counter", t->s64, COUNTER_AT, COUNTER_BYTES);

		stat = btf__add_array(t->btf, t->u32, counter, 4);
	}
	btf__add_struct(t->btf, "mm_struct", 256);
	btf__add_field(t->btf, "rss_stat", stat, RSS_AT * 8, 0);
}

/* Writes the types of a made kernel to a file of its own. */
static void write_types(int fd, unsigned int made)
{
	struct types t = {.btf = btf__new_empty()};
	const void *data;
	__u32 bytes;

	t.u8 = btf__add_int(t.btf, "unsigned char", 1, 0);
	t.u32 = btf__add_int(t.btf, "unsigned int", 4, 0);
	t.s64 = btf__add_int(t.btf, "long long", 8, BTF_INT_SIGNED);
	t.word = btf__add_int(t.btf, "long", 8, BTF_INT_SIGNED);
	add_task(&t, made);
	add_memory(&t, made);
	data = btf__raw_data(t.btf, &bytes);
	assert_non_null(data);
	assert_int_equal(write(fd, data, bytes), bytes);
	btf__free(t.btf);
}

/* The program as it is for that kernel, with memory of all ones; NULL: it cannot be. */
static struct compat_bpf *open_for(unsigned int made, bool args)
{
	char path[] = "/tmp/wakewhy-types-XXXXXX";
	int fd = mkstemp(path), err;
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	struct compat_bpf *skel;

	assert_true(fd >= 0);
	write_types(fd, made);
	close(fd);
	skel = compat_bpf__open_opts(&opts);
	assert_non_null(skel);
	skel->rodata->cfg.switch_has_state = args;
	skel->rodata->cfg.exit_has_group_dead = args;
	err = compat_bpf__load(skel);
	unlink(path);
	if (err) {
		compat_bpf__destroy(skel);
		return NULL;
	}
	memset(skel->bss->memory, 0xff, sizeof(skel->bss->memory));
	return skel;
}

static void run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
}

static void put(struct compat_bpf *skel, size_t at, const void *value, size_t bytes)
{
	memcpy((char *)skel->bss->memory + at, value, bytes);
}

static void put_u32(struct compat_bpf *skel, size_t at, uint32_t value)
{
	put(skel, at, &value, sizeof(value));
}

static void put_s64(struct compat_bpf *skel, size_t at, int64_t value)
{
	put(skel, at, &value, sizeof(value));
}

static int need_bpf(void **state)
{
	(void)state;
	libbpf_set_print(NULL);
	return 0;
}

/* False, and the test is skipped, where programs cannot be loaded. */
#define NEED_BPF()                                                                                 \
	do {                                                                                       \
		if (!kernel_capabilities_suffice(kernel_capabilities()) || kernel_try_bpf())       \
			skip();                                                                    \
	} while (0)

static void the_state_has_two_names_and_two_widths(void **state)
{
	struct compat_bpf *skel;

	(void)state;
	NEED_BPF();
	/* Four bytes: those behind it are another field's. */
	skel = open_for(0, false);
	assert_non_null(skel);
	put_u32(skel, STATE_AT, 0x402);
	run(skel->progs.scheduling);
	assert_int_equal(skel->bss->task_state, 0x402);
	assert_int_equal(skel->bss->switch_state, 0x402);
	compat_bpf__destroy(skel);

	skel = open_for(STATE_LONG, false);
	assert_non_null(skel);
	put_s64(skel, STATE_AT, 0x81);
	run(skel->progs.scheduling);
	assert_int_equal(skel->bss->task_state, 0x81);
	assert_int_equal(skel->bss->switch_state, 0x81);
	compat_bpf__destroy(skel);
}

static void a_state_that_is_nowhere_is_refused(void **state)
{
	(void)state;
	NEED_BPF();
	assert_null(open_for(STATE_NONE, false));
}

static void the_tracepoints_own_state_goes_before_the_tasks(void **state)
{
	struct compat_bpf *skel;

	(void)state;
	NEED_BPF();
	skel = open_for(0, true);
	assert_non_null(skel);
	put_u32(skel, STATE_AT, 0);
	skel->bss->args[3] = 0x2;
	run(skel->progs.scheduling);
	assert_int_equal(skel->bss->switch_state, 0x2);
	assert_int_equal(skel->bss->task_state, 0);
	compat_bpf__destroy(skel);
}

static void assert_queued(unsigned int made, uint32_t on_rq, uint8_t delayed, int expected)
{
	struct compat_bpf *skel = open_for(made, false);

	assert_non_null(skel);
	put_u32(skel, STATE_AT, 0);
	put_u32(skel, ON_RQ_AT, on_rq);
	put(skel, SE_AT + DELAYED_AT, &delayed, 1);
	run(skel->progs.scheduling);
	assert_int_equal(skel->bss->queued, expected);
	compat_bpf__destroy(skel);
}

static void a_delayed_task_is_not_queued_where_there_are_such(void **state)
{
	(void)state;
	NEED_BPF();
	assert_queued(0, 0, 1, 0);
	assert_queued(0, 1, 1, 1); /* the byte is something else there */
	assert_queued(DELAYED, 0, 0, 0);
	assert_queued(DELAYED, 1, 0, 1);
	assert_queued(DELAYED, 1, 1, 0);
}

static void assert_group_dead(bool args, uint32_t live, uint64_t arg, int expected)
{
	struct compat_bpf *skel = open_for(0, args);

	assert_non_null(skel);
	put_u32(skel, SIGNALS_AT + LIVE_AT, live);
	skel->bss->signal_at = SIGNAL_AT / 8;
	skel->bss->signal_to = SIGNALS_AT / 8;
	skel->bss->args[1] = arg;
	run(skel->progs.ending);
	assert_int_equal(!!skel->bss->group_dead, expected);
	compat_bpf__destroy(skel);
}

static void the_last_exit_is_told_by_the_count_or_the_argument(void **state)
{
	(void)state;
	NEED_BPF();
	assert_group_dead(false, 0, 0, 1);
	assert_group_dead(false, 2, 1, 0);
	assert_group_dead(true, 2, 1, 1);
	/* A bool is one byte: what is above it in its register is not its own. */
	assert_group_dead(true, 0, 0xff00, 0);
}

/* Kinds are file, anonymous, swap, shared: swap is not resident, and a count may be below 0 for a while. */
static void assert_rss(unsigned int made, const int64_t counts[4], uint64_t expected)
{
	struct compat_bpf *skel = open_for(made, false);

	assert_non_null(skel);
	for (size_t i = 0; i < 4; i++)
		put_s64(skel, RSS_AT + (made & RSS_ATOMIC ? 8 * i : COUNTER_BYTES * i + COUNTER_AT), counts[i]);
	run(skel->progs.resident);
	assert_int_equal(skel->bss->rss_pages, expected);
	compat_bpf__destroy(skel);
}

static void memory_is_counted_in_two_ways(void **state)
{
	static const int64_t counts[4] = {7, 500, 90000, 1000}, negative[4] = {7, -3, 90000, 1000};

	(void)state;
	NEED_BPF();
	for (unsigned int made = 0; made <= RSS_ATOMIC; made += RSS_ATOMIC) {
		assert_rss(made, counts, 1507);
		assert_rss(made, negative, 1007);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_has_two_names_and_two_widths),
		cmocka_unit_test(a_state_that_is_nowhere_is_refused),
		cmocka_unit_test(the_tracepoints_own_state_goes_before_the_tasks),
		cmocka_unit_test(a_delayed_task_is_not_queued_where_there_are_such),
		cmocka_unit_test(the_last_exit_is_told_by_the_count_or_the_argument),
		cmocka_unit_test(memory_is_counted_in_two_ways),
	};

	return cmocka_run_group_tests(tests, need_bpf, NULL);
}
