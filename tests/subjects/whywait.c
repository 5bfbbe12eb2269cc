/* whywait COUNT [CALL MICROSECONDS]…: a thread for each CALL, named after it, that waits COUNT
 * times for nothing, with a timeout of MICROSECONDS.
 *
 * Known answer: each thread has COUNT wakeups, all by its own timeout in that call, at that period
 * (and what the kernel adds to it). A call that the kernel refuses (an old one, or one that is
 * switched off) has count 0 in the truth. */
#include "truth.h"

#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#define FUTEX_32_PRIVATE (2 | 128)

struct waiter {
	const char *call;
	uint64_t count, timeout_us;
	int fd; /* of what the call waits on, where it needs one */
	uint32_t word;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	pthread_t thread;
};

/* What ended a wait: 0 for its timeout, else an error that means that there was no wait. */
static int waited(long result)
{
	if (result >= 0 || errno == EAGAIN || errno == ETIMEDOUT || errno == ETIME)
		return 0;
	return errno;
}

static struct timespec span(const struct waiter *w)
{
	return (struct timespec){(time_t)(w->timeout_us / 1000000),
				 (long)(w->timeout_us % 1000000 * 1000)};
}

static struct timespec from_now(const struct waiter *w, clockid_t clock)
{
	uint64_t at = truth_clock_ns(clock) + w->timeout_us * 1000;

	return (struct timespec){(time_t)(at / 1000000000), (long)(at % 1000000000)};
}

/* ---- sleeps ---------------------------------------------------------------------------------- */

static int wait_usleep(struct waiter *w)
{
	return waited(usleep((useconds_t)w->timeout_us));
}

static int wait_until(struct waiter *w, clockid_t clock)
{
	struct timespec at = from_now(w, clock);

	return clock_nanosleep(clock, TIMER_ABSTIME, &at, NULL);
}

static int wait_until_realtime(struct waiter *w)
{
	return wait_until(w, CLOCK_REALTIME);
}

static int wait_until_monotonic(struct waiter *w)
{
	return wait_until(w, CLOCK_MONOTONIC);
}

static int wait_until_boottime(struct waiter *w)
{
	return wait_until(w, CLOCK_BOOTTIME);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void open_epoll(struct waiter *w)
{
	w->fd = epoll_create1(EPOLL_CLOEXEC);
}

static int wait_epoll(struct waiter *w)
{
	struct epoll_event event;

	return waited(epoll_wait(w->fd, &event, 1, (int)(w->timeout_us / 1000)));
}

static int wait_epoll_pwait2(struct waiter *w)
{
	struct timespec timeout = span(w);
	struct epoll_event event;

	return waited(syscall(SYS_epoll_pwait2, w->fd, &event, 1, &timeout, NULL, 0));
}

static int wait_poll(struct waiter *w)
{
	return waited(poll(NULL, 0, (int)(w->timeout_us / 1000)));
}

static int wait_ppoll(struct waiter *w)
{
	struct timespec timeout = span(w);

	return waited(ppoll(NULL, 0, &timeout, NULL));
}

static int wait_select(struct waiter *w)
{
	struct timeval timeout = {(time_t)(w->timeout_us / 1000000),
				  (suseconds_t)(w->timeout_us % 1000000)};

#ifdef SYS_select
	return waited(syscall(SYS_select, 0, NULL, NULL, NULL, &timeout));
#else
	return waited(select(0, NULL, NULL, NULL, &timeout));
#endif
}

static int wait_pselect(struct waiter *w)
{
	struct timespec timeout = span(w);

	return waited(pselect(0, NULL, NULL, NULL, &timeout, NULL));
}

/* A timer of the timer wheel: its timeout is a property of the socket, not of the call. */
static void open_socket(struct waiter *w)
{
	struct timeval timeout = {(time_t)(w->timeout_us / 1000000),
				  (suseconds_t)(w->timeout_us % 1000000)};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		truth_die("socketpair");
	w->fd = pair[0];
	setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

static int wait_recv(struct waiter *w)
{
	char byte;

	return waited(recv(w->fd, &byte, 1, 0));
}

/* ---- futexes and other queues ---------------------------------------------------------------- */

static int wait_futex(struct waiter *w)
{
	struct timespec timeout = span(w);

	return waited(syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0));
}

static int wait_futex_waitv(struct waiter *w)
{
	struct timespec at = from_now(w, CLOCK_MONOTONIC);
	struct futex_waitv wait = {.uaddr = (uint64_t)(uintptr_t)&w->word,
				   .flags = FUTEX_32_PRIVATE};

	return waited(syscall(SYS_futex_waitv, &wait, 1, 0, &at, CLOCK_MONOTONIC));
}

static int wait_futex_wait(struct waiter *w)
{
	struct timespec at = from_now(w, CLOCK_REALTIME);

	return waited(
		syscall(SYS_futex_wait, &w->word, 0UL, ~0U, FUTEX_32_PRIVATE, &at, CLOCK_REALTIME));
}

static void open_condition(struct waiter *w, clockid_t clock)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, clock);
	pthread_cond_init(&w->condition, &attributes);
	pthread_mutex_init(&w->mutex, NULL);
}

