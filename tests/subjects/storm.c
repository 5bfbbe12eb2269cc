/* storm KIND THREADS COUNT PACE_US SECONDS: THREADS threads that stand asleep, all do the same when they are
 * told to, and stand asleep again. So a window can be opened and closed while none of them moves, and the
 * kernel's counts of each be read at leisure. Ends of what a thread does: COUNT times (0: no limit) or
 * SECONDS (0: no limit), whichever comes first.
 *
 *	naps	sleeps PACE_US each time
 *	relay	threads 2k and 2k + 1 hand a byte to and fro over two pipes, both on the k-th CPU, the
 *		first one with a pause of PACE_US (0: none) after each round
 *	timers	reads from a timerfd of PACE_US, on the n-th CPU
 *	signals	waits for the signal of a POSIX timer of PACE_US of its own, on the n-th CPU
 *
 * Known answer: each thread does "count" rounds; naps wake as often, and once more from standing; the
 * others as often as the kernel's own count of voluntary switches says: a byte or an expiry may be there
 * before the thread has gone to sleep. */
#include "truth.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/timerfd.h>

#define STORM_SIGNAL SIGUSR1

struct storm_thread {
	uint32_t number;
	int in, out; /* relay */
};

static struct truth *truth;
static uint64_t count, pace_ns, seconds;
static uint32_t n_threads;
static _Atomic uint32_t gate, arrived, finished;
static uint64_t end_ns;

static void storm_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void storm_await(_Atomic uint32_t *word, uint32_t wanted)
{
	uint32_t seen;

	while ((seen = *word) != wanted)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

/* The last one to come tells the main thread. */
static void storm_arrive(_Atomic uint32_t *word)
{
	if (atomic_fetch_add(word, 1) + 1 == n_threads)
		storm_wake(word);
}

static bool storm_goes_on(uint64_t done)
{
	return (!count || done < count) &&
	       (!seconds || truth_clock_ns(CLOCK_MONOTONIC) < end_ns);
}

static uint64_t storm_naps(struct storm_thread *unused)
{
	uint64_t done = 0;

	(void)unused;
	for (; storm_goes_on(done); done++)
		truth_sleep_ns(pace_ns);
	return done;
}

/* The first of a pair counts; the second goes on until the first has closed its pipe. */
static uint64_t storm_relay(struct storm_thread *thread)
{
	bool first = thread->number % 2 == 0;
	uint64_t done = 0;
	char byte = 'x';

	while (!first || storm_goes_on(done)) {
		if (first && write(thread->out, &byte, 1) != 1)
			truth_die("write");
		if (read(thread->in, &byte, 1) != 1)
			break;
		if (!first && write(thread->out, &byte, 1) != 1)
			truth_die("write");
		done++;
		if (first && pace_ns)
			truth_sleep_ns(pace_ns);
	}
	close(thread->out);
	return done;
}

static struct itimerspec storm_period(void)
{
	struct timespec pace = {(time_t)(pace_ns / 1000000000ULL), (long)(pace_ns % 1000000000ULL)};

	return (struct itimerspec){pace, pace};
}

static uint64_t storm_timers(struct storm_thread *unused)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct itimerspec period = storm_period();
	uint64_t done = 0, expired;

	(void)unused;
	if (fd < 0 || timerfd_settime(fd, 0, &period, NULL))
		truth_die("timerfd");
	for (; storm_goes_on(done); done++)
		if (read(fd, &expired, sizeof(expired)) != sizeof(expired))
			truth_die("timerfd");
	close(fd);
	return done;
}

static uint64_t storm_signals(struct storm_thread *unused)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = STORM_SIGNAL};
	struct itimerspec period = storm_period();
	uint64_t done = 0;
	sigset_t wanted;
	timer_t timer;

	(void)unused;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigemptyset(&wanted);
	sigaddset(&wanted, STORM_SIGNAL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, NULL))
		truth_die("timer_create");
	for (; storm_goes_on(done); done++)
		while (sigwaitinfo(&wanted, NULL) < 0 && errno == EINTR)
			;
	timer_delete(timer);
	return done;
}

static const struct storm_kind {
	const char *name;
	uint64_t (*body)(struct storm_thread *thread);
	uint32_t threads_on_cpu; /* pinned, so many neighbours on one; 0: not pinned */
} kinds[] = {
	{"naps", storm_naps, 0},
	{"relay", storm_relay, 2},
	{"timers", storm_timers, 1},
	{"signals", storm_signals, 1},
	{NULL, NULL, 0},
};

static const struct storm_kind *kind = kinds;

static void *storm_thread(void *argument)
{
	struct storm_thread *thread = argument;
	uint64_t done;

	if (kind->threads_on_cpu)
		truth_pin(thread->number / kind->threads_on_cpu);
	storm_arrive(&arrived);
	storm_await(&gate, 1);
	done = kind->body(thread);
	truth_thread(truth, kind->name, done);
	storm_arrive(&finished);
	storm_await(&gate, 2); /* never: the process ends with us standing */
	return NULL;
}

static void storm_connect(struct storm_thread *one, struct storm_thread *other)
{
	int there[2], back[2];

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		truth_die("pipe");
	one->out = there[1];
	other->in = there[0];
	other->out = back[1];
	one->in = back[0];
}

int main(int argc, char **argv)
{
	struct storm_thread *threads;
	sigset_t blocked;

	truth = truth_new(&argc, argv);
	while (kind->name && (argc < 2 || strcmp(kind->name, argv[1]) != 0))
		kind++;
	n_threads = (uint32_t)truth_number(argc, argv, 2, 10);
	count = truth_number(argc, argv, 3, 100);
	pace_ns = truth_number(argc, argv, 4, 1000) * 1000;
	seconds = truth_number(argc, argv, 5, 0);
	threads = calloc(n_threads, sizeof(*threads));
	if (!threads || !kind->name || n_threads >= TRUTH_THREADS || (!count && !seconds))
		truth_die("arguments");
	sigemptyset(&blocked);
	sigaddset(&blocked, STORM_SIGNAL);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (uint32_t i = 0; i < n_threads; i++) {
		threads[i].number = i;
		if (kind->threads_on_cpu == 2 && i % 2)
			storm_connect(&threads[i - 1], &threads[i]);
	}
	for (uint32_t i = 0; i < n_threads; i++)
		truth_start(storm_thread, &threads[i]);
	storm_await(&arrived, n_threads);
	truth_ready(truth);
	end_ns = truth_clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000ULL;
	gate = 1;
	storm_wake(&gate);
	storm_await(&finished, n_threads);
	truth_thread(truth, "main", 0);
	truth_write(truth);
	truth_stay(truth);
	return 0;
}
