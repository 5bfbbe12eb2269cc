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
 * They are macros so that the caller's compiler and the analyzers see what is returned: never success,
 * even where a library failed and left errno at 0. err is taken before the words are made.
 * diag may be NULL. Text from outside is made safe for a terminal when it is printed, not here. */
#define diag_set(diag, err, ...)                                                                   \
	__extension__({                                                                            \
		int diag_set_err_ = diag_error(err);                                               \
		diag_what(diag, __VA_ARGS__);                                                      \
		diag_set_err_;                                                                     \
	})
/* Adds the hint to a diag that already says what; returns err. */
#define diag_hint(diag, err, ...)                                                                  \
	__extension__({                                                                            \
		int diag_hint_err_ = diag_error(err);                                              \
		diag_advise(diag, __VA_ARGS__);                                                    \
		diag_hint_err_;                                                                    \
	})

/* What the two are made of. */
__attribute__((format(printf, 2, 3))) void diag_what(struct diag *diag, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void diag_advise(struct diag *diag, const char *fmt, ...);
static inline int diag_error(int err)
{
	return err < 0 ? err : -EIO;
}

#endif
