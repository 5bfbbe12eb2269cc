/* An error for people: what went wrong, and what to do about it. */
#ifndef WAKEWHY_BASE_DIAG_H
#define WAKEWHY_BASE_DIAG_H

#include <errno.h>

/* Functions that can fail return 0 or -errno and fill a struct diag that the caller owns. Library
 * code never prints; main and cmd/ do. `what` is one line without a full stop, `hint` one line that
 * says what would be right or the command that mends it ("" where there is none). */
struct diag {
	char what[512];
	char hint[512];
};

/* Both return err (a negative errno), so that a failing path is one line:
 *	return diag_set(diag, -EINVAL, "bad duration '%s'", text);
 * diag may be NULL. Text from outside is made safe for a terminal when it is printed, not here. */
__attribute__((format(printf, 3, 4))) int diag_set(struct diag *diag, int err, const char *fmt,
						   ...);
/* Adds the hint to a diag that already says what; returns err unchanged. */
__attribute__((format(printf, 3, 4))) int diag_hint(struct diag *diag, int err, const char *fmt,
						    ...);

#endif
