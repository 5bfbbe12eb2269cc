/* The directory that keeps a study: its plan, a recording of each bout, and all of them in one.
 *
 *	DIR/study.json                       what is measured, where and how (record/plan.h)
 *	DIR/startup-0-zig-7.wkw              workload, number of the runtime, its label, repeat
 *	DIR/startup-0-zig-7-bare.wkw         the same without probes
 *	DIR/hash-2-node-webcrypto-0.wkw      with a variant
 *	DIR/study.wkw                        everything, at the end
 *
 * A file is under its name when it is whole and on the disk, or not at all. Only one study at a time
 * has the directory.
 */
#ifndef WAKEWHY_CMD_STORE_H
#define WAKEWHY_CMD_STORE_H

#include "cmd/bout.h"
#include "record/plan.h"

struct store;

/* Makes the directory (mode 0700, owned by the invoking user under sudo) or takes one that is there:
 * one that is empty or holds a study. Refused with diag: a symbolic link, what belongs to somebody
 * else or may be written by others, other people's files (-EEXIST), a damaged plan (-EINVAL), one
 * that is in use (-EBUSY). */
int store_open(struct store **ret_store, const char *path, struct diag *diag);
/* The plan that it was begun with; NULL: it is new. Owned by store. */
const struct plan *store_plan(const struct store *store);
/* What this study is going to do. A new directory takes it as its plan; another one must have been
 * begun with the same, and what it keeps is read: -EINVAL where something differs or is damaged. */
int store_begin(struct store *store, const struct plan *plan, struct diag *diag);
/* How many bouts it keeps. */
size_t store_kept(const struct store *store);
/* For a schedule of this experiment, after store_begin. Both must outlive it. */
struct keeper store_keeper(struct store *store, struct experiment *experiment);
/* Writes study.wkw. */
int store_finish(struct store *store, const struct recording *recording, struct diag *diag);
void store_free(struct store *store); /* NULL is fine */

#endif
