/* whychain LINKS COUNT MICROSECONDS HOW: a thread "link0" that sleeps COUNT times, and after each
 * sleep wakes "link1", which wakes "link2", and so on to the last of LINKS (2 to 8). HOW the wake
 * is made: futex, eventfd, pipe, socketpair or signal.
 *
 * Known answer: COUNT wakeups of each link; those of link0 by its own sleep, of every other by the
 * link before it; every one of them, and every nanosecond after it, has link0's sleep as its root.
 */
#include "truth.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define LINKS 8

/* What a link waits on. */
struct channel {
	int read_fd, write_fd;
	_Atomic uint32_t word;
	_Atomic pid_t tid;
};

static struct truth *truth;
static struct channel channels[LINKS];
static size_t n_links;
static uint64_t count, sleep_ns;

static void futex_post(struct channel *c)
{
	c->word++;
	syscall(SYS_futex, &c->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_await(struct channel *c)
{
	while (!c->word)
		syscall(SYS_futex, &c->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	c->word--;
}

static void open_pipe(struct channel *c)
{
	int fds[2];

	if (pipe(fds))
		truth_die("pipe");
	c->read_fd = fds[0];
	c->write_fd = fds[1];
}

static void open_eventfd(struct channel *c)
{
	c->read_fd = c->write_fd = eventfd(0, EFD_SEMAPHORE);
}

static void open_socketpair(struct channel *c)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		truth_die("socketpair");
	c->read_fd = fds[0];
	c->write_fd = fds[1];
}

/* Eight bytes: what an eventfd takes. */
static void fd_post(struct channel *c)
{
	uint64_t one = 1;

	if (write(c->write_fd, &one, sizeof(one)) != sizeof(one))
		truth_die("write");
}

static void fd_await(struct channel *c)
{
	uint64_t value;

	if (read(c->read_fd, &value, sizeof(value)) != sizeof(value))
		truth_die("read");
}

static void socket_post(struct channel *c)
{
	uint64_t one = 1;

	if (send(c->write_fd, &one, sizeof(one), 0) != sizeof(one))
		truth_die("send");
}

static void socket_await(struct channel *c)
{
	uint64_t value;

	if (recv(c->read_fd, &value, sizeof(value), 0) != sizeof(value))
		truth_die("recv");
}

static void signal_post(struct channel *c)
{
	siginfo_t info = {.si_code = SI_QUEUE};

	/* A realtime signal, queued: none is lost. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), c->tid, SIGRTMIN, &info))
		truth_die("rt_tgsigqueueinfo");
}

static void signal_await(struct channel *c)
{
	sigset_t set;

	(void)c;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	while (sigwaitinfo(&set, NULL) < 0)
		if (errno != EINTR)
			truth_die("sigwaitinfo");
}

static const struct way {
	const char *name;
	void (*open)(struct channel *c);
	void (*post)(struct channel *c);
	void (*await)(struct channel *c);
} ways[] = {
	{"futex", NULL, futex_post, futex_await},
	{"eventfd", open_eventfd, fd_post, fd_await},
	{"pipe", open_pipe, fd_post, fd_await},
	{"socketpair", open_socketpair, socket_post, socket_await},
	{"signal", NULL, signal_post, signal_await},
	{NULL},
};

static const struct way *way = ways;

static void *link_body(void *argument)
{
	size_t i = (size_t)((struct channel *)argument - channels);
	char name[8];

	snprintf(name, sizeof(name), "link%zu", i);
	prctl(PR_SET_NAME, name);
	channels[i].tid = (pid_t)syscall(SYS_gettid);
	for (uint64_t n = 0; n < count; n++) {
		if (i)
			way->await(&channels[i]);
		else
			truth_sleep_ns(sleep_ns);
		if (i + 1 < n_links)
			way->post(&channels[i + 1]);
	}
	truth_thread(truth, "link", count);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[LINKS];
	sigset_t set;

	truth = truth_new(&argc, argv);
	n_links = truth_number(argc, argv, 1, 2);
	count = truth_number(argc, argv, 2, 20);
	sleep_ns = truth_number(argc, argv, 3, 20000) * 1000;
	while (way->name && argc > 4 && strcmp(way->name, argv[4]))
		way++;
	if (!way->name || n_links < 2 || n_links > LINKS)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < n_links && way->open; i++)
		way->open(&channels[i]);
	truth_ready(truth);
	/* The last one first: who is to be woken knows its own tid before anybody asks. */
	for (size_t i = n_links; i-- > 0;) {
		threads[i] = truth_start(link_body, &channels[i]);
		while (!channels[i].tid)
			sched_yield();
	}
	for (size_t i = 0; i < n_links; i++)
		pthread_join(threads[i], NULL);
	truth_write(truth);
	return 0;
}
