/* Jobs on real runtimes: floor, every family found on PATH, those in $WAKEWHY_RUNTIMES (RUNTIME
 * arguments with blanks between), and programs that do it wrong. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/strays.h"
#include "runtime/workloads.h"
#include "tests/unit/runtime_driver.h"

#define LIMIT_NS 30000000000ULL

struct fixture {
	struct workshop *shop;
	char *directory; /* of the workshop, once a job has run in it */
	const char *user;
};

static struct fixture open_shop(const char *user)
{
	struct fixture fixture = {.user = user};
	struct diag diag;

	if (workshop_create(&fixture.shop, user, &diag))
		fail_msg("%s", diag.what);
	return fixture;
}

/* The working directory of a job is DIRECTORY/job-N. */
static void note_directory(struct fixture *fixture, const struct job *job)
{
	char link[64], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/%d/cwd", job_pid(job));
	assert_true(readlink(link, path, sizeof(path) - 1) > 0);
	assert_non_null(strstr(path, "/job-"));
	*strstr(path, "/job-") = '\0';
	free(fixture->directory);
	fixture->directory = mem_strdup(path);
}

/* Nothing is left: no directory, and no process that carries its mark. */
static void close_shop(struct fixture *fixture)
{
	struct stat st;

	workshop_remove(fixture->shop);
	if (!fixture->directory)
		return;
	assert_int_equal(lstat(fixture->directory, &st), -1);
	assert_int_equal(strays_kill(fixture->directory), 0);
	free(fixture->directory);
}

static struct job *prepare(struct fixture *fixture, const struct runtime *runtime,
			   struct job_options options)
{
	struct job *job;
	struct diag diag;

	options.user = fixture->user;
	if (job_prepare(&job, fixture->shop, runtime, &options, &diag))
		fail_msg("%s", diag.what);
	note_directory(fixture, job);
	return job;
}

static void check(int err, const struct diag *diag)
{
	if (err)
		fail_msg("%d: %s (%s)", err, diag->what, diag->hint);
}

/* ---- what goes well ---------------------------------------------------------------------------
 */

static void try_startup(struct fixture *fixture, const struct runtime *runtime)
{
	struct job *job = prepare(fixture, runtime, (struct job_options){WORKLOAD_STARTUP});
	struct rusage rusage;
	struct diag diag;
	int status;

	check(job_release(job, &diag), &diag);
	check(job_await_end(job, LIMIT_NS, NULL, &status, &rusage, &diag), &diag);
	assert_int_equal(status, 0);
	assert_true(rusage.ru_minflt > 0 && rusage.ru_maxrss > 0);
	job_end(job);
}

static int connect_to(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* What 127.0.0.1:port answers. */
static char *get(unsigned port)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n"
				      "Connection: close\r\n\r\n";
	char *answer = mem_zalloc(4096);
	int fd = connect_to(port);
	size_t n = 0;
	ssize_t got;

	assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	while (n < 4095 && (got = read(fd, answer + n, 4095 - n)) > 0)
		n += (size_t)got;
	close(fd);
	return answer;
}

static void try_server(struct fixture *fixture, const struct runtime *runtime,
		       enum workload workload)
{
	struct job *job = prepare(fixture, runtime, (struct job_options){workload});
	uint64_t rss_bytes = 0, pss_bytes = 0;
	struct diag diag;
	char *answer;

	assert_int_equal(job_port(job), 0);
	check(job_release(job, &diag), &diag);
	check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
	for (int i = 0; i < 2; i++) {
		answer = get(job_port(job));
		assert_int_equal(strncmp(answer, "HTTP/1.", 7), 0);
		assert_non_null(strstr(answer, " 200 "));
		assert_non_null(strstr(answer, "hola"));
		free(answer);
	}
	assert_int_equal(job_memory(job, &rss_bytes, &pss_bytes), 0);
	assert_true(rss_bytes > 4096 && pss_bytes > 0 && pss_bytes <= rss_bytes);
	job_end(job);
}

