/* Where in the code: texts of frames, plumbing, rows of wakes and samples, where threads began. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/stacks.h"
#include "sample.h"
#include "sample_stacks.h"

struct made {
	struct recording recording;
	struct run run;
	struct why why;
	struct stacks stacks;
};

/* A run with stacks and one thread, serial 1. */
static struct capture *make(struct made *made)
{
	struct capture *capture;

	memset(made, 0, sizeof(*made));
	capture = sample_add_run(&made->recording, "x", "run", NULL, 0);
	capture->causes_counted = true;
	capture->stacks_mode = WK_STACKS_KERNEL | WK_STACKS_USER;
	sample_add_thread(capture, SAMPLE_PID, "app", 100, 100000);
	return capture;
}

static void explain(struct made *made)
{
	run_init(&made->run, &made->recording.runs.items[0]);
	why_init(&made->why, &made->run, "x86-64");
	stacks_init(&made->stacks, &made->why, &made->run);
}

static void unmake(struct made *made)
{
	stacks_free_members(&made->stacks);
	why_free_members(&made->why);
	run_free_members(&made->run);
	recording_free_members(&made->recording);
}

/* Forgets what follows from the capture, which may then be changed. */
static void again(struct made *made)
{
	stacks_free_members(&made->stacks);
	why_free_members(&made->why);
	run_free_members(&made->run);
	explain(made);
}

static const char *text_at(const struct made *made, uint32_t frame)
{
	return frame == STACK_NONE ? "none" : made->stacks.frames.items[frame].text;
}

/* The frames that matter, joined by " < ". */
static const char *matter(const struct made *made, uint32_t stack, size_t max)
{
	static char text[512];
	uint32_t frames[16];
	size_t n = stacks_matter(&made->stacks, made->run.capture, stack, frames, max);

	assert_true(n <= max);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		strcat(text, i ? " < " : "");
		strcat(text, text_at(made, frames[i]));
	}
	return text;
}

static const char *call(const struct made *made, uint32_t stack)
{
	return text_at(made, stacks_call(&made->stacks, made->run.capture, stack));
}

