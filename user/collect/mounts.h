/* Mounts as /proc/PID/mountinfo shows them: which of them are served by somebody's program. */
#ifndef WAKEWHY_COLLECT_MOUNTS_H
#define WAKEWHY_COLLECT_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/mem.h"

struct mount {
	uint64_t id;
	char *point; /* where, below the root of whoever was asked */
	/* A file system in user space (FUSE) that neither root nor we have mounted: its owner decides whether it
	 * ever answers, and who waits for it cannot even be killed. */
	bool foreign;
};

struct mounts {
	VEC(struct mount) items;
};

/* Those that the process of this /proc/PID directory sees (-1: we), read for the user `us`. None where they
 * cannot be read. */
void mounts_read(struct mounts *ret_mounts, int process_fd, uid_t us);
/* The same from the text of such a file. */
void mounts_parse(struct mounts *ret_mounts, FILE *in, uid_t us);
/* NULL: it is not among them. */
const struct mount *mounts_find(const struct mounts *mounts, uint64_t id);
/* Is any foreign? May the way to an absolute path lead into one? Links are not followed. */
bool mounts_any_foreign(const struct mounts *mounts);
bool mounts_lead_into_foreign(const struct mounts *mounts, const char *path);
void mounts_free_members(struct mounts *mounts);

#endif