/* False: this version has no such variant, and said so. */
static bool try_hash(struct fixture *fixture, const struct runtime *runtime, const char *variant,
		     uint64_t ops, uint64_t ns)
{
	struct job *job = prepare(fixture, runtime,
				  (struct job_options){WORKLOAD_HASH, .variant = variant,
						       .hash_ops = ops, .hash_ns = ns});
	uint64_t operations = 0;
	struct diag diag = {0};
	int err;

	check(job_release(job, &diag), &diag);
	err = job_await_ready(job, LIMIT_NS, NULL, &diag);
	if (err == -ENOTSUP) {
		assert_non_null(strstr(diag.what, "does not support it: no "));
		job_end(job);
		return false;
	}
	check(err, &diag);
	check(job_hash_go(job, &diag), &diag);
	check(job_hash_await(job, LIMIT_NS, NULL, &operations, &diag), &diag);
	assert_true(ops ? operations == ops : operations > 10);
	job_end(job);
	return true;
}

static void try_all(struct fixture *fixture, const struct runtime *runtime)
{
	try_startup(fixture, runtime);
	try_server(fixture, runtime, WORKLOAD_IDLE);
	try_server(fixture, runtime, WORKLOAD_SERVE);
	for (const char *const *at = runtime->family->variants; *at; at++) {
		if (try_hash(fixture, runtime, *at, 1000, 0))
			try_hash(fixture, runtime, *at, 0, 50000000);
		else
			assert_string_not_equal(*at, "sync");
	}
}

static void floor_does_all(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct runtime runtime;
	struct diag diag;

	(void)state;
	check(runtime_parse(&runtime, "floor", &diag), &diag);
	try_all(&fixture, &runtime);
	close_shop(&fixture);
	if (geteuid() == 0) {
		fixture = open_shop("nobody");
		try_all(&fixture, &runtime);
		close_shop(&fixture);
	}
	runtime_free_members(&runtime);
}

#define ANSWER                                                                                     \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nhola"

