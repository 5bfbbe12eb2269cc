/* What the known subjects do. Each does a known number of things, and reads the kernel's own figures of
 * each of its threads before and after. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/selftest.h"

#define SECOND_NS 1000000000ULL
#define SPIN_NS	  300000000ULL
#define CROWD_NS  400000000ULL

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct selftest_figures selftest_figures(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (struct selftest_figures){
		.wall_ns = clock_ns(CLOCK_MONOTONIC),
		.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		.voluntary = (uint64_t)usage.ru_nvcsw,
		.preempted = (uint64_t)usage.ru_nivcsw,
	};
}

static _Noreturn void give_up(void)
{
	_exit(1);
}

/* Pins the calling thread to the n-th CPU that it may use, counted round. */
static void pin(unsigned n)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		give_up();
	n %= (unsigned)CPU_COUNT(&allowed);
	while (!CPU_ISSET(cpu, &allowed) || n--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* ---- helpers: threads and a process that sleep on when they have done their work ----------------- */

struct helper {
	struct selftest_self *self;
	size_t i; /* in told.threads */
	atomic_uint *word; /* shared by all helpers of a subject */
};

static void helper_begin(const struct helper *helper)
{
	struct selftest_thread *thread = &helper->self->told->threads[helper->i];

	thread->pid = getpid();
	thread->tid = gettid();
	thread->before = selftest_figures();
}

static _Noreturn void helper_end(const struct helper *helper, uint64_t count)
{
	struct selftest_thread *thread = &helper->self->told->threads[helper->i];
	int fd = helper->self->pair[1]; /* helper is gone once the main thread goes on */
	char byte = 'x';

	thread->count = count;
	thread->after = thread->last = selftest_figures();
	send(fd, &byte, 1, MSG_NOSIGNAL);
	for (;;)
		recv(fd, &byte, 1, 0);
}

static void helper_start(const struct helper *helper, void *(*body)(void *))
{
	pthread_t thread;

	helper->self->told->threads[helper->i].born.wall_ns = clock_ns(CLOCK_MONOTONIC);
	if (pthread_create(&thread, NULL, body, (void *)helper))
		give_up();
}

/* The main thread has done its own work. */
static void await_helpers(struct selftest_self *self, size_t n)
{
	char byte;

	self->told->threads[0].after = selftest_figures();
	while (n--)
		while (recv(self->pair[0], &byte, 1, 0) < 0)
			if (errno != EINTR)
				give_up();
}

/* For threads that must begin together on one CPU: none sleeps. */
static void await_others(const struct helper *helper, unsigned n)
{
	atomic_fetch_add(helper->word, 1);
	while (atomic_load(helper->word) < n)
		;
}

/* So many threads, numbered from 1. */
static void work_of_threads(struct selftest_self *self, size_t n, void *(*body)(void *))
{
	struct helper helpers[SELFTEST_THREADS];
	atomic_uint word = 0;

	for (size_t i = 1; i <= n; i++) {
		helpers[i] = (struct helper){self, i, &word};
		helper_start(&helpers[i], body);
	}
	await_helpers(self, n);
}

/* ---- sleeps and timers --------------------------------------------------------------------------- */

/* Notes a wake, and whether it kept to the period. *last_ns: of the one before; 0: none. */
static void wake_note(struct selftest_thread *thread, uint64_t *last_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), interval_ns = now_ns - *last_ns;

	if (*last_ns)
		thread->uneven += interval_ns < SELFTEST_PERIOD_NS / 10 * 9 ||
				  interval_ns > SELFTEST_PERIOD_NS / 10 * 11;
	*last_ns = now_ns;
	thread->count++;
}

