/* Programs started at a gate, as the right user, on the right CPUs; private directories; and
 * nothing of either left behind, whatever becomes of us. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/launch.h"
#include "tests/unit/runtime_driver.h"

static void await_end(int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	assert_int_equal(poll(&end, 1, END_TIMEOUT_MS), 1);
}

/* Runs a shell script to its end; returns what it printed, which the caller frees. */
static char *run(const char *script, struct launch_options options, int *ret_status)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)script, NULL};
	char *output = mem_zalloc(65536);
	int out = memfd_create("output", MFD_CLOEXEC);
	struct launched launched;
	struct rusage rusage;
	struct diag diag = {0};

	options.argv = argv;
	options.stdin_fd = -1;
	options.stdout_fd = out;
	options.stderr_fd = -1;
	if (launch_prepare(&launched, &options, &diag) || launch_release(&launched, &diag))
		fail_msg("%s", diag.what);
	assert_int_equal(launch_wait(&launched, ret_status, &rusage), 0);
	launch_kill(&launched);
	assert_true(pread(out, output, 65535, 0) >= 0);
	close(out);
	return output;
}

static char *run_well(const char *script, struct launch_options options)
{
	int status;
	char *output = run(script, options, &status);

	assert_int_equal(status, 0);
	return output;
}

static int prepare(struct launched *ret, struct launch_options options, struct diag *diag)
{
	options.stdin_fd = options.stdout_fd = options.stderr_fd = -1;
	return launch_prepare(ret, &options, diag);
}

/* ---- launch -----------------------------------------------------------------------------------
 */

static void nothing_runs_before_the_gate_opens(void **state)
{
	char *argv[] = {(char *)"true", NULL};
	struct launched launched;
	struct rusage rusage;
	struct diag diag;
	char path[64], before[256] = "", ours[256] = "";
	int status;

	(void)state;
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), 0);
	snprintf(path, sizeof(path), "/proc/%d/exe", launched.pid);
	assert_true(readlink(path, before, sizeof(before) - 1) > 0);
	assert_true(readlink("/proc/self/exe", ours, sizeof(ours) - 1) > 0);
	assert_string_equal(before, ours);
	assert_int_equal(launch_open(&launched, &diag), 0);
	await_end(launched.pidfd);
	assert_int_equal(launch_confirm(&launched, &diag), 0);
	assert_int_equal(launch_wait(&launched, &status, &rusage), 0);
	assert_int_equal(status, 0);
	launch_kill(&launched);
	launch_kill(&launched);
}

static void a_gate_that_is_never_opened_starts_nothing(void **state)
{
	char *argv[] = {(char *)"touch", (char *)"/tmp/wakewhy-test-never", NULL};
	struct launched launched;
	struct diag diag;
	pid_t pid;

	(void)state;
	unlink("/tmp/wakewhy-test-never");
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), 0);
	pid = launched.pid;
	launch_kill(&launched);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(access("/tmp/wakewhy-test-never", F_OK), -1);
}

static void status_and_rusage_are_the_childs(void **state)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"exit 7", NULL};
	struct launched launched;
	struct rusage rusage;
	struct diag diag;
	int status;

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (i == 1)
			argv[2] = (char *)"kill -TERM $$";
		assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag),
				 0);
		assert_int_equal(launch_release(&launched, &diag), 0);
		assert_int_equal(launch_wait(&launched, &status, &rusage), 0);
		if (i == 0)
			assert_int_equal(WEXITSTATUS(status), 7);
		else
			assert_int_equal(WTERMSIG(status), SIGTERM);
		assert_true(rusage.ru_minflt > 0 && rusage.ru_minflt < 1000);
		assert_int_equal(launch_wait(&launched, &status, &rusage), -ECHILD);
		launch_kill(&launched);
	}
}

