/* When a run is to be trusted: just inside and just outside of each limit. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/trust.h"
#include "sample.h"

#define MS 1000000ULL

struct fixture {
	struct recording recording;
	struct capture *capture;
	struct run_trust trust;
};

static struct fixture fixture(void)
{
	struct fixture f = {};

	f.capture = sample_add_run(&f.recording, "x", "run", NULL, 0);
	f.capture->noise.steal_share = 0;
	f.capture->noise.irq_share = 0;
	return f;
}

/* One thread whose on-CPU time and switches are ours and the kernel's over the same stretch. */
static struct wk_thread *add(struct fixture *f, uint64_t own_ns, uint64_t kernel_ns,
			     uint64_t own_switches, uint64_t kernel_switches)
{
	struct wk_thread *t =
		&sample_add_thread(f->capture, SAMPLE_PID + f->capture->threads.n, "t", 0, 0)->t;

	/* What lies before the base and what was added at the window's end must not matter. */
	t->own_base = (struct wk_kernel){3 * MS, 10, 4};
	t->edge_ns = 900 * MS;
	t->count.oncpu_ns = 3 * MS + own_ns + t->edge_ns;
	t->count.switches_voluntary = 10 + own_switches;
	t->count.switches_preempted = 4;
	t->base = (struct wk_kernel){55 * MS, 1000, 500};
	t->last = (struct wk_kernel){55 * MS + kernel_ns, 1000, 500 + kernel_switches};
	return t;
}

static bool judge(struct fixture *f)
{
	trust_free_members(&f->trust);
	trust_init(&f->trust, f->capture);
	assert_true(f->trust.ok == (f->trust.reasons.n == 0));
	return f->trust.ok;
}

static void done(struct fixture *f)
{
	trust_free_members(&f->trust);
	recording_free_members(&f->recording);
}

static bool oncpu_ok(uint64_t own_ns, uint64_t kernel_ns)
{
	struct fixture f = fixture();
	bool ok;

	add(&f, own_ns, kernel_ns, 5, 5);
	ok = judge(&f);
	done(&f);
	return ok;
}

static void oncpu_limits(void **state)
{
	(void)state;
	assert_true(oncpu_ok(1000 * MS, 1000 * MS));
	assert_true(oncpu_ok(994 * MS + 1, 1000 * MS)); /* 0.5 % + 1 ms less */
	assert_false(oncpu_ok(994 * MS - 1, 1000 * MS));
	assert_true(oncpu_ok(1055 * MS - 1, 1000 * MS)); /* 5 % + 5 ms more */
	assert_false(oncpu_ok(1055 * MS + 1, 1000 * MS));
	assert_true(oncpu_ok(0, MS));
	assert_false(oncpu_ok(0, 2 * MS));
	assert_true(oncpu_ok(0, 0));
}

/* What an interrupt did after it woke the other thread: 50 µs for each time. */
static void who_is_preempted_may_have_more(void **state)
{
	struct fixture f = fixture();
	struct wk_thread *t = add(&f, 1075 * MS, 1000 * MS, 5, 405);

	(void)state;
	t->count.switches_preempted = 4 + 400;
	assert_true(judge(&f)); /* 55 ms and 20 */
	t->count.oncpu_ns += 1;
	assert_false(judge(&f));
	t->count.oncpu_ns -= 81 * MS + 2; /* a lack is not explained by it */
	assert_false(judge(&f));
	done(&f);
}

static void steal_and_interrupts_are_allowed_for(void **state)
{
	struct fixture f = fixture();

	(void)state;
	/* 0.5 % of two CPUs over 20 s are 200 ms. */
	add(&f, 1250 * MS, 1000 * MS, 5, 5);
	assert_false(judge(&f));
	f.capture->noise.steal_share = 0.003;
	f.capture->noise.irq_share = 0.002;
	assert_true(judge(&f));
	f.capture->noise.steal_share = 0.0025;
	assert_false(judge(&f));
	/* They never explain a lack. */
	f.capture->noise.steal_share = 1;
	add(&f, 800 * MS, 1000 * MS, 5, 5);
	assert_false(judge(&f));
	done(&f);
}