static void open_condition_realtime(struct waiter *w)
{
	open_condition(w, CLOCK_REALTIME);
}

static void open_condition_monotonic(struct waiter *w)
{
	open_condition(w, CLOCK_MONOTONIC);
}

static int wait_condition(struct waiter *w, clockid_t clock)
{
	struct timespec at = from_now(w, clock);

	pthread_mutex_lock(&w->mutex);
	pthread_cond_timedwait(&w->condition, &w->mutex, &at);
	pthread_mutex_unlock(&w->mutex);
	return 0;
}

static int wait_condition_realtime(struct waiter *w)
{
	return wait_condition(w, CLOCK_REALTIME);
}

static int wait_condition_monotonic(struct waiter *w)
{
	return wait_condition(w, CLOCK_MONOTONIC);
}

static int wait_sigtimedwait(struct waiter *w)
{
	struct timespec timeout = span(w);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return waited(sigtimedwait(&set, NULL, &timeout));
}

static void open_semaphore(struct waiter *w)
{
	w->fd = semget(IPC_PRIVATE, 1, 0600);
}

static int wait_semaphore(struct waiter *w)
{
	struct timespec timeout = span(w);
	struct sembuf down = {0, -1, 0};

	return waited(semtimedop(w->fd, &down, 1, &timeout));
}

static void open_queue(struct waiter *w)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[32];

	snprintf(name, sizeof(name), "/whywait-%d", (int)getpid());
	w->fd = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	mq_unlink(name);
}

static int wait_queue(struct waiter *w)
{
	struct timespec at = from_now(w, CLOCK_REALTIME);
	char message[8];

	return waited(mq_timedreceive(w->fd, message, sizeof(message), NULL, &at));
}

static void open_uring(struct waiter *w)
{
	struct io_uring_params parameters = {};

	w->fd = (int)syscall(SYS_io_uring_setup, 1, &parameters);
}

static int wait_uring(struct waiter *w)
{
	struct timespec timeout = span(w);
	struct io_uring_getevents_arg arg = {.ts = (uint64_t)(uintptr_t)&timeout};

	return waited(syscall(SYS_io_uring_enter, w->fd, 0, 1,
			      IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg)));
}

/* ------------------------------------------------------------------------------------------------
 */

static const struct call {
	const char *name;
	void (*open)(struct waiter *w);
	int (*wait)(struct waiter *w);
} calls[] = {
	{"usleep", NULL, wait_usleep},
	{"until_real", NULL, wait_until_realtime},
	{"until_mono", NULL, wait_until_monotonic},
	{"until_boot", NULL, wait_until_boottime},
	{"epoll_wait", open_epoll, wait_epoll},
	{"epoll_pwait2", open_epoll, wait_epoll_pwait2},
	{"poll", NULL, wait_poll},
	{"ppoll", NULL, wait_ppoll},
	{"select", NULL, wait_select},
	{"pselect", NULL, wait_pselect},
	{"recv", open_socket, wait_recv},
	{"futex", NULL, wait_futex},
	{"futex_waitv", NULL, wait_futex_waitv},
	{"futex_wait", NULL, wait_futex_wait},
	{"cond_real", open_condition_realtime, wait_condition_realtime},
	{"cond_mono", open_condition_monotonic, wait_condition_monotonic},
	{"sigtimedwait", NULL, wait_sigtimedwait},
	{"semtimedop", open_semaphore, wait_semaphore},
	{"mq_receive", open_queue, wait_queue},
	{"io_uring", open_uring, wait_uring},
	{NULL},
};

static struct truth *truth;

static const struct call *call_find(const char *name)
{
	for (const struct call *call = calls; call->name; call++)
		if (!strcmp(call->name, name))
			return call;
	return NULL;
}

static void *waiter_body(void *argument)
{
	struct waiter *w = argument;
	const struct call *call = call_find(w->call);
	uint64_t done = 0;

	prctl(PR_SET_NAME, w->call);
	while (done < w->count && !call->wait(w))
		done++;
	truth_thread(truth, w->call, done);
	return NULL;
}

int main(int argc, char **argv)
{
	struct waiter *waiters;
	size_t n = 0;

	truth = truth_new(&argc, argv);
	waiters = calloc((size_t)argc, sizeof(*waiters));
	if (!waiters)
		truth_die("memory");
	for (int i = 2; i + 1 < argc; i += 2) {
		struct waiter *w = &waiters[n++];
		const struct call *call = call_find(argv[i]);

		if (!call)
			return 2;
		w->call = argv[i];
		w->count = truth_number(argc, argv, 1, 20);
		w->timeout_us = truth_number(argc, argv, i + 1, 100000);
		if (call->open)
			call->open(w);
	}
	truth_ready(truth);
	for (size_t i = 0; i < n; i++)
		waiters[i].thread = truth_start(waiter_body, &waiters[i]);
	for (size_t i = 0; i < n; i++)
		pthread_join(waiters[i].thread, NULL);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(waiters[i].call, "semtimedop"))
			semctl(waiters[i].fd, 0, IPC_RMID);
	truth_write(truth);
	free(waiters);
	return 0;
}
