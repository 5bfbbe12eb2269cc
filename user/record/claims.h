/* Claims: figures that others have published, from a JSON file. docs/claims-format.md describes it. */
#ifndef WAKEWHY_RECORD_CLAIMS_H
#define WAKEWHY_RECORD_CLAIMS_H

#include <stdio.h>

#include "base/diag.h"
#include "model/capture.h"

/* Reads a file of claims into recording->claims, which must be empty. Nothing in it is believed: its
 * size, every name, number, workload and metric is checked, and a member that is not known is an
 * error, for a misspelt "value" must not go unseen. On failure the recording is untouched and diag
 * says where: "articles.json: claims[3].metric: …", or the line and column of what is no JSON.
 * -EINVAL: not such a file; -EIO: could not read. */
int claims_read(FILE *in, const char *name, struct recording *recording, struct diag *diag);

#endif
