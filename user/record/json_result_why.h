/* Why the threads of a run woke, out of a result in JSON. */
#ifndef WAKEWHY_RECORD_JSON_RESULT_WHY_H
#define WAKEWHY_RECORD_JSON_RESULT_WHY_H

#include "record/json_result.h"
#include "record/json_take.h"

/* A thread's name into its 16 bytes: U+FFFD, which stands for a byte that is no UTF-8, becomes one such
 * byte (FF), so that it fits as it did, and is written as U+FFFD again. */
void comm_from_text(char comm[WK_COMM_BYTES], const char *text);

/* From the object of a run, whose threads are in `run` already; names are kept in result. -EINVAL. */
int json_result_why(const struct field_reader *reader, const json_t *json,
		    struct json_result *result, const struct run *run, struct why *why);

#endif
