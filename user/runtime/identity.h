/* Whom a workload runs as: the user, his groups and his home. */
#ifndef WAKEWHY_RUNTIME_IDENTITY_H
#define WAKEWHY_RUNTIME_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups;	/* supplementary ones, gid among them */
	size_t n_groups;
	bool change;	/* differs from what we are: identity_assume has something to do */
	char *name;	/* "1000" for a user without an entry; never NULL */
	char *home;
	char *shell;
};

/* user: a name or a number; NULL: whoever called sudo, or ourselves where there is no sudo. Reads
 * SUDO_UID and SUDO_GID only when we are root; a broken SUDO_UID is an error, for the other choice
 * would be to stay root. -ENOENT (no such user), -EPERM (only root can change), -EINVAL. */
int identity_resolve(struct identity *ret_identity, const char *user, struct diag *diag);
/* Becomes that user for good, and makes sure that there is no way back. Async-signal-safe. -errno. */
int identity_assume(const struct identity *identity);
void identity_free_members(struct identity *identity);

#endif
