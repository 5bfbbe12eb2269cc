/* Stacks of a capture, built by hand. */
#include "sample_stacks.h"

#include <string.h>

#include "sample.h"

#define MS 1000000ull

uint32_t sample_add_module(struct capture *capture, const char *path, const char *build_id)
{
	struct capture_module *module = vec_push(&capture->modules);

	module->path = mem_strdup(path);
	module->build_id = mem_strdup(build_id);
	return (uint32_t)capture->modules.n - 1;
}

static uint32_t add_frame(struct capture *capture, enum frame_kind kind, uint32_t module,
			  uint64_t offset, const char *name)
{
	struct capture_frame *frame = vec_push(&capture->frames);

	frame->kind = kind;
	frame->module = module;
	frame->offset = offset;
	frame->address = kind == FRAME_FILE ? offset : 0;
	frame->name = mem_strdup(name);
	frame->into = *name ? 0x21 : 0;
	return (uint32_t)capture->frames.n - 1;
}

uint32_t sample_add_kernel_frame(struct capture *capture, const char *name)
{
	uint64_t address = 0xffffffff81000000 + 0x1000 * capture->frames.n;

	return add_frame(capture, FRAME_KERNEL, 0, address, name);
}

uint32_t sample_add_file_frame(struct capture *capture, uint32_t module, uint64_t offset,
			       const char *name)
{
	return add_frame(capture, FRAME_FILE, module, offset, name);
}

uint32_t sample_add_jit_frame(struct capture *capture, uint64_t address, const char *name)
{
	return add_frame(capture, FRAME_JIT, 0, address, name);
}

uint32_t sample_add_stack(struct capture *capture, uint32_t pid, uint32_t kernel,
			  const uint32_t *frames, size_t n)
{
	struct capture_stack *stack = vec_push(&capture->stacks);

	stack->pid = pid;
	stack->kernel = kernel;
	for (size_t i = 0; i < n; i++)
		*vec_push(&stack->frames) = frames[i];
	return (uint32_t)capture->stacks.n - 1;
}

void sample_add_wake_stack(struct capture *capture, uint32_t cause, uint32_t sleeper,
			   uint32_t waker, uint64_t wakeups)
{
	*vec_push(&capture->wake_stacks) = (struct capture_wake_stack){
		cause, sleeper, waker, wakeups, wakeups * 99 * MS};
}

void sample_add_sample(struct capture *capture, uint32_t serial, uint32_t stack, uint64_t count)
{
	*vec_push(&capture->samples) = (struct capture_sample){serial, stack, count};
}

/* ---- the recording --------------------------------------------------------------------------- */

/* Frames that several stacks share. */
struct server_frames {
	uint32_t schedule, sys_futex, sys_epoll, entry; /* the kernel's */
	uint32_t futex, cond_wait, epoll, start_thread, clone3, libc_start; /* libc's */
	uint32_t main, loop, worker, start; /* the program's; worker and start without a name */
	uint32_t js;
};

static struct server_frames server_frames(struct capture *capture)
{
	uint32_t libc = sample_add_module(capture, "/usr/lib/x86_64-linux-gnu/libc.so.6",
					  "0123456789abcdef0123456789abcdef01234567");
	uint32_t server = sample_add_module(capture, "/opt/server/bin/server", "feedface");

	return (struct server_frames){
		.schedule = sample_add_kernel_frame(capture, "schedule"),
		.sys_futex = sample_add_kernel_frame(capture, "__x64_sys_futex"),
		.sys_epoll = sample_add_kernel_frame(capture, "__x64_sys_epoll_wait"),
		.entry = sample_add_kernel_frame(capture, "entry_SYSCALL_64_after_hwframe"),
		.futex = sample_add_file_frame(capture, libc, 0x8f0a1, ""),
		.cond_wait = sample_add_file_frame(capture, libc, 0x92123, "pthread_cond_timedwait"),
		.epoll = sample_add_file_frame(capture, libc, 0x101d4e, "epoll_wait"),
		.start_thread = sample_add_file_frame(capture, libc, 0x94ac2, "start_thread"),
		.clone3 = sample_add_file_frame(capture, libc, 0x12684f, "__clone3"),
		.libc_start = sample_add_file_frame(capture, libc, 0x29d8f, "__libc_start_main"),
		.main = sample_add_file_frame(capture, server, 0x4a31, "main"),
		.loop = sample_add_file_frame(capture, server, 0x5c00,
					      "server::Loop::run(std::chrono::duration<long>)"),
		.worker = sample_add_file_frame(capture, server, 0x4788c14, ""),
		.start = sample_add_file_frame(capture, server, 0x1024, ""),
		.js = sample_add_jit_frame(capture, 0x7f3210, "JS:*tick file:///srv/app.mjs:7:1"),
	};
}

