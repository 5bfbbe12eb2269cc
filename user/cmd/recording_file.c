/* Recordings by the names that people give. */
#include "cmd/recording_file.h"

#include <stdio.h>
#include <string.h>

#include "record/record.h"

int recording_file_read(const char *path, struct recording *ret_recording, struct diag *diag)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int err;

	if (!in)
		return diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	err = record_read(in, is_stdin ? "standard input" : path, ret_recording, diag);
	if (!is_stdin)
		fclose(in);
	return err;
}
