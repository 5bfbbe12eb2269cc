/* What wakewhy says about itself: one line each on standard error, safe for a terminal. */
#ifndef WAKEWHY_CMD_SAY_H
#define WAKEWHY_CMD_SAY_H

#include "base/diag.h"

/* "wakewhy: …". Bytes that could steer a terminal are shown as \xNN, so arguments may hold anything.
 * A progress bar that is on the screen must be cleared by the caller before (progress_clear). */
__attribute__((format(printf, 1, 2))) void say_error(const char *fmt, ...);
/* "wakewhy: warning: …" */
__attribute__((format(printf, 1, 2))) void say_warning(const char *fmt, ...);
/* "wakewhy: WHAT; HINT" */
void say_diag(const struct diag *diag);
/* The same with its subject: "wakewhy: LABEL: WHAT; HINT" */
void say_diag_of(const char *label, const struct diag *diag);

/* The candidate most like word (typing errors and beginnings), or NULL when none is near.
 * candidates end with NULL. */
const char *say_nearest(const char *word, const char *const *candidates);

#endif
