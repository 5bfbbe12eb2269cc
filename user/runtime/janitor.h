/* The process that clears up behind us, however we end. */
#ifndef WAKEWHY_RUNTIME_JANITOR_H
#define WAKEWHY_RUNTIME_JANITOR_H

#include <limits.h>
#include <stdint.h>

#include "runtime/identity.h"

/* What we tell it, one packet each: a process group to kill at our end, or (negative) not any more. */
struct janitor_message {
	int32_t group;
};

/* What it says once, at its start. */
struct janitor_answer {
	int32_t error; /* an errno; 0: path is the directory */
	char path[PATH_MAX];
};

/* Its whole life, in a process of its own (fork, no exec): becomes the user, makes the directory,
 * answers on fd, then sleeps until the other end of fd is closed, by us or by our death. It then kills
 * the groups and whoever is marked with the directory, removes the directory, and ends. Since it is
 * the user it can harm nobody else's files, whatever was done to the directory meanwhile. */
__attribute__((noreturn)) void janitor_main(int fd, const struct identity *identity);

/* The end of that life alone: for the case that the janitor was killed. Never returns. */
__attribute__((noreturn)) void janitor_substitute(const char *path, const struct identity *identity);

#endif
