/* What the figures of the known subjects must be: what they were asked to do, and what the kernel says
 * of them by its own accounting. */
#include "cmd/selftest_checks.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "model/trust.h"

#define MS_NS 1e6

struct checker {
	struct selftest_result *result;
	const struct selftest_told *told;
	const struct run *run;
	const struct why *why;
	const char *subject;
};

/* ---- looking up -------------------------------------------------------------------------------- */

/* wakewhy's own account of a thread, NULL where it has none: its figures are NaN then. */
static const struct capture_thread *seen(const struct checker *c, size_t i)
{
	const struct selftest_thread *told = &c->told->threads[i];

	for (size_t j = 0; told->tid && j < c->run->threads.n; j++) {
		const struct capture_thread *thread = c->run->threads.items[j].seen;

		if (thread->t.pid == (uint32_t)told->pid && thread->t.tid == (uint32_t)told->tid)
			return thread;
	}
	return NULL;
}

static double calls_of(const struct capture_thread *thread, uint32_t nr)
{
	if (!thread)
		return NAN;
	for (size_t i = 0; i < thread->syscalls.n; i++)
		if (thread->syscalls.items[i].nr == nr)
			return (double)thread->syscalls.items[i].count;
	return 0;
}

/* A cause to look for; what is NULL may be anything. */
struct wanted {
	const char *rule, *mechanism;
	const struct capture_thread *waker;
};

static bool is_wanted(const struct why_cause *cause, const struct wanted *wanted)
{
	if (wanted->rule && strcmp(cause->rule->id, wanted->rule) != 0)
		return false;
	if (wanted->mechanism && strcmp(cause->mechanism, wanted->mechanism) != 0)
		return false;
	return !wanted->waker || (cause->waker && cause->waker->seen == wanted->waker);
}

/* Wakeups of a thread for that cause. The row with most of them is *ret_most, which may be NULL. */
static double wakeups_by(const struct checker *c, const struct capture_thread *thread,
			 const struct wanted *wanted, const struct why_cause **ret_most)
{
	const struct why_cause *most = NULL;
	double sum = 0;

	for (size_t i = 0; i < c->why->causes.n; i++) {
		const struct why_cause *cause = &c->why->causes.items[i];

		if (cause->thread->seen != thread || !is_wanted(cause, wanted))
			continue;
		sum += (double)cause->wakeups;
		if (!most || cause->wakeups > most->wakeups)
			most = cause;
	}
	if (ret_most)
		*ret_most = most;
	return thread ? sum : NAN;
}

/* ---- figures ----------------------------------------------------------------------------------- */

static void expect(const struct checker *c, const char *figure, double measured, double expected)
{
	selftest_add(c->result, c->subject, figure, SELFTEST_COUNT, measured, expected, expected);
}

static void expect_between(const struct checker *c, const char *figure, double measured, double low,
			   double high)
{
	selftest_add(c->result, c->subject, figure, SELFTEST_COUNT, measured, low, high);
}

static void expect_ns(const struct checker *c, const char *figure, double measured, double low,
		      double high)
{
	selftest_add(c->result, c->subject, figure, SELFTEST_NS, measured, low, high);
}

/* Wakeups of a thread's work for that cause: all its sleeps by the kernel's own count, but for those
 * whose waking the kernel did not trace. Those have a figure of their own, selftest_check_run(). */
static void expect_wakeups(const struct checker *c, const char *figure, size_t i,
			   const struct wanted *wanted, const struct why_cause **ret_most)
{
	const struct selftest_thread *told = &c->told->threads[i];
	double slept = (double)(told->after.voluntary - told->before.voluntary);
	double unknown = wakeups_by(c, seen(c, i), &(struct wanted){"unknown", NULL, NULL}, NULL);

	expect_between(c, figure, wakeups_by(c, seen(c, i), wanted, ret_most), slept - unknown, slept);
}

/* All wakeups of a thread: its last sleep has no end. */
static void expect_all_wakeups(const struct checker *c, const char *figure, size_t i)
{
	const struct selftest_thread *told = &c->told->threads[i];
	const struct capture_thread *thread = seen(c, i);

	expect(c, figure, thread ? (double)thread->t.count.wakeups : NAN,
	       (double)(told->last.voluntary - told->born.voluntary));
}

