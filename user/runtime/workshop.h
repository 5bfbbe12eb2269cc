/* Scripts and floor programs in their private directory: what jobs need to know of it. */
#ifndef WAKEWHY_RUNTIME_WORKSHOP_H
#define WAKEWHY_RUNTIME_WORKSHOP_H

#include "runtime/workloads.h"

/* Absolute path of what a family's program runs, or of floor's own program; the caller frees. */
char *workshop_script(const struct workshop *shop, const struct family *family,
		      enum workload workload);
/* A fresh working directory for one job, absolute; the caller frees. */
int workshop_make_directory(struct workshop *shop, char **ret_path, struct diag *diag);
/* Where caches of scripts go, for all jobs of the session; owned by shop. */
const char *workshop_cache(const struct workshop *shop);
/* As private_dir_guard. */
void workshop_guard(struct workshop *shop, pid_t group);

#endif