#ifndef __SANITIZE_ADDRESS__
static void our_memory_is_not_the_childs_peak(void **state)
{
	const size_t ours_bytes = 64U << 20;
	char *ours = mem_zalloc(ours_bytes);
	char *argv[] = {(char *)"/bin/true", NULL};
	struct launched launched;
	struct rusage rusage;
	struct diag diag;
	int status;

	(void)state;
	memset(ours, 1, ours_bytes);
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), 0);
	assert_int_equal(launch_release(&launched, &diag), 0);
	assert_int_equal(launch_wait(&launched, &status, &rusage), 0);
	launch_kill(&launched);
	assert_int_equal(ours[ours_bytes - 1], 1);
	free(ours);
	assert_true(rusage.ru_maxrss < 8 * 1024);
}
#endif

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void what_cannot_be_executed_is_told(void **state)
{
	struct launched launched;
	struct diag diag = {0};
	char directory[] = "/tmp/wakewhy-test-XXXXXX";
	char *script, *argv[] = {(char *)"wakewhy-no-such-program", NULL};

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), -ENOENT);
	assert_non_null(strstr(diag.hint, "PATH"));
	argv[0] = directory;
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), -EACCES);
	assert_non_null(strstr(diag.hint, "directory"));
	script = mem_printf("%s/script", directory);
	write_file(script, "#!/nowhere/interpreter\n");
	argv[0] = script;
	assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag), 0);
	assert_int_equal(launch_release(&launched, &diag), -ENOENT);
	assert_non_null(strstr(diag.hint, "interpreter"));
	launch_kill(&launched);
	assert_int_equal(prepare(&launched,
				 (struct launch_options){.argv = argv, .directory = "/nowhere"},
				 &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.what, "/nowhere"));
	assert_int_equal(unlink(script), 0);
	assert_int_equal(rmdir(directory), 0);
	free(script);
}

/* A script without an interpreter line, found on PATH, as a shell runs it. */
static void a_script_without_interpreter_goes_to_the_shell(void **state)
{
	char directory[] = "/tmp/wakewhy-test-XXXXXX";
	char *argv[] = {(char *)"wakewhy-test-script", (char *)"a b", (char *)"c", NULL};
	char *script, *old = mem_strdup(getenv("PATH")), *path;
	struct launched launched;
	struct rusage rusage;
	struct diag diag;
	int status;

	(void)state;
	assert_non_null(mkdtemp(directory));
	script = mem_printf("%s/wakewhy-test-script", directory);
	path = mem_printf("/nowhere:%s:%s", directory, old);
	write_file(script,
		   "test \"$0|$1|$2|$#\" = \"$PWD/wakewhy-test-script|a b|c|2\" && exit 5\n");
	setenv("PATH", path, 1);
	assert_int_equal(prepare(&launched,
				 (struct launch_options){.argv = argv, .directory = directory},
				 &diag),
			 0);
	assert_int_equal(launch_release(&launched, &diag), 0);
	assert_int_equal(launch_wait(&launched, &status, &rusage), 0);
	launch_kill(&launched);
	setenv("PATH", old, 1);
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_equal(unlink(script), 0);
	assert_int_equal(rmdir(directory), 0);
	free(script);
	free(path);
	free(old);
}

