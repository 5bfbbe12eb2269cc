/* For tests of bpf/account.h: the series and histograms it adds to, and a thread with the kernel's view of it. */
#ifndef WAKEWHY_TESTS_ACCOUNT_DRIVER_H
#define WAKEWHY_TESTS_ACCOUNT_DRIVER_H

#include <string.h>

#include "bpf/abi.h"

#define SERIES_SECONDS 128

/* One entry more than the window may have: a difference falls behind its last second. */
struct series {
	struct wk_second seconds[SERIES_SECONDS + 1];
	struct wk_spans spans;
};

static inline void series_add(void *series, __u64 second, __u64 oncpu_ns, __u64 wakeups,
			      __s64 full_delta)
{
	struct wk_second *s = ((struct series *)series)->seconds + second;

	assert_true(second <= SERIES_SECONDS);
	s->oncpu_ns += oncpu_ns;
	s->wakeups += wakeups;
	s->full_delta += full_delta;
}

static inline void span_add(void *series, int runq, __u32 bucket)
{
	struct wk_spans *spans = &((struct series *)series)->spans;

	assert_true(bucket < WK_SPAN_BUCKETS);
	(runq ? spans->runq : spans->oncpu)[bucket]++;
}

#include "bpf/account.h"

/* On-CPU nanoseconds of one second, the whole ones added up. */
static inline __u64 series_oncpu_ns(const struct series *series, size_t second)
{
	__s64 full = 0;

	for (size_t i = 0; i <= second; i++)
		full += series->seconds[i].full_delta;
	assert_true(full >= 0);
	return series->seconds[second].oncpu_ns + full * WK_SECOND_NS;
}

/* A thread as the probes see it, and as the kernel's own accounting does. */
struct subject {
	struct wk_thread t;
	struct account_view view; /* the window as an event sees it now */
	struct series series;
	struct wk_kernel kernel;
	__u64 in_ns; /* since when it is on a CPU, traced or not */
	__u32 cpu;   /* that it runs on */
};

/* In that state since then; the window is not open. The kernel's figures begin somewhere. */
static inline void subject_init(struct subject *s, enum wk_state state, __u64 since_ns)
{
	memset(s, 0, sizeof(*s));
	s->kernel = (struct wk_kernel){.oncpu_ns = 7777, .voluntary = 70, .preempted = 30};
	s->t.last = s->kernel;
	s->t.state = state;
	s->t.since_ns = since_ns;
	s->t.cpu = WK_CPU_NONE;
	s->in_ns = since_ns;
	s->view = (struct account_view){WK_NEVER, WK_NEVER, &s->series};
}

static inline void subject_window(struct subject *s, __u64 start_ns, __u64 end_ns)
{
	s->view.start_ns = start_ns;
	s->view.end_ns = end_ns;
}

/* As sched.bpf.c does. */
static inline void subject_waking(struct subject *s, __u64 at_ns)
{
	if (s->t.wakings)
		account_waking_again(&s->t, at_ns, &s->view);
	account_waking(&s->t, at_ns);
}

/* It gets a CPU; no probe sees it. */
static inline void subject_in_untraced(struct subject *s, __u64 at_ns)
{
	s->in_ns = at_ns;
}

/* As sched.bpf.c does: a switch-out that was missed comes first. */
static inline void subject_in_on(struct subject *s, __u64 at_ns, __u32 cpu, int from_idle)
{
	if (s->t.state == WK_STATE_RUNNING)
		account_missed_out(&s->t, at_ns, &s->kernel, &s->view);
	account_switch_in(&s->t, at_ns, cpu, from_idle, &s->view);
	s->in_ns = at_ns;
	s->cpu = cpu;
}

static inline void subject_in(struct subject *s, __u64 at_ns)
{
	subject_in_on(s, at_ns, 0, 0);
}

/* It leaves the CPU; no probe sees it. */
static inline void subject_out_untraced(struct subject *s, __u64 at_ns, enum wk_state to)
{
	s->kernel.oncpu_ns += at_ns - s->in_ns;
	if (to == WK_STATE_READY)
		s->kernel.preempted++;
	else
		s->kernel.voluntary++;
}

/* As sched.bpf.c does. Returns whether a switch-in had been missed. */
static inline int subject_out(struct subject *s, __u64 at_ns, enum wk_state to)
{
	int missed;

	subject_out_untraced(s, at_ns, to);
	missed = s->t.state != WK_STATE_RUNNING;
	if (missed)
		account_missed_in(&s->t, at_ns, s->cpu, &s->kernel, &s->view);
	account_switch_out(&s->t, at_ns, to, &s->kernel, &s->view);
	return missed;
}

static inline void subject_settle(struct subject *s)
{
	account_settle(&s->t, &s->view);
}

#endif