/* On a grid: a wake that comes late does not move the ones after it. */
static void work_sleeper(struct selftest_self *self)
{
	uint64_t at_ns = clock_ns(CLOCK_MONOTONIC), last_ns = 0;

	for (uint64_t i = 0; i < SELFTEST_SLEEPS; i++) {
		struct timespec at;

		at_ns += SELFTEST_PERIOD_NS;
		at = (struct timespec){(time_t)(at_ns / SECOND_NS), (long)(at_ns % SECOND_NS)};
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		wake_note(&self->told->threads[0], &last_ns);
	}
}

static void work_timerfd(struct selftest_self *self)
{
	struct itimerspec time = {{0, (long)SELFTEST_PERIOD_NS}, {0, (long)SELFTEST_PERIOD_NS}};
	struct epoll_event event = {.events = EPOLLIN};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t expired, last_ns = 0;

	if (fd < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ||
	    timerfd_settime(fd, 0, &time, NULL))
		give_up();
	for (uint64_t i = 0; i < SELFTEST_SLEEPS; i++) {
		/* Not by libc's name: it has no call of its own on arm64. */
		if (syscall(SYS_epoll_pwait, epoll, &event, 1, -1, NULL, 0) != 1 ||
		    read(fd, &expired, sizeof(expired)) != sizeof(expired))
			give_up();
		wake_note(&self->told->threads[0], &last_ns);
	}
}

static void on_signal(int signo)
{
	(void)signo;
}

static void work_alarm(struct selftest_self *self)
{
	struct timeval us = {0, (suseconds_t)(SELFTEST_PERIOD_NS / 1000)};
	struct itimerval time = {us, us}, none = {};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t alarm, waiting;
	uint64_t last_ns = 0;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &waiting);
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &time, NULL))
		give_up();
	for (uint64_t i = 0; i < SELFTEST_SLEEPS; i++) {
		sigsuspend(&waiting);
		wake_note(&self->told->threads[0], &last_ns);
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

static void work_cancel(struct selftest_self *self)
{
	struct timespec one_ns = {0, 1};

	prctl(PR_SET_TIMERSLACK, 1);
	for (uint64_t i = 0; i < SELFTEST_CANCELS; i++) {
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &one_ns, NULL);
		self->told->threads[0].count++;
	}
}

/* ---- waking each other --------------------------------------------------------------------------- */

static void byte_to(int fd)
{
	if (write(fd, "x", 1) != 1)
		give_up();
}

static void byte_from(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		give_up();
}

static _Noreturn void pong(struct selftest_self *self, int from, int to)
{
	struct helper helper = {self, 1, NULL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	helper_begin(&helper);
	for (uint64_t i = 0; i < SELFTEST_ROUNDS; i++) {
		byte_from(from);
		byte_to(to);
	}
	helper_end(&helper, SELFTEST_ROUNDS);
}

static void work_ping(struct selftest_self *self)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		give_up();
	pin(0);
	self->told->threads[0].before = selftest_figures(); /* to change the CPU it may have slept */
	self->told->threads[1].born.wall_ns = clock_ns(CLOCK_MONOTONIC);
	pid = fork();
	if (pid < 0)
		give_up();
	if (!pid)
		pong(self, there[0], back[1]);
	for (uint64_t i = 0; i < SELFTEST_ROUNDS; i++) {
		byte_to(there[1]);
		byte_from(back[0]);
		self->told->threads[0].count++;
	}
	await_helpers(self, 1);
}

