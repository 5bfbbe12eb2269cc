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
	const char *mark;      /* with clean_environment: a path that marks what it starts (strays.h) */
	const char *cache;     /* with clean_environment: where caches go instead of the user's, or NULL */
	uint64_t file_limit_bytes; /* no file of it grows beyond (RLIMIT_FSIZE); 0: as ours */
};

struct launched {
	pid_t pid;
	int pidfd;	/* readable when it has ended */
	int gate_fd;	/* internal */
	int error_fd;	/* internal: carries errno of a failed exec */
	bool own_group; /* internal, like all below */
	bool reaped;
	struct launch_plan *plan; /* shared with the child until it executes */
};

/* Forks; the child sets itself up and waits at the gate before exec. Everything that can be known
 * before is an error here: -ENOENT and -EACCES of the program, no such user, CPU or directory. With
 * own_group set every descriptor but the three is closed; without, those that we inherited ourselves
 * are passed on, as a shell would. */
int launch_prepare(struct launched *ret_launched, const struct launch_options *options,
		   struct diag *diag);
/* Opens the gate and waits until exec has succeeded or failed. -ENOENT / -EACCES … when it could not
 * be executed; the child is reaped then. */
int launch_release(struct launched *launched, struct diag *diag);
/* The two halves of launch_release, for whoever must not wake up at the moment of exec: the second
 * may be called when the program has ended. */
int launch_open(struct launched *launched, struct diag *diag);
int launch_confirm(struct launched *launched, struct diag *diag);
/* Waits for its end and reaps it (blocking). Fills wait status and the child's own rusage: from exec
 * on, what it used at the gate is taken off (ru_maxrss, a peak, cannot be taken off; the child carries
 * none of our heap, see lean_fork.h). A group of its own is killed with its leader. */
int launch_wait(struct launched *launched, int *ret_status, struct rusage *ret_rusage);
/* The CPU time of such an rusage, ns. */
uint64_t launch_cpu_ns(const struct rusage *rusage);
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
/* Makes one directory, mode 0700, owned by the user; name has no slash. */
int private_dir_make_directory(struct private_dir *dir, const char *name, struct diag *diag);
/* Tells the helper about a process group that must not outlive us; with -group, that it has ended. */
void private_dir_guard(struct private_dir *dir, pid_t group);
void private_dir_remove(struct private_dir *dir); /* NULL is fine */

#endif
