/* Results by the names that people give: recordings, and results in JSON. */
#include "cmd/result_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

/* The first byte of a recording; no text begins with it. */
#define RECORDING_BYTE 0x89

/* The first byte that is not blank, left in the stream; EOF where there is none. */
static int first_byte(FILE *in)
{
	int c;

	do {
		c = fgetc(in);
	} while (c != EOF && isspace(c));
	return c == EOF ? EOF : ungetc(c, in);
}

static int read_json(FILE *in, const char *name, struct result_file *file, struct diag *diag)
{
	int err = json_result_read(in, name, &file->json, diag);

	if (err)
		return err;
	result_init_derived(&file->result, &file->json.recording, file->json.runs, file->json.whys);
	/* They are the result's now. */
	file->json.runs = NULL;
	file->json.whys = NULL;
	return 0;
}

static int read_recording(FILE *in, const char *name, struct result_file *file, struct diag *diag)
{
	int err = record_read(in, name, &file->recording, diag);

	if (!err)
		result_init(&file->result, &file->recording);
	return err;
}

static int read_either(FILE *in, const char *name, struct result_file *file, struct diag *diag)
{
	int c = first_byte(in);

	if (ferror(in))
		return diag_set(diag, -EIO, "%s: %s", name, strerror(errno ? errno : EIO));
	if (c == RECORDING_BYTE)
		return read_recording(in, name, file, diag);
	if (c == '{')
		return read_json(in, name, file, diag);
	diag_set(diag, -EINVAL, "%s is neither a recording nor a result in JSON", name);
	return diag_hint(diag, -EINVAL, "-o FILE.wkw and -o FILE.json write such files");
}

int result_file_read(const char *path, struct result_file *ret_file, struct diag *diag)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int err;

	*ret_file = (struct result_file){};
	if (!in)
		return diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	errno = 0;
	err = read_either(in, is_stdin ? "standard input" : path, ret_file, diag);
	if (!is_stdin)
		fclose(in);
	return err;
}

void result_file_free_members(struct result_file *file)
{
	if (!file)
		return;
	result_free_members(&file->result);
	json_result_free_members(&file->json);
	recording_free_members(&file->recording);
}
