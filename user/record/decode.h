/* JSON as a recording, nothing in it believed. */
#ifndef WAKEWHY_RECORD_DECODE_H
#define WAKEWHY_RECORD_DECODE_H

#include "base/diag.h"
#include "model/capture.h"

/* Errors as record_read()'s; *ret_recording is untouched then. */
int recording_decode(const char *text, size_t n, const char *name, struct recording *ret_recording,
		     struct diag *diag);

#endif
