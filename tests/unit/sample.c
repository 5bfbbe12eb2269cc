/* A plausible recording built by hand. The figures are invented; they agree with each other. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

#define START_NS 100000000000ULL

void sample_tool(struct recording *recording)
{
	static const char *const command[] = {"wakewhy", "idle", "-d", "20", "zig=bun", "rust=bun"};

	recording->tool.version = mem_strdup("0.1.0");
	recording->tool.kernel = mem_strdup("6.18.0");
	recording->tool.arch = mem_strdup("x86-64");
	recording->tool.started = mem_strdup("2025-03-09T17:04:05Z");
	recording->tool.cpus = 2;
	for (size_t i = 0; i < sizeof(command) / sizeof(command[0]); i++)
		*vec_push(&recording->tool.command) = mem_strdup(command[i]);
}

static void sample_add_probe(struct capture *capture, const char *name, uint64_t runs, uint64_t ns)
{
	struct capture_probe *probe = vec_push(&capture->probes);

	probe->name = mem_strdup(name);
	probe->runs = runs;
	probe->ns = ns;
}

struct capture *sample_add_run(struct recording *recording, const char *label, const char *workload,
			       const char *variant, uint32_t repeat)
{
	struct capture *capture = vec_push(&recording->runs);

	capture->label = mem_strdup(label);
	capture->workload = mem_strdup(workload);
	capture->variant = variant ? mem_strdup(variant) : NULL;
	capture->repeat = repeat;
	capture->start_ns = START_NS + repeat * 100 * WK_SECOND_NS;
	capture->end_ns = capture->start_ns + SAMPLE_WINDOW_NS;
	capture->exit_status = -1;
	capture->syscalls_counted = true;
	capture->probes_timed = true;
	sample_add_probe(capture, "sched_switch", 4200, 2100000);
	sample_add_probe(capture, "sys_enter", 90000, 1800000);
	capture->observer_wakeups = 2;
	capture->observer_oncpu_ns = 310000;
	capture->noise = (struct capture_noise){
		.other_cpu_share = 0.0123,
		.steal_share = 0.001,
		.cpus_online = 2,
		.cpus_used = 2,
		.governor = mem_strdup(""),
	};
	return capture;
}

struct capture_thread *sample_add_thread(struct capture *capture, uint32_t tid, const char *comm,
					 uint64_t wakeups, uint64_t oncpu_ns)
{
	struct capture_thread *thread = vec_push(&capture->threads);
	struct wk_thread *t = &thread->t;
	size_t n = strlen(comm);

	t->pid = SAMPLE_PID;
	t->tid = t->host_tid = tid;
	t->serial = (uint32_t)capture->threads.n;
	t->ppid = 1;
	t->state = WK_STATE_BLOCKED;
	t->flags = WK_FLAG_BASED | WK_FLAG_FOLLOW | (tid == SAMPLE_PID ? WK_FLAG_LEADER : 0);
	t->start_ns = capture->start_ns - 3 * WK_SECOND_NS + tid - SAMPLE_PID;
	memcpy(t->comm, comm, n < WK_COMM_BYTES - 1 ? n : WK_COMM_BYTES - 1);
	t->count.wakeups = wakeups;
	t->count.oncpu_ns = oncpu_ns;
	t->count.runq_waits = wakeups;
	t->count.runq_ns = wakeups * 4100;
	t->count.runq_max_ns = wakeups ? 61000 : 0;
	t->count.switches_voluntary = wakeups;
	t->count.idle_exits = wakeups / 2;
	t->count.active_seconds = wakeups < 20 ? wakeups : 20;
	t->base = (struct wk_kernel){5000000, 70, 3};
	t->last = (struct wk_kernel){5000000 + oncpu_ns - oncpu_ns / 1000, 70 + wakeups, 3};
	return thread;
}

void sample_add_syscall(struct capture_thread *thread, uint32_t nr, uint64_t count)
{
	struct capture_syscall *call = vec_push(&thread->syscalls);

	call->nr = nr;
	call->count = count;
	thread->t.count.syscalls += count;
}

/* ---- why ------------------------------------------------------------------------------------- */