static void a_clean_environment_is_clean(void **state)
{
	static const char *const allowed[] = {
		"PATH=", "HOME=",   "USER=", "LOGNAME=",     "SHELL=",
		"LANG=", "TMPDIR=", "PWD=",  "WAKEWHY_JOB=", "XDG_CACHE_HOME=/tmp/cache"};
	char *output, *rest;

	(void)state;
	setenv("NODE_OPTIONS", "--inspect", 1);
	setenv("PYTHONPATH", "/tmp", 1);
	setenv("BUN_CONFIG_X", "1", 1);
	setenv("WAKEWHY_TEST_PRELOAD", "1", 1);
	output = run_well("env", (struct launch_options){.clean_environment = true,
							 .mark = "/tmp/mark",
							 .cache = "/tmp/cache"});
	assert_non_null(strstr(output, "WAKEWHY_JOB=/tmp/mark\n"));
	for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t i = 0;

		while (i < sizeof(allowed) / sizeof(*allowed) &&
		       strncmp(line, allowed[i], strlen(allowed[i])))
			i++;
		if (i == sizeof(allowed) / sizeof(*allowed) && strncmp(line, "_=", 2))
			fail_msg("%s", line);
	}
	free(output);
	output = run_well("echo $NODE_OPTIONS", (struct launch_options){0});
	assert_string_equal(output, "--inspect\n");
	free(output);
	unsetenv("NODE_OPTIONS");
	unsetenv("PYTHONPATH");
	unsetenv("BUN_CONFIG_X");
	unsetenv("WAKEWHY_TEST_PRELOAD");
}

static void signals_and_descriptors_are_not_handed_on(void **state)
{
	sigset_t term, old;
	char *output;
	int leaked = open("/dev/null", O_RDONLY); /* not CLOEXEC */

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	output = run_well("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\n\\t'; "
			  "ls /proc/self/fd | tr -d '\\n'",
			  (struct launch_options){.own_group = true});
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	close(leaked);
	/* 3 is ls's own, of the directory. */
	assert_string_equal(output, "SigBlk:0000000000000000SigIgn:00000000000000000123");
	free(output);
}

/* nohup(1) works through us when the terminal is the command's (run), not for workloads. */
static void an_ignored_hangup_is_handed_on(void **state)
{
	static const char script[] = "grep SigIgn /proc/self/status | tr -d '\\n\\t'";
	char *output;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	output = run_well(script, (struct launch_options){0});
	assert_string_equal(output, "SigIgn:0000000000000001");
	free(output);
	output = run_well(script, (struct launch_options){.own_group = true});
	assert_string_equal(output, "SigIgn:0000000000000000");
	free(output);
	signal(SIGHUP, SIG_DFL);
}

static void cpus_are_exactly_those(void **state)
{
	static const char script[] = "grep Cpus_allowed_list /proc/self/status | cut -f2";
	char *output, *argv[] = {(char *)"true", NULL};
	struct launched launched;
	struct diag diag;
	cpu_set_t set;
	char first[16];
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	snprintf(first, sizeof(first), "%d", cpu);
	output = run_well(script, (struct launch_options){.cpus = first});
	assert_int_equal(atoi(output), cpu);
	assert_null(strpbrk(output, ",-"));
	free(output);
	/* The kernel would take this and drop the second. */
	snprintf(first, sizeof(first), "%d,8000", cpu);
	assert_int_equal(
		prepare(&launched, (struct launch_options){.argv = argv, .cpus = first}, &diag),
		-EINVAL);
	assert_non_null(strstr(diag.what, "cannot run on CPUs"));
	assert_int_equal(
		prepare(&launched, (struct launch_options){.argv = argv, .cpus = ""}, &diag),
		-EINVAL);
}

static void no_file_grows_beyond_the_limit(void **state)
{
	int status;
	char *output = run("exec head -c 100000 /dev/zero",
			   (struct launch_options){.file_limit_bytes = 10000}, &status);

	(void)state;
	assert_int_equal(WTERMSIG(status), SIGXFSZ);
	free(output);
}

/* ---- users ------------------------------------------------------------------------------------
 */

