/* The table of causes: what the evidence of a wake means, in order of how much it says. */
#include "model/cause.h"

#include <string.h>

#include "base/units.h"

/* Vectors of soft interrupts, as include/linux/interrupt.h numbers them. */
enum {
	SOFTIRQ_HI,
	SOFTIRQ_TIMER,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_POLL,
	SOFTIRQ_TASKLET,
	SOFTIRQ_SCHED,
	SOFTIRQ_HRTIMER,
	SOFTIRQ_RCU
};

static bool one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static uint32_t context(const struct cause_evidence *e)
{
	return e->cause->key.context;
}

static bool by_task(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_THREAD || context(e) == WK_CONTEXT_PROCESS;
}

/* ---- the words for calls --------------------------------------------------------------------- */

/* Calls that go by more than one number read as the one that people know. */
static const struct {
	const char *call;
	const char *family;
} call_families[] = {
	{"epoll_wait", "epoll"},
	{"epoll_pwait", "epoll"},
	{"epoll_pwait2", "epoll"},
	{"poll", "poll"},
	{"ppoll", "poll"},
	{"select", "select"},
	{"pselect6", "select"},
	{"nanosleep", "sleep"},
	{"clock_nanosleep", "sleep"},
	{"futex_wait", "futex"},
	{"futex_waitv", "futex"},
	{"futex_wake", "futex"},
	{"rt_sigtimedwait", "sigwait"},
	{"io_uring_enter", "io_uring"},
	{"wait4", "wait"},
	{"waitid", "wait"},
	{"read", "read"},
	{"readv", "read"},
	{"pread64", "read"},
	{"write", "write"},
	{"writev", "write"},
	{"pwrite64", "write"},
	{"sendto", "send"},
	{"sendmsg", "send"},
	{"sendmmsg", "send"},
	{"recvfrom", "recv"},
	{"recvmsg", "recv"},
	{"recvmmsg", "recv"},
	{"exit_group", "exit"},
	{"tgkill", "signal"},
	{"tkill", "signal"},
	{"kill", "signal"},
	{"rt_sigqueueinfo", "signal"},
	{"rt_tgsigqueueinfo", "signal"},
	{"pidfd_send_signal", "signal"},
};

/* The family of a call; the call itself where it has none, "" for none. Static or borrowed. */
static const char *family(const char *call)
{
	for (size_t i = 0; i < sizeof(call_families) / sizeof(call_families[0]); i++)
		if (!strcmp(call, call_families[i].call))
			return call_families[i].family;
	return call;
}

static void add_slept_in(struct strbuf *text, const struct cause_evidence *e)
{
	if (e->sleep_call[0])
		strbuf_printf(text, " in %s", e->sleep_call);
	else if (e->cause->key.uninterruptible)
		strbuf_add(text, " in a page fault");
}

