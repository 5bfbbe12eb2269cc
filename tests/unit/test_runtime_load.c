/* The load generator: what wrk prints, real wrk on floor's server, and programs that pass for wrk. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/load.h"
#include "tests/unit/runtime_driver.h"

#define LIMIT_NS 30000000000ULL

/* ---- what it prints --------------------------------------------------------------------------- */

#define HEAD                                                                                       \
	"Running 1s test @ http://127.0.0.1:8125/\n"                                               \
	"  1 threads and 4 connections\n"                                                          \
	"  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"                                    \
	"    Latency   379.74us  146.14us   2.77ms   79.38%\n"                                     \
	"    Req/Sec     9.34k     1.86k   11.01k    70.00%\n"
#define REQUESTS "  9272 requests in 1.00s, 1.07MB read\n"
#define SOCKETS	 "  Socket errors: connect 1, read 20, write 300, timeout 4000\n"
#define STATUS	 "  Non-2xx or 3xx responses: 4636\n"
#define TAIL	 "Requests/sec:   9268.68\nTransfer/sec:      1.07MB\n"
#define HUGE_NUMBER "18446744073709551616"

static void what_wrk_prints_is_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t requests, errors;
	} cases[] = {
		{HEAD REQUESTS TAIL, 9272, 0},
		{HEAD REQUESTS SOCKETS TAIL, 9272, 4321},
		{HEAD REQUESTS STATUS TAIL, 9272, 4636},
		{HEAD REQUESTS SOCKETS STATUS TAIL, 9272, 8957},
		{HEAD "  0 requests in 1.00s, 0.00B read\n" TAIL, 0, 0},
		{HEAD "  18446744073709551615 requests in 1.00s, 1B read\n" TAIL, UINT64_MAX, 0},
		/* The last line without its end: what follows may be missing, what is there is whole. */
		{HEAD REQUESTS "Requests/sec: 1\nTransfer/sec:", 9272, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t requests = 77, errors = 77;

		if (!load_parse(cases[i].text, strlen(cases[i].text), &requests, &errors))
			fail_msg("not understood: %s", cases[i].text);
		assert_int_equal(requests, cases[i].requests);
		assert_int_equal(errors, cases[i].errors);
	}
}

static const char *const nonsense[] = {
	"",
	"\n\n\n",
	"hello\n",
	HEAD TAIL,
	HEAD REQUESTS,
	HEAD REQUESTS REQUESTS TAIL,
	HEAD REQUESTS TAIL TAIL,
	HEAD REQUESTS SOCKETS SOCKETS TAIL,
	HEAD REQUESTS STATUS STATUS TAIL,
	HEAD "  -5 requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD "   5 requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD "  5.5 requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD "  0x10 requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD "  requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD "  " HUGE_NUMBER " requests in 1.00s, 1.07MB read\n" TAIL,
	HEAD REQUESTS "  Non-2xx or 3xx responses: \n" TAIL,
	HEAD REQUESTS "  Non-2xx or 3xx responses: 12x\n" TAIL,
	HEAD REQUESTS "  Non-2xx or 3xx responses: " HUGE_NUMBER "\n" TAIL,
	HEAD REQUESTS "  Socket errors: connect 1, read 2, write 3\n" TAIL,
	HEAD REQUESTS "  Socket errors: connect 1, read 2, write 3, timeout 4, more 5\n" TAIL,
	HEAD REQUESTS "  Socket errors: connect -1, read 2, write 3, timeout 4\n" TAIL,
	/* Their sum is beyond 64 bits. */
	HEAD REQUESTS "  Socket errors: connect 18446744073709551615, read 1, write 0, timeout 0\n" TAIL,
};

static void anything_else_is_nonsense(void **state)
{
	static const char nul[] = "  9\0272 requests in 1.00s, 1B read\n" TAIL;
	uint64_t requests = 77, errors = 78;

	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++)
		if (load_parse(nonsense[i], strlen(nonsense[i]), &requests, &errors))
			fail_msg("understood: %s", nonsense[i]);
	assert_false(load_parse(nul, sizeof(nul) - 1, &requests, &errors));
	assert_int_equal(requests, 77);
	assert_int_equal(errors, 78);
}

/* Every beginning of what it prints, each in memory of its own length: nothing behind it is read. */
static void a_beginning_of_it_is_nonsense(void **state)
{
	static const char whole[] = HEAD REQUESTS SOCKETS STATUS TAIL;
	size_t enough = (size_t)(strstr(whole, "Transfer/sec:") - whole) + strlen("Transfer/sec:");
	uint64_t requests, errors;

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *part = mem_zalloc(n + !n);

		memcpy(part, whole, n);
		assert_int_equal(load_parse(part, n, &requests, &errors), n >= enough);
		free(part);
	}
}

