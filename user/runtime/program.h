/* Where a program's file is: the search along PATH. */
#ifndef WAKEWHY_RUNTIME_PROGRAM_H
#define WAKEWHY_RUNTIME_PROGRAM_H

#include "base/diag.h"

/* Finds name as a shell would: along PATH unless it has a slash. *ret_path is what exec takes (the
 * caller frees it). -ENOENT: no such file; -EACCES: there is one that cannot be executed. */
int program_find(const char *name, char **ret_path, struct diag *diag);

#endif