static const char *short_text(const struct made *made, uint32_t frame)
{
	return stacks_short_text(&made->stacks, made->run.capture, frame);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void frames_have_texts(void **state)
{
	static const struct {
		const char *text, *file;
	} expected[] = {
		{"schedule", "kernel"},
		{"[kernel] 0xffffffff81001000", "kernel"},
		{"uv_cond_wait", "node"},
		{"node+0x5c7bc86", "node"},
		{"LazyCompile:*f x.js:1", "jit"},
		{"[jit] 0x7f0012345678", "jit"},
		{"[unknown]+0x12", ""},
		{"dir/+0x12", "dir/"},
		{"[vdso]+0x12", "[vdso]"},
		{"[unknown]@0x12", ""},
	};
	struct made made;
	struct capture *capture = make(&made);
	uint32_t node = sample_add_module(capture, "/usr/bin/node", "aa");

	(void)state;
	sample_add_kernel_frame(capture, "schedule");
	sample_add_kernel_frame(capture, "");
	sample_add_file_frame(capture, node, 0x100, "uv_cond_wait");
	sample_add_file_frame(capture, node, 0x5c7bc86, "");
	sample_add_jit_frame(capture, 0x7f0012345670, "LazyCompile:*f x.js:1");
	sample_add_jit_frame(capture, 0x7f0012345678, "");
	sample_add_file_frame(capture, sample_add_module(capture, "", ""), 0x12, "");
	sample_add_file_frame(capture, sample_add_module(capture, "dir/", ""), 0x12, "");
	sample_add_file_frame(capture, sample_add_module(capture, "[vdso]", ""), 0x12, "");
	sample_add_file_frame(capture, 99, 0x12, "");
	capture->frames.items[capture->frames.n - 1].address = 0;
	explain(&made);
	assert_int_equal(made.stacks.frames.n, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < made.stacks.frames.n; i++) {
		assert_string_equal(made.stacks.frames.items[i].text, expected[i].text);
		assert_string_equal(made.stacks.frames.items[i].file, expected[i].file);
	}
	unmake(&made);
}

static void system_calls_are_called_as_programs_call_them(void **state)
{
	static const char *const names[][2] = {
		{"__x64_sys_epoll_pwait2", "epoll_pwait2"},
		{"__arm64_sys_futex", "futex"},
		{"__se_sys_read", "read"},
		{"__do_sys_clone3", "clone3"},
		{"__x64_sys_", "__x64_sys_"},
		{"do_sys_poll", "do_sys_poll"},
	};
	struct made made;
	struct capture *capture = make(&made);
	uint32_t node = sample_add_module(capture, "/usr/bin/node", "aa");

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		sample_add_kernel_frame(capture, names[i][0]);
	sample_add_file_frame(capture, node, 0x100, "__x64_sys_read");
	explain(&made);
	for (uint32_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(short_text(&made, i), names[i][1]);
	assert_string_equal(short_text(&made, sizeof(names) / sizeof(*names)), "__x64_sys_read");
	unmake(&made);
}

static enum plumbing of(enum frame_kind kind, const char *file, const char *name)
{
	struct capture_frame frame = {.kind = kind, .name = (char *)name};

	return plumbing_of(&frame, file);
}

static void plumbing_is_told_by_file(void **state)
{
	static const char *const files[] = {"libc.so.6",	    "libc-2.31.so",
					    "libpthread-2.31.so",   "libpthread.so.0",
					    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
					    "ld-musl-x86_64.so.1",  "libc.musl-x86_64.so.1",
					    "libstdc++.so.6.0.33",  "[vdso]"};
	static const char *const others[] = {"node",	   "libcrypto.so.3", "libcurl.so.4",
					     "libc.so.6x", "libuv.so.1",     ""};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_int_equal(of(FRAME_FILE, files[i], ""), PLUMBING_CALL);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(of(FRAME_FILE, others[i], ""), PLUMBING_NONE);
	/* A name does not make code of a program's own that of a file. */
	assert_int_equal(of(FRAME_JIT, "libc.so.6", "f"), PLUMBING_NONE);
}

static void plumbing_is_told_by_name(void **state)
{
	static const struct {
		const char *name;
		enum plumbing plumbing;
	} names[] = {
		{"__futex_abstimed_wait_common", PLUMBING_CALL},
		{"__futex_abstimed_wait_common.isra.0", PLUMBING_CALL},
		{"pthread_cond_timedwait@@GLIBC_2.3.2", PLUMBING_CALL},
		{"___pthread_cond_wait", PLUMBING_CALL},
		{"epoll_wait", PLUMBING_CALL},
		{"clock_nanosleep@GLIBC_2.17", PLUMBING_CALL},
		{"read", PLUMBING_CALL},
		{"syscall", PLUMBING_CALL},
		{"__libc_recv", PLUMBING_CALL},
		{"do_futex_wait.constprop.0", PLUMBING_CALL},
		{"start_thread", PLUMBING_START},
		{"__clone3", PLUMBING_START},
		{"_start", PLUMBING_START},
		{"__libc_start_main_impl", PLUMBING_START},
		{"__libc_start_call_main", PLUMBING_START},
		{"std::sys::pal::unix::futex::futex_wait", PLUMBING_CALL},
		{"std::condition_variable::wait(std::unique_lock<std::mutex>&)", PLUMBING_CALL},
		{"void std::__invoke_impl<void, ours::F>(std::__invoke_other, ours::F&&)",
		 PLUMBING_START},
		{"std::thread::_State_impl<std::thread::_Invoker<std::tuple<ours> > >::_M_run()",
		 PLUMBING_START},
		{"<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
		 PLUMBING_START},
		{"core::ops::function::FnOnce::call_once{{vtable.shim}}", PLUMBING_START},
		{"runtime.goexit", PLUMBING_START},
		{"runtime.futexsleep", PLUMBING_CALL},
		{"Builtins_JSEntryTrampoline", PLUMBING_CALL},

		{"main", PLUMBING_NONE},
		{"", PLUMBING_NONE},
		{"reader", PLUMBING_NONE},
		{"read_all", PLUMBING_NONE},
		{"_starter", PLUMBING_NONE},
		{"uv_cond_wait", PLUMBING_NONE},
		{"main.main", PLUMBING_NONE},
		{"stdlib::f()", PLUMBING_NONE},
		{"ours::std::f()", PLUMBING_NONE},
		{"ours::wait(std::mutex&)", PLUMBING_NONE},
		{"std::mutex ours::make<int>(int)", PLUMBING_NONE},
		{"(anonymous namespace)::run(std::mutex&)", PLUMBING_NONE},
		{"ours::operator std::string() const", PLUMBING_NONE},
		{"operator<(std::x, std::y)", PLUMBING_NONE},
		{"<ours::Server as core::fmt::Debug>::fmt", PLUMBING_NONE},
		{"tokio::runtime::park::Inner::park", PLUMBING_NONE},
		{">>>)))<<<((( std::", PLUMBING_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (of(FRAME_FILE, "app", names[i].name) != names[i].plumbing)
			fail_msg("'%s' is %d", names[i].name,
				 of(FRAME_FILE, "app", names[i].name));
	/* libc's own start of a thread is no call, although all else in that file is. */
	assert_int_equal(of(FRAME_FILE, "libc.so.6", "start_thread"), PLUMBING_START);
}

static void plumbing_of_kernel_and_jit(void **state)
{
	(void)state;
	assert_int_equal(of(FRAME_KERNEL, "", "schedule"), PLUMBING_CALL);
	assert_int_equal(of(FRAME_KERNEL, "", ""), PLUMBING_CALL);
	assert_int_equal(of(FRAME_KERNEL, "", "main"), PLUMBING_CALL);
	assert_int_equal(of(FRAME_KERNEL, "", "entry_SYSCALL_64_after_hwframe"), PLUMBING_START);
	assert_int_equal(of(FRAME_KERNEL, "", "ret_from_fork_asm"), PLUMBING_START);
	assert_int_equal(of(FRAME_JIT, "", "Builtin:JSEntry"), PLUMBING_CALL);
	assert_int_equal(of(FRAME_JIT, "", "Builtin:JSEntryNot"), PLUMBING_NONE);
	assert_int_equal(of(FRAME_JIT, "", "read"), PLUMBING_NONE);
	assert_int_equal(of(FRAME_JIT, "", NULL), PLUMBING_NONE);
	assert_int_equal(of((enum frame_kind)77, "libc.so.6", "read"), PLUMBING_NONE);
}

/* ---- the few frames that matter -------------------------------------------------------------- */

static void own_frames_matter(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	uint32_t libc = sample_add_module(capture, "/lib/libc.so.6", "");
	uint32_t app = sample_add_module(capture, "/bin/app", "");
	uint32_t kernel = sample_add_kernel_frame(capture, "__x64_sys_futex");
	uint32_t entry = sample_add_kernel_frame(capture, "entry_SYSCALL_64");
	uint32_t futex = sample_add_file_frame(capture, libc, 1, "__futex_abstimed_wait");
	uint32_t wait = sample_add_file_frame(capture, libc, 2, "pthread_cond_timedwait");
	uint32_t hidden = sample_add_file_frame(capture, libc, 3, "");
	uint32_t work = sample_add_file_frame(capture, app, 4, "work");
	uint32_t nameless = sample_add_file_frame(capture, app, 0x5b, "");
	uint32_t start = sample_add_file_frame(capture, libc, 6, "start_thread");
	uint32_t s;

	(void)state;
	s = SAMPLE_STACK(capture, SAMPLE_PID, 2, kernel, entry, futex, wait, hidden, work, nameless,
			 work, start);
	SAMPLE_STACK(capture, SAMPLE_PID, 2, kernel, entry, hidden, work, start);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, work);
	SAMPLE_STACK(capture, SAMPLE_PID, 2, kernel, entry, futex, wait, start);
	SAMPLE_STACK(capture, SAMPLE_PID, 2, kernel, entry);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, hidden, start);
	sample_add_stack(capture, SAMPLE_PID, 0, NULL, 0);
	explain(&made);
	assert_string_equal(matter(&made, s, 16), "work < app+0x5c < work");
	assert_string_equal(matter(&made, s, 2), "work < app+0x5c");
	assert_string_equal(matter(&made, s, 0), "");
	assert_string_equal(call(&made, s), "pthread_cond_timedwait");
	/* libc has no name for it: the kernel has. */
	assert_string_equal(matter(&made, s + 1, 16), "work");
	assert_string_equal(call(&made, s + 1), "__x64_sys_futex");
	assert_string_equal(matter(&made, s + 2, 16), "work");
	assert_string_equal(call(&made, s + 2), "none");
	/* Nothing but plumbing. */
	assert_string_equal(matter(&made, s + 3, 16), "pthread_cond_timedwait");
	assert_string_equal(call(&made, s + 3), "none");
	assert_string_equal(matter(&made, s + 4, 16), "__x64_sys_futex");
	assert_string_equal(matter(&made, s + 5, 16), "libc.so.6+0x4");
	assert_string_equal(matter(&made, s + 6, 16), "");
	assert_string_equal(matter(&made, STACK_NONE, 16), "");
	assert_string_equal(call(&made, STACK_NONE), "none");
	unmake(&made);
}

/* ---- wakes and samples ----------------------------------------------------------------------- */

static void wakes_are_rows_of_causes(void **state)
{
	static const struct stacks_wake expected[] = {
		{0, 1, STACK_NONE, 70, 70 * 99000000ull},
		{0, 0, 1, 20, 20 * 99000000ull},
		{0, 0, STACK_NONE, 20, 20 * 99000000ull},
		{0, STACK_NONE, STACK_NONE, 3, 3 * 99000000ull},
	};
	struct made made;
	struct capture *capture = make(&made);
	uint32_t frame = sample_add_kernel_frame(capture, "schedule");
	struct wk_cause *cause;

	(void)state;
	SAMPLE_STACK(capture, SAMPLE_PID, 1, frame);
	SAMPLE_STACK(capture, SAMPLE_PID, 1, frame, frame);
	/* Two causes whose timeouts are alike are one row of why: so are their wakes. */
	cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 60, 1000, 0);
	sample_set_timeout(cause, 232, 100000000);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 53, 1000, 0);
	sample_set_timeout(cause, 232, 101000000);
	cause->key.timeout_class++;
	sample_add_wake_stack(capture, 1, 0, STACK_NONE, 20);
	sample_add_wake_stack(capture, 1, 1, STACK_NONE, 37);
	sample_add_wake_stack(capture, 1, 77, 78, 3); /* places that are not there */
	sample_add_wake_stack(capture, 2, 0, 1, 20);
	sample_add_wake_stack(capture, 2, 1, STACK_NONE, 33);
	sample_add_wake_stack(capture, 9, 0, STACK_NONE, 5); /* nor is this cause */
	explain(&made);
	assert_true(made.stacks.known);
	assert_int_equal(made.why.causes.n, 1);
	assert_int_equal(made.stacks.wakes.n, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < made.stacks.wakes.n; i++) {
		const struct stacks_wake *got = &made.stacks.wakes.items[i];

		assert_int_equal(got->cause, expected[i].cause);
		assert_int_equal(got->sleeper, expected[i].sleeper);
		assert_int_equal(got->waker, expected[i].waker);
		assert_int_equal(got->wakeups, expected[i].wakeups);
		assert_int_equal(got->sleep_ns, expected[i].sleep_ns);
	}
	assert_int_equal(made.stacks.wakeups, 113);
	assert_int_equal(made.stacks.wakeups_with, 110);
	/* More at the edges than there are wakes: never more than all. */
	capture->wake_stacks.items[0].wakeups = UINT64_MAX;
	again(&made);
	assert_int_equal(made.stacks.wakeups_with, 113);
	assert_int_equal(made.stacks.wakes.items[0].wakeups, UINT64_MAX);
	unmake(&made);
}

