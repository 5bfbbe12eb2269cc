/* doctor's findings: which row a problem marks, what comes first, and the last word. */
#include "tests/unit/unit.h"

#include <string.h>

#include "cmd/findings.h"

static const char *state_of(const struct findings *f, size_t row)
{
	return f->table->rows.items[row].cells.items[2].text;
}

static const char *note(const struct findings *f, size_t block)
{
	assert_int_equal(f->report.blocks.items[block].kind, BLOCK_NOTE);
	return f->report.blocks.items[block].text;
}

static void a_problem_marks_the_fact_before_it(void **state)
{
	struct findings f = {0};

	(void)state;
	findings_section(&f, "this kernel");
	findings_fact(&f, "first", "%d", 1);
	findings_fact(&f, "second", "%s", "two");
	findings_problem(&f, false, "mend it", "%s is wrong", "two");
	findings_tell(&f, "third", "three");
	assert_string_equal(state_of(&f, 0), "ok");
	assert_string_equal(state_of(&f, 1), "see below");
	assert_string_equal(state_of(&f, 2), "");
	assert_string_equal(f.table->rows.items[1].cells.items[1].text, "two");
	findings_free_members(&f);
}

static void what_blocks_comes_first(void **state)
{
	struct findings f = {0};

	(void)state;
	findings_section(&f, "t");
	findings_problem(&f, false, "wait", "it is noisy");
	assert_false(findings_block(&f));
	findings_problem(&f, true, "", "it is missing");
	assert_true(findings_block(&f));
	findings_conclude(&f);
	assert_int_equal(f.report.blocks.n, 4);
	assert_string_equal(note(&f, 1), "it is missing");
	assert_string_equal(note(&f, 2), "it is noisy: wait");
	assert_non_null(strstr(note(&f, 3), "nothing can be measured"));
	assert_int_equal(f.report.blocks.items[3].note, NOTE_WARNING);
	findings_free_members(&f);
}

static void noise_is_no_obstacle(void **state)
{
	struct findings f = {0};

	(void)state;
	findings_section(&f, "t");
	findings_conclude(&f);
	assert_string_equal(note(&f, 1), "this machine can measure");
	findings_free_members(&f);

	findings_section(&f, "t");
	findings_problem(&f, false, "", "it is noisy");
	findings_conclude(&f);
	assert_int_equal(f.report.blocks.items[2].note, NOTE_TRUST_OK);
	assert_non_null(strstr(note(&f, 2), "mind what is said above"));
	findings_free_members(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_problem_marks_the_fact_before_it),
		cmocka_unit_test(what_blocks_comes_first),
		cmocka_unit_test(noise_is_no_obstacle),
	};

	return cmocka_run_group_tests_name("cmd_findings", tests, NULL, NULL);
}
