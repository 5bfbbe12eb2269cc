/* Modules, frames, stacks, and who was in them, of a run in a recording, nothing in them believed. */
#ifndef WAKEWHY_RECORD_DECODE_STACKS_H
#define WAKEWHY_RECORD_DECODE_STACKS_H

#include "model/capture.h"
#include "record/fields.h"

/* From the object of a run into capture, whose causes are there already; what is missing stays empty.
 * -EINVAL with the reason in the diag of reader. */
int stacks_decode(const struct field_reader *reader, const json_t *run, struct capture *capture);

#endif
