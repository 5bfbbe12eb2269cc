/* Recordings by the names that people give. */
#ifndef WAKEWHY_CMD_RECORDING_FILE_H
#define WAKEWHY_CMD_RECORDING_FILE_H

#include "base/diag.h"
#include "model/capture.h"

/* Reads a recording; a path of - is standard input. Errors as record_read()'s, or the reason why it
 * cannot be opened; *ret_recording is untouched then. */
int recording_file_read(const char *path, struct recording *ret_recording, struct diag *diag);

#endif
