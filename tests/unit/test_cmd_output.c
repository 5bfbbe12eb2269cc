/* Files that appear when they are complete, and what happens when they cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/checked.h"
#include "cmd/output.h"
#include "cmd/output_file.h"

/* A directory of each test's own; the working directory meanwhile. */
static int enter(void **state)
{
	char *directory = mem_strdup("/tmp/wakewhy-test-XXXXXX");

	*state = directory;
	return !mkdtemp(directory) || chdir(directory);
}

static int leave(void **state)
{
	struct dirent *entry;
	DIR *dir = opendir(".");

	while ((entry = readdir(dir)))
		if (unlink(entry->d_name))
			rmdir(entry->d_name);
	closedir(dir);
	if (chdir("/") || rmdir(*state))
		return -1;
	free(*state);
	return 0;
}

static size_t entries(void)
{
	struct dirent *entry;
	DIR *dir = opendir(".");
	size_t n = 0;

	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return n;
}

static void expect_content(const char *name, const char *expected)
{
	char text[64] = {};
	FILE *in = fopen(name, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, sizeof(text) - 1, in) || !*expected);
	fclose(in);
	assert_string_equal(text, expected);
}

static void put_content(const char *name, const char *content)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	fputs(content, out);
	fclose(out);
}

static void a_file_is_there_when_complete(void **state)
{
	struct output_file *file;
	struct diag diag = {};
	struct stat st;

	(void)state;
	umask(022);
	assert_int_equal(output_file_begin(&file, "x.json", &diag), 0);
	fputs("{}", output_file_stream(file));
	assert_int_equal(access("x.json", F_OK), -1);
	assert_int_equal(output_file_complete(file, &diag), 0);
	output_file_free(file);
	expect_content("x.json", "{}");
	assert_int_equal(stat("x.json", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(entries(), 1);
}

static void an_old_file_stays_until_then(void **state)
{
	struct output_file *file;
	struct diag diag = {};

	(void)state;
	put_content("x.json", "old");
	assert_int_equal(output_file_begin(&file, "./x.json", &diag), 0);
	fputs("new", output_file_stream(file));
	fflush(output_file_stream(file));
	expect_content("x.json", "old");
	assert_int_equal(output_file_complete(file, &diag), 0);
	output_file_free(file);
	expect_content("x.json", "new");
	assert_int_equal(entries(), 1);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
	struct output_file *file;
	struct diag diag = {};

	(void)state;
	assert_int_equal(output_file_begin(&file, "x.json", &diag), 0);
	fputs("half", output_file_stream(file));
	output_file_free(file);
	assert_int_equal(entries(), 0);
	output_file_free(NULL);
}

/* What a link points to is nobody's business: only the link is replaced. */
static void a_link_is_replaced_not_followed(void **state)
{
	struct output_file *file;
	struct diag diag = {};
	struct stat st;

	(void)state;
	put_content("precious", "keep");
	assert_int_equal(symlink("precious", "x.json"), 0);
	assert_int_equal(output_file_begin(&file, "x.json", &diag), 0);
	fputs("new", output_file_stream(file));
	assert_int_equal(output_file_complete(file, &diag), 0);
	output_file_free(file);
	expect_content("precious", "keep");
	expect_content("x.json", "new");
	assert_int_equal(lstat("x.json", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	/* Not even a look at what it points to: a link to a device is a link. */
	assert_int_equal(symlink("/dev/null", "y.json"), 0);
	assert_int_equal(output_file_begin(&file, "y.json", &diag), 0);
	assert_int_equal(output_file_complete(file, &diag), 0);
	output_file_free(file);
	assert_int_equal(lstat("y.json", &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void expect_refused(const char *path, int err, const char *what)
{
	struct output_file *file = NULL;
	struct diag diag = {};

	assert_int_equal(output_file_begin(&file, path, &diag), err);
	assert_null(file);
	assert_string_equal(diag.what, what);
}

static void places_that_are_no_files_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir("d.json", 0700), 0);
	assert_int_equal(mkfifo("f.json", 0600), 0);
	expect_refused("d.json", -EISDIR, "cannot write 'd.json': Is a directory");
	expect_refused("d.json/", -EISDIR, "cannot write 'd.json/': Is a directory");
	expect_refused("d.json/..", -EISDIR, "cannot write 'd.json/..': Is a directory");
	expect_refused("f.json", -EEXIST, "cannot write 'f.json': it is there and not a file");
	expect_refused("no/x.json", -ENOENT, "cannot write 'no/x.json': No such file or directory");
	expect_refused("f.json/x", -ENOTDIR, "cannot write 'f.json/x': Not a directory");
	expect_refused("/proc/x.json", -ENOENT, "cannot write '/proc/x.json': No such file or directory");
}

/* A limit of the file's size stands in for a full disk: both fail in the middle of writing. */
static void a_failed_write_keeps_the_old_file(void **state)
{
	struct rlimit old, small = {.rlim_cur = 5000};
	struct output_file *file;
	struct diag diag = {};

	(void)state;
	put_content("x.json", "old");
	assert_int_equal(output_file_begin(&file, "x.json", &diag), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 100000; i++)
		fputs("more and more", output_file_stream(file));
	errno = 0; /* long forgotten by standard I/O */
	assert_int_equal(output_file_complete(file, &diag), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	output_file_free(file);
	assert_string_equal(diag.what, "cannot write 'x.json': File too large");
	expect_content("x.json", "old");
	assert_int_equal(entries(), 1);
}

static void a_checked_stream_remembers_the_first_reason(void **state)
{
	int error, fd = open("/dev/full", O_WRONLY);
	FILE *stream = checked_open(fd, &error);

	(void)state;
	assert_int_equal(error, 0);
	for (int i = 0; i < 10000; i++)
		fputs("no room", stream);
	assert_true(ferror(stream));
	assert_int_equal(error, ENOSPC);
	close(fd); /* later failures are of another kind */
	fputs("no room", stream);
	fclose(stream);
	assert_int_equal(error, ENOSPC);
}

/* The locale decides what pictures are drawn with: by its name where it is not installed. */
static void pictures_follow_the_locale(void **state)
{
	static const struct {
		const char *all, *ctype, *lang;
		bool ascii;
	} cases[] = {
		{"C.UTF-8", NULL, NULL, false}, {"C", "C.UTF-8", "C.UTF-8", true},
		{"", "C.utf8", "C", false},	{"", "", "C.UTF-8", false},
		{"", "", "", true},		{NULL, NULL, NULL, true},
		{"xx_XX.UTF-8", NULL, "C", false}, {"xx_XX", NULL, "C.UTF-8", true},
	};
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *values[] = {cases[i].all, cases[i].ctype, cases[i].lang};

		for (size_t j = 0; j < 3; j++)
			values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]);
		if (output_style(STDIN_FILENO).ascii != cases[i].ascii)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_there_when_complete, enter, leave),
		cmocka_unit_test_setup_teardown(an_old_file_stays_until_then, enter, leave),
		cmocka_unit_test_setup_teardown(an_abandoned_file_leaves_nothing, enter, leave),
		cmocka_unit_test_setup_teardown(a_link_is_replaced_not_followed, enter, leave),
		cmocka_unit_test_setup_teardown(places_that_are_no_files_are_refused, enter, leave),
		cmocka_unit_test_setup_teardown(a_failed_write_keeps_the_old_file, enter, leave),
		cmocka_unit_test(a_checked_stream_remembers_the_first_reason),
		cmocka_unit_test(pictures_follow_the_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
