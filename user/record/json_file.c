/* A file of JSON that somebody else has written, or damaged: read whole, with the place of an error. */
#include "record/json_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

static int load(FILE *in, const char *name, size_t max, struct strbuf *text, struct diag *diag)
{
	char block[4096];
	size_t n;

	while (text->n <= max && (n = fread(block, 1, sizeof(block), in)) > 0)
		strbuf_add_bytes(text, block, n);
	if (ferror(in))
		return diag_set(diag, -EIO, "%s: cannot read: %s", name, strerror(errno));
	if (text->n > max)
		return diag_set(diag, -EINVAL, "%s: it has more than %zu bytes", name, max);
	return 0;
}

static int parse(const struct strbuf *text, const char *name, json_t **ret_root, struct diag *diag)
{
	json_error_t error;
	char *safe;

	*ret_root = json_loadb(strbuf_text(text), text->n, JSON_REJECT_DUPLICATES, &error);
	if (*ret_root)
		return 0;
	if (json_error_code(&error) == json_error_out_of_memory)
		mem_out();
	safe = text_safe(error.text); /* it quotes the file */
	diag_set(diag, -EINVAL, "%s: line %d, column %d: %s", name, error.line, error.column, safe);
	free(safe);
	return -EINVAL;
}

int json_file_read(FILE *in, const char *name, size_t max, json_t **ret_root, struct diag *diag)
{
	struct strbuf text = {0};
	int err = load(in, name, max, &text, diag);

	if (!err)
		err = parse(&text, name, ret_root, diag);
	strbuf_free_members(&text);
	return err;
}
