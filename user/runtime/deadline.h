/* Waiting for descriptors until a point in time, or until a signal says stop. */
#ifndef WAKEWHY_RUNTIME_DEADLINE_H
#define WAKEWHY_RUNTIME_DEADLINE_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t deadline_now_ns(void);
/* CLOCK_MONOTONIC, timeout_ns from now; a sum beyond 64 bits is the end of time. */
uint64_t deadline_after(uint64_t timeout_ns);
/* Waits as poll(2), with no wakeup in between. Returns how many are ready (above 0), -ETIMEDOUT,
 * -EINTR when *stop (NULL: never) is set, or what poll says. A signal whose handler sets *stop is
 * never missed: signals are let in only while it sleeps. */
int deadline_poll(struct pollfd *fds, size_t n, uint64_t deadline_ns, const volatile int *stop);

/* Work that may come up while somebody waits for something else. */
struct deadline_beside {
	int fd; /* readable: there is some */
	void (*serve)(void *context); /* does it; NULL: there is nothing beside */
	void *context;
};

#define DEADLINE_FDS_MAX 4
/* As deadline_poll, of at most DEADLINE_FDS_MAX descriptors, with that work done meanwhile. What is waited for
 * comes first. */
int deadline_poll_beside(struct pollfd *fds, size_t n, uint64_t deadline_ns, const volatile int *stop,
			 const struct deadline_beside *beside);

#endif
