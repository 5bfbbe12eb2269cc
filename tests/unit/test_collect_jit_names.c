/* Perf maps: whose are believed. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/book_driver.h"

/* The name that the code's frame gets while the process lives; the caller frees. */
static char *name_of(const char *what, const char *how)
{
	struct stackbook *book = book_open(false);
	char *program = book_program(), *name;
	const struct capture_frame *frame;
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;

	book_subject_start(&subject, program, what, how);
	spot = book_subject_spot(&subject);
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	book_subject_end(&subject);
	frame = book_frame(&capture, 1, 0);
	assert_int_equal(frame->kind, FRAME_JIT);
	assert_int_equal(frame->offset, spot.address);
	assert_int_equal(frame->into, frame->name[0] ? 0x10 : 0);
	name = mem_strdup(frame->name);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
	return name;
}

static void expect(const char *what, const char *how, const char *wanted)
{
	char *name = name_of(what, how);

	assert_string_equal(name, wanted);
	free(name);
}

static void its_own_map_names_code(void **state)
{
	(void)state;
	expect(BOOK_JIT, JIT_PLAIN, BOOK_JIT_NAME);
	expect(BOOK_JIT, JIT_NONE, "");
}

static void a_link_is_not_followed(void **state)
{
	(void)state;
	expect(BOOK_JIT, JIT_LINK, "");
}

static void another_name_of_a_file_is_not_believed(void **state)
{
	(void)state;
	expect(BOOK_JIT, JIT_HARD, "");
}

static void one_that_is_older_than_the_program_is_not_believed(void **state)
{
	(void)state;
	expect(BOOK_JIT, JIT_STALE, "");
}

static void one_that_all_may_write_is_not_believed(void **state)
{
	(void)state;
	expect(BOOK_JIT, JIT_OPEN, "");
}

static void somebody_elses_is_not_believed(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only root can give files away */
	expect(BOOK_JIT, JIT_OTHERS, "");
}

/* In a container the program is number 1, and /tmp is another. */
static void a_container_has_its_own(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only root can make one */
	expect(BOOK_BOX, JIT_PLAIN, BOOK_JIT_NAME);
	expect(BOOK_BOX, JIT_NONE, "");
}

/* The map outlives the program, and who it was has been seen in time, or was not. */
static void expect_after_its_end(bool seeded, const char *wanted)
{
	struct stackbook *book = book_open(false);
	char *program = book_program(), *map;
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;

	book_subject_start(&subject, program, BOOK_JIT, JIT_PLAIN);
	spot = book_subject_spot(&subject);
	if (seeded)
		stackbook_seed(book, subject.pid);
	kill(subject.pid, SIGKILL);
	waitpid(subject.pid, NULL, 0);
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	if (book_stack(&capture, 1)) /* without records, a process that has gone is not known at all */
		assert_string_equal(book_frame(&capture, 1, 0)->name, wanted);
	else
		assert_string_equal("", wanted);
	map = mem_printf("/tmp/perf-%d.map", subject.pid);
	unlink(map);
	free(map);
	close(subject.in);
	close(subject.out);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
}

static void a_map_outlives_its_program(void **state)
{
	(void)state;
	expect_after_its_end(true, BOOK_JIT_NAME);
	expect_after_its_end(false, "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_map_names_code),
		cmocka_unit_test(a_link_is_not_followed),
		cmocka_unit_test(another_name_of_a_file_is_not_believed),
		cmocka_unit_test(one_that_is_older_than_the_program_is_not_believed),
		cmocka_unit_test(one_that_all_may_write_is_not_believed),
		cmocka_unit_test(somebody_elses_is_not_believed),
		cmocka_unit_test(a_container_has_its_own),
		cmocka_unit_test(a_map_outlives_its_program),
	};

	book_subject_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
