/* What the kernel side must know of each system call: where its timeout is, and whether it is only a
 * wait. By name, so that one table serves every architecture. */
#include "collect/internal.h"
#include "sym/syscall_names.h"

static const struct {
	const char *name;
	struct wk_call call;
} calls[] = {
	{"futex", {WK_TIMEOUT_FUTEX, 3, 1, 0}},
	{"futex_waitv", {WK_TIMEOUT_CLOCK, 3, 1, 0}},
	{"futex_wait", {WK_TIMEOUT_CLOCK, 4, 1, 0}},
	{"futex_wake", {WK_TIMEOUT_NONE, 0, 1, 0}},
	{"epoll_wait", {WK_TIMEOUT_MS, 3, 1, 0}},
	{"epoll_pwait", {WK_TIMEOUT_MS, 3, 1, 0}},
	{"epoll_pwait2", {WK_TIMEOUT_TIMESPEC, 3, 1, 0}},
	{"poll", {WK_TIMEOUT_MS, 2, 1, 0}},
	{"ppoll", {WK_TIMEOUT_TIMESPEC, 2, 1, 0}},
	{"select", {WK_TIMEOUT_TIMEVAL, 4, 1, 0}},
	{"pselect6", {WK_TIMEOUT_TIMESPEC, 4, 1, 0}},
	{"nanosleep", {WK_TIMEOUT_TIMESPEC, 0, 1, 0}},
	{"clock_nanosleep", {WK_TIMEOUT_SLEEP, 2, 1, 0}},
	{"rt_sigtimedwait", {WK_TIMEOUT_TIMESPEC, 2, 1, 0}},
	{"io_uring_enter", {WK_TIMEOUT_URING, 4, 0, 0}},
	{"recvmmsg", {WK_TIMEOUT_TIMESPEC, 4, 0, 0}},
	{"semtimedop", {WK_TIMEOUT_TIMESPEC, 3, 0, 0}},
	{"mq_timedsend", {WK_TIMEOUT_REALTIME, 4, 0, 0}},
	{"mq_timedreceive", {WK_TIMEOUT_REALTIME, 4, 0, 0}},
	{"sched_yield", {WK_TIMEOUT_NONE, 0, 1, 0}},
	{"restart_syscall", {WK_TIMEOUT_NONE, 0, 1, 0}},
	{"rt_sigprocmask", {WK_TIMEOUT_NONE, 0, 1, 0}},
	{"rt_sigreturn", {WK_TIMEOUT_NONE, 0, 1, 0}},
	{"clock_gettime", {WK_TIMEOUT_NONE, 0, 1, 0}},
};

#if defined(__x86_64__)
#define ARCH_NAME "x86-64"
#elif defined(__aarch64__)
#define ARCH_NAME "arm64"
#endif

void collect_calls_fill(struct wk_call *ret_calls)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int nr = syscall_number(ARCH_NAME, calls[i].name);

		if (nr >= 0 && nr < WK_SYSCALLS)
			ret_calls[nr] = calls[i].call;
	}
}
