/* Starts a program stopped at a gate, as the right user, on the right CPUs, and never leaves it
 * behind. */
#ifndef WAKEWHY_RUNTIME_LAUNCH_H
#define WAKEWHY_RUNTIME_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/diag.h"

struct launch_options {
	char *const *argv;     /* argv[0] is looked up on PATH unless it has a slash; NULL-terminated */
	const char *directory; /* working directory, or NULL to keep ours */
	const char *user;      /* NULL: keep ours, or the invoking user's under sudo (never root then) */
	const char *cpus;      /* "0", "0,2-3", or NULL */
	int stdin_fd;	       /* -1: inherit; they are duplicated, the caller keeps its own */
	int stdout_fd;
	int stderr_fd;
	bool own_group;	       /* a process group of its own, killed whole by launch_kill (workloads);
				  false for `run`, whose command keeps the terminal */
	bool clean_environment; /* workloads: PATH, HOME, LANG, TMPDIR and nothing that changes a runtime */
};

struct launched {
	pid_t pid;
	int pidfd;	/* readable when it has ended */
	int gate_fd;	/* internal */
	int error_fd;	/* internal: carries errno of a failed exec */
};

/* Forks; the child sets itself up and waits at the gate before exec. */
int launch_prepare(struct launched *ret_launched, const struct launch_options *options,
		   struct diag *diag);
/* Opens the gate and waits until exec has succeeded or failed. -ENOENT / -EACCES … when it could not
 * be executed; the child is reaped then. */
int launch_release(struct launched *launched, struct diag *diag);
/* Waits for its end and reaps it (blocking). Fills wait status and the child's own rusage. */
int launch_wait(struct launched *launched, int *ret_status, struct rusage *ret_rusage);
/* Kills it (and its process group if it has one), reaps it, closes the descriptors. Any state is
 * fine, also after launch_wait and twice. */
void launch_kill(struct launched *launched);

/* A private directory for scripts, owned by the user the workload runs as, gone when wakewhy is:
 * also after kill -9 (a helper process waits for our end and removes it, and kills what we started). */
struct private_dir;
int private_dir_create(struct private_dir **ret_dir, const char *user, struct diag *diag);
/* Absolute path, owned by dir. */
const char *private_dir_path(const struct private_dir *dir);
/* Writes one file, mode 0644; name has no slash. */
int private_dir_write(struct private_dir *dir, const char *name, const void *data, size_t bytes,
		      bool executable, struct diag *diag);
/* Tells the helper about a process group that must not outlive us. */
void private_dir_guard(struct private_dir *dir, pid_t group);
void private_dir_remove(struct private_dir *dir); /* NULL is fine */

#endif