/* "bun", "nginx(812)": a followed thread by its label, another process by name and id. */
static void add_waker(struct strbuf *text, const struct cause_evidence *e)
{
	if (e->waker[0])
		strbuf_add(text, e->waker);
	else if (context(e) == WK_CONTEXT_THREAD)
		strbuf_add(text, "a thread that has ended");
	else
		strbuf_printf(text, "%s(%u)", e->name[0] ? e->name : "?", e->cause->key.waker);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static const char *mechanism_none(const struct cause_evidence *e)
{
	(void)e;
	return "";
}

static const char *mechanism_sleep(const struct cause_evidence *e)
{
	return family(e->sleep_call);
}

static const char *mechanism_wake(const struct cause_evidence *e)
{
	return family(e->wake_call);
}

static bool is_birth(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_BIRTH;
}

static void describe_birth(struct strbuf *text, const struct cause_evidence *e)
{
	if (e->waker[0])
		strbuf_printf(text, "started by %s", e->waker);
	else
		strbuf_add(text, "its own start");
}

static bool is_before(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_BEFORE;
}

static void describe_before(struct strbuf *text, const struct cause_evidence *e)
{
	(void)e;
	strbuf_add(text, "ran already when the window opened");
}

static bool is_timer_signal(const struct cause_evidence *e)
{
	static const char *const functions[] = {"it_real_fn", "posix_timer_fn", NULL};

	return context(e) == WK_CONTEXT_HRTIMER && one_of(e->name, functions);
}

static void describe_timer_signal(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_add(text, !strcmp(e->name, "it_real_fn") ? "signal of its setitimer timer"
							: "signal of a timer_create timer");
	add_slept_in(text, e);
}

static const char *mechanism_timer_signal(const struct cause_evidence *e)
{
	return !strcmp(e->name, "it_real_fn") ? "setitimer" : "timer_create";
}

static bool is_timeout(const struct cause_evidence *e)
{
	static const char *const functions[] = {"hrtimer_wakeup", "io_cqring_timer_wakeup",
						"io_cqring_min_timer_wakeup", NULL};

	return context(e) == WK_CONTEXT_EXPIRED ||
	       (context(e) == WK_CONTEXT_HRTIMER && one_of(e->name, functions)) ||
	       (context(e) == WK_CONTEXT_TIMER && !strcmp(e->name, "process_timeout"));
}

static void describe_timeout(struct strbuf *text, const struct cause_evidence *e)
{
	const char *call = family(e->sleep_call);
	char asked[UNITS_TEXT_BYTES] = "";

	if (e->timeout_ns)
		units_format_duration_plain(asked, (double)e->timeout_ns);
	if (!strcmp(call, "sleep")) {
		strbuf_printf(text, "its own sleep%s%s", asked[0] ? " of " : "", asked);
		return;
	}
	strbuf_printf(text, "its own %s%s%s%stimeout", asked, asked[0] ? " " : "", call,
		      call[0] ? " " : "");
}

static bool is_timerfd(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_HRTIMER && !strncmp(e->name, "timerfd_", 8);
}

static void describe_timerfd(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_add(text, "timerfd");
	if (e->sleep_call[0])
		strbuf_printf(text, " through %s", family(e->sleep_call));
}

static bool is_kernel_timer(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_HRTIMER || context(e) == WK_CONTEXT_TIMER;
}

static void describe_kernel_timer(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_printf(text, "kernel timer %s", e->name[0] ? e->name : "without a name");
	add_slept_in(text, e);
}

static bool is_network(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_SOFTIRQ &&
	       (e->cause->key.waker == SOFTIRQ_NET_RX || e->cause->key.waker == SOFTIRQ_NET_TX);
}

static void describe_network(struct strbuf *text, const struct cause_evidence *e)
{
	bool rx = e->cause->key.waker == SOFTIRQ_NET_RX;

	strbuf_printf(text, "%s (softirq %s)", rx ? "packet arrived" : "packet sent",
		      rx ? "NET_RX" : "NET_TX");
	add_slept_in(text, e);
}

/* Names of interrupts of disks, as their drivers give them; virtio's block devices call theirs
 * virtioN-req.Q. */
static bool name_is_disk(const char *name)
{
	static const char *const parts[] = {"nvme",    "ahci",	  "ata_",  "-req.", "scsi",
					    "megasas", "mpt3sas", "blkif", "mmc",   NULL};

	for (size_t i = 0; parts[i]; i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static bool is_disk(const struct cause_evidence *e)
{
	if (context(e) == WK_CONTEXT_SOFTIRQ)
		return e->cause->key.waker == SOFTIRQ_BLOCK || e->cause->key.waker == SOFTIRQ_POLL;
	return context(e) == WK_CONTEXT_IRQ && name_is_disk(e->name);
}

static void describe_disk(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_add(text, "disk");
	if (context(e) == WK_CONTEXT_IRQ)
		strbuf_printf(text, " (interrupt %s)", e->name);
	else
		strbuf_add(text, " (softirq BLOCK)");
	add_slept_in(text, e);
}

static bool is_device(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_IRQ ||
	       (context(e) == WK_CONTEXT_SOFTIRQ &&
		(e->cause->key.waker == SOFTIRQ_TASKLET || e->cause->key.waker == SOFTIRQ_HI));
}

static void describe_device(struct strbuf *text, const struct cause_evidence *e)
{
	if (context(e) == WK_CONTEXT_IRQ)
		strbuf_printf(text, "interrupt %u (%s)", e->cause->key.waker,
			      e->name[0] ? e->name : "?");
	else
		strbuf_add(text, "device (softirq TASKLET)");
	add_slept_in(text, e);
}

static bool is_child_exit(const struct cause_evidence *e)
{
	return by_task(e) && !strcmp(family(e->wake_call), "exit") && !e->same_process &&
	       (!strcmp(family(e->sleep_call), "wait") || !strcmp(e->sleep_call, "rt_sigsuspend") ||
		!strcmp(e->sleep_call, "rt_sigtimedwait") || !strcmp(e->sleep_call, "vfork") ||
		!strcmp(e->sleep_call, "pause"));
}

static void describe_child_exit(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_add(text, "exit of its child ");
	add_waker(text, e);
}

static bool is_signal(const struct cause_evidence *e)
{
	return by_task(e) && !strcmp(family(e->wake_call), "signal");
}

static void describe_signal(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_printf(text, "signal (%s) by ", e->wake_call);
	add_waker(text, e);
	add_slept_in(text, e);
}

/* What the waker did, as a noun: "futex wake", "write", "end". */
static void add_deed(struct strbuf *text, const struct cause_evidence *e)
{
	const char *deed = family(e->wake_call);

	if (!strcmp(deed, "futex"))
		strbuf_add(text, "futex wake");
	else if (!strcmp(deed, "exit"))
		strbuf_add(text, "end");
	else if (!deed[0])
		strbuf_add(text, "page fault");
	else
		strbuf_add(text, deed);
}

static bool is_thread(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_THREAD && (e->same_process || !e->waker[0]);
}

static bool is_process(const struct cause_evidence *e)
{
	return by_task(e);
}

static void describe_task(struct strbuf *text, const struct cause_evidence *e)
{
	add_deed(text, e);
	strbuf_add(text, !strcmp(family(e->wake_call), "exit") ? " of " : " by ");
	add_waker(text, e);
	if (e->cause->key.uninterruptible)
		strbuf_add(text, ", a kernel lock");
	if (strcmp(family(e->sleep_call), family(e->wake_call)) != 0)
		add_slept_in(text, e);
}

static bool is_kernel(const struct cause_evidence *e)
{
	return context(e) == WK_CONTEXT_KERNEL || context(e) == WK_CONTEXT_SOFTIRQ;
}

static void describe_kernel(struct strbuf *text, const struct cause_evidence *e)
{
	static const char *const vectors[] = {"HI",   "TIMER",	 "NET_TX", "NET_RX",  "BLOCK",
					      "POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	uint32_t vector = e->cause->key.waker;

	if (context(e) == WK_CONTEXT_KERNEL)
		strbuf_printf(text, "kernel thread %s", e->name[0] ? e->name : "?");
	else
		strbuf_printf(text, "kernel (softirq %s)",
			      vector < sizeof(vectors) / sizeof(vectors[0]) ? vectors[vector]
									    : "?");
	add_slept_in(text, e);
}

static bool is_anything(const struct cause_evidence *e)
{
	(void)e;
	return true;
}

static void describe_unknown(struct strbuf *text, const struct cause_evidence *e)
{
	strbuf_add(text, "unknown: ");
	if (context(e) == WK_CONTEXT_NONE)
		strbuf_add(text, "no waking was seen");
	else
		strbuf_printf(text, "context %u, waker %u", context(e), e->cause->key.waker);
	add_slept_in(text, e);
}

const struct cause_rule cause_rules[] = {
	{"start", "started by bun", "the first run of a thread; its creator by fork or clone",
	 false, is_birth, describe_birth, mechanism_none},
	{"before", "ran already when the window opened", "no switch-in was seen yet", false,
	 is_before, describe_before, mechanism_none},
	{"signal", "signal of its setitimer timer in pause",
	 "hrtimer it_real_fn or posix_timer_fn expiring on this CPU", true, is_timer_signal,
	 describe_timer_signal, mechanism_timer_signal},
	{"timeout", "its own 100 ms futex timeout",
	 "hrtimer hrtimer_wakeup or timer process_timeout expiring; the call and the timeout it "
	 "had "
	 "asked for",
	 true, is_timeout, describe_timeout, mechanism_sleep},
	{"timer", "timerfd through epoll", "hrtimer timerfd_tmrproc expiring; the call slept in",
	 true, is_timerfd, describe_timerfd, mechanism_sleep},
	{"timer", "kernel timer tcp_write_timer in recvfrom",
	 "another timer expiring, by its function", true, is_kernel_timer, describe_kernel_timer,
	 mechanism_sleep},
	{"network", "packet arrived (softirq NET_RX) in epoll_wait",
	 "soft interrupt NET_RX or NET_TX", true, is_network, describe_network, mechanism_sleep},
	{"disk", "disk (interrupt nvme0q1) in pread64",
	 "soft interrupt BLOCK, or the interrupt of a disk by its name", true, is_disk,
	 describe_disk, mechanism_sleep},
	{"device", "interrupt 4 (ttyS0) in read", "hard interrupt by number and name; tasklet",
	 true, is_device, describe_device, mechanism_sleep},
	{"child_exit", "exit of its child cc1(812)",
	 "another process in exit or exit_group; the thread in wait4, waitid or a wait for a "
	 "signal",
	 true, is_child_exit, describe_child_exit, mechanism_sleep},
	{"signal", "signal (tgkill) by bun", "a task in kill, tgkill, pidfd_send_signal …", true,
	 is_signal, describe_signal, mechanism_wake},
	{"thread", "futex wake by HeapHelper",
	 "a thread of the same process and the call it was in", true, is_thread, describe_task,
	 mechanism_wake},
	{"process", "write by nginx(812) in epoll_wait",
	 "a thread of another process and the call it was in", true, is_process, describe_task,
	 mechanism_wake},
	{"kernel", "kernel thread kworker/0:1 in fsync",
	 "a kernel thread by its name, or another soft interrupt", true, is_kernel, describe_kernel,
	 mechanism_sleep},
	{"unknown", "unknown: no waking was seen in futex", "what there is of it", true,
	 is_anything, describe_unknown, mechanism_none},
	{NULL},
};

const struct cause_rule *cause_rule_of(const struct cause_evidence *e)
{
	const struct cause_rule *rule = cause_rules;

	while (!rule->matches(e))
		rule++;
	return rule;
}
