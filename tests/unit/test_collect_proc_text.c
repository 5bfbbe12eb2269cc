/* What /proc says of a thread: names that try to be more than names, numbers that do not fit, texts that end. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "collect/proc_text.h"

#define REST " 0 0 0 -1 4194304 11 22 33 44 5 6 7 8 20 0 1 0 123456 1 2\n"

static void a_stat_is_read(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proc_parse_stat("42 (cat) S 7" REST, &stat), 0);
	assert_string_equal(stat.comm, "cat");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.ppid, 7);
	assert_int_equal(stat.minor_faults, 11);
	assert_int_equal(stat.major_faults, 33);
	assert_int_equal(stat.start_ticks, 123456);
	assert_false(stat.kernel_thread);
	assert_int_equal(proc_parse_stat("2 (kthreadd) I 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5\n",
					 &stat), 0);
	assert_true(stat.kernel_thread);
	assert_int_equal(stat.start_ticks, 5);
}

static void a_name_cannot_pretend(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proc_parse_stat("42 (a) R 1 0 0) S 7" REST, &stat), 0);
	assert_string_equal(stat.comm, "a) R 1 0 0");
	assert_int_equal(stat.ppid, 7);
	assert_int_equal(proc_parse_stat("42 (\n)(\n) S 7" REST, &stat), 0);
	assert_string_equal(stat.comm, "\n)(\n");
	assert_int_equal(proc_parse_stat("42 () S 7" REST, &stat), 0);
	assert_string_equal(stat.comm, "");
	/* The kernel's own threads may have longer ones. */
	assert_int_equal(proc_parse_stat("42 (kworker/u8:2-events_unbound) S 7" REST, &stat), 0);
	assert_string_equal(stat.comm, "kworker/u8:2-ev");
}

static void what_is_no_stat_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "42", "42 (cat", "42 cat) S 7" REST, "42 (cat)", "42 (cat) ", "42 (cat) S", "42 (cat) S 7",
		"42 (cat) SS 7" REST, "42 (cat) S -7" REST, "42 (cat) S 99999999999" REST,
		"42 (cat) S 7 0 0 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 ",
		"42 (cat) S 7 0 0 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 99999999999999999999\n",
		")(",
	};
	struct proc_stat stat = {.ppid = 1234};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(proc_parse_stat(texts[i], &stat), -EINVAL);
	assert_int_equal(stat.ppid, 1234);
}

static void schedstat_has_three_numbers(void **state)
{
	struct proc_figures f = {.voluntary = 9};

	(void)state;
	assert_int_equal(proc_parse_schedstat("123 456 7\n", &f), 0);
	assert_int_equal(f.oncpu_ns, 123);
	assert_int_equal(f.runq_ns, 456);
	assert_int_equal(f.runs, 7);
	assert_int_equal(f.voluntary, 9);
	assert_int_equal(proc_parse_schedstat("18446744073709551615 0 0\n", &f), 0);
	assert_int_equal(f.oncpu_ns, UINT64_MAX);
	assert_int_equal(proc_parse_schedstat("18446744073709551616 0 0\n", &f), -EINVAL);
	assert_int_equal(proc_parse_schedstat("1 2\n", &f), -EINVAL);
	assert_int_equal(proc_parse_schedstat("", &f), -EINVAL);
	assert_int_equal(proc_parse_schedstat("-1 2 3\n", &f), -EINVAL);
	assert_int_equal(f.oncpu_ns, UINT64_MAX);
}

static void switches_are_two_lines_of_status(void **state)
{
	struct proc_figures f = {.oncpu_ns = 5};

	(void)state;
	assert_int_equal(proc_parse_status("Name:\tvoluntary_ctxt_switches:\nState:\tS (sleeping)\n"
					   "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t4\n",
					   &f), 0);
	assert_int_equal(f.voluntary, 150);
	assert_int_equal(f.preempted, 4);
	assert_int_equal(f.oncpu_ns, 5);
	assert_int_equal(proc_parse_status("voluntary_ctxt_switches:\t150\n", &f), -EINVAL);
	assert_int_equal(proc_parse_status("nonvoluntary_ctxt_switches:\t150\n", &f), -EINVAL);
	assert_int_equal(proc_parse_status("", &f), -EINVAL);
	assert_int_equal(f.voluntary, 150);
}

static void ids_come_one_by_one(void **state)
{
	const char *text = "12 345 6 ";
	pid_t id = 0;

	(void)state;
	text = proc_next_id(text, &id);
	assert_int_equal(id, 12);
	text = proc_next_id(text, &id);
	assert_int_equal(id, 345);
	text = proc_next_id(text, &id);
	assert_int_equal(id, 6);
	assert_null(proc_next_id(text, &id));
	assert_null(proc_next_id("x", &id));
	assert_null(proc_next_id("0", &id));
	assert_null(proc_next_id("99999999999", &id));
	assert_int_equal(id, 6);
}

static void names_of_files_are_ids_or_not(void **state)
{
	(void)state;
	assert_int_equal(proc_id_of_name("1234"), 1234);
	assert_int_equal(proc_id_of_name("12x"), 0);
	assert_int_equal(proc_id_of_name("."), 0);
	assert_int_equal(proc_id_of_name(""), 0);
	assert_int_equal(proc_id_of_name(" 12"), 0);
	assert_int_equal(proc_id_of_name("0"), 0);
	assert_int_equal(proc_id_of_name("self"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stat_is_read),
		cmocka_unit_test(a_name_cannot_pretend),
		cmocka_unit_test(what_is_no_stat_is_refused),
		cmocka_unit_test(schedstat_has_three_numbers),
		cmocka_unit_test(switches_are_two_lines_of_status),
		cmocka_unit_test(ids_come_one_by_one),
		cmocka_unit_test(names_of_files_are_ids_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