/* A tick of 10 ms for each of two CPUs. */
static void ticks_of_steal_are_not_seen(void **state)
{
	struct fixture f = fixture();

	(void)state;
	add(&f, 1075 * MS, 1000 * MS, 5, 5);
	f.capture->noise.hypervisor = false;
	assert_false(judge(&f));
	f.capture->noise.hypervisor = true;
	assert_true(judge(&f));
	add(&f, 1076 * MS, 1000 * MS, 5, 5);
	assert_false(judge(&f));
	done(&f);
}

static void a_lack_is_not_hidden_by_an_excess(void **state)
{
	struct fixture f = fixture();

	(void)state;
	add(&f, 1040 * MS, 1000 * MS, 105, 100);
	add(&f, 960 * MS, 1000 * MS, 95, 100);
	assert_false(judge(&f));
	assert_int_equal(f.trust.oncpu_ns_own, f.trust.oncpu_ns_kernel);
	assert_int_equal(f.trust.switches_own, f.trust.switches_kernel);
	assert_int_equal(f.trust.worst_oncpu_diff_ns, 40 * MS);
	assert_int_equal(f.trust.worst_switches_diff, 5);
	assert_int_equal(f.trust.reasons.n, 2);
	assert_string_equal(f.trust.reasons.items[0],
			    "on-CPU time of thread 4712 (t): 960 ms counted, 1.00 s by the kernel");
	assert_string_equal(f.trust.reasons.items[1],
			    "context switches: 200 counted, 200 by the kernel, 10 apart when taken "
			    "thread by thread");
	done(&f);
}

static void many_threads_give_two_sentences(void **state)
{
	struct fixture f = fixture();

	(void)state;
	for (int i = 0; i < 50; i++)
		add(&f, 0, 100 * MS, 5, 5);
	assert_false(judge(&f));
	assert_int_equal(f.trust.threads_compared, 50);
	assert_int_equal(f.trust.reasons.n, 3);
	assert_non_null(strstr(f.trust.reasons.items[1], "49 more threads"));
	assert_string_equal(f.trust.reasons.items[2],
			    "on-CPU time of all threads: 0 ns counted, 5.00 s by the kernel");
	done(&f);
}

static bool switches_ok(uint64_t own, uint64_t kernel)
{
	struct fixture f = fixture();
	bool ok;

	add(&f, MS, MS, own, kernel);
	ok = judge(&f);
	done(&f);
	return ok;
}

static void switch_limits(void **state)
{
	(void)state;
	assert_true(switches_ok(0, 0));
	assert_true(switches_ok(10, 12));
	assert_true(switches_ok(12, 10));
	assert_false(switches_ok(10, 13));
	assert_false(switches_ok(13, 10));
	assert_true(switches_ok(99900, 100000)); /* 0.1 % */
	assert_false(switches_ok(99899, 100000));
	assert_false(switches_ok(100101, 100000));
}

static void threads_without_a_base_are_not_compared(void **state)
{
	struct fixture f = fixture();

	(void)state;
	add(&f, 0, 500 * MS, 0, 999)->flags &= ~(uint32_t)WK_FLAG_BASED;
	assert_true(judge(&f));
	assert_int_equal(f.trust.threads_compared, 0);
	done(&f);
}

static void every_loss_is_a_reason(void **state)
{
	static const char *const reasons[WK_LOST_MAX] = {
		"1,234 threads were not followed, nor what they started: no slot was free "
		"(--max-threads makes room)",
		"1,234 threads were not followed: the kernel refused task storage",
		"the calls by number of 1,234 dead threads could not be kept",
		"1,234 seconds fell beyond the end of the per-second series",
		"1,234 events were lost: execs or their arguments may be missing",
		"1,234 causes found no room: their wakes are counted as unknown "
		"(--max-threads makes room)",
	};

	(void)state;
	for (size_t i = 0; i < WK_LOST_MAX; i++) {
		struct fixture f;

		if (!reasons[i])
			continue;
		f = fixture();
		assert_true(judge(&f));
		f.capture->lost[i] = 1234;
		assert_false(judge(&f));
		assert_int_equal(f.trust.reasons.n, 1);
		assert_string_equal(f.trust.reasons.items[0], reasons[i]);
		assert_int_equal(f.trust.lost, 1234);
		f.capture->lost[i] = 1;
		assert_false(judge(&f));
		assert_non_null(strpbrk(f.trust.reasons.items[0], "1"));
		assert_null(strstr(f.trust.reasons.items[0], "threads were"));
		done(&f);
	}
}