/* ---- a server, and programs on PATH ------------------------------------------------------------ */

struct fixture {
	struct workshop *shop;
	struct job *job;
	struct runtime runtime;
	char path[32]; /* a directory for programs */
	char *old_path;
};

static void check(int err, const struct diag *diag)
{
	if (err)
		fail_msg("%d: %s (%s)", err, diag->what, diag->hint);
}

static int set_up(void **state)
{
	struct fixture *fixture = mem_zalloc(sizeof(*fixture));
	struct job_options options = {WORKLOAD_SERVE};
	struct diag diag;

	check(workshop_create(&fixture->shop, NULL, &diag), &diag);
	check(runtime_parse(&fixture->runtime, "floor", &diag), &diag);
	check(job_prepare(&fixture->job, fixture->shop, &fixture->runtime, &options, &diag), &diag);
	check(job_release(fixture->job, &diag), &diag);
	check(job_await_ready(fixture->job, LIMIT_NS, NULL, &diag), &diag);
	strcpy(fixture->path, "/tmp/wakewhy-load-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	assert_int_equal(chmod(fixture->path, 0755), 0);
	fixture->old_path = mem_strdup(getenv("PATH"));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char *wrk = mem_printf("%s/wrk", fixture->path);

	setenv("PATH", fixture->old_path, 1);
	job_end(fixture->job);
	runtime_free_members(&fixture->runtime);
	workshop_remove(fixture->shop);
	unlink(wrk);
	assert_int_equal(rmdir(fixture->path), 0);
	free(wrk);
	free(fixture->old_path);
	free(fixture);
	return 0;
}

/* From here on wrk is this script. */
static void pretend(const struct fixture *fixture, const char *script)
{
	char *path = mem_printf("%s:%s", fixture->path, fixture->old_path);
	char *wrk = mem_printf("%s/wrk", fixture->path);
	FILE *file = fopen(wrk, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(wrk, 0755), 0);
	setenv("PATH", path, 1);
	free(wrk);
	free(path);
}

static struct load *start(const struct fixture *fixture, uint32_t connections, uint32_t threads)
{
	struct load_options options = {.port = job_port(fixture->job), .connections = connections,
				       .threads = threads, .seconds = 1};
	struct load *load;
	struct diag diag = {};

	check(load_prepare(&load, fixture->shop, &options, &diag), &diag);
	assert_true(load_pid(load) > 0);
	check(load_release(load, &diag), &diag);
	return load;
}

/* Real wrk, where it is installed: its answers are counted. */
static void wrk_asks_the_floor(void **state)
{
	struct fixture *fixture = *state;
	struct load_result result = {};
	struct diag diag = {};

	if (load_find(&diag)) {
		assert_non_null(strstr(diag.what, "wrk"));
		skip();
	}
	for (uint32_t connections = 1; connections <= 50; connections += 49) {
		struct load *load = start(fixture, connections, 1 + connections / 50);

		check(load_await(load, LIMIT_NS, NULL, &result, &diag), &diag);
		assert_true(result.requests > 10);
		assert_int_equal(result.errors, 0);
		assert_true(result.cpu_ns > 0);
		load_end(load);
	}
}

static void without_wrk_it_says_what_to_install(void **state)
{
	struct fixture *fixture = *state;
	struct diag diag = {};

	setenv("PATH", fixture->path, 1);
	assert_int_equal(load_find(&diag), -ENOENT);
	assert_non_null(strstr(diag.what, "serve needs the load generator wrk"));
	assert_non_null(strstr(diag.hint, "apt-get install wrk"));
}

#define PRINT(text) "cat << 'END'\n" text "END\n"

static const struct {
	const char *script;
	uint64_t timeout_ns;
	int err;
	const char *what;
} failures[] = {
	{"echo unable to connect >&2; exit 1", LIMIT_NS, -EIO,
	 "the load generator wrk ended with status 1: unable to connect"},
	{"kill -SEGV $$", LIMIT_NS, -EIO, "wrk was killed by signal 11 (Segmentation"},
	{"exit 0", LIMIT_NS, -EPROTO, "wrk printed what it never prints"},
	{"printf '\\033[2Jnonsense\\n'", LIMIT_NS, -EPROTO, "prints: \\x1b[2Jnonsense"},
	{"exec head -c 100000 /dev/zero", LIMIT_NS, -EPROTO, "wrk printed what it never prints"},
	{"exec cat /dev/zero", LIMIT_NS, -EIO, "wrk was killed by signal 25 (File size limit"},
	{"exec sleep 1000", 50000000, -ETIMEDOUT, "wrk did not end in time"},
	{PRINT("  0 requests in 1.00s, 0.00B read\n" TAIL), LIMIT_NS, -EPROTO, "wrk got no answer"},
	{PRINT(REQUESTS TAIL) "exit 3", LIMIT_NS, -EIO, "wrk ended with status 3"},
	{PRINT(REQUESTS TAIL) "head -c 20000 /dev/zero | tr '\\0' '\\n'", LIMIT_NS, -EPROTO,
	 "wrk printed what it never prints"},
	{PRINT(REQUESTS STATUS TAIL), LIMIT_NS, 0, ""},
};

static void one_that_misbehaves_is_one_clear_line(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		struct load_result result = {.requests = 77};
		struct diag diag = {};
		struct load *load;

		pretend(fixture, failures[i].script);
		load = start(fixture, 1, 1);
		assert_int_equal(load_await(load, failures[i].timeout_ns, NULL, &result, &diag),
				 failures[i].err);
		if (!strstr(diag.what, failures[i].what))
			fail_msg("'%s': %s", failures[i].script, diag.what);
		assert_null(strchr(diag.what, '\n'));
		assert_int_equal(result.requests, failures[i].err ? 77 : 9272);
		load_end(load);
	}
}