struct wk_cause *sample_add_cause(struct capture *capture, uint32_t serial, enum wk_context context,
				  uint64_t wakeups, uint64_t oncpu_ns, uint32_t root)
{
	struct capture_cause *cause = vec_push(&capture->causes);
	struct wk_charge *charge = vec_push(&capture->charges);

	capture->causes_counted = true;
	cause->number = (uint32_t)capture->causes.n;
	cause->c.key.serial = serial;
	cause->c.key.context = (uint8_t)context;
	cause->c.key.sleep_call = cause->c.key.wake_call = WK_NO_CALL;
	cause->c.wakeups = wakeups;
	charge->cause = cause->number;
	charge->root = root ? root : cause->number;
	charge->wakeups = wakeups;
	charge->oncpu_ns = oncpu_ns;
	charge->runq_ns = wakeups * 4100;
	return &cause->c;
}

void sample_set_timeout(struct wk_cause *cause, uint16_t call, uint64_t timeout_ns)
{
	strcpy(cause->name, "hrtimer_wakeup");
	cause->key.function = 0xffffffff81234560;
	cause->key.sleep_call = call;
	cause->key.timeout_class = timeout_ns ? 77 : 0;
	cause->timeouts = timeout_ns ? cause->wakeups : 0;
	cause->timeout_sum_ns = timeout_ns * cause->timeouts;
}

void sample_set_waker(struct wk_cause *cause, uint32_t waker, uint16_t wake_call,
		      uint16_t sleep_call)
{
	cause->key.waker = waker;
	cause->key.wake_call = wake_call;
	cause->key.sleep_call = sleep_call;
}

static uint32_t sample_bucket(uint64_t interval_ns)
{
	uint32_t octave = 63 - (uint32_t)__builtin_clzll(interval_ns);

	return (octave - WK_HIST_LOW) * WK_HIST_SUB +
	       (uint32_t)(interval_ns >> (octave - 4) & (WK_HIST_SUB - 1));
}