static long futex(atomic_uint *word, int operation, unsigned value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* Waits for its turn and gives it to the other, ROUNDS times. Returns the number of calls. */
static uint64_t take_turns(atomic_uint *turn, unsigned mine)
{
	uint64_t calls = 0;

	for (uint64_t i = 0; i < SELFTEST_ROUNDS; i++) {
		for (; atomic_load(turn) != mine; calls++)
			futex(turn, FUTEX_WAIT_PRIVATE, !mine);
		atomic_store(turn, !mine);
		futex(turn, FUTEX_WAKE_PRIVATE, 1);
		calls++;
	}
	return calls;
}

static void *hand_off_body(void *argument)
{
	const struct helper *helper = argument;

	helper_begin(helper);
	helper_end(helper, take_turns(helper->word, 1));
}

static void work_hand_off(struct selftest_self *self)
{
	atomic_uint turn = 0;
	struct helper helper = {self, 1, &turn};

	pin(0); /* the other inherits it */
	self->told->threads[0].before = selftest_figures();
	helper_start(&helper, hand_off_body);
	self->told->threads[0].count = take_turns(&turn, 0);
	await_helpers(self, 1);
}

/* ---- processes ----------------------------------------------------------------------------------- */

/* This program itself, which is there: --version ends with 0, an unknown option with SELFTEST_STATUS. */
static _Noreturn void spawned(uint64_t i)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execl("/proc/self/exe", "wakewhy", i % 2 ? "--unknown" : "--version", (char *)NULL);
	give_up();
}

static void work_spawner(struct selftest_self *self)
{
	for (uint64_t i = 0; i < SELFTEST_SPAWNS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			give_up();
		if (!pid)
			spawned(i);
		if (waitpid(pid, NULL, 0) != pid)
			give_up();
		self->told->threads[0].count++;
	}
}

/* ---- running ------------------------------------------------------------------------------------- */

static void work_spinner(struct selftest_self *self)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		self->told->threads[0].count++;
}

static void *yielder_body(void *argument)
{
	const struct helper *helper = argument;

	helper_begin(helper);
	pin(0);
	await_others(helper, 2);
	for (uint64_t i = 0; i < SELFTEST_YIELDS; i++)
		sched_yield();
	helper_end(helper, SELFTEST_YIELDS);
}

static void work_yielder(struct selftest_self *self)
{
	work_of_threads(self, 2, yielder_body);
}

static void *crowd_body(void *argument)
{
	const struct helper *helper = argument;
	uint64_t end_ns = helper->self->told->threads[0].before.wall_ns + CROWD_NS, n = 0;

	helper_begin(helper);
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		n++;
	helper_end(helper, n);
}

/* Until a thread of ours sleeps. */
static void await_asleep(pid_t tid)
{
	char path[64], text[128] = "", *state = NULL;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	do {
		sched_yield();
		if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0)
			give_up();
		state = strrchr(text, ')');
	} while (!state || state[2] != 'S');
	close(fd);
}

static void work_crowd(struct selftest_self *self)
{
	pin(0); /* the others inherit it */
	work_of_threads(self, 2, crowd_body);
	/* All their waiting is over then. */
	for (size_t i = 1; i <= 2; i++)
		await_asleep(self->told->threads[i].tid);
}

static void *caller_body(void *argument)
{
	const struct helper *helper = argument;

	helper_begin(helper);
	pin((unsigned)helper->i);
	for (uint64_t i = 0; i < SELFTEST_CALLS; i++)
		syscall(SYS_getppid);
	helper_end(helper, SELFTEST_CALLS);
}

static void work_caller(struct selftest_self *self)
{
	work_of_threads(self, SELFTEST_CALLERS, caller_body);
}

void selftest_work(struct selftest_self *self, enum selftest_id id)
{
	static void (*const works[SELFTEST_MAX])(struct selftest_self *self) = {
		[SELFTEST_SLEEPER] = work_sleeper,   [SELFTEST_PING] = work_ping,
		[SELFTEST_HAND_OFF] = work_hand_off, [SELFTEST_TIMERFD] = work_timerfd,
		[SELFTEST_ALARM] = work_alarm,	     [SELFTEST_SPAWNER] = work_spawner,
		[SELFTEST_CANCEL] = work_cancel,     [SELFTEST_YIELDER] = work_yielder,
		[SELFTEST_SPINNER] = work_spinner,   [SELFTEST_CROWD] = work_crowd,
		[SELFTEST_CALLER] = work_caller,
	};
	struct selftest_thread *thread = &self->told->threads[0];

	works[id](self);
	thread->last = selftest_figures();
	if (!thread->after.wall_ns)
		thread->after = thread->last;
}
