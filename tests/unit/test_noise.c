/* When a window counts as disturbed, and what is said about it. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "model/noise.h"

static void assert_said(struct capture_noise noise, const char *expected)
{
	char *text = noise_disturbance(&noise);

	if (expected)
		assert_string_equal(text ? text : "", expected);
	else
		assert_null(text);
	free(text);
}

static void a_quiet_window_is_not_disturbed(void **state)
{
	(void)state;
	assert_said((struct capture_noise){0}, NULL);
	/* Others on CPUs that the workload was not allowed on do not matter. */
	assert_said((struct capture_noise){.other_cpu_share = 0.9, .irq_share = 0.5}, NULL);
}

static void a_limit_itself_is_allowed(void **state)
{
	(void)state;
	assert_said((struct capture_noise){.used_other_share = NOISE_OTHERS_LIMIT,
					   .steal_share = NOISE_STEAL_LIMIT},
		    NULL);
	assert_said((struct capture_noise){.used_other_share = nextafter(NOISE_OTHERS_LIMIT, 1)},
		    "others used 10 % of its CPUs (limit 10 %)");
	assert_said((struct capture_noise){.steal_share = nextafter(NOISE_STEAL_LIMIT, 1)},
		    "the hypervisor took 5 % of the CPUs (limit 5 %)");
}

static void what_is_not_known_disturbs_nothing(void **state)
{
	(void)state;
	assert_said((struct capture_noise){.used_other_share = NAN, .steal_share = NAN}, NULL);
	assert_said((struct capture_noise){.steal_share = NAN}, NULL);
	/* One tick of a short window. */
	assert_said((struct capture_noise){.used_other_share = NAN, .steal_share = 0.5}, NULL);
	assert_said((struct capture_noise){.used_other_share = NAN, .throttled_ns = 5000},
		    "the CPU limit of its cgroup held it back for 5.00 µs");
}

static void all_that_disturbed_is_said(void **state)
{
	(void)state;
	assert_said((struct capture_noise){.used_other_share = 0.432},
		    "others used 43.2 % of its CPUs (limit 10 %)");
	assert_said((struct capture_noise){.throttled_ns = 1},
		    "the CPU limit of its cgroup held it back for 1 ns");
	assert_said((struct capture_noise){.used_other_share = 1,
					   .steal_share = 0.0625,
					   .throttled_ns = 12000000,
					   .suspended_ns = 3000000000},
		    "others used 100 % of its CPUs (limit 10 %); "
		    "the hypervisor took 6.25 % of the CPUs (limit 5 %); "
		    "the CPU limit of its cgroup held it back for 12.0 ms; "
		    "the machine slept for 3.00 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_window_is_not_disturbed),
		cmocka_unit_test(a_limit_itself_is_allowed),
		cmocka_unit_test(what_is_not_known_disturbs_nothing),
		cmocka_unit_test(all_that_disturbed_is_said),
	};

	return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