/* Its arguments and its environment are what we say, and nothing of ours. */
static void it_gets_a_clean_environment(void **state)
{
	struct fixture *fixture = *state;
	char *expected = mem_printf("-t2 -c7 -d1s http://127.0.0.1:%u/ clean", job_port(fixture->job));
	struct load_result result;
	struct diag diag = {};
	struct load *load;

	setenv("LD_BIND_NOW", "1", 1);
	pretend(fixture, "echo $* ${LD_BIND_NOW:-clean}");
	load = start(fixture, 7, 2);
	unsetenv("LD_BIND_NOW");
	assert_int_equal(load_await(load, LIMIT_NS, NULL, &result, &diag), -EPROTO);
	if (!strstr(diag.what, expected))
		fail_msg("%s", diag.what);
	load_end(load);
	load_end(NULL);
	free(expected);
}

static volatile int stop;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

static void a_signal_ends_the_wait(void **state)
{
	struct fixture *fixture = *state;
	struct sigaction action = {.sa_handler = on_alarm};
	struct load_result result;
	struct diag diag = {};
	struct load *load;

	pretend(fixture, "exec sleep 1000");
	load = start(fixture, 1, 1);
	sigaction(SIGALRM, &action, NULL);
	ualarm(20000, 0);
	assert_int_equal(load_await(load, LIMIT_NS, &stop, &result, &diag), -EINTR);
	signal(SIGALRM, SIG_DFL);
	load_end(load);
}

/* ---- our own death ---------------------------------------------------------------------------- */

struct leftovers {
	pid_t janitor, wrk, helper; /* of the generator, in its group */
};

/* A generator that has started another process; PATH leads to it. */
static void drive_load(int fd)
{
	struct load_options options = {.port = 9, .connections = 1, .threads = 1, .seconds = 1};
	struct leftovers leftovers = {};
	struct workshop *shop;
	struct load *load;
	char link[64], directory[256] = "";

	if (workshop_create(&shop, NULL, NULL))
		_exit(1);
	leftovers.janitor = only_child(getpid());
	if (load_prepare(&load, shop, &options, NULL) || load_release(load, NULL))
		_exit(1);
	leftovers.wrk = load_pid(load);
	snprintf(link, sizeof(link), "/proc/%d/cwd", leftovers.wrk);
	if (readlink(link, directory, sizeof(directory) - 1) < 0)
		_exit(1);
	leftovers.helper = await_number(directory, "helper");
	if (write(fd, &leftovers, sizeof(leftovers)) != sizeof(leftovers))
		_exit(1);
}

static void watch_load(const void *said, struct watch *watch)
{
	const struct leftovers *leftovers = said;

	watch_add(watch, leftovers->janitor);
	watch_add(watch, leftovers->wrk);
	watch_add(watch, leftovers->helper);
}

static void after_kill_9_no_generator_is_left(void **state)
{
	struct fixture *fixture = *state;
	struct leftovers leftovers;

	pretend(fixture, "sleep 1000 & echo $! > helper; exec sleep 1000");
	drive_and_kill(drive_load, &leftovers, sizeof(leftovers), watch_load);
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_wrk_prints_is_read),
		cmocka_unit_test(anything_else_is_nonsense),
		cmocka_unit_test(a_beginning_of_it_is_nonsense),
		WITH_SERVER(wrk_asks_the_floor),
		WITH_SERVER(without_wrk_it_says_what_to_install),
		WITH_SERVER(one_that_misbehaves_is_one_clear_line),
		WITH_SERVER(it_gets_a_clean_environment),
		WITH_SERVER(a_signal_ends_the_wait),
		WITH_SERVER(after_kill_9_no_generator_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
