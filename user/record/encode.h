/* A recording as JSON, written piece by piece. docs/recording-format.md describes it. */
#ifndef WAKEWHY_RECORD_ENCODE_H
#define WAKEWHY_RECORD_ENCODE_H

#include "model/capture.h"
#include "record/pack.h"

/* No more than a row of a table, or the rest of a run, is in memory as JSON at a time. */
void recording_encode(const struct recording *recording, struct packer *packer);

#endif