/* Sends text whole, then reads answers: exactly `answers` of them come, and nothing else. */
static void ask(int fd, const char *text, size_t answers)
{
	char got[sizeof(ANSWER)];

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	for (size_t i = 0; i < answers; i++) {
		assert_int_equal(recv(fd, got, sizeof(ANSWER) - 1, MSG_WAITALL), sizeof(ANSWER) - 1);
		assert_memory_equal(got, ANSWER, sizeof(ANSWER) - 1);
	}
	assert_int_equal(recv(fd, got, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Under load floor is to be the least that a server does: connections go on, whatever comes in pieces
 * or at once, and one that misbehaves harms no other. */
static void floor_keeps_its_connections(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct runtime runtime;
	struct job *job;
	struct diag diag;
	char byte;
	int fd, other;

	(void)state;
	check(runtime_parse(&runtime, "floor", &diag), &diag);
	job = prepare(&fixture, &runtime, (struct job_options){WORKLOAD_SERVE});
	check(job_release(job, &diag), &diag);
	check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
	fd = connect_to(job_port(job));
	other = connect_to(job_port(job));
	ask(other, "GET / HTTP/1.1\r\nHost", 0);
	ask(fd, "GET / HTTP/1.1\r\n\r\n", 1);
	ask(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r", 0);
	ask(fd, "\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET /", 3);
	for (int i = 0; i < 30; i++)
		ask(fd, " HTTP/1.1\r\nconnection: keep-alive\r\n\r\nGET /", 1);
	ask(other, ": x\r\n\r\n", 1);
	/* NUL bytes and requests without an end are no requests. */
	assert_int_equal(send(fd, "\0\r\n\r\n", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	for (int i = 0; i < 1000 && send(other, "xxxxxxxxxxxxxxxx", 16, MSG_NOSIGNAL) == 16; i++)
		;
	assert_true(recv(other, &byte, 1, 0) <= 0);
	close(fd);
	close(other);
	fd = connect_to(job_port(job));
	ask(fd, "GET / HTTP/1.0\r\n", 0);
	assert_int_equal(send(fd, "\r\n", 2, MSG_NOSIGNAL), 2);
	while (recv(fd, &byte, 1, 0) > 0)
		;
	close(fd);
	job_end(job);
	runtime_free_members(&runtime);
	close_shop(&fixture);
}

static void try_named(struct fixture *fixture, const char *text, bool must_be_there)
{
	struct runtime runtime;
	struct diag diag;
	int err = runtime_parse(&runtime, text, &diag);

	if (err == -ENOENT && !must_be_there) {
		print_message("%s: not on PATH, not tried\n", text);
		return;
	}
	check(err, &diag);
	check(runtime_probe(&runtime, fixture->user, &diag), &diag);
	print_message("%s: %s %s\n", text, runtime.label, runtime.version);
	assert_true(runtime.family->builtin || runtime.version[0]);
	try_all(fixture, &runtime);
	runtime_free_members(&runtime);
}

static void every_runtime_here_does_all(void **state)
{
	struct fixture fixture = open_shop(NULL);
	const char *named = getenv("WAKEWHY_RUNTIMES");
	char *list = mem_strdup(named ? named : ""), *rest;

	(void)state;
	for (const struct family *family = families; family->name; family++)
		if (!family->builtin)
			try_named(&fixture, family->name, false);
	for (char *at = strtok_r(list, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest))
		try_named(&fixture, at, true);
	free(list);
	close_shop(&fixture);
}

static void commands_run_as_they_are(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct runtime runtime;
	struct job *job;
	struct rusage rusage;
	struct diag diag = {0};
	int status;

	(void)state;
	check(runtime_parse_command(&runtime, "c=printf anything", &diag), &diag);
	try_startup(&fixture, &runtime);
	runtime_free_members(&runtime);
	check(runtime_parse_command(&runtime, "c=sh -c 'echo why >&2; exit 3'", &diag), &diag);
	job = prepare(&fixture, &runtime, (struct job_options){WORKLOAD_STARTUP});
	check(job_release(job, &diag), &diag);
	assert_int_equal(job_await_end(job, LIMIT_NS, NULL, &status, &rusage, &diag), -EIO);
	assert_string_equal(diag.what, "startup c ended with status 3: why");
	job_end(job);
	runtime_free_members(&runtime);
	close_shop(&fixture);
}

/* Rss of one process, by /proc. */
static uint64_t own_rss_bytes(pid_t pid)
{
	char *path = mem_printf("/proc/%d/smaps_rollup", pid), line[256];
	FILE *file = fopen(path, "r");
	unsigned long long kib = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && sscanf(line, "Rss: %llu kB", &kib) != 1)
		;
	fclose(file);
	free(path);
	assert_true(kib > 0);
	return kib * 1024;
}

/* A command says no port. Its memory is that of the whole tree; at its end its group goes, and who
 * has left the group. */
static void a_command_takes_its_children_along(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct runtime runtime;
	struct watch watch = {0};
	struct job *job;
	struct diag diag = {0};
	uint64_t rss_bytes, pss_bytes;
	char *directory;

	(void)state;
	check(runtime_parse_command(&runtime,
				    "c=sh -c 'sleep 1000 & echo $! > member; setsid sh -c \"echo "
				    "\\$\\$ > stray; exec sleep 1000\" & exec sleep 1000'",
				    &diag),
	      &diag);
	job = prepare(&fixture, &runtime, (struct job_options){WORKLOAD_IDLE});
	directory = mem_printf("%s/job-0", fixture.directory);
	check(job_release(job, &diag), &diag);
	check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
	watch_add(&watch, await_number(directory, "member"));
	watch_add(&watch, await_number(directory, "stray"));
	assert_int_equal(job_memory(job, &rss_bytes, &pss_bytes), 0);
	assert_true(rss_bytes > own_rss_bytes(job_pid(job)) + 8192);
	job_end(job);
	watch_await_ends(&watch);
	runtime_free_members(&runtime);
	free(directory);
	close_shop(&fixture);
}

/* ---- what goes wrong --------------------------------------------------------------------------
 */

static const struct {
	const char *script; /* of a program that passes for bun */
	enum workload workload;
	uint64_t timeout_ns;
	int err;
	const char *what;
} failures[] = {
	{"exit 3", WORKLOAD_IDLE, LIMIT_NS, -EPIPE, "idle odd ended with status 3"},
	{"echo one >&2; echo two >&2; echo three >&2; exit 3", WORKLOAD_IDLE, LIMIT_NS, -EPIPE,
	 "ended with status 3: two | three"},
	{"kill -SEGV $$", WORKLOAD_IDLE, LIMIT_NS, -EPIPE, "was killed by signal 11 (Segmentation"},
	{"kill -SEGV $$", WORKLOAD_HASH, LIMIT_NS, -EPIPE, "was killed by signal 11 (Segmentation"},
	{"exec sleep 1000", WORKLOAD_IDLE, 50000000, -ETIMEDOUT,
	 "did not say 'port N' within 50 ms"},
	{"exec >&-; exec sleep 1000", WORKLOAD_IDLE, 300000000, -ETIMEDOUT,
	 "did not say 'port N' within 300 ms"},
	{"echo nonsense; exec sleep 1000", WORKLOAD_IDLE, LIMIT_NS, -EPROTO,
	 "said 'nonsense' where 'port N' was expected"},
	{"echo port 0; exec sleep 1000", WORKLOAD_IDLE, LIMIT_NS, -EPROTO, "said 'port 0' where"},
	{"echo port 65536; exec sleep 1000", WORKLOAD_IDLE, LIMIT_NS, -EPROTO, "port 65536"},
	{"echo port 80x; exec sleep 1000", WORKLOAD_IDLE, LIMIT_NS, -EPROTO, "port 80x"},
	{"printf '\\033[2J\\n'; exec sleep 1000", WORKLOAD_IDLE, LIMIT_NS, -EPROTO,
	 "said '\\x1b[2J'"},
	{"exec cat /dev/zero", WORKLOAD_IDLE, LIMIT_NS, -EPROTO, "a line without an end"},
	{"printf 'port 8'", WORKLOAD_IDLE, LIMIT_NS, -EPIPE, "ended with status 0: port 8"},
	{"echo steady", WORKLOAD_HASH, LIMIT_NS, -EPROTO, "said 'steady' where 'ready'"},
	{"echo unsupported no luck", WORKLOAD_HASH, LIMIT_NS, -ENOTSUP, "no luck"},
	{"exec sleep 1000", WORKLOAD_HASH, 50000000, -ETIMEDOUT, "did not say 'ready'"},
};

static struct runtime make_odd(char path[static 64], const char *script)
{
	char *text;
	struct runtime runtime;
	struct diag diag;
	FILE *file;

	strcpy(path, "/tmp/wakewhy-test-XXXXXX");
	file = fdopen(mkstemp(path), "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
	text = mem_printf("odd=bun:%s", path);
	check(runtime_parse(&runtime, text, &diag), &diag);
	free(text);
	return runtime;
}

static void failures_before_ready_have_one_clear_line(void **state)
{
	struct fixture fixture = open_shop(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		struct job_options options = {failures[i].workload, .variant = "sync",
					      .hash_ops = 1};
		char path[64];
		struct runtime runtime = make_odd(path, failures[i].script);
		struct job *job = prepare(&fixture, &runtime, options);
		struct diag diag = {0};

		check(job_release(job, &diag), &diag);
		assert_int_equal(job_await_ready(job, failures[i].timeout_ns, NULL, &diag),
				 failures[i].err);
		if (!strstr(diag.what, failures[i].what))
			fail_msg("'%s': %s", failures[i].script, diag.what);
		job_end(job);
		runtime_free_members(&runtime);
		assert_int_equal(unlink(path), 0);
	}
	close_shop(&fixture);
}

/* The group of a runtime ends with it, whether it is killed or has ended. */
static void a_runtime_takes_its_group_along(void **state)
{
	static const char *const lasts[] = {"exec sleep 1000", "exit 0"};
	struct fixture fixture = open_shop(NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *script =
			mem_printf("sleep 1000 & echo $! > member; echo port 1; %s", lasts[i]);
		char *directory, path[64];
		struct runtime runtime = make_odd(path, script);
		struct job *job = prepare(&fixture, &runtime, (struct job_options){WORKLOAD_IDLE});
		struct watch watch = {0};
		struct diag diag = {0};

		directory = mem_printf("%s/job-%d", fixture.directory, i);
		check(job_release(job, &diag), &diag);
		check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
		watch_add(&watch, await_number(directory, "member"));
		job_end(job);
		watch_await_ends(&watch);
		runtime_free_members(&runtime);
		assert_int_equal(unlink(path), 0);
		free(script);
		free(directory);
	}
	close_shop(&fixture);
}

static void expect_hash(struct fixture *fixture, const char *after_go, int err, const char *what)
{
	char *script = mem_printf("echo ready; read go; test \"$go\" = go || exit 9; %s", after_go);
	char path[64];
	struct runtime runtime = make_odd(path, script);
	struct job *job =
		prepare(fixture, &runtime,
			(struct job_options){WORKLOAD_HASH, .variant = "sync", .hash_ops = 5});
	uint64_t operations;
	struct diag diag = {0};

	check(job_release(job, &diag), &diag);
	check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
	check(job_hash_go(job, &diag), &diag);
	assert_int_equal(job_hash_await(job, LIMIT_NS, NULL, &operations, &diag), err);
	if (!strstr(diag.what, what))
		fail_msg("'%s': %s", after_go, diag.what);
	job_end(job);
	runtime_free_members(&runtime);
	assert_int_equal(unlink(path), 0);
	free(script);
}

#define DIGEST "4354dfda70c8f0d3991b9de3d56dcb6e9f2fc6c0316d235b63afeb388471ada4"

static void wrong_digests_are_found(void **state)
{
	struct fixture fixture = open_shop(NULL);

	(void)state;
	expect_hash(&fixture, "echo done 5 " DIGEST, 0, "");
	expect_hash(&fixture, "echo done 4 " DIGEST, -EPROTO, "did 4 operations instead of 5");
	expect_hash(&fixture, "echo done 5 5354dfda", -EPROTO, "said 'done 5 5354dfda' where");
	expect_hash(&fixture, "echo done 5 " DIGEST "x", -EPROTO, "was expected");
	expect_hash(&fixture, "echo done -5 " DIGEST, -EPROTO, "was expected");
	expect_hash(&fixture, "echo done", -EPROTO, "was expected");
	expect_hash(&fixture, "echo sorry >&2; exit 4", -EPIPE, "ended with status 4: sorry");
	close_shop(&fixture);
}

/* The other end of its input is closed: an error, and no SIGPIPE for us. */
static void a_runtime_that_hears_nothing_is_told(void **state)
{
	struct fixture fixture = open_shop(NULL);
	char path[64];
	struct runtime runtime = make_odd(path, "exec <&-; echo ready; exec sleep 1000");
	struct job *job =
		prepare(&fixture, &runtime,
			(struct job_options){WORKLOAD_HASH, .variant = "sync", .hash_ops = 5});
	struct diag diag = {0};

	(void)state;
	check(job_release(job, &diag), &diag);
	check(job_await_ready(job, LIMIT_NS, NULL, &diag), &diag);
	assert_int_equal(job_hash_go(job, &diag), -EPIPE);
	job_end(job);
	runtime_free_members(&runtime);
	assert_int_equal(unlink(path), 0);
	close_shop(&fixture);
}

static void expect_startup(struct fixture *fixture, const char *script, uint64_t timeout_ns,
			   int err, const char *what)
{
	char path[64];
	struct runtime runtime = make_odd(path, script);
	struct job *job = prepare(fixture, &runtime, (struct job_options){WORKLOAD_STARTUP});
	struct rusage rusage;
	struct diag diag = {0};
	int status;

	check(job_release(job, &diag), &diag);
	assert_int_equal(job_await_end(job, timeout_ns, NULL, &status, &rusage, &diag), err);
	if (!strstr(diag.what, what))
		fail_msg("'%s': %s", script, diag.what);
	job_end(job);
	runtime_free_members(&runtime);
	assert_int_equal(unlink(path), 0);
}

static void failed_starts_have_one_clear_line(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct job_options options = {WORKLOAD_STARTUP};
	char path[64];
	struct runtime runtime;
	struct job *job;
	struct diag diag = {0};

	(void)state;
	expect_startup(&fixture, "echo hello", LIMIT_NS, 0, "");
	expect_startup(&fixture, "echo hello; exit 3", LIMIT_NS, -EIO,
		       "ended with status 3: hello");
	expect_startup(&fixture, "echo hello world", LIMIT_NS, -EPROTO, "did not print 'hello'");
	expect_startup(&fixture, "", LIMIT_NS, -EPROTO, "did not print 'hello'");
	expect_startup(&fixture, "exec sleep 1000", 50000000, -ETIMEDOUT, "within 50 ms");
	expect_startup(&fixture, "exec cat /dev/zero", LIMIT_NS, -EIO, "File size limit exceeded");
	expect_startup(&fixture, "sleep 1000 & echo hello", LIMIT_NS, 0, "");
	/* It was there when it was named, and is gone now. */
	runtime = make_odd(path, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(job_prepare(&job, fixture.shop, &runtime, &options, &diag), -ENOENT);
	assert_non_null(strstr(diag.what, path));
	runtime_free_members(&runtime);
	close_shop(&fixture);
}

static void hash_needs_a_variant_that_is_there(void **state)
{
	struct fixture fixture = open_shop(NULL);
	struct job_options options = {WORKLOAD_HASH, .variant = "webcrypto", .hash_ops = 1};
	struct runtime runtime;
	struct job *job;
	struct diag diag;

	(void)state;
	check(runtime_parse(&runtime, "floor", &diag), &diag);
	assert_int_equal(job_prepare(&job, fixture.shop, &runtime, &options, &diag), -ENOTSUP);
	options.variant = "sync";
	options.hash_ops = 0;
	assert_int_equal(job_prepare(&job, fixture.shop, &runtime, &options, &diag), -EINVAL);
	runtime_free_members(&runtime);
	check(runtime_parse_command(&runtime, "c=true", &diag), &diag);
	assert_int_equal(job_prepare(&job, fixture.shop, &runtime, &options, &diag), -ENOTSUP);
	options.workload = WORKLOAD_SERVE;
	assert_int_equal(job_prepare(&job, fixture.shop, &runtime, &options, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.what, "serve runs on runtimes, not on commands"));
	runtime_free_members(&runtime);
	job_end(NULL);
	workshop_remove(NULL);
	close_shop(&fixture);
}

static volatile int stop;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

/* Also a signal that came before the wait, and one without meaning in between. */
static void a_signal_ends_every_wait(void **state)
{
	struct fixture fixture = open_shop(NULL);
	char path[64];
	struct runtime runtime = make_odd(path, "exec sleep 1000");
	struct job *job = prepare(&fixture, &runtime, (struct job_options){WORKLOAD_IDLE});
	struct sigaction action = {.sa_handler = on_alarm};
	struct rusage rusage;
	struct diag diag = {0};
	int status;

	(void)state;
	check(job_release(job, &diag), &diag);
	sigaction(SIGALRM, &action, NULL);
	ualarm(20000, 0);
	assert_int_equal(job_await_ready(job, LIMIT_NS, &stop, &diag), -EINTR);
	assert_int_equal(job_await_ready(job, LIMIT_NS, &stop, &diag), -EINTR);
	assert_int_equal(job_await_end(job, LIMIT_NS, &stop, &status, &rusage, &diag), -EINTR);
	stop = 0;
	ualarm(10000, 0);
	assert_int_equal(job_await_ready(job, 100000000, NULL, &diag), -ETIMEDOUT);
	signal(SIGALRM, SIG_DFL);
	job_end(job);
	runtime_free_members(&runtime);
	assert_int_equal(unlink(path), 0);
	close_shop(&fixture);
}

/* ---- our own death ----------------------------------------------------------------------------
 */

struct leftovers {
	char directory[256];
	pid_t janitor, server;
};

static void drive_server(int fd)
{
	struct job_options options = {WORKLOAD_IDLE, .user = geteuid() == 0 ? "nobody" : NULL};
	struct leftovers leftovers = {0};
	struct runtime runtime;
	struct workshop *shop;
	struct job *job;
	char link[64];

	if (workshop_create(&shop, options.user, NULL))
		_exit(1);
	leftovers.janitor = only_child(getpid());
	if (runtime_parse(&runtime, "floor", NULL) ||
	    job_prepare(&job, shop, &runtime, &options, NULL) || job_release(job, NULL) ||
	    job_await_ready(job, LIMIT_NS, NULL, NULL))
		_exit(1);
	leftovers.server = job_pid(job);
	snprintf(link, sizeof(link), "/proc/%d/cwd", leftovers.server);
	if (readlink(link, leftovers.directory, sizeof(leftovers.directory) - 1) < 0 ||
	    write(fd, &leftovers, sizeof(leftovers)) != sizeof(leftovers))
		_exit(1);
}

static void watch_server(const void *said, struct watch *watch)
{
	const struct leftovers *leftovers = said;

	watch_add(watch, leftovers->janitor);
	watch_add(watch, leftovers->server);
}

static void after_kill_9_no_server_is_left(void **state)
{
	struct leftovers leftovers;
	struct stat st;

	(void)state;
	drive_and_kill(drive_server, &leftovers, sizeof(leftovers), watch_server);
	*strstr(leftovers.directory, "/job-") = '\0';
	assert_int_equal(lstat(leftovers.directory, &st), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floor_does_all),
		cmocka_unit_test(floor_keeps_its_connections),
		cmocka_unit_test(every_runtime_here_does_all),
		cmocka_unit_test(commands_run_as_they_are),
		cmocka_unit_test(a_command_takes_its_children_along),
		cmocka_unit_test(a_runtime_takes_its_group_along),
		cmocka_unit_test(failures_before_ready_have_one_clear_line),
		cmocka_unit_test(wrong_digests_are_found),
		cmocka_unit_test(a_runtime_that_hears_nothing_is_told),
		cmocka_unit_test(failed_starts_have_one_clear_line),
		cmocka_unit_test(hash_needs_a_variant_that_is_there),
		cmocka_unit_test(a_signal_ends_every_wait),
		cmocka_unit_test(after_kill_9_no_server_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
