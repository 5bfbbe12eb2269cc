/* A file of JSON that somebody else has written, or damaged: read whole, with the place of an error. */
#ifndef WAKEWHY_RECORD_JSON_FILE_H
#define WAKEWHY_RECORD_JSON_FILE_H

#include <jansson.h>
#include <stdio.h>

#include "base/diag.h"

/* At most max bytes. The caller gives *ret_root up with json_decref. -EINVAL: it is longer, or no JSON,
 * with line and column; -EIO: it could not be read. Members that come twice, and NUL in a text, are
 * errors. */
int json_file_read(FILE *in, const char *name, size_t max, json_t **ret_root, struct diag *diag);

#endif
