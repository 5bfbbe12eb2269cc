/* Waiting for descriptors until a point in time, or until a signal says stop. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "runtime/deadline.h"

#define NS_PER_S 1000000000ULL

uint64_t deadline_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t deadline_after(uint64_t timeout_ns)
{
	uint64_t now = deadline_now_ns();

	return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

static int poll_once(struct pollfd *fds, size_t n, uint64_t deadline_ns, const sigset_t *mask)
{
	uint64_t now = deadline_now_ns();
	uint64_t left_ns = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec left = {(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
	int ready = ppoll(fds, n, &left, mask);

	return ready < 0 ? -errno : ready ? ready : -ETIMEDOUT;
}

int deadline_poll(struct pollfd *fds, size_t n, uint64_t deadline_ns, const volatile int *stop)
{
	sigset_t all, old;
	int result;

	/* Between the look at *stop and the sleep no signal may come in unseen. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	do
		result = stop && *stop ? -EINTR : poll_once(fds, n, deadline_ns, &old);
	while (result == -EINTR && !(stop && *stop));
	sigprocmask(SIG_SETMASK, &old, NULL);
	return result;
}

int deadline_poll_beside(struct pollfd *fds, size_t n, uint64_t deadline_ns, const volatile int *stop,
			 const struct deadline_beside *beside)
{
	struct pollfd all[DEADLINE_FDS_MAX + 1];
	int ready, beside_ready;

	if (!beside->serve)
		return deadline_poll(fds, n, deadline_ns, stop);
	for (;;) {
		memcpy(all, fds, n * sizeof(*fds));
		all[n] = (struct pollfd){.fd = beside->fd, .events = POLLIN};
		ready = deadline_poll(all, n + 1, deadline_ns, stop);
		memcpy(fds, all, n * sizeof(*fds));
		beside_ready = all[n].revents ? 1 : 0;
		if (ready < 0 || ready > beside_ready)
			return ready < 0 ? ready : ready - beside_ready;
		beside->serve(beside->context);
	}
}