static void samples_are_rows_of_threads(void **state)
{
	static const struct {
		uint32_t serial, stack;
		uint64_t count;
	} expected[] = {{2, 0, 9}, {1, 1, 6}, {1, 0, 4}, {1, STACK_NONE, 1}};
	struct made made;
	struct capture *capture = make(&made);
	uint32_t frame = sample_add_kernel_frame(capture, "schedule");

	(void)state;
	sample_add_thread(capture, SAMPLE_PID + 1, "more", 1, 900000);
	SAMPLE_STACK(capture, SAMPLE_PID, 1, frame);
	SAMPLE_STACK(capture, SAMPLE_PID, 1, frame, frame);
	capture->stacks_mode = 0;
	capture->sample_hz = 999;
	sample_add_sample(capture, 0, 0, 100);
	sample_add_sample(capture, 1, 0, 4);
	sample_add_sample(capture, 1, 1, 5);
	sample_add_sample(capture, 1, 1, 1);
	sample_add_sample(capture, 1, 99, 1);
	sample_add_sample(capture, 2, 0, 9);
	sample_add_sample(capture, UINT32_MAX, 0, 100);
	explain(&made);
	assert_true(made.stacks.known);
	assert_int_equal(made.stacks.samples, 20);
	assert_int_equal(made.stacks.rows.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(made.stacks.rows.items[i].thread->seen->t.serial,
				 expected[i].serial);
		assert_int_equal(made.stacks.rows.items[i].stack, expected[i].stack);
		assert_int_equal(made.stacks.rows.items[i].count, expected[i].count);
	}
	unmake(&made);
}