static int sample_wake_order(const void *a, const void *b)
{
	const struct wk_wake_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

void sample_set_period(struct capture *capture, uint32_t number, uint64_t first_ns,
		       uint64_t period_ns)
{
	struct capture_cause *cause = &capture->causes.items[number - 1];
	uint64_t n = cause->c.wakeups;

	cause->c.first_ns = capture->start_ns + first_ns;
	cause->c.last_ns = cause->c.first_ns + (n - 1) * period_ns;
	cause->c.interval_ns = n > 1 ? period_ns : 0;
	*vec_push(&cause->intervals) =
		(struct capture_interval){sample_bucket(period_ns), (uint32_t)(n - 1)};
	for (uint64_t i = 0; i < n; i++)
		*vec_push(&capture->timeline) = (struct wk_wake_event){
			cause->c.first_ns + i * period_ns, number,
			capture->charges.items[number - 1].root};
	qsort(capture->timeline.items, capture->timeline.n, sizeof(*capture->timeline.items),
	      sample_wake_order);
}

struct capture_image *sample_add_image(struct capture *capture, uint32_t pid, uint64_t start_ns,
				       uint64_t exec_ns, const char *comm, const char *const *argv,
				       size_t n_argv)
{
	struct capture_image *image = vec_push(&capture->images);
	struct strbuf bytes = {};

	image->pid = pid;
	image->ppid = 1;
	image->start_ns = start_ns;
	image->exec_ns = exec_ns;
	strncpy(image->comm, comm, WK_COMM_BYTES - 1);
	for (size_t i = 0; i < n_argv; i++)
		strbuf_add_bytes(&bytes, argv[i], strlen(argv[i]) + 1);
	image->argv_bytes = bytes.n;
	image->argv = strbuf_take(&bytes);
	return image;
}

static void sample_runtime(struct capture *capture, const char *family, const char *version,
			   const char *path, uint64_t size_bytes)
{
	capture->runtime.present = true;
	capture->runtime.family = mem_strdup(family);
	capture->runtime.version = mem_strdup(version);
	capture->runtime.path = mem_strdup(path);
	capture->runtime.size_bytes = size_bytes;
}

/* Spreads wakeups and on-CPU time over the seconds; the last one also ran through second 3 whole.
 */
static void sample_seconds(struct capture *capture, uint64_t wakeups, uint64_t oncpu_ns, bool full)
{
	uint64_t n = SAMPLE_WINDOW_NS / WK_SECOND_NS;

	for (uint64_t i = 0; i < n; i++) {
		struct wk_second *second = vec_push(&capture->seconds);

		second->wakeups = wakeups / n + (i < wakeups % n);
		second->oncpu_ns = oncpu_ns / n + (i < oncpu_ns % n);
		second->full_delta = full ? (i == 3) - (i == 4) : 0;
	}
}

/* Of the three threads bun, HeapHelper and bun#2 (serials 1, 2, 3): in zig a timerfd that rouses the
 * helper, and a futex timeout of its own; in rust one epoll timeout that rouses both others. */
static void sample_idle_causes(struct capture *capture, bool is_rust)
{
	const struct capture_thread *threads = capture->threads.items;
	struct wk_cause *cause;

	cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, threads[0].t.count.wakeups,
				 threads[0].t.count.oncpu_ns, 0);
	sample_set_timeout(cause, 441, is_rust ? WK_SECOND_NS : 0);
	if (!is_rust)
		strcpy(cause->name, "timerfd_tmrproc");
	sample_set_period(capture, 1, 0, WK_SECOND_NS);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_THREAD, threads[1].t.count.wakeups,
				 threads[1].t.count.oncpu_ns, 1);
	sample_set_waker(cause, 1, 202, 202);
	sample_set_period(capture, 2, 150000, WK_SECOND_NS);
	capture->charges.items[1].futile = 19;
	if (is_rust) {
		cause = sample_add_cause(capture, 3, WK_CONTEXT_THREAD, 20, 1200000, 1);
		sample_set_waker(cause, 1, 202, 202);
		sample_set_period(capture, 3, 300000, WK_SECOND_NS);
	} else {
		cause = sample_add_cause(capture, 3, WK_CONTEXT_HRTIMER, 199, 9160000, 0);
		sample_set_timeout(cause, 202, 100000000);
		sample_set_period(capture, 3, 61000000, 100100000);
	}
}

static void sample_idle(struct recording *recording, uint32_t repeat)
{
	static const char *const argv[] = {"bun", "server.mjs"};
	struct capture *capture;
	struct capture_thread *thread;
	bool is_rust;

	capture = sample_add_run(recording, "floor", "idle", NULL, repeat);
	sample_runtime(capture, "floor", "0.1.0", "/tmp/floor-idle", 16384);
	sample_add_image(capture, SAMPLE_PID, START_NS - 3, START_NS - 2, "floor", argv, 2);
	sample_add_thread(capture, SAMPLE_PID, "floor", 0, 0);
	sample_seconds(capture, 0, 0, false);
	capture->causes_counted = true;
	for (int i = 0; i < 2; i++) {
		is_rust = i == 1;
		capture = sample_add_run(recording, is_rust ? "rust" : "zig", "idle", NULL, repeat);
		capture->settle_ns = 3100000000;
		capture->settled = true;
		capture->has_memory = true;
		capture->rss_bytes = is_rust ? 41000000 : 52000000;
		capture->pss_bytes = is_rust ? 39000000 : 50000000;
		sample_runtime(capture, "bun", is_rust ? "1.4.0" : "1.3.14", "/opt/bun/bin/bun",
			       is_rust ? 80761952 : 92752752);
		sample_add_image(capture, SAMPLE_PID, capture->start_ns - 3 * WK_SECOND_NS,
				 capture->start_ns - 3 * WK_SECOND_NS + 900, "bun", argv, 2);
		thread = sample_add_thread(capture, SAMPLE_PID, "bun", 20 + repeat, 3200000);
		sample_add_syscall(thread, 202, 41);
		sample_add_syscall(thread, 441, 25);
		thread = sample_add_thread(capture, SAMPLE_PID + 3, "HeapHelper", 20, 400000);
		sample_add_syscall(thread, 24, 17);
		sample_add_syscall(thread, 202, 40);
		thread = sample_add_thread(capture, SAMPLE_PID + 2, "bun", is_rust ? 20 : 199,
					   is_rust ? 1200000 : 9160000);
		sample_add_syscall(thread, 202, is_rust ? 20 : 199);
		sample_seconds(capture, is_rust ? 60 : 239, is_rust ? 4800000 : 12760000, false);
		sample_idle_causes(capture, is_rust);
	}
}

