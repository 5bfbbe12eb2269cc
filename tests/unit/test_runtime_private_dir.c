/* Private directories: private, and gone when we are, whatever becomes of us. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/launch.h"
#include "tests/unit/runtime_driver.h"

#define NOBODY 65534

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static const char *user_to_try(void)
{
	return geteuid() == 0 ? "nobody" : NULL;
}

static void a_private_directory_is_private(void **state)
{
	struct private_dir *dir;
	struct diag diag;
	struct stat st;
	char *path, *file;
	int fd;
	char text[16] = "";

	(void)state;
	assert_int_equal(private_dir_create(&dir, user_to_try(), &diag), 0);
	path = mem_strdup(private_dir_path(dir));
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(st.st_uid, geteuid() == 0 ? NOBODY : geteuid());
	umask(077);
	assert_int_equal(private_dir_write(dir, "a.js", "text", 4, false, &diag), 0);
	umask(022);
	file = mem_printf("%s/a.js", path);
	assert_int_equal(lstat(file, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	assert_string_equal(text, "text");
	assert_int_equal(private_dir_write(dir, "a.js", "text", 4, false, &diag), -EEXIST);
	assert_int_equal(private_dir_write(dir, "../a", "text", 4, false, &diag), -EINVAL);
	assert_int_equal(private_dir_make_directory(dir, "job", &diag), 0);
	private_dir_remove(dir);
	assert_int_equal(lstat(path, &st), -1);
	private_dir_remove(NULL);
	free(file);
	free(path);
}

/* Runs a shell script as the user of the directory, in it. */
static void run_in(const char *directory, const char *script)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)script, NULL};
	struct launch_options options = {.argv = argv,
					 .directory = directory,
					 .user = user_to_try(),
					 .stdin_fd = -1,
					 .stdout_fd = -1,
					 .stderr_fd = -1};
	struct launched launched;
	struct rusage rusage;
	int status;

	assert_int_equal(launch_prepare(&launched, &options, NULL), 0);
	assert_int_equal(launch_release(&launched, NULL), 0);
	assert_int_equal(launch_wait(&launched, &status, &rusage), 0);
	launch_kill(&launched);
	assert_int_equal(status, 0);
}

/* A link in it is removed, not followed; a directory that shuts us out is opened; the file that we
 * write never lands behind a link. */
static void removal_follows_no_link(void **state)
{
	char outside[] = "/tmp/wakewhy-test-XXXXXX";
	struct private_dir *dir;
	struct diag diag;
	struct stat st;
	char *path, *command, *victim;

	(void)state;
	assert_non_null(mkdtemp(outside));
	assert_int_equal(chmod(outside, 0777), 0);
	victim = mem_printf("%s/victim", outside);
	write_file(victim, "keep me");
	assert_int_equal(private_dir_create(&dir, user_to_try(), &diag), 0);
	path = mem_strdup(private_dir_path(dir));
	command = mem_printf("ln -s %s link && ln -s %s a.js && mkdir -p a/b/c && "
			     "touch a/b/c/d && chmod 0 a/b",
			     outside, victim);
	run_in(path, command);
	assert_int_equal(private_dir_write(dir, "a.js", "overwritten", 11, false, &diag), -EEXIST);
	private_dir_remove(dir);
	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(lstat(victim, &st), 0);
	assert_int_equal(st.st_size, 7);
	assert_int_equal(unlink(victim), 0);
	assert_int_equal(rmdir(outside), 0);
	free(victim);
	free(command);
	free(path);
}

static void a_killed_janitor_is_replaced(void **state)
{
	struct private_dir *dir;
	struct diag diag;
	struct stat st;
	char *path;

	(void)state;
	assert_int_equal(private_dir_create(&dir, user_to_try(), &diag), 0);
	path = mem_strdup(private_dir_path(dir));
	assert_int_equal(private_dir_write(dir, "a.js", "text", 4, false, &diag), 0);
	assert_int_equal(kill(only_child(getpid()), SIGKILL), 0);
	private_dir_remove(dir);
	assert_int_equal(lstat(path, &st), -1);
	free(path);
}

static void a_useless_tmpdir_is_passed_over(void **state)
{
	struct private_dir *dir;
	struct diag diag;
	char *old = getenv("TMPDIR") ? mem_strdup(getenv("TMPDIR")) : NULL;
	static const char *const useless[] = {"/nowhere", "relative", "/proc", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(useless) / sizeof(*useless); i++) {
		setenv("TMPDIR", useless[i], 1);
		assert_int_equal(private_dir_create(&dir, user_to_try(), &diag), 0);
		assert_int_equal(strncmp(private_dir_path(dir), "/tmp/wakewhy-", 13), 0);
		private_dir_remove(dir);
	}
	unsetenv("TMPDIR");
	if (old)
		setenv("TMPDIR", old, 1);
	free(old);
}

/* A workload with a child in its group, and one that has left it. */
struct leftovers {
	char path[256];
	pid_t janitor, leader;
};

static void drive_leftovers(int fd)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c",
			(char *)"sleep 1000 & echo $! > member; "
				"setsid sh -c 'echo $$ > stray; exec sleep 1000' & "
				"exec sleep 1000",
			NULL};
	struct leftovers leftovers = {0};
	struct launched launched;
	struct private_dir *dir;
	struct launch_options options = {
		.argv = argv, .own_group = true, .user = user_to_try(), .clean_environment = true};

	if (private_dir_create(&dir, options.user, NULL))
		_exit(1);
	snprintf(leftovers.path, sizeof(leftovers.path), "%s", private_dir_path(dir));
	leftovers.janitor = only_child(getpid());
	options.directory = leftovers.path;
	options.mark = leftovers.path;
	options.stdin_fd = options.stdout_fd = options.stderr_fd = -1;
	if (launch_prepare(&launched, &options, NULL))
		_exit(1);
	private_dir_guard(dir, launched.pid);
	if (launch_release(&launched, NULL))
		_exit(1);
	leftovers.leader = launched.pid;
	if (write(fd, &leftovers, sizeof(leftovers)) != sizeof(leftovers))
		_exit(1);
}

static void watch_leftovers(const void *said, struct watch *watch)
{
	const struct leftovers *leftovers = said;

	watch_add(watch, leftovers->janitor);
	watch_add(watch, leftovers->leader);
	watch_add(watch, await_number(leftovers->path, "member"));
	watch_add(watch, await_number(leftovers->path, "stray"));
}

static void after_kill_9_nothing_is_left(void **state)
{
	struct leftovers leftovers;
	struct stat st;

	(void)state;
	drive_and_kill(drive_leftovers, &leftovers, sizeof(leftovers), watch_leftovers);
	assert_int_equal(lstat(leftovers.path, &st), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_private_directory_is_private),
		cmocka_unit_test(removal_follows_no_link),
		cmocka_unit_test(a_killed_janitor_is_replaced),
		cmocka_unit_test(a_useless_tmpdir_is_passed_over),
		cmocka_unit_test(after_kill_9_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
