/* The table of causes: each row is reached by its evidence, reads as it should, and nothing falls
 * through. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/cause.h"

/* A wake, as short as it can be told. */
struct wake {
	const char *id, *text, *mechanism; /* expected */
	enum wk_context context;
	uint32_t waker;
	const char *name, *sleep_call, *wake_call;
	uint64_t timeout_ns;
	const char *waker_label;
	bool same_process;
	bool uninterruptible;
};

#define HR(name_)	   .context = WK_CONTEXT_HRTIMER, .name = (name_)
#define SOFTIRQ(vector)	   .context = WK_CONTEXT_SOFTIRQ, .waker = (vector)
#define IRQ(number, name_) .context = WK_CONTEXT_IRQ, .waker = (number), .name = (name_)
#define THREAD(label)	   .context = WK_CONTEXT_THREAD, .waker_label = (label), .same_process = true
#define CHILD(label)	   .context = WK_CONTEXT_THREAD, .waker_label = (label)
#define PROCESS(comm, pid) .context = WK_CONTEXT_PROCESS, .waker = (pid), .name = (comm)

static const struct wake wakes[] = {
	{"start", "its own start", "", .context = WK_CONTEXT_BIRTH},
	{"start", "started by bun", "", .context = WK_CONTEXT_BIRTH, .waker_label = "bun"},
	{"before", "ran already when the window opened", "", .context = WK_CONTEXT_BEFORE},

	/* timers */
	{"signal", "signal of its setitimer timer in pause", "setitimer", HR("it_real_fn"),
	 .sleep_call = "pause"},
	{"signal", "signal of a timer_create timer in rt_sigsuspend", "timer_create",
	 HR("posix_timer_fn"), .sleep_call = "rt_sigsuspend"},
	{"timeout", "its own 100 ms futex timeout", "futex", HR("hrtimer_wakeup"),
	 .sleep_call = "futex", .timeout_ns = 100000000},
	{"timeout", "its own futex timeout", "futex", HR("hrtimer_wakeup"), .sleep_call = "futex"},
	{"timeout", "its own 1.5 s epoll timeout", "epoll", HR("hrtimer_wakeup"),
	 .sleep_call = "epoll_pwait2", .timeout_ns = 1500000000},
	{"timeout", "its own 200 ms poll timeout", "poll", HR("hrtimer_wakeup"),
	 .sleep_call = "ppoll", .timeout_ns = 200000000},
	{"timeout", "its own sleep of 10 ms", "sleep", HR("hrtimer_wakeup"),
	 .sleep_call = "clock_nanosleep", .timeout_ns = 10000000},
	{"timeout", "its own sleep", "sleep", HR("hrtimer_wakeup"), .sleep_call = "nanosleep"},
	{"timeout", "its own recv timeout", "recv", .context = WK_CONTEXT_TIMER,
	 .name = "process_timeout", .sleep_call = "recvfrom"},
	{"timeout", "its own 50 ms io_uring timeout", "io_uring", HR("io_cqring_timer_wakeup"),
	 .sleep_call = "io_uring_enter", .timeout_ns = 50000000},
	{"timeout", "its own 5 ms select timeout", "select", .context = WK_CONTEXT_EXPIRED,
	 .sleep_call = "pselect6", .timeout_ns = 5000000},
	{"timeout", "its own timeout", "", HR("hrtimer_wakeup")},
	{"timer", "timerfd through epoll", "epoll", HR("timerfd_tmrproc"),
	 .sleep_call = "epoll_wait"},
	{"timer", "timerfd through read", "read", HR("timerfd_tmrproc"), .sleep_call = "read"},
	{"timer", "timerfd through poll", "poll", HR("timerfd_alarmproc"), .sleep_call = "poll"},
	{"timer", "kernel timer tcp_write_timer in recvfrom", "recv", .context = WK_CONTEXT_TIMER,
	 .name = "tcp_write_timer", .sleep_call = "recvfrom"},
	{"timer", "kernel timer without a name", "", HR("")},

	/* devices */
	{"network", "packet arrived (softirq NET_RX) in epoll_wait", "epoll", SOFTIRQ(3),
	 .sleep_call = "epoll_wait"},
	{"network", "packet sent (softirq NET_TX) in sendto", "send", SOFTIRQ(2),
	 .sleep_call = "sendto"},
	{"disk", "disk (softirq BLOCK) in pread64", "read", SOFTIRQ(4), .sleep_call = "pread64",
	 .uninterruptible = true},
	{"disk", "disk (softirq BLOCK) in a page fault", "", SOFTIRQ(4), .uninterruptible = true},
	{"disk", "disk (interrupt nvme0q1) in pread64", "read", IRQ(31, "nvme0q1"),
	 .sleep_call = "pread64"},
	{"disk", "disk (interrupt virtio1-req.0) in read", "read", IRQ(36, "virtio1-req.0"),
	 .sleep_call = "read"},
	{"disk", "disk (interrupt ahci[0000:00:1f) in read", "read", IRQ(36, "ahci[0000:00:1f"),
	 .sleep_call = "read"},
	{"device", "interrupt 4 (ttyS0) in read", "read", IRQ(4, "ttyS0"), .sleep_call = "read"},
	{"device", "interrupt 38 (virtio2-input.0) in poll", "poll", IRQ(38, "virtio2-input.0"),
	 .sleep_call = "poll"},
	{"device", "interrupt 4 (?)", "", IRQ(4, "")},
	{"device", "device (softirq TASKLET) in ioctl", "ioctl", SOFTIRQ(6), .sleep_call = "ioctl"},

	/* tasks */
	{"child_exit", "exit of its child sh", "wait", CHILD("sh"), .sleep_call = "wait4",
	 .wake_call = "exit_group"},
	{"child_exit", "exit of its child cc1(812)", "wait", PROCESS("cc1", 812),
	 .sleep_call = "waitid", .wake_call = "exit"},
	{"child_exit", "exit of its child sh", "rt_sigsuspend", CHILD("sh"),
	 .sleep_call = "rt_sigsuspend", .wake_call = "exit_group"},
	{"signal", "signal (tgkill) by bun in futex", "signal", THREAD("bun"),
	 .sleep_call = "futex", .wake_call = "tgkill"},
	{"signal", "signal (kill) by sh(7) in pause", "signal", PROCESS("sh", 7),
	 .sleep_call = "pause", .wake_call = "kill"},
	{"thread", "futex wake by HeapHelper", "futex", THREAD("HeapHelper"), .sleep_call = "futex",
	 .wake_call = "futex"},
	{"thread", "write by bun#2 in epoll_wait", "write", THREAD("bun#2"),
	 .sleep_call = "epoll_wait", .wake_call = "write"},
	/* A thread that ends is nobody's child, whatever the other waits for. */
	{"thread", "end of worker in wait4", "exit", THREAD("worker"), .sleep_call = "wait4",
	 .wake_call = "exit"},
	{"thread", "end of worker in futex", "exit", THREAD("worker"), .sleep_call = "futex",
	 .wake_call = "exit"},
	{"thread", "munmap by worker, a kernel lock in mmap", "munmap", THREAD("worker"),
	 .sleep_call = "mmap", .wake_call = "munmap", .uninterruptible = true},
	{"thread", "futex wake by a thread that has ended", "futex", .context = WK_CONTEXT_THREAD,
	 .waker = 99, .sleep_call = "futex", .wake_call = "futex"},
	{"process", "write by nginx(812) in epoll_wait", "write", PROCESS("nginx", 812),
	 .sleep_call = "epoll_wait", .wake_call = "write"},
	{"process", "send by node in recvfrom", "send", CHILD("node"), .sleep_call = "recvfrom",
	 .wake_call = "sendto"},
	{"process", "page fault by sh(7) in read", "", PROCESS("sh", 7), .sleep_call = "read"},
	{"process", "write by ?(7) in read", "write", PROCESS("", 7), .sleep_call = "read",
	 .wake_call = "write"},
	{"kernel", "kernel thread kworker/0:1 in fsync", "fsync", .context = WK_CONTEXT_KERNEL,
	 .name = "kworker/0:1", .sleep_call = "fsync"},
	{"kernel", "kernel (softirq RCU) in membarrier", "membarrier", SOFTIRQ(9),
	 .sleep_call = "membarrier"},
	{"kernel", "kernel (softirq ?)", "", SOFTIRQ(77)},

	/* what nothing explains, with its evidence */
	{"unknown", "unknown: no waking was seen in futex", "", .context = WK_CONTEXT_NONE,
	 .sleep_call = "futex"},
	{"unknown", "unknown: context 200, waker 5", "", .context = 200, .waker = 5},
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static struct cause_evidence evidence_of(const struct wake *wake, struct wk_cause *ret_cause)
{
	*ret_cause = (struct wk_cause){.key = {.context = (uint8_t)wake->context,
					       .waker = wake->waker,
					       .uninterruptible = wake->uninterruptible}};
	return (struct cause_evidence){
		.cause = ret_cause,
		.sleep_call = or_empty(wake->sleep_call),
		.wake_call = or_empty(wake->wake_call),
		.name = or_empty(wake->name),
		.waker = or_empty(wake->waker_label),
		.same_process = wake->same_process,
		.timeout_ns = wake->timeout_ns,
	};
}

static size_t rules(void)
{
	size_t n = 0;

	while (cause_rules[n].id)
		n++;
	return n;
}

static void each_wake_is_named_and_each_row_is_reached(void **state)
{
	bool *reached = calloc(rules(), sizeof(bool));

	(void)state;
	for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
		struct wk_cause cause;
		struct cause_evidence e = evidence_of(&wakes[i], &cause);
		const struct cause_rule *rule = cause_rule_of(&e);
		struct strbuf words = {0};

		rule->describe(&words, &e);
		assert_string_equal(words.text, wakes[i].text);
		assert_string_equal(rule->id, wakes[i].id);
		assert_string_equal(rule->mechanism(&e), wakes[i].mechanism);
		reached[rule - cause_rules] = true;
		free(words.text);
	}
	for (size_t i = 0; i < rules(); i++)
		if (!reached[i])
			fail_msg("row %zu (%s) is reached by no evidence", i, cause_rules[i].id);
	free(reached);
}