static void sample_startup(struct recording *recording, bool is_rust, uint32_t repeat)
{
	static const char *const argv[] = {"bun", "hello.mjs"};
	struct capture *capture =
		sample_add_run(recording, is_rust ? "rust" : "zig", "startup", NULL, repeat);
	struct capture_thread *thread;
	uint64_t exit_ns = (is_rust ? 4400000 : 10500000) + repeat * 40000;
	struct wk_cause *cause;

	capture->end_ns = capture->start_ns + exit_ns;
	capture->exit_status = 0;
	capture->startup = (struct capture_startup){
		.present = true,
		.exec_to_first_output_ns = exit_ns - 800000,
		.exec_to_exit_ns = exit_ns,
		.minor_faults = is_rust ? 1900 : 4100,
		.max_rss_bytes = is_rust ? 30000000 : 39000000,
	};
	sample_runtime(capture, "bun", is_rust ? "1.4.0" : "1.3.14", "/opt/bun/bin/bun",
		       is_rust ? 80761952 : 92752752);
	sample_add_image(capture, SAMPLE_PID, capture->start_ns - 500, capture->start_ns, "bun",
			 argv, 2);
	thread = sample_add_thread(capture, SAMPLE_PID, "bun", 3, exit_ns - 600000);
	sample_add_syscall(thread, 1, 1);
	sample_add_syscall(thread, 257, is_rust ? 20 : 31);
	thread->t.state = WK_STATE_DEAD;
	thread->t.flags |= WK_FLAG_LAST_EXIT | WK_FLAG_FIRST;
	thread->t.count.starts = 1;
	thread->t.exec_ns = capture->start_ns;
	thread->t.exit_ns = capture->end_ns;
	thread->t.output_ns = capture->end_ns - 800000;
	*vec_push(&capture->seconds) = (struct wk_second){exit_ns - 600000, 3, 0};
	sample_add_cause(capture, 1, WK_CONTEXT_BIRTH, 0, exit_ns - 700000, 0);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_SOFTIRQ, 3, 100000, 0);
	cause->key.waker = 4; /* BLOCK */
	cause->key.sleep_call = 17;
	cause->key.uninterruptible = 1;
	capture->charges.items[1].sleep_ns = 500000;
}

/* What node began before the window goes on through the loop for ever. */
static void sample_hash_causes(struct capture *capture, bool is_sync)
{
	struct wk_cause *cause;

	sample_add_cause(capture, 1, WK_CONTEXT_BEFORE, 0, is_sync ? 18990000000 : 1000000, 0);
	if (is_sync) {
		cause = sample_add_cause(capture, 1, WK_CONTEXT_KERNEL, 4, 10000000, 0);
		cause->key.waker = 33;
		strcpy(cause->name, "kworker/0:1");
		return;
	}
	cause = sample_add_cause(capture, 1, WK_CONTEXT_THREAD, 2000000, 18999000000, 1);
	sample_set_waker(cause, 2, 1, 281);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_THREAD, 2000000, 9000000000, 1);
	sample_set_waker(cause, 1, 202, 202);
	capture->timeline_left_out = 4000000;
}