static void expect_nobody(struct launch_options options)
{
	char *output =
		run_well("id -u; id -G; grep -E 'Cap(Prm|Eff|Amb)' /proc/self/status; "
			 "echo $USER $LOGNAME $HOME; kill -0 1 2>/dev/null || echo powerless",
			 options);

	assert_int_equal(strncmp(output, "65534\n65534\n", 12), 0);
	assert_non_null(strstr(output, "CapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(output, "CapEff:\t0000000000000000\n"));
	assert_non_null(strstr(output, "CapAmb:\t0000000000000000\n"));
	assert_non_null(strstr(output, "nobody nobody /nonexistent\n"));
	assert_non_null(strstr(output, "powerless\n"));
	free(output);
}

static void root_is_given_up(void **state)
{
	const gid_t adm = 4, none[1] = {0};
	char *output;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(setgroups(1, &adm), 0); /* of ours, that must not be handed on */
	expect_nobody((struct launch_options){.user = "nobody", .clean_environment = true});
	expect_nobody((struct launch_options){.user = "65534"});
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	expect_nobody((struct launch_options){.own_group = true});
	/* Said in so many words, it is done. */
	output = run_well("id -u", (struct launch_options){.user = "root"});
	assert_string_equal(output, "0\n");
	free(output);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	output = run_well("id -u", (struct launch_options){0});
	assert_string_equal(output, "0\n");
	free(output);
	assert_int_equal(setgroups(0, none), 0);
}

/* In doubt about who called sudo, nothing is run: least of all as root. */
static void a_broken_sudo_uid_is_an_error(void **state)
{
	static const char *const broken[] = {"", "x", "-1", "4294967295", "99999999999", "10 00"};
	char *argv[] = {(char *)"true", NULL};
	struct launched launched;
	struct diag diag;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		setenv("SUDO_UID", broken[i], 1);
		assert_int_equal(prepare(&launched, (struct launch_options){.argv = argv}, &diag),
				 -EINVAL);
	}
	unsetenv("SUDO_UID");
	assert_int_equal(prepare(&launched,
				 (struct launch_options){.argv = argv, .user = "no such user"},
				 &diag),
			 -ENOENT);
}

/* ---- our own death ----------------------------------------------------------------------------
 */

struct two_pids {
	pid_t at_gate, running;
};

static void drive_two(int fd)
{
	char *touch[] = {(char *)"touch", (char *)"/tmp/wakewhy-test-never", NULL};
	char *sleep[] = {(char *)"sleep", (char *)"1000", NULL};
	struct launched at_gate, running;
	struct two_pids pids;

	if (prepare(&at_gate, (struct launch_options){.argv = touch}, NULL) ||
	    prepare(&running, (struct launch_options){.argv = sleep, .own_group = true}, NULL) ||
	    launch_release(&running, NULL))
		_exit(1);
	pids = (struct two_pids){at_gate.pid, running.pid};
	if (write(fd, &pids, sizeof(pids)) != sizeof(pids))
		_exit(1);
}

static void watch_two(const void *said, struct watch *watch)
{
	const struct two_pids *pids = said;

	watch_add(watch, pids->at_gate);
	watch_add(watch, pids->running);
}

static void our_death_opens_no_gate_and_leaves_no_child(void **state)
{
	struct two_pids pids;

	(void)state;
	unlink("/tmp/wakewhy-test-never");
	drive_and_kill(drive_two, &pids, sizeof(pids), watch_two);
	assert_int_equal(access("/tmp/wakewhy-test-never", F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_runs_before_the_gate_opens),
		cmocka_unit_test(a_gate_that_is_never_opened_starts_nothing),
		cmocka_unit_test(status_and_rusage_are_the_childs),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(our_memory_is_not_the_childs_peak),
#endif
		cmocka_unit_test(what_cannot_be_executed_is_told),
		cmocka_unit_test(a_script_without_interpreter_goes_to_the_shell),
		cmocka_unit_test(a_clean_environment_is_clean),
		cmocka_unit_test(signals_and_descriptors_are_not_handed_on),
		cmocka_unit_test(an_ignored_hangup_is_handed_on),
		cmocka_unit_test(cpus_are_exactly_those),
		cmocka_unit_test(no_file_grows_beyond_the_limit),
		cmocka_unit_test(root_is_given_up),
		cmocka_unit_test(a_broken_sudo_uid_is_an_error),
		cmocka_unit_test(our_death_opens_no_gate_and_leaves_no_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