static void without_stacks_nothing_is_made(void **state)
{
	struct made made;
	struct capture *capture = make(&made);

	(void)state;
	capture->stacks_mode = 0;
	capture->lost[WK_LOST_STACKS] = 3;
	sample_add_kernel_frame(capture, "schedule");
	explain(&made);
	assert_false(made.stacks.known);
	assert_int_equal(made.stacks.frames.n, 0);
	assert_int_equal(made.stacks.begins.n, 0);
	capture->stacks_mode = WK_STACKS_KERNEL;
	again(&made);
	assert_true(made.stacks.known);
	assert_int_equal(made.stacks.lost, 3);
	assert_string_equal(made.stacks.begins.items[0], "");
	unmake(&made);
}

/* ---- where threads begin --------------------------------------------------------------------- */

/* Frames of a stripped program and of libc. */
struct places {
	uint32_t wait, start_thread, clone3, libc_start, call_main, start, own, other, named;
};

static struct places places(struct capture *capture)
{
	uint32_t libc = sample_add_module(capture, "/lib/libc.so.6", "");
	uint32_t bun = sample_add_module(capture, "/opt/bun", "");

	return (struct places){
		.wait = sample_add_file_frame(capture, libc, 1, "pthread_cond_timedwait"),
		.start_thread = sample_add_file_frame(capture, libc, 2, "start_thread"),
		.clone3 = sample_add_file_frame(capture, libc, 3, "__clone3"),
		.libc_start = sample_add_file_frame(capture, libc, 4, "__libc_start_main_impl"),
		.call_main = sample_add_file_frame(capture, libc, 5, ""),
		.start = sample_add_file_frame(capture, bun, 0x6, ""),
		.own = sample_add_file_frame(capture, bun, 0x4788c14, ""),
		.other = sample_add_file_frame(capture, bun, 0x87, ""),
		.named = sample_add_file_frame(capture, bun, 0x99, "worker(void*)"),
	};
}

