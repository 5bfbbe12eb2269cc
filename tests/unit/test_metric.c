/* The tables of metrics and counters, and the value of each metric. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/metric.h"
#include "sample.h"

static const char *const workloads[] = {"run", "attach", "startup", "idle", "hash", "serve"};

static size_t words(const char *text)
{
	size_t n = 0;

	for (const char *p = text; *p; p++)
		n += *p != ' ' && (p == text || p[-1] == ' ');
	return n;
}

static void the_table_of_metrics_is_whole(void **state)
{
	static const char *const units[] = {"1", "1/s", "ms/s", "ns", "bytes"};

	(void)state;
	for (const struct metric *m = metrics; m->id; m++) {
		size_t known = 0, used = 0;

		assert_true(m->id[0] && m->title[0] && m->meaning[0]);
		assert_non_null(m->get);
		assert_true(m->better <= METRIC_NEITHER);
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			known += strcmp(m->unit, units[i]) == 0;
		assert_int_equal(known, 1);
		for (const struct metric *other = metrics; other != m; other++)
			assert_string_not_equal(other->id, m->id);
		assert_true(metric_find(m->id) == m);
		for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
			used += metric_applies(m, workloads[i]);
		assert_true(used > 0);
		/* A workload that is misspelt in a row would never match. */
		assert_int_equal(used, words(m->workloads));
	}
	assert_null(metric_find("no_such_metric"));
	assert_null(metric_find(""));
	assert_false(metric_applies(&metrics[0], ""));
	assert_false(metric_applies(&metrics[0], "start"));
	assert_false(metric_applies(&metrics[0], "startups"));
}

static void the_table_of_counters_covers_the_struct(void **state)
{
	size_t covered = 0;

	(void)state;
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		struct wk_counters counters = {};

		assert_true(field->meaning[0]);
		assert_true(strcmp(field->unit, "1") == 0 || strcmp(field->unit, "ns") == 0);
		assert_int_equal(strcmp(field->unit, "ns") == 0,
				 strcmp(field->id + strlen(field->id) - 3, "_ns") == 0);
		memcpy((char *)&counters + field->offset, &(uint64_t){7 + covered}, 8);
		assert_int_equal(counter_get(&counters, field), 7 + covered);
		for (const struct counter_field *other = counter_fields; other != field; other++)
			assert_true(other->offset != field->offset && strcmp(other->id, field->id));
		covered++;
	}
	assert_int_equal(covered * 8, sizeof(struct wk_counters));
}

static struct recording recording;
static struct run run;

/* A run of 20 s in which each figure is different. */
static int set_up(void **state)
{
	struct capture *capture;
	struct wk_counters *c;

	(void)state;
	memset(&recording, 0, sizeof(recording));
	capture = sample_add_run(&recording, "x", "idle", NULL, 0);
	c = &sample_add_thread(capture, 1, "t", 40, 60000000)->t.count;
	c->cancelled_sleeps = 6;
	c->runq_ns = 8000000;
	c->runq_waits = 400;
	c->runq_max_ns = 90000;
	c->switches_voluntary = 41;
	c->switches_preempted = 19;
	c->idle_exits = 10;
	c->migrations = 4;
	c->syscalls = 900;
	for (int i = 0; i < 20; i++)
		vec_push(&capture->seconds)->oncpu_ns = i < 7;
	capture->startup = (struct capture_startup){true, 11, 12, 13, 14, 15};
	capture->has_result = true;
	capture->operations = 2000;
	capture->has_memory = true;
	capture->rss_bytes = 16;
	capture->pss_bytes = 17;
	capture->rss_start_bytes = 19;
	capture->pss_start_bytes = 20;
	capture->errors = 21;
	capture->runtime.present = true;
	capture->runtime.size_bytes = 18;
	run_init(&run, capture);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	run_free_members(&run);
	recording_free_members(&recording);
	return 0;
}

static void each_metric_has_its_value(void **state)
{
	static const struct {
		const char *id;
		double value;
	} expected[] = {
		{"wakeups_per_s", 2},
		{"cpu_ms_per_s", 3},
		{"syscalls_per_s", 45},
		{"idle_exits_per_s", 0.5},
		{"active_seconds", 7},
		{"switches_per_s", 3},
		{"cancelled_sleeps_per_s", 0.3},
		{"migrations_per_s", 0.2},
		{"runq_ms_per_s", 0.4},
		{"runq_mean_ns", 20000},
		{"runq_max_ns", 90000},
		{"wakeups", 40},
		{"oncpu_ns", 60000000},
		{"runq_ns", 8000000},
		{"switches", 60},
		{"syscalls", 900},
		{"exec_to_first_output_ns", 11},
		{"exec_to_exit_ns", 12},
		{"minor_faults", 13},
		{"major_faults", 14},
		{"max_rss_bytes", 15},
		{"operations_per_s", 100},
		{"cpu_ns_per_op", 30000},
		{"wakeups_per_op", 0.02},
		{"switches_per_op", 0.03},
		{"syscalls_per_op", 0.45},
		{"errors", 21},
		{"rss_start_bytes", 19},
		{"pss_start_bytes", 20},
		{"rss_bytes", 16},
		{"pss_bytes", 17},
		{"size_bytes", 18},
	};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct metric *m = metric_find(expected[i].id);
		double value = NAN;

		assert_non_null(m);
		assert_true(m->get(&run, &value));
		if (fabs(value - expected[i].value) > 1e-12 * expected[i].value)
			fail_msg("%s is %.17g", m->id, value);
	}
	for (const struct metric *m = metrics; m->id; m++)
		n++;
	assert_int_equal(n, sizeof(expected) / sizeof(expected[0])); /* none left out */
}

/* A capture that holds nothing yields no figure that would need it, and no NaN. */
static void what_was_not_measured_has_no_value(void **state)
{
	static const char *const always[] = {"wakeups", "oncpu_ns", "runq_ns", "switches"};
	struct capture nothing = {};
	struct run empty;

	(void)state;
	run_init(&empty, &nothing);
	for (const struct metric *m = metrics; m->id; m++) {
		double value = 77;
		bool is_always = false;

		for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
			is_always |= strcmp(m->id, always[i]) == 0;
		assert_int_equal(m->get(&empty, &value), is_always);
		assert_true(value == (is_always ? 0 : 77));
	}
	run_free_members(&empty);
	/* A window and a result of nothing. */
	nothing.end_ns = WK_SECOND_NS;
	nothing.has_result = true;
	nothing.startup.present = true;
	run_init(&empty, &nothing);
	for (const struct metric *m = metrics; m->id; m++) {
		double value = 0;

		m->get(&empty, &value);
		assert_true(isfinite(value));
	}
	assert_false(metric_find("syscalls_per_s")->get(&empty, &(double){0}));
	assert_false(metric_find("cpu_ns_per_op")->get(&empty, &(double){0}));
	assert_false(metric_find("exec_to_first_output_ns")->get(&empty, &(double){0}));
	run_free_members(&empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_of_metrics_is_whole),
		cmocka_unit_test(the_table_of_counters_covers_the_struct),
		cmocka_unit_test_setup_teardown(each_metric_has_its_value, set_up, tear_down),
		cmocka_unit_test(what_was_not_measured_has_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