static void expect_period(const struct checker *c, const struct why_cause *cause)
{
	double period_ns = (double)SELFTEST_PERIOD_NS;

	/* On a machine so busy that there was none, none can be found. */
	if (c->told->threads[0].uneven > SELFTEST_SLEEPS / 10) {
		c->result->left_out++;
		return;
	}
	expect_ns(c, "period", cause && cause->period.known ? cause->period.period_ns : NAN,
		  period_ns * 0.99, period_ns * 1.01);
}

/* A thread that sleeps for one cause only, again and again at its period. */
static void check_periodic(const struct checker *c, const char *figure, const struct wanted *wanted)
{
	const struct why_cause *most;

	expect_wakeups(c, figure, 0, wanted, &most);
	expect_period(c, most);
	expect_all_wakeups(c, "wakeups in all", 0);
}

static void check_sleeper(const struct checker *c)
{
	check_periodic(c, "wakeups by its own timeout", &(struct wanted){"timeout", "sleep", NULL});
	expect(c, "calls of clock_nanosleep", calls_of(seen(c, 0), SYS_clock_nanosleep),
	       SELFTEST_SLEEPS);
}

static void check_timerfd(const struct checker *c)
{
	check_periodic(c, "wakeups by its timerfd",
		       &(struct wanted){"timer", "epoll", NULL});
	expect(c, "calls of epoll_pwait", calls_of(seen(c, 0), SYS_epoll_pwait), SELFTEST_SLEEPS);
	expect(c, "calls of read", calls_of(seen(c, 0), SYS_read), SELFTEST_SLEEPS);
}

static void check_alarm(const struct checker *c)
{
	check_periodic(c, "wakeups by setitimer's signal", &(struct wanted){"signal", NULL, NULL});
	expect(c, "calls of rt_sigsuspend", calls_of(seen(c, 0), SYS_rt_sigsuspend), SELFTEST_SLEEPS);
}

/* Two that wake each other. */
static void check_pair(const struct checker *c, const char *rule, const char *mechanism,
		       const char *const figures[2])
{
	const struct capture_thread *main = seen(c, 0), *other = seen(c, 1);

	/* NULL would be anybody. */
	if (!main || !other) {
		expect(c, "threads seen", (main ? 1 : 0) + (other ? 1 : 0), 2);
		return;
	}
	expect_wakeups(c, figures[0], 0, &(struct wanted){rule, mechanism, other}, NULL);
	expect_wakeups(c, figures[1], 1, &(struct wanted){rule, mechanism, main}, NULL);
	expect_all_wakeups(c, "wakeups in all", 0);
}

static void check_ping(const struct checker *c)
{
	static const char *const figures[2] = {"wakeups by the other's write",
					       "the other's, by its write"};
	static const char *const calls[2][2] = {{"calls of read", "calls of write"},
						{"the other's calls of read", "the other's of write"}};

	check_pair(c, "process", "write", figures);
	for (size_t i = 0; i < 2; i++) {
		expect(c, calls[i][0], calls_of(seen(c, i), SYS_read), SELFTEST_ROUNDS);
		expect(c, calls[i][1], calls_of(seen(c, i), SYS_write), SELFTEST_ROUNDS);
	}
}

static void check_hand_off(const struct checker *c)
{
	static const char *const figures[2] = {"by the other's futex wake",
					       "the other's, by its futex wake"};

	check_pair(c, "thread", "futex", figures);
	expect(c, "calls of futex", calls_of(seen(c, 0), SYS_futex), (double)c->told->threads[0].count);
	expect(c, "the other's calls of futex", calls_of(seen(c, 1), SYS_futex),
	       (double)c->told->threads[1].count);
}

/* ---- processes --------------------------------------------------------------------------------- */

static bool is_child(const struct checker *c, const struct run_process *process)
{
	return process->image->ppid == (uint32_t)c->told->threads[0].pid && process->image->exec_ns;
}