/* Where the only thread begins when its wakes are as `counts`, in stacks 0, 1 … */
static const char *begins(struct made *made, const uint64_t *counts, size_t n)
{
	struct capture *capture = &made->recording.runs.items[0];

	capture->wake_stacks.n = 0;
	for (size_t i = 0; i < n; i++)
		sample_add_wake_stack(capture, 1, (uint32_t)i, STACK_NONE, counts[i]);
	again(made);
	assert_int_equal(made->stacks.begins.n, made->run.threads.n);
	return made->stacks.begins.items[0];
}

#define BEGINS(made, ...)                                                                          \
	begins(made, (const uint64_t[]){__VA_ARGS__},                                              \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void threads_begin_where_most_stacks_end(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	struct places p = places(capture);

	(void)state;
	sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 100, 1000, 0);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.other, p.own, p.start_thread, p.clone3);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.own, p.start_thread, p.clone3);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.other, p.start_thread, p.clone3);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.named);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.start_thread, p.clone3);
	capture->stacks.items[3].truncated = true;
	explain(&made);
	assert_string_equal(BEGINS(&made, 1), "bun+0x4788c15");
	assert_string_equal(BEGINS(&made, 30, 30, 59), "bun+0x4788c15");
	assert_string_equal(BEGINS(&made, 1, 0, 59), "bun+0x88");
	/* No majority: a guess would be another one the next time. */
	assert_string_equal(BEGINS(&made, 30, 30, 60), "");
	/* Those that were cut and those that show nothing of the program have no vote. */
	assert_string_equal(BEGINS(&made, 1, 0, 0, 1000, 1000), "bun+0x4788c15");
	assert_string_equal(BEGINS(&made, 0, 0, 0, 1000, 1000), "");
	/* Samples count where no wake tells, and only there. */
	sample_add_sample(capture, 1, 2, 1000);
	assert_string_equal(BEGINS(&made, 1), "bun+0x4788c15");
	assert_string_equal(BEGINS(&made, 0, 0, 0, 1), "bun+0x88");
	unmake(&made);
}

