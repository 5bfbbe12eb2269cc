/* A file that appears under its name only when it is complete. */
#ifndef WAKEWHY_CMD_OUTPUT_FILE_H
#define WAKEWHY_CMD_OUTPUT_FILE_H

#include <stdio.h>

#include "base/diag.h"

struct output_file;

/* Begins a nameless file in the directory of path (or, where the file system has none, one with a
 * random hidden name), owned by the invoking user under sudo. An existing file of that name stays
 * as it is until output_file_complete. -EISDIR, -EEXIST (something there that is not a file),
 * or the reason that the directory cannot be written. */
int output_file_begin(struct output_file **ret_file, const char *path, struct diag *diag);
/* To write to; owned by file. */
FILE *output_file_stream(const struct output_file *file);
/* Flushes, checks that all was written, and puts the file under its name, replacing what was there. */
int output_file_complete(struct output_file *file, struct diag *diag);
/* Removes what was not completed; NULL is fine. */
void output_file_free(struct output_file *file);

#endif