static double calls_of_children(const struct checker *c, uint32_t nr)
{
	double calls = 0;

	for (size_t i = 0; i < c->run->threads.n; i++) {
		const struct capture_thread *thread = c->run->threads.items[i].seen;

		if (thread->t.ppid == (uint32_t)c->told->threads[0].pid)
			calls += calls_of(thread, nr);
	}
	return calls;
}

/* It waits once for each child. What it slept besides was for a lock of the kernel's that a child held, and as
 * many children may have ended before they were waited for. */
static void expect_ends(const struct checker *c)
{
	const struct selftest_thread *told = &c->told->threads[0];
	const struct capture_thread *thread = seen(c, 0);
	double slept = (double)(told->after.voluntary - told->before.voluntary);
	double unknown = wakeups_by(c, thread, &(struct wanted){"unknown", NULL, NULL}, NULL);
	double besides = slept > SELFTEST_SPAWNS ? slept - SELFTEST_SPAWNS : 0;

	expect_between(c, "wakeups by a child's end",
		       wakeups_by(c, thread, &(struct wanted){"child_exit", NULL, NULL}, NULL),
		       slept - 2 * besides - unknown, slept - besides);
}

static void check_spawner(const struct checker *c)
{
	double executed = 0, well = 0, badly = 0;

	for (size_t i = 0; i < c->run->processes.n; i++) {
		const struct run_process *process = &c->run->processes.items[i];

		if (!is_child(c, process))
			continue;
		executed++;
		well += process->exit_ns && process->exit_status == 0;
		badly += process->exit_ns && process->exit_status == SELFTEST_STATUS << 8;
	}
	expect(c, "processes that executed", executed, SELFTEST_SPAWNS);
	expect(c, "ended with status 0", well, SELFTEST_SPAWNS / 2.0);
	expect(c, "ended with status 2", badly, SELFTEST_SPAWNS / 2.0);
	expect(c, "calls of execve", calls_of_children(c, SYS_execve), SELFTEST_SPAWNS);
	expect(c, "calls of exit_group", calls_of_children(c, SYS_exit_group), SELFTEST_SPAWNS);
	expect_ends(c);
	expect_all_wakeups(c, "wakeups in all", 0);
}

/* ---- no sleeps --------------------------------------------------------------------------------- */

static void check_cancel(const struct checker *c)
{
	const struct capture_thread *thread = seen(c, 0);

	expect(c, "calls of clock_nanosleep", calls_of(thread, SYS_clock_nanosleep), SELFTEST_CANCELS);
	expect_all_wakeups(c, "wakeups in all", 0);
	expect_between(c, "wakeups and cancelled sleeps",
		       thread ? (double)(thread->t.count.wakeups + thread->t.count.cancelled_sleeps) : NAN,
		       0, SELFTEST_CANCELS + 1); /* and the gate */
}

static void check_yielder(const struct checker *c)
{
	for (size_t i = 1; i <= 2; i++) {
		const struct selftest_thread *told = &c->told->threads[i];
		const struct capture_thread *thread = seen(c, i);

		expect(c, "calls of sched_yield", calls_of(thread, SYS_sched_yield), SELFTEST_YIELDS);
		expect_all_wakeups(c, "wakeups", i);
		/* On the way to its last sleep it may be preempted by whoever else is there. */
		expect_between(c, "preempted or yielded",
			       thread ? (double)thread->t.count.switches_preempted : NAN,
			       (double)told->after.preempted, (double)told->after.preempted + 12);
	}
}

/* What ours and the kernel's figure of a thread's time may differ by for its preemptions: the scheduler looks at its
 * clock some microseconds before it switches, or not again since the waking of who comes next. */
static double preempted_ns(const struct capture_thread *thread)
{
	return thread ? TRUST_PREEMPTED_NS * (double)thread->t.count.switches_preempted : 0;
}

static double on_cpu_ns(const struct capture_thread *thread)
{
	return thread ? (double)thread->t.count.oncpu_ns : NAN;
}

static void expect_cpu_ns(const struct checker *c, const struct capture_thread *thread, double cpu_ns)
{
	expect_ns(c, "CPU time", on_cpu_ns(thread), cpu_ns * 0.995 - MS_NS / 2 - preempted_ns(thread),
		  cpu_ns * 1.005 + MS_NS + preempted_ns(thread) + trust_allowance_ns(c->run->capture));
}