static void main_threads_begin_in_main(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	struct places p = places(capture);

	(void)state;
	sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 100, 1000, 0);
	/* _start of a stripped program has no name, and is not where its work begins. */
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.other, p.own, p.call_main, p.libc_start,
		     p.start);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.other, p.named, p.libc_start, p.start);
	explain(&made);
	assert_string_equal(BEGINS(&made, 2, 1), "bun+0x4788c15");
	assert_string_equal(BEGINS(&made, 1, 2), "worker(void*)");
	assert_string_equal(matter(&made, 0, 16), "bun+0x88 < bun+0x4788c15");
	assert_true(made.stacks.frames.items[p.start].start);
	assert_false(made.stacks.frames.items[p.own].plumbing);
	unmake(&made);
}

/* Frames of one text are one beginning, wherever in it they are; code without a name is none. */
static void beginnings_are_texts(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	struct places p = places(capture);
	uint32_t again_named = sample_add_file_frame(capture, 1, 0xaa, "worker(void*)");
	uint32_t jit = sample_add_jit_frame(capture, 0x7f00, "");
	uint32_t named_jit = sample_add_jit_frame(capture, 0x7f10, "JS:tick");

	(void)state;
	sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 100, 1000, 0);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.named, p.start_thread);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.own, p.start_thread);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, again_named, p.start_thread);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.own, jit);
	SAMPLE_STACK(capture, SAMPLE_PID, 0, p.wait, p.own, named_jit);
	explain(&made);
	assert_string_equal(BEGINS(&made, 2, 3, 2), "worker(void*)");
	assert_string_equal(BEGINS(&made, 0, 0, 0, 5), "");
	assert_string_equal(BEGINS(&made, 0, 0, 0, 0, 5), "JS:tick");
	unmake(&made);
}

/* ---- hostile captures ------------------------------------------------------------------------ */

