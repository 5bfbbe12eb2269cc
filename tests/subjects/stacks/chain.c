/* chain COUNT MICROSECONDS KIND…: for each KIND a thread of that name, which sleeps COUNT times in
 * chain_body → level_one → level_two → level_three, and there in
 *	nanosleep	nanosleep for MICROSECONDS
 *	cond		pthread_cond_timedwait for MICROSECONDS
 *	signalled	pthread_cond_wait, woken by pthread_cond_signal
 *	pipe		read of a pipe, woken by write
 *	futex		a futex call, woken by another one
 * The last three are woken each MICROSECONDS by a thread "waker", in
 * waker_body → waker_outer → waker_inner. Two more have chains of their own:
 *	causes		chain_body → short_wait: nanosleep for MICROSECONDS, and in turn
 *			chain_body → long_wait: poll for three times as long: COUNT of each of two causes
 *	places		chain_body → first_place: nanosleep for MICROSECONDS, and after each
 *			chain_body → second_place: twice the same: COUNT and 2 COUNT of one cause
 *
 * Known answer: these functions, one behind the other, so many times. */
#include "../truth.h"
#include "known.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/prctl.h>

enum kind {
	KIND_NANOSLEEP,
	KIND_COND,
	KIND_SIGNALLED,
	KIND_PIPE,
	KIND_FUTEX,
	KIND_CAUSES,
	KIND_PLACES,
	KIND_MAX
};

static const char *const kind_names[KIND_MAX] = {"nanosleep", "cond",	"signalled", "pipe",
						 "futex",     "causes", "places"};

struct sleeper {
	enum kind kind;
	pthread_t thread, waker;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	_Atomic uint32_t posted; /* wakes that were sent */
	uint32_t taken;		 /* wakes that were slept for */
	int pipe[2];
};

static struct truth *truth;
static uint64_t count, us;

void level_one(struct sleeper *self), level_two(struct sleeper *self),
	level_three(struct sleeper *self);
void waker_outer(struct sleeper *other), waker_inner(struct sleeper *other);
void short_wait(void), long_wait(void), first_place(void), second_place(void);
void *chain_body(void *argument), *waker_body(void *argument);

static bool has_waker(enum kind kind)
{
	return kind == KIND_SIGNALLED || kind == KIND_PIPE || kind == KIND_FUTEX;
}

/* ---- calls: these become part of the functions below ----------------------------------------------- */

#define INLINED static inline __attribute__((always_inline))

INLINED void sleep_once(void)
{
	struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};

	nanosleep(&time, NULL);
}

INLINED void wait_timed(struct sleeper *self)
{
	struct timespec end;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &end);
	ns = (uint64_t)end.tv_nsec + us * 1000;
	end.tv_sec += (time_t)(ns / 1000000000);
	end.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_lock(&self->mutex);
	while (!pthread_cond_timedwait(&self->cond, &self->mutex, &end))
		;
	pthread_mutex_unlock(&self->mutex);
}

INLINED void wait_signalled(struct sleeper *self)
{
	pthread_mutex_lock(&self->mutex);
	while (self->posted == self->taken)
		pthread_cond_wait(&self->cond, &self->mutex);
	self->taken++;
	pthread_mutex_unlock(&self->mutex);
}

INLINED void post_signalled(struct sleeper *other)
{
	pthread_mutex_lock(&other->mutex);
	other->posted++;
	pthread_mutex_unlock(&other->mutex);
	pthread_cond_signal(&other->cond);
}

INLINED void wait_futex(struct sleeper *self)
{
	while (self->posted == self->taken)
		syscall(SYS_futex, &self->posted, FUTEX_WAIT_PRIVATE, self->taken, NULL, NULL, 0);
	self->taken++;
}