/* The main thread, which a timeout ends in two places, and a worker that it wakes. */
static void server_wakes(struct capture *capture, const struct server_frames *f)
{
	uint32_t often = SAMPLE_STACK(capture, SAMPLE_PID, 3, f->schedule, f->sys_epoll, f->entry,
				      f->epoll, f->loop, f->main, f->libc_start, f->start);
	uint32_t seldom = SAMPLE_STACK(capture, SAMPLE_PID, 3, f->schedule, f->sys_epoll, f->entry,
				       f->epoll, f->js, f->loop, f->main, f->libc_start, f->start);
	uint32_t idle = SAMPLE_STACK(capture, SAMPLE_PID, 3, f->schedule, f->sys_futex, f->entry,
				     f->futex, f->cond_wait, f->worker, f->start_thread, f->clone3);
	uint32_t waker = SAMPLE_STACK(capture, SAMPLE_PID, 2, f->sys_futex, f->entry, f->js,
				      f->loop, f->main, f->libc_start, f->start);
	uint32_t cut = SAMPLE_STACK(capture, SAMPLE_PID, 0, f->futex);
	struct wk_cause *cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 200, 9000000, 0);

	capture->stacks.items[cut].truncated = true;
	sample_set_timeout(cause, 232, 100 * MS);
	sample_set_period(capture, 1, 61 * MS, 100 * MS);
	sample_add_wake_stack(capture, 1, often, STACK_NONE, 184);
	sample_add_wake_stack(capture, 1, seldom, STACK_NONE, 16);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_THREAD, 40, 800000, 1);
	sample_set_waker(cause, 1, 202, 202);
	sample_set_period(capture, 2, 62 * MS, 500 * MS);
	sample_add_wake_stack(capture, 2, idle, waker, 37);
	sample_add_wake_stack(capture, 2, cut, waker, 2);
	sample_add_wake_stack(capture, 2, STACK_NONE, STACK_NONE, 1);
}

/* Names of a file, of functions and of a script that nobody must print as they are. */
static void server_hostile(struct capture *capture, const struct server_frames *f)
{
	uint32_t module = sample_add_module(capture, "/tmp/<script>alert(1);\x1b[2J\xff",
					    "");
	uint32_t unnamed = sample_add_file_frame(capture, module, 0x10, "");
	uint32_t named = sample_add_file_frame(capture, module, 0x20,
					       "<script>\x1b]0;x\a\xc3\x28\xe2\x80\xae;\n\"a b\"");
	uint32_t jit = sample_add_jit_frame(capture, 0x7f4320, "</title>\x1b[31m;\xff&amp;");
	uint32_t nameless = sample_add_jit_frame(capture, 0x7f5430, "");
	uint32_t stack = SAMPLE_STACK(capture, SAMPLE_PID, 2, f->schedule, f->entry, nameless, jit,
				      named, unnamed, f->start_thread, f->clone3);
	struct wk_cause *cause = sample_add_cause(capture, 3, WK_CONTEXT_HRTIMER, 20, 400000, 0);

	sample_set_timeout(cause, 230, 1000 * MS);
	sample_set_period(capture, 3, 7 * MS, 1000 * MS);
	sample_add_wake_stack(capture, 3, stack, STACK_NONE, 20);
}

static void server_samples(struct capture *capture, const struct server_frames *f)
{
	uint32_t hot = SAMPLE_STACK(capture, SAMPLE_PID, 0, f->js, f->loop, f->main, f->libc_start,
				    f->start);
	uint32_t warm = SAMPLE_STACK(capture, SAMPLE_PID, 0, f->loop, f->main, f->libc_start,
				     f->start);
	uint32_t kernel = SAMPLE_STACK(capture, SAMPLE_PID, 2, f->sys_epoll, f->entry, f->epoll,
				       f->loop, f->main, f->libc_start, f->start);

	capture->sample_hz = 999;
	sample_add_sample(capture, 1, hot, 7);
	sample_add_sample(capture, 1, warm, 1);
	sample_add_sample(capture, 1, kernel, 1);
	sample_add_sample(capture, 2, STACK_NONE, 1);
}

void sample_stacks_recording(struct recording *ret_recording)
{
	struct server_frames frames;
	struct capture *capture;

	memset(ret_recording, 0, sizeof(*ret_recording));
	sample_tool(ret_recording);
	capture = sample_add_run(ret_recording, "server", "idle", NULL, 0);
	capture->settled = true;
	capture->stacks_mode = WK_STACKS_KERNEL | WK_STACKS_USER | WK_STACKS_COPY;
	capture->lost[WK_LOST_STACKS] = 2;
	sample_add_thread(capture, SAMPLE_PID, "server", 200, 9000000);
	sample_add_thread(capture, SAMPLE_PID + 1, "server", 40, 800000);
	sample_add_thread(capture, SAMPLE_PID + 2, SAMPLE_HOSTILE_COMM, 20, 400000);
	for (uint64_t i = 0; i < SAMPLE_WINDOW_NS / WK_SECOND_NS; i++)
		*vec_push(&capture->seconds) = (struct wk_second){10200000 / 20, 260 / 20, 0};
	frames = server_frames(capture);
	server_wakes(capture, &frames);
	server_hostile(capture, &frames);
	server_samples(capture, &frames);
}