static void places_that_are_not_there_do_no_harm(void **state)
{
	struct made made;
	struct capture *capture = make(&made);
	uint32_t frame = sample_add_file_frame(capture, 7, 1, "f");
	uint32_t s;

	(void)state;
	capture->frames.items[frame].kind = 99;
	free(capture->frames.items[frame].name);
	capture->frames.items[frame].name = NULL;
	sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 1, 1, 0);
	s = SAMPLE_STACK(capture, 1, 4000000000u, 3000000000u, frame, 5);
	SAMPLE_STACK(capture, 1, 1, 3000000000u);
	sample_add_wake_stack(capture, 1, s, s + 1, UINT64_MAX);
	sample_add_wake_stack(capture, 1, s + 1, s, UINT64_MAX);
	sample_add_wake_stack(capture, 0, s, s, 1);
	sample_add_sample(capture, 1, s, UINT64_MAX);
	sample_add_sample(capture, 1, s + 1, UINT64_MAX);
	explain(&made);
	assert_int_equal(made.stacks.samples, UINT64_MAX);
	assert_string_equal(matter(&made, s, 16), "[unknown]+0x1");
	assert_string_equal(matter(&made, s + 1, 16), "");
	assert_string_equal(call(&made, s), "none");
	assert_string_equal(made.stacks.begins.items[0], "[unknown]+0x1");
	unmake(&made);
}

/* Long names in many stacks are not looked at for each of them: this would take hours. */
static void long_names_are_compared_once(void **state)
{
	enum { FRAMES = 40, BYTES = 1 << 20, STACKS = 100000 };
	struct made made;
	struct capture *capture = make(&made);
	char *name = mem_zalloc(BYTES + 1);

	(void)state;
	memset(name, 'a', BYTES);
	sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 100, 1000, 0);
	for (size_t i = 0; i < FRAMES; i++) {
		name[BYTES - 1] = (char)('a' + i % 2);
		sample_add_jit_frame(capture, i, name);
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		SAMPLE_STACK(capture, SAMPLE_PID, 0, i % FRAMES);
		sample_add_wake_stack(capture, 1, i, STACK_NONE, i % 2 + 1);
	}
	explain(&made);
	assert_int_equal(made.stacks.wakes.n, STACKS);
	assert_int_equal(made.stacks.begins.items[0][BYTES - 1], 'b');
	free(name);
	unmake(&made);
}

static void the_sample_reads_as_it_should(void **state)
{
	struct made made = {0};
	const char *hostile;

	(void)state;
	sample_stacks_recording(&made.recording);
	explain(&made);
	assert_int_equal(made.stacks.wakeups, 260);
	assert_int_equal(made.stacks.wakeups_with, 259);
	assert_int_equal(made.stacks.samples, 10);
	assert_int_equal(made.stacks.lost, 2);
	assert_string_equal(made.stacks.begins.items[0], "main");
	assert_string_equal(made.stacks.begins.items[1], "server+0x4788c15");
	hostile = made.stacks.begins.items[2];
	assert_string_equal(hostile, "<script>alert(1);\x1b[2J\xff+0x11");
	unmake(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_texts),
		cmocka_unit_test(system_calls_are_called_as_programs_call_them),
		cmocka_unit_test(plumbing_is_told_by_file),
		cmocka_unit_test(plumbing_is_told_by_name),
		cmocka_unit_test(plumbing_of_kernel_and_jit),
		cmocka_unit_test(own_frames_matter),
		cmocka_unit_test(wakes_are_rows_of_causes),
		cmocka_unit_test(samples_are_rows_of_threads),
		cmocka_unit_test(without_stacks_nothing_is_made),
		cmocka_unit_test(threads_begin_where_most_stacks_end),
		cmocka_unit_test(main_threads_begin_in_main),
		cmocka_unit_test(beginnings_are_texts),
		cmocka_unit_test(places_that_are_not_there_do_no_harm),
		cmocka_unit_test(long_names_are_compared_once),
		cmocka_unit_test(the_sample_reads_as_it_should),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
