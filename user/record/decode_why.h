/* Causes, charges and the timeline of a run in a recording, nothing in them believed. */
#ifndef WAKEWHY_RECORD_DECODE_WHY_H
#define WAKEWHY_RECORD_DECODE_WHY_H

#include "model/capture.h"
#include "record/fields.h"

/* From the object of a run into capture; what is missing stays empty. -EINVAL with the reason in the
 * diag of reader. */
int why_decode(const struct field_reader *reader, const json_t *run, struct capture *capture);
/* Is there a cause of this number? Causes are in the order of theirs. */
bool why_has_cause(const struct capture *capture, uint32_t number);

#endif
