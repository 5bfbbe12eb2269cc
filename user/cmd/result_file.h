/* Results by the names that people give: recordings, and results in JSON. */
#ifndef WAKEWHY_CMD_RESULT_FILE_H
#define WAKEWHY_CMD_RESULT_FILE_H

#include "base/diag.h"
#include "record/json_result.h"
#include "report/result.h"

/* result points into the rest: it must not be moved. */
struct result_file {
	struct recording recording; /* of a recording; else json holds it */
	struct json_result json;
	struct result result;
};

/* Reads either; a path of - is standard input. Errors as record_read()'s and json_result_read()'s, or the
 * reason why it cannot be opened; -EINVAL where it is neither. *ret_file needs freeing on success only. */
int result_file_read(const char *path, struct result_file *ret_file, struct diag *diag);
void result_file_free_members(struct result_file *file);

#endif
