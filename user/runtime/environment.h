/* The environment that a workload gets. */
#ifndef WAKEWHY_RUNTIME_ENVIRONMENT_H
#define WAKEWHY_RUNTIME_ENVIRONMENT_H

#include <stdbool.h>

#include "runtime/identity.h"

/* Marks the processes of a job, so that strays are found (strays.h). */
#define ENVIRONMENT_MARK "WAKEWHY_JOB"

/* clean: PATH, HOME, USER, LOGNAME, SHELL, LANG, TMPDIR, mark and cache (NULL: none), nothing else, so
 * that no variable of the caller's shell (LD_PRELOAD, NODE_OPTIONS, PYTHONPATH …) changes what a
 * runtime does. cache becomes XDG_CACHE_HOME: deno, for one, keeps compiled code of every script that
 * it ever ran, and ours would stay in the user's cache for good.
 *
 * Otherwise ours, with the user's variables where the user changes. NULL-terminated; the caller frees
 * it with environment_free. */
char **environment_build(const struct identity *identity, bool clean, const char *mark,
			  const char *cache);
void environment_free(char **environment);

#endif
