/* Waiting for one thing while another is served. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <unistd.h>

#include "runtime/deadline.h"

#define MS 1000000ULL

/* What is beside: a pipe that is read, and after so many times another one is written to. */
struct beside {
	int from, to;
	unsigned served, wake_at;
};

static void serve(void *context)
{
	struct beside *b = context;
	char byte;

	assert_int_equal(read(b->from, &byte, 1), 1);
	if (++b->served == b->wake_at)
		assert_int_equal(write(b->to, "x", 1), 1);
}

static void put(int fd, unsigned n)
{
	while (n--)
		assert_int_equal(write(fd, "x", 1), 1);
}

static void it_is_served_until_ready(void **state)
{
	int beside_pipe[2], pipe_[2];
	struct beside b = {.wake_at = 3};
	struct deadline_beside beside = {.serve = serve, .context = &b};
	struct pollfd fd = {.events = POLLIN};

	(void)state;
	assert_int_equal(pipe(beside_pipe), 0);
	assert_int_equal(pipe(pipe_), 0);
	b.from = beside.fd = beside_pipe[0];
	b.to = pipe_[1];
	fd.fd = pipe_[0];
	put(beside_pipe[1], 5);
	assert_int_equal(deadline_poll_beside(&fd, 1, deadline_after(10000 * MS), NULL, &beside), 1);
	assert_int_equal(b.served, 3); /* what is waited for comes first */
	assert_int_equal(fd.revents, POLLIN);
	for (int i = 0; i < 2; i++) {
		close(pipe_[i]);
		close(beside_pipe[i]);
	}
}

static void it_is_served_until_time_is_over(void **state)
{
	int beside_pipe[2], pipe_[2], stop = 1;
	struct beside b = {0};
	struct deadline_beside beside = {.serve = serve, .context = &b}, none = {0};
	struct pollfd fd = {.events = POLLIN};

	(void)state;
	assert_int_equal(pipe(beside_pipe), 0);
	assert_int_equal(pipe(pipe_), 0);
	b.from = beside.fd = beside_pipe[0];
	fd.fd = pipe_[0];
	put(beside_pipe[1], 2);
	assert_int_equal(deadline_poll_beside(&fd, 1, deadline_after(MS), NULL, &beside), -ETIMEDOUT);
	assert_int_equal(b.served, 2);
	put(beside_pipe[1], 1);
	assert_int_equal(deadline_poll_beside(&fd, 1, deadline_after(10000 * MS), &stop, &beside), -EINTR);
	assert_int_equal(deadline_poll_beside(&fd, 1, deadline_after(MS), NULL, &none), -ETIMEDOUT);
	assert_int_equal(b.served, 2);
	for (int i = 0; i < 2; i++) {
		close(pipe_[i]);
		close(beside_pipe[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_served_until_ready),
		cmocka_unit_test(it_is_served_until_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
