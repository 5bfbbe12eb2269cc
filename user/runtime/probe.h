/* Asks a program for its version. */
#ifndef WAKEWHY_RUNTIME_PROBE_H
#define WAKEWHY_RUNTIME_PROBE_H

#include "base/diag.h"

/* Runs path with arguments (NULL-terminated), as user (launch.h), for at most 10 s. *ret_version is
 * the caller's to free: "22.23.2". -EIO with its last words in diag, -ETIMEDOUT, or as launch. */
int probe_version(char **ret_version, const char *path, const char *const *arguments,
		  const char *user, struct diag *diag);
/* The version number in what a program printed: the first number with a point in it, and what is
 * attached to it, else the first number. NULL when there is none; the caller frees. */
char *probe_find_version(const char *text);

#endif