static void sample_hash(struct recording *recording, const char *variant)
{
	bool is_sync = strcmp(variant, "sync") == 0;
	struct capture *capture = sample_add_run(recording, "node", "hash", variant, 0);
	struct capture_thread *thread;

	capture->has_result = true;
	capture->operations = is_sync ? 20000000 : 2000000;
	sample_runtime(capture, "node", "22.23.2", "/opt/node/bin/node", 120000000);
	thread = sample_add_thread(capture, SAMPLE_PID, "node", is_sync ? 4 : 2000000, 19000000000);
	sample_add_syscall(thread, 202, is_sync ? 12 : 2100000);
	sample_add_thread(capture, SAMPLE_PID + 5, "libuv-worker", is_sync ? 0 : 2000000,
			  is_sync ? 0 : 9000000000);
	sample_seconds(capture, is_sync ? 4 : 4000000, 18000000000, true);
	sample_hash_causes(capture, is_sync);
}

static void sample_hostile(struct recording *recording)
{
	static const char *const argv[] = {"sh", "-c", SAMPLE_HOSTILE_ARG};
	struct capture *capture = sample_add_run(recording, "a,\"b\"\x1b[2J", "run", NULL, 0);
	struct capture_thread *thread;
	struct capture_image *image;
	struct wk_cause *cause;

	image = sample_add_image(capture, SAMPLE_PID, capture->start_ns - 500, capture->start_ns,
				 SAMPLE_HOSTILE_COMM, argv, 3);
	image->argv_cut = 9;
	sample_add_image(capture, SAMPLE_PID + 1, capture->start_ns + 70, 0, "fork", NULL, 0);
	thread = sample_add_thread(capture, SAMPLE_PID, SAMPLE_HOSTILE_COMM, 3, 40000000);
	sample_add_syscall(thread, 231, 1);
	sample_add_syscall(thread, 479, 2);
	thread = sample_add_thread(capture, SAMPLE_PID + 1, "", 1, 1000);
	thread->t.pid = SAMPLE_PID + 1;
	thread->t.ppid = SAMPLE_PID;
	thread->t.start_ns = capture->start_ns + 70;
	capture->exit_status = 0x100;
	capture->lost[WK_LOST_EVENTS] = 2;
	capture->probes.items[0].misses = 5;
	sample_seconds(capture, 4, 40001000, false);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_PROCESS, 3, 40000000, 0);
	sample_set_waker(cause, 99, 1, 0);
	memcpy(cause->name, SAMPLE_HOSTILE_COMM, sizeof(SAMPLE_HOSTILE_COMM));
	/* A context that this version does not know. */
	cause = sample_add_cause(capture, 2, (enum wk_context)200, 1, 1000, 0);
	cause->key.object = UINT64_MAX;
}

void sample_recording(struct recording *ret_recording)
{
	memset(ret_recording, 0, sizeof(*ret_recording));
	sample_tool(ret_recording);
	for (uint32_t repeat = 0; repeat < 2; repeat++)
		sample_idle(ret_recording, repeat);
	for (uint32_t repeat = 0; repeat < 6; repeat++) {
		sample_startup(ret_recording, false, repeat);
		sample_startup(ret_recording, true, repeat);
	}
	sample_hash(ret_recording, "sync");
	sample_hash(ret_recording, "webcrypto");
	sample_hostile(ret_recording);
	*vec_push(&ret_recording->failures) = (struct capture_failure){
		.label = mem_strdup("deno"),
		.workload = mem_strdup("idle"),
		.reason =
			mem_strdup("it ended before it listened; its last words: \x1b[31mno port"),
	};
}
