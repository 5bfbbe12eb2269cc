/* whytimer SECONDS_MS KIND MICROSECONDS…: a thread, named after KIND, that waits for timers of its
 * own for as many milliseconds as the first argument says:
 *	timerfd		one timerfd through epoll_wait
 *	timerfd_read	one timerfd by read
 *	timerfds	one for each number, through one epoll_wait; each next one starts 35 ms
 *later rearmed		one through epoll_wait, whose period is the second number once half of the
 *			time is over
 *	timer_create	a signal to the thread itself, in sigsuspend
 *	setitimer	SIGALRM, in sigsuspend
 *
 * Known answer: a wakeup for each expiry, whose numbers the truth says ("expired0", "expired1"). */
#include "truth.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#define TIMERS 2

static struct truth *truth;
static const char *kind;
static uint64_t end_ns, period_us[TIMERS], expired[TIMERS];
static size_t n_timers;
static volatile sig_atomic_t signals;

static bool is_over(void)
{
	return truth_clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

static struct itimerspec every(uint64_t first_us, uint64_t us)
{
	return (struct itimerspec){
		.it_value = {(time_t)(first_us / 1000000), (long)(first_us % 1000000 * 1000)},
		.it_interval = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)},
	};
}

static int timer_open(uint64_t first_us, uint64_t us)
{
	struct itimerspec time = every(first_us, us);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, 0, &time, NULL))
		truth_die("timerfd");
	return fd;
}

static uint64_t timer_read(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void run_timerfd_read(void)
{
	int fd = timer_open(period_us[0], period_us[0]);

	while (!is_over())
		expired[0] += timer_read(fd);
}

static void run_timerfds(void)
{
	int fds[TIMERS], epoll = epoll_create1(EPOLL_CLOEXEC);

	for (uint32_t i = 0; i < n_timers; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};

		fds[i] = timer_open(period_us[i] + i * 35000, period_us[i]);
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
	}
	while (!is_over()) {
		struct epoll_event event;

		if (epoll_wait(epoll, &event, 1, -1) == 1)
			expired[event.data.u32] += timer_read(fds[event.data.u32]);
	}
}

static void run_rearmed(void)
{
	uint64_t half_ns = (truth_clock_ns(CLOCK_MONOTONIC) + end_ns) / 2;
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd = timer_open(period_us[0], period_us[0]);
	struct itimerspec slow = every(period_us[1], period_us[1]);
	struct epoll_event event = {.events = EPOLLIN};
	size_t phase = 0;

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	while (!is_over()) {
		if (epoll_wait(epoll, &event, 1, -1) == 1)
			expired[phase] += timer_read(fd);
		if (!phase && truth_clock_ns(CLOCK_MONOTONIC) >= half_ns) {
			phase = 1;
			timerfd_settime(fd, 0, &slow, NULL);
		}
	}
}

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void run_signals(int number)
{
	sigset_t waiting;

	pthread_sigmask(SIG_BLOCK, NULL, &waiting);
	sigdelset(&waiting, number);
	while (!is_over())
		sigsuspend(&waiting);
	expired[0] = (uint64_t)signals;
}

static void run_timer_create(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec time = every(period_us[0], period_us[0]);
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &time, NULL))
		truth_die("timer_create");
	run_signals(SIGUSR1);
	timer_delete(timer);
}

static void run_setitimer(void)
{
	struct timeval us = {(time_t)(period_us[0] / 1000000),
			     (suseconds_t)(period_us[0] % 1000000)};
	struct itimerval time = {us, us}, none = {};

	if (setitimer(ITIMER_REAL, &time, NULL))
		truth_die("setitimer");
	run_signals(SIGALRM);
	setitimer(ITIMER_REAL, &none, NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"timerfd", run_timerfds}, {"timerfd_read", run_timerfd_read}, {"timerfds", run_timerfds},
	{"rearmed", run_rearmed},  {"timer_create", run_timer_create}, {"setitimer", run_setitimer},
};

static void *timer_body(void *unused)
{
	prctl(PR_SET_NAME, kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, kind))
			kinds[i].run();
	truth_thread(truth, kind, expired[0] + expired[1]);
	return unused;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;
	pthread_t thread;
	uint64_t ms;

	truth = truth_new(&argc, argv);
	ms = truth_number(argc, argv, 1, 1000);
	kind = argc > 2 ? argv[2] : "timerfd";
	n_timers = argc > 4 ? TIMERS : 1;
	for (size_t i = 0; i < n_timers; i++)
		period_us[i] = truth_number(argc, argv, (int)i + 3, 100000);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	truth_ready(truth);
	end_ns = truth_clock_ns(CLOCK_MONOTONIC) + ms * 1000000;
	thread = truth_start(timer_body, NULL);
	pthread_join(thread, NULL);
	truth_say(truth, "expired0", (long long)expired[0]);
	truth_say(truth, "expired1", (long long)expired[1]);
	truth_write(truth);
	return 0;
}