static void the_last_row_takes_anything(void **state)
{
	const struct cause_rule *last = &cause_rules[rules() - 1];
	struct wk_cause cause = {0};
	struct cause_evidence e = {&cause, "", "", "", "", false, 0};

	(void)state;
	assert_string_equal(last->id, "unknown");
	for (unsigned int context = 0; context < 256; context++) {
		cause.key.context = (uint8_t)context;
		assert_true(last->matches(&e));
	}
}

/* No evidence without words, whatever a file says. */
static void any_evidence_has_words(void **state)
{
	static const char *const names[] = {"", "hrtimer_wakeup", "it_real_fn", "%s%n", "nvme"};
	static const char *const calls[] = {"", "futex", "exit", "kill", "wait4", "479"};
	struct wk_cause cause = {0};

	(void)state;
	for (unsigned int i = 0; i < 256 * 5 * 6 * 6; i++) {
		struct cause_evidence e = {
			.cause = &cause,
			.name = names[i / 256 % 5],
			.sleep_call = calls[i / 256 / 5 % 6],
			.wake_call = calls[i / 256 / 5 / 6],
			.waker = i & 1 ? "bun#2" : "",
			.same_process = i & 2,
			.timeout_ns = i & 4 ? UINT64_MAX : 0,
		};
		const struct cause_rule *rule;
		struct strbuf words = {0};

		cause.key.context = (uint8_t)i;
		cause.key.waker = i & 8 ? UINT32_MAX : i >> 4 & 15;
		cause.key.uninterruptible = i & 16;
		rule = cause_rule_of(&e);
		rule->describe(&words, &e);
		assert_true(words.text && words.n > 3);
		assert_non_null(rule->mechanism(&e));
		free(words.text);
	}
}

static void rows_say_what_list_causes_prints(void **state)
{
	(void)state;
	for (size_t i = 0; i < rules(); i++) {
		assert_true(cause_rules[i].id[0]);
		assert_true(cause_rules[i].example[0]);
		assert_true(cause_rules[i].evidence[0]);
		assert_int_equal(cause_rules[i].is_wake,
				 strcmp(cause_rules[i].id, "start") != 0 &&
					 strcmp(cause_rules[i].id, "before") != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wake_is_named_and_each_row_is_reached),
		cmocka_unit_test(the_last_row_takes_anything),
		cmocka_unit_test(any_evidence_has_words),
		cmocka_unit_test(rows_say_what_list_causes_prints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
