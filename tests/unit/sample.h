/* A plausible recording built by hand, for tests of everything behind collect/. */
#ifndef WAKEWHY_TESTS_SAMPLE_H
#define WAKEWHY_TESTS_SAMPLE_H

#include "model/capture.h"

#define SAMPLE_PID	 4711u
#define SAMPLE_WINDOW_NS (20 * WK_SECOND_NS)
/* A thread's name and an argument that nobody must print as they are. */
#define SAMPLE_HOSTILE_COMM "<b>\x1b[31m\xff\",\n"
#define SAMPLE_HOSTILE_ARG  "a\x1b]0;x\a\xc3\x28\xe2\x80\xae=1,\"<script>"

/* Empties and fills it: idle (floor, zig, rust; 2 repeats), startup (zig, rust; 6 repeats), hash
 * (node sync and webcrypto), one `run` with hostile names that is not to be trusted, one failure.
 * The caller frees with recording_free_members(). */
void sample_recording(struct recording *ret_recording);

/* Parts, for tests that want less. The pointers are valid until the next one is added. */
void sample_tool(struct recording *recording);
struct capture *sample_add_run(struct recording *recording, const char *label, const char *workload,
			       const char *variant, uint32_t repeat);
/* A thread that the kernel's own figures agree with; counts in wakeups, on-CPU time in ns. */
struct capture_thread *sample_add_thread(struct capture *capture, uint32_t tid, const char *comm,
					 uint64_t wakeups, uint64_t oncpu_ns);
void sample_add_syscall(struct capture_thread *thread, uint32_t nr, uint64_t count);
/* A cause with the next number, from 1, of the thread with this serial (threads are numbered from 1 as
 * they are added). Charged to the cause `root`; 0: to itself. */
struct wk_cause *sample_add_cause(struct capture *capture, uint32_t serial, enum wk_context context,
				  uint64_t wakeups, uint64_t oncpu_ns, uint32_t root);
/* Makes a cause of WK_CONTEXT_HRTIMER the end of a timeout asked for in a system call; 0: none. */
void sample_set_timeout(struct wk_cause *cause, uint16_t call, uint64_t timeout_ns);
void sample_set_waker(struct wk_cause *cause, uint32_t waker, uint16_t wake_call,
		      uint16_t sleep_call);
/* Its wakes at even intervals, the first one first_ns after the window's start; on the timeline too. */
void sample_set_period(struct capture *capture, uint32_t number, uint64_t first_ns,
		       uint64_t period_ns);
/* argv: n_argv arguments. */
struct capture_image *sample_add_image(struct capture *capture, uint32_t pid, uint64_t start_ns,
				       uint64_t exec_ns, const char *comm, const char *const *argv,
				       size_t n_argv);

#endif