/* No figure is made of stacks: the report tells beside them how many are missing. */
static void lost_stacks_are_no_reason(void **state)
{
	struct fixture f = fixture();

	(void)state;
	f.capture->lost[WK_LOST_STACKS] = 1234;
	assert_true(judge(&f));
	assert_int_equal(f.trust.reasons.n, 0);
	assert_int_equal(f.trust.lost, 0);
	f.capture->lost[WK_LOST_CAUSES] = 1;
	assert_false(judge(&f));
	assert_int_equal(f.trust.reasons.n, 1);
	done(&f);
}

static void missed_probes_are_named(void **state)
{
	struct fixture f = fixture();

	(void)state;
	f.capture->probes.items[0].misses = 10;
	f.capture->probes.items[1].misses = 2;
	assert_false(judge(&f));
	assert_int_equal(f.trust.misses, 12);
	assert_string_equal(f.trust.reasons.items[0],
			    "the kernel skipped 12 probe runs (sched_switch 10, sys_enter 2)");
	done(&f);
}

/* A command whose threads were all followed cannot have used more than they did. */
static void rusage_finds_threads_that_are_missing(void **state)
{
	struct fixture f = fixture();

	(void)state;
	f.capture->exit_status = 0;
	f.capture->rusage_oncpu_ns = 1000 * MS;
	add(&f, 0, 0, 0, 0)->count.oncpu_ns = 990 * MS;
	f.capture->threads.items[0].t.flags &= ~(uint32_t)WK_FLAG_BASED;
	assert_true(judge(&f)); /* 0.5 % + 5 ms */
	f.capture->threads.items[0].t.count.oncpu_ns = 990 * MS - 1;
	assert_false(judge(&f));
	assert_non_null(strstr(f.trust.reasons.items[0], "rusage"));
	/* Where it need not hold. */
	f.capture->threads.items[0].t.flags &= ~(uint32_t)WK_FLAG_FOLLOW;
	assert_true(judge(&f));
	f.capture->threads.items[0].t.flags |= WK_FLAG_FOLLOW;
	f.capture->partial = true;
	assert_true(judge(&f));
	f.capture->partial = false;
	f.capture->exit_status = -1;
	assert_true(judge(&f));
	f.capture->exit_status = 0;
	memcpy(f.capture->workload, "idl", 3);
	assert_true(judge(&f));
	done(&f);
}

static void figures_that_fell_are_a_difference(void **state)
{
	struct fixture f = fixture();
	struct wk_thread *t = add(&f, 10 * MS, 10 * MS, 5, 5);

	(void)state;
	assert_true(judge(&f));
	t->base.oncpu_ns = t->last.oncpu_ns + 500 * MS;
	assert_false(judge(&f));
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oncpu_limits),
		cmocka_unit_test(who_is_preempted_may_have_more),
		cmocka_unit_test(steal_and_interrupts_are_allowed_for),
		cmocka_unit_test(ticks_of_steal_are_not_seen),
		cmocka_unit_test(a_lack_is_not_hidden_by_an_excess),
		cmocka_unit_test(many_threads_give_two_sentences),
		cmocka_unit_test(switch_limits),
		cmocka_unit_test(threads_without_a_base_are_not_compared),
		cmocka_unit_test(every_loss_is_a_reason),
		cmocka_unit_test(lost_stacks_are_no_reason),
		cmocka_unit_test(missed_probes_are_named),
		cmocka_unit_test(rusage_finds_threads_that_are_missing),
		cmocka_unit_test(figures_that_fell_are_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
