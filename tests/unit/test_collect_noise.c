/* Others' shares of a window, from what was read at its edges. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/internal.h"

#define S WK_SECOND_NS

/* CPU 0 was used for 1 s of two, CPU 1 for half a second, 0.1 s of that by interrupts; 0.2 s of CPU 1
 * were stolen. Our threads had 0.4 s, wakewhy itself 0.1 s. */
static void window_begin(struct collector *c)
{
	long tick = sysconf(_SC_CLK_TCK); /* in a second */

	memset(c, 0, sizeof(*c));
	c->before.stat = mem_strdup("cpu  1000 0 0 1000 0 0 0 0\ncpu0 500 0 0 500 0 0 0 0\n"
				    "cpu1 500 0 0 500 0 0 0 0\nintr 9\n");
	c->after.stat = mem_printf("cpu  %ld 0 0 %ld 0 0 %ld %ld\ncpu0 %ld 0 0 %ld 0 0 0 0\n"
				   "cpu1 %ld 0 0 %ld 0 0 %ld %ld\nintr 9\n",
				   1000 + tick * 14 / 10, 1000 + tick * 23 / 10, tick / 10,
				   tick * 2 / 10, 500 + tick, 500 + tick, 500 + tick * 4 / 10,
				   500 + tick * 13 / 10, tick / 10, tick * 2 / 10);
	c->before.oncpu_ns = 7 * S;
	c->after.oncpu_ns = 7 * S + S / 10;
	vec_push(&c->threads)->t.count.oncpu_ns = 3 * S / 10;
	vec_push(&c->threads)->t.count.oncpu_ns = S / 10;
	cpulist_add(&c->cpus, 0);
}

static void window_end(struct collector *c)
{
	free(c->before.stat);
	free(c->after.stat);
	free(c->threads.items);
	collect_noise_forget(c);
}

static struct capture_noise noise_of(const struct collector *c, uint64_t window_ns)
{
	struct capture_noise noise;

	collect_noise_take(c, window_ns, &noise);
	free(noise.governor);
	noise.governor = NULL;
	return noise;
}

static void assert_shares(const struct collector *c, double used, double all)
{
	struct capture_noise noise = noise_of(c, 2 * S);

	if (isnan(used))
		assert_true(isnan(noise.used_other_share) && isnan(noise.other_cpu_share));
	else
		assert_true(fabs(noise.used_other_share - used) < 1e-9 &&
			    fabs(noise.other_cpu_share - all) < 1e-9);
}

/* A helper that had half a second, and may run on these CPUs. */
static struct collect_helper *help(struct collector *c, const char *cpus)
{
	struct collect_helper *helper;

	collector_exclude(c, 812);
	helper = &c->helpers.items[c->helpers.n - 1];
	assert_int_equal(cpulist_parse(&helper->cpus, cpus, NULL), 0);
	helper->before_ns = 3 * S;
	helper->after_ns = 3 * S + S / 2;
	helper->known = true;
	return helper;
}

static void what_is_not_ours_is_others(void **state)
{
	struct capture_noise noise;
	struct collector c;

	(void)state;
	window_begin(&c);
	assert_shares(&c, (1 - 0.5) / 2, (1.5 - 0.5) / 4);
	noise = noise_of(&c, 2 * S);
	assert_true(fabs(noise.steal_share - 0.2 / 4) < 1e-9);
	assert_true(fabs(noise.irq_share - 0.1 / 4) < 1e-9);
	assert_int_equal(noise.cpus_used, 1);
	cpulist_add(&c.cpus, 1);
	assert_shares(&c, (1.5 - 0.5) / 4, (1.5 - 0.5) / 4);
	window_end(&c);
}

static void others_are_never_less_than_nobody(void **state)
{
	struct collector c;

	(void)state;
	window_begin(&c);
	c.threads.items[0].t.count.oncpu_ns = 2 * S; /* ticks have missed it */
	assert_shares(&c, 0, 0);
	window_end(&c);
}

static void helpers_are_no_others(void **state)
{
	struct collector c;

	(void)state;
	window_begin(&c);
	help(&c, "1"); /* beside the workload: the others there are not its doing */
	assert_shares(&c, (1 - 0.5) / 2, (1.5 - 1) / 4);
	window_end(&c);
	window_begin(&c);
	help(&c, "0-1");
	assert_shares(&c, (1 - 1) / 2, (1.5 - 1) / 4);
	window_end(&c);
}

/* Waited for before the window closed: nobody can tell what it used. */
static void a_lost_helper_leaves_others_unknown(void **state)
{
	struct collector c;

	(void)state;
	window_begin(&c);
	help(&c, "1")->known = false;
	assert_shares(&c, NAN, NAN);
	window_end(&c);
}

static void ticks_say_nothing_about_a_short_window(void **state)
{
	struct capture_noise noise;
	struct collector c;

	(void)state;
	window_begin(&c);
	noise = noise_of(&c, S / 2 - 1);
	assert_true(isnan(noise.used_other_share) && isnan(noise.other_cpu_share));
	assert_true(noise.steal_share > 0); /* what the check against the kernel allows for */
	noise = noise_of(&c, S / 2);
	assert_false(isnan(noise.used_other_share));
	window_end(&c);
}

static void what_cannot_be_read_is_not_known(void **state)
{
	struct collector c;

	(void)state;
	window_begin(&c);
	free(c.after.stat);
	c.after.stat = NULL;
	assert_shares(&c, NAN, NAN);
	c.after.stat = mem_strdup("cpu  nonsense\n");
	assert_shares(&c, NAN, NAN);
	free(c.after.stat);
	c.after.stat = mem_strdup(c.before.stat); /* no time has passed */
	assert_shares(&c, NAN, NAN);
	window_end(&c);
}

static void suspension_is_more_than_two_looks_at_the_clocks(void **state)
{
	struct collector c;

	(void)state;
	window_begin(&c);
	c.before.suspended_ns = 100 * S;
	c.after.suspended_ns = 100 * S + S / 100 - 1;
	c.before.throttled_ns = 5000;
	c.after.throttled_ns = 5100;
	assert_int_equal(noise_of(&c, S).suspended_ns, 0);
	assert_int_equal(noise_of(&c, S).throttled_ns, 100);
	c.after.suspended_ns = 103 * S;
	c.after.throttled_ns = 10; /* the cgroup was made anew */
	assert_int_equal(noise_of(&c, S).suspended_ns, 3 * S);
	assert_int_equal(noise_of(&c, S).throttled_ns, 0);
	window_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ours_is_others),
		cmocka_unit_test(others_are_never_less_than_nobody),
		cmocka_unit_test(helpers_are_no_others),
		cmocka_unit_test(a_lost_helper_leaves_others_unknown),
		cmocka_unit_test(ticks_say_nothing_about_a_short_window),
		cmocka_unit_test(what_cannot_be_read_is_not_known),
		cmocka_unit_test(suspension_is_more_than_two_looks_at_the_clocks),
	};

	return cmocka_run_group_tests_name("collect_noise", tests, NULL, NULL);
}