INLINED void post_futex(struct sleeper *other)
{
	other->posted++;
	syscall(SYS_futex, &other->posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

INLINED void wait_pipe(struct sleeper *self)
{
	char byte;

	if (read(self->pipe[0], &byte, 1) != 1)
		truth_die("read");
}

INLINED void post_pipe(struct sleeper *other)
{
	if (write(other->pipe[1], "x", 1) != 1)
		truth_die("write");
}

/* ---- the known functions -------------------------------------------------------------------------- */

KNOWN void level_three(struct sleeper *self)
{
	switch (self->kind) {
	case KIND_COND:
		wait_timed(self);
		break;
	case KIND_SIGNALLED:
		wait_signalled(self);
		break;
	case KIND_PIPE:
		wait_pipe(self);
		break;
	case KIND_FUTEX:
		wait_futex(self);
		break;
	default:
		sleep_once();
	}
	KNOWN_END();
}

KNOWN void level_two(struct sleeper *self)
{
	level_three(self);
	KNOWN_END();
}

KNOWN void level_one(struct sleeper *self)
{
	level_two(self);
	KNOWN_END();
}

KNOWN void waker_inner(struct sleeper *other)
{
	if (other->kind == KIND_PIPE)
		post_pipe(other);
	else if (other->kind == KIND_FUTEX)
		post_futex(other);
	else
		post_signalled(other);
	KNOWN_END();
}

KNOWN void waker_outer(struct sleeper *other)
{
	waker_inner(other);
	KNOWN_END();
}

KNOWN void short_wait(void)
{
	sleep_once();
	KNOWN_END();
}

KNOWN void long_wait(void)
{
	poll(NULL, 0, (int)(us * 3 / 1000));
	KNOWN_END();
}

KNOWN void first_place(void)
{
	sleep_once();
	KNOWN_END();
}

KNOWN void second_place(void)
{
	sleep_once();
	KNOWN_END();
}

KNOWN void *chain_body(void *argument)
{
	struct sleeper *self = argument;

	prctl(PR_SET_NAME, kind_names[self->kind]);
	for (uint64_t i = 0; i < count; i++) {
		if (self->kind == KIND_CAUSES) {
			short_wait();
			long_wait();
		} else if (self->kind == KIND_PLACES) {
			first_place();
			second_place();
			second_place();
		} else {
			level_one(self);
		}
	}
	truth_thread(truth, kind_names[self->kind], count);
	KNOWN_END();
	return NULL;
}

KNOWN void *waker_body(void *argument)
{
	prctl(PR_SET_NAME, "waker");
	for (uint64_t i = 0; i < count; i++) {
		sleep_once();
		waker_outer(argument);
	}
	truth_thread(truth, "waker", count);
	KNOWN_END();
	return NULL;
}

static void chain_start(struct sleeper *self, const char *name)
{
	while (self->kind < KIND_MAX && strcmp(kind_names[self->kind], name))
		self->kind++;
	if (self->kind == KIND_MAX || pipe2(self->pipe, O_CLOEXEC))
		truth_die(name);
	pthread_mutex_init(&self->mutex, NULL);
	pthread_cond_init(&self->cond, NULL);
	self->thread = truth_start(chain_body, self);
	if (has_waker(self->kind))
		self->waker = truth_start(waker_body, self);
}

int main(int argc, char **argv)
{
	struct sleeper sleepers[KIND_MAX] = {};
	int n;

	truth = truth_new(&argc, argv);
	count = truth_number(argc, argv, 1, 10);
	us = truth_number(argc, argv, 2, 10000);
	n = argc > 3 + KIND_MAX ? KIND_MAX : argc > 3 ? argc - 3 : 0;
	truth_ready(truth);
	for (int i = 0; i < n; i++)
		chain_start(&sleepers[i], argv[i + 3]);
	for (int i = 0; i < n; i++) {
		pthread_join(sleepers[i].thread, NULL);
		if (has_waker(sleepers[i].kind))
			pthread_join(sleepers[i].waker, NULL);
	}
	truth_write(truth);
	return 0;
}