static void check_spinner(const struct checker *c)
{
	const struct selftest_thread *told = &c->told->threads[0];

	expect_cpu_ns(c, seen(c, 0), (double)(told->last.cpu_ns - told->born.cpu_ns));
	expect_all_wakeups(c, "wakeups in all", 0);
}

static void check_crowd(const struct checker *c)
{
	for (size_t i = 1; i <= 2; i++) {
		const struct selftest_thread *told = &c->told->threads[i];
		const struct capture_thread *thread = seen(c, i);
		uint64_t end_ns = c->told->threads[0].last.wall_ns;
		double cpu_ns = (double)(told->after.cpu_ns - told->before.cpu_ns);
		double least_ns = (double)(told->after.wall_ns - told->before.wall_ns) - cpu_ns;
		double most_ns = (double)(end_ns - told->born.wall_ns) - cpu_ns;
		double room_ns = MS_NS + preempted_ns(thread) + trust_allowance_ns(c->run->capture);

		/* It waits before its first run, and may once more on the way to its last sleep: the main
		 * thread has seen it asleep. */
		expect_ns(c, "wait for a CPU", thread ? (double)thread->t.count.runq_ns : NAN,
			  least_ns * 0.99 - room_ns, most_ns + room_ns);
		expect_cpu_ns(c, thread, cpu_ns);
		expect_all_wakeups(c, "wakeups", i);
	}
}

static void check_caller(const struct checker *c)
{
	for (size_t i = 1; i <= SELFTEST_CALLERS; i++)
		expect(c, "calls of getppid", calls_of(seen(c, i), SYS_getppid), SELFTEST_CALLS);
}

/* ---- all of it --------------------------------------------------------------------------------- */

void selftest_check_subject(struct selftest_result *result, enum selftest_id id,
			    const struct selftest_told *told, const struct run *run,
			    const struct why *why)
{
	static void (*const checks[SELFTEST_MAX])(const struct checker *c) = {
		[SELFTEST_SLEEPER] = check_sleeper,   [SELFTEST_PING] = check_ping,
		[SELFTEST_HAND_OFF] = check_hand_off, [SELFTEST_TIMERFD] = check_timerfd,
		[SELFTEST_ALARM] = check_alarm,	      [SELFTEST_SPAWNER] = check_spawner,
		[SELFTEST_CANCEL] = check_cancel,     [SELFTEST_YIELDER] = check_yielder,
		[SELFTEST_SPINNER] = check_spinner,   [SELFTEST_CROWD] = check_crowd,
		[SELFTEST_CALLER] = check_caller,
	};
	struct checker checker = {result, told, run, why, selftest_name(id)};

	checks[id](&checker);
}

void selftest_check_run(struct selftest_result *result, const struct run *run, const struct why *why)
{
	struct wk_counters by_cause = {};
	const struct capture *capture = run->capture;

	for (size_t i = 0; i < capture->charges.n; i++) {
		by_cause.wakeups += capture->charges.items[i].wakeups;
		by_cause.oncpu_ns += capture->charges.items[i].oncpu_ns;
	}
	selftest_add(result, "all", "wakeups of all causes", SELFTEST_COUNT, (double)by_cause.wakeups,
		     (double)run->totals.wakeups, (double)run->totals.wakeups);
	selftest_add(result, "all", "CPU time of all causes", SELFTEST_NS, (double)by_cause.oncpu_ns,
		     (double)run->totals.oncpu_ns, (double)run->totals.oncpu_ns);
	/* Each switch that was rebuilt shows that a task ran during which some kernels trace nothing; a timer
	 * that expired meanwhile may have woken a thread whose switch was traced. */
	selftest_add(result, "all", "wakeups without a waking seen", SELFTEST_COUNT,
		     (double)why->unknown_wakeups, 0, (double)capture->inferred_switches + 1);
	selftest_add(result, "all", "lost", SELFTEST_COUNT, (double)run->trust.lost, 0, 0);
	for (size_t i = 0; i < run->trust.reasons.n; i++)
		*vec_push(&result->doubts) = mem_strdup(run->trust.reasons.items[i]);
}
