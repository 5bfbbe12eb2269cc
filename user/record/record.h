/* Recordings: .wkw files. docs/recording-format.md describes the bytes. */
#ifndef WAKEWHY_RECORD_RECORD_H
#define WAKEWHY_RECORD_RECORD_H

#include <stdio.h>

#include "base/diag.h"
#include "model/capture.h"

/* Writes a whole recording. -EIO with the reason in diag when out cannot take it. */
int record_write(FILE *out, const struct recording *recording, struct diag *diag);

/* Reads one. Nothing in the file is believed: sizes, counts, names and numbers are checked, and a
 * file that inflates beyond 1 GiB is refused. On failure *ret_recording is untouched and diag names
 * `name` and what is wrong. -EINVAL: not a recording, damaged or cut short; -EIO: could not read;
 * -ENOTSUP: written by a newer wakewhy in a way that this one cannot read. */
int record_read(FILE *in, const char *name, struct recording *ret_recording, struct diag *diag);

#endif
