/* Runtimes as people name them, the table of families, and version numbers. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/probe.h"
#include "runtime/runtimes.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* A directory with these programs in it is PATH. */
static const char *const programs[] = {"bun",	 "bun-1.3.14", "node22",     "nodejs",
				       "deno",	 "python3",    "python3.11", "perl5.36.0",
				       "php8.2", "nodemon",    "perldoc",    "ruby3.1"};
struct fixture {
	char directory[64];
	char *path; /* to be put back */
};

static void write_program(const char *directory, const char *name, const char *text, mode_t mode)
{
	char *path = mem_printf("%s/%s", directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

static int set_up(void **state)
{
	struct fixture *fixture = mem_zalloc(sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/wakewhy-test-XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	for (size_t i = 0; i < LENGTH(programs); i++)
		write_program(fixture->directory, programs[i], "#!/bin/sh\n", 0755);
	write_program(fixture->directory, "deno2", "not for you\n", 0644);
	fixture->path = mem_strdup(getenv("PATH"));
	setenv("PATH", fixture->directory, 1);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char *command = mem_printf("rm -rf %s", fixture->directory);

	setenv("PATH", fixture->path, 1);
	if (system(command))
		return -1;
	free(command);
	free(fixture->path);
	free(fixture);
	return 0;
}

static void families_are_complete(void **state)
{
	(void)state;
	for (const struct family *family = families; family->name; family++) {
		assert_non_null(family->bases[0]);
		assert_string_equal(family->variants[0], "sync");
		for (const struct family *other = families; other < family; other++)
			assert_string_not_equal(other->name, family->name);
		for (int i = 0; i < WORKLOAD_MAX; i++) {
			if (family->builtin)
				continue;
			assert_non_null(family->scripts[i].text);
			assert_true(family->scripts[i].bytes > 10);
		}
	}
	for (int i = 0; i < WORKLOAD_MAX; i++) {
		assert_non_null(workload_name((enum workload)i));
		assert_non_null(workload_meaning((enum workload)i));
	}
}

static void names_are_recognised(void **state)
{
	static const struct {
		const char *text, *label, *family, *file;
	} cases[] = {
		{"bun", "bun", "bun", "bun"},
		{"bun-1.3.14", "bun-1.3.14", "bun", "bun-1.3.14"},
		{"node22", "node22", "node", "node22"},
		{"node", "node", "node", "nodejs"},	   /* Debian's name for it */
		{"python", "python", "python", "python3"}, /* likewise */
		{"python3.11", "python3.11", "python", "python3.11"},
		{"perl5.36.0", "perl5.36.0", "perl", "perl5.36.0"},
		{"php8.2", "php8.2", "php", "php8.2"},
		{"ruby3.1", "ruby3.1", "ruby", "ruby3.1"},
		{"zig=bun", "zig", "bun", "bun"},
		{"a b=node22", "a b", "node", "node22"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *path = mem_printf("%s/%s", fixture->directory, cases[i].file);
		struct runtime runtime;
		struct diag diag;

		assert_int_equal(runtime_parse(&runtime, cases[i].text, &diag), 0);
		assert_string_equal(runtime.label, cases[i].label);
		assert_string_equal(runtime.family->name, cases[i].family);
		assert_string_equal(runtime.path, path);
		assert_string_equal(runtime.version, "");
		runtime_free_members(&runtime);
		free(path);
	}
}

static void expect_path(const char *text, const char *label, const char *family, const char *path)
{
	struct runtime runtime;
	struct diag diag;

	assert_int_equal(runtime_parse(&runtime, text, &diag), 0);
	assert_string_equal(runtime.label, label);
	assert_string_equal(runtime.family->name, family);
	assert_string_equal(runtime.path, path);
	runtime_free_members(&runtime);
}

static void paths_are_recognised(void **state)
{
	struct fixture *fixture = *state;
	char *path = mem_printf("%s/bun-1.3.14", fixture->directory);
	char *labelled = mem_printf("old=%s", path);
	char *named = mem_printf("odd=bun:%s/nodemon", fixture->directory);
	char *odd = mem_printf("%s/nodemon", fixture->directory);
	char *equals = mem_printf("%s/x=y", fixture->directory);
	char *equals_program = mem_printf("%s/deno", equals);
	char *cwd = getcwd(NULL, 0);

	expect_path(path, "bun-1.3.14", "bun", path);
	expect_path(labelled, "old", "bun", path);
	expect_path(named, "odd", "bun", odd);
	/* '=' after a '/' is part of the path. */
	assert_int_equal(mkdir(equals, 0755), 0);
	write_program(equals, "deno", "#!/bin/sh\n", 0755);
	expect_path(equals_program, "deno", "deno", equals_program);
	/* Jobs run elsewhere: a relative path becomes absolute. */
	assert_int_equal(chdir(fixture->directory), 0);
	free(odd);
	odd = mem_printf("%s/./bun", fixture->directory);
	expect_path("./bun", "bun", "bun", odd);
	assert_int_equal(chdir(cwd), 0);
	free(path);
	free(labelled);
	free(named);
	free(odd);
	free(equals);
	free(equals_program);
	free(cwd);
}

static void wrong_arguments_say_what_is_wrong(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *what;
	} cases[] = {
		{"", -EINVAL, "names no runtime"},
		{"x=", -EINVAL, "names no runtime"},
		{"=bun", -EINVAL, "a label has 1 to 64 bytes"},
		{"a\nb=bun", -EINVAL, "control characters"},
		{"nodemon", -EINVAL, "no known family"},
		{"perldoc", -EINVAL, "no known family"},
		{"erlang", -EINVAL, "no known family"},
		{"bun2", -ENOENT, "cannot run 'bun2'"},
		{"deno2", -EACCES, "cannot run 'deno2'"},
		{"/nowhere/bun", -ENOENT, "cannot run '/nowhere/bun'"},
		{"/nowhere/thing", -EINVAL, "no known family"},
		{"x=erlang:/nowhere/thing", -EINVAL, "no known family"},
		{"/nowhere/floor", -EINVAL, "built in"},
		{"/", -EINVAL, "no known family"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct runtime runtime;
		struct diag diag = {0};

		assert_int_equal(runtime_parse(&runtime, cases[i].text, &diag), cases[i].err);
		if (!strstr(diag.what, cases[i].what))
			fail_msg("'%s': %s", cases[i].text, diag.what);
	}
}

static void floor_is_built_in(void **state)
{
	struct runtime runtime;
	struct diag diag;

	(void)state;
	assert_int_equal(runtime_parse(&runtime, "limit=floor", &diag), 0);
	assert_true(runtime.family->builtin);
	assert_string_equal(runtime.label, "limit");
	assert_int_equal(runtime_probe(&runtime, NULL, &diag), 0);
	assert_string_equal(runtime.version, WAKEWHY_VERSION);
	assert_true(runtime.size_bytes > 1000);
	runtime_free_members(&runtime);
}

static void commands_have_a_label(void **state)
{
	struct runtime runtime;
	struct diag diag;

	(void)state;
	assert_int_equal(runtime_parse_command(&runtime, "go=./server -p 1=2", &diag), 0);
	assert_string_equal(runtime.label, "go");
	assert_string_equal(runtime.command, "./server -p 1=2");
	assert_null(runtime.family);
	assert_int_equal(runtime_probe(&runtime, NULL, &diag), 0);
	runtime_free_members(&runtime);
	assert_int_equal(runtime_parse_command(&runtime, "./server", &diag), -EINVAL);
	assert_int_equal(runtime_parse_command(&runtime, "go=", &diag), -EINVAL);
	assert_int_equal(runtime_parse_command(&runtime, "go= \t", &diag), -EINVAL);
	assert_int_equal(runtime_parse_command(&runtime, "=x", &diag), -EINVAL);
}

static void versions_are_found(void **state)
{
	static const struct {
		const char *text, *version;
	} cases[] = {
		{"v22.23.2\n", "22.23.2"},
		{"1.3.14\n", "1.3.14"},
		{"1.4.0-canary.1+5f2e0c1\n", "1.4.0-canary.1+5f2e0c1"},
		{"deno 2.9.6 (stable, release, x86_64-unknown-linux-gnu)\nv8 14.1.2\n", "2.9.6"},
		{"Python 3.11.2\n", "3.11.2"},
		{"ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "3.1.2p20"},
		{"PHP 8.2.36 (cli) (built: Nov 18 2026 20:02:04) (NTS)\nCopyright", "8.2.36"},
		{"This is perl 5, version 36, subversion 0 (v5.36.0) built for", "5.36.0"},
		{"release 7\n", "7"},
		{"version 1.2.", "1.2"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *version = probe_find_version(cases[i].text);

		assert_non_null(version);
		assert_string_equal(version, cases[i].version);
		free(version);
	}
	assert_null(probe_find_version("hello\n"));
	assert_null(probe_find_version(""));
}

static void expect_probe(struct fixture *fixture, const char *script, int err, const char *what)
{
	char *text = mem_printf("odd=bun:%s/odd", fixture->directory);
	struct runtime runtime;
	struct diag diag = {0};

	write_program(fixture->directory, "odd", script, 0755);
	assert_int_equal(runtime_parse(&runtime, text, &diag), 0);
	assert_int_equal(runtime_probe(&runtime, NULL, &diag), err);
	if (err && !strstr(diag.what, what))
		fail_msg("%s", diag.what);
	if (!err)
		assert_string_equal(runtime.version, what);
	assert_int_equal(runtime.size_bytes, strlen(script));
	runtime_free_members(&runtime);
	free(text);
}

static void programs_are_asked_for_their_version(void **state)
{
	expect_probe(*state, "#!/bin/sh\necho \"v4.5.6 $1\"\n", 0, "4.5.6");
	expect_probe(*state, "#!/bin/sh\necho broken library >&2\nexit 3\n", -EIO,
		     "ended with status 3: broken library");
	expect_probe(*state, "#!/bin/sh\nkill -SEGV $$\n", -EIO, "signal 11");
	expect_probe(*state, "#!/bin/sh\necho hello\n", -EIO, "said 'hello'");
	expect_probe(*state, "#!/bin/sh\n", -EIO, "said ''");
	expect_probe(*state, "#!/bin/sh\nprintf '\\033[31mred' >&2\nexit 1\n", -EIO,
		     "\\x1b[31mred");
	expect_probe(*state, "#!/nowhere/interpreter\n", -ENOENT, "cannot run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_are_complete),
		cmocka_unit_test_setup_teardown(names_are_recognised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(paths_are_recognised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_arguments_say_what_is_wrong, set_up,
						tear_down),
		cmocka_unit_test(floor_is_built_in),
		cmocka_unit_test(commands_have_a_label),
		cmocka_unit_test(versions_are_found),
		cmocka_unit_test_setup_teardown(programs_are_asked_for_their_version, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
