/* JSON as it is written out: what no one sees is an escape. */
#include <stdio.h>

#include "base/text.h"
#include "render/json.h"

static int write_escaped(FILE *out, uint32_t code)
{
	if (code < 0x10000)
		return fprintf(out, "\\u%04x", code);
	code -= 0x10000;
	return fprintf(out, "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

/* A piece of the text. Only strings have characters beyond ASCII, or DEL, and none is cut between pieces; what
 * is below the blank is an escape already, or between values. */
static int write_piece(const char *text, size_t n, void *stream)
{
	FILE *out = stream;
	size_t plain = 0;

	for (size_t i = 0; i < n;) {
		uint32_t code = (unsigned char)text[i];
		size_t used = code < 0x7f ? 1 : text_decode(text + i, n - i, &code);

		if (used && code >= 0x7f && text_is_hidden(code)) {
			if (fwrite(text + plain, 1, i - plain, out) != i - plain || write_escaped(out, code) < 0)
				return -1;
			plain = i + used;
		}
		i += used ? used : 1;
	}
	return fwrite(text + plain, 1, n - plain, out) == n - plain ? 0 : -1;
}

/* 15 digits: every decimal figure of that length comes back as it was written. */
void json_write(json_t *root, FILE *out, size_t flags)
{
	if (!json_dump_callback(root, write_piece, out, flags | JSON_REAL_PRECISION(15)))
		fputc('\n', out);
}
