/* JSON as it is written out: what no one sees is an escape. */
#include <stdio.h>

#include "base/text.h"
#include "render/json.h"

#define INDENT 2

static int write_escaped(FILE *out, uint32_t code)
{
	if (code < 0x10000)
		return fprintf(out, "\\u%04x", code);
	code -= 0x10000;
	return fprintf(out, "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

static int write_bytes(FILE *out, const char *bytes, size_t n)
{
	return fwrite_unlocked(bytes, 1, n, out) == n ? 0 : -1;
}

static int write_indent(const struct json_out *to)
{
	int err = 0;

	for (unsigned int i = 0; i < to->depth && !err; i++)
		err = write_bytes(to->out, "  ", INDENT);
	return err;
}

/* A piece of the text. Only strings have characters beyond ASCII, or DEL, and none is cut between pieces; what
 * is below the blank is an escape already, or between values. */
static int write_piece(const char *text, size_t n, void *json_out)
{
	const struct json_out *to = json_out;
	size_t plain = 0;

	for (size_t i = 0; i < n;) {
		uint32_t code = (unsigned char)text[i];
		size_t used = code < 0x7f ? 1 : text_decode(text + i, n - i, &code);

		if (code == '\n' && to->depth) {
			if (write_bytes(to->out, text + plain, i + 1 - plain) || write_indent(to))
				return -1;
			plain = i + 1;
		} else if (used && code >= 0x7f && text_is_hidden(code)) {
			if (write_bytes(to->out, text + plain, i - plain) || write_escaped(to->out, code) < 0)
				return -1;
			plain = i + used;
		}
		i += used ? used : 1;
	}
	return write_bytes(to->out, text + plain, n - plain);
}

/* 15 digits: every decimal figure of that length comes back as it was written. */
static int write_value(json_t *value, struct json_out *to, size_t flags)
{
	return json_dump_callback(value, write_piece, to, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

void json_write(json_t *root, FILE *out, size_t flags)
{
	struct json_out to = {.out = out};

	if (!write_value(root, &to, flags))
		fputc('\n', out);
}

static void begin_line(const struct json_out *to)
{
	fputc('\n', to->out);
	write_indent(to);
}

static void begin_item(struct json_out *to, const char *name)
{
	if (to->filled)
		fputc(',', to->out);
	if (to->depth)
		begin_line(to);
	to->filled = true;
	if (name)
		fprintf(to->out, "\"%s\": ", name);
}

void json_open(struct json_out *to, const char *name, char bracket)
{
	begin_item(to, name);
	fputc(bracket, to->out);
	to->depth++;
	to->filled = false;
}

void json_put(struct json_out *to, const char *name, json_t *value)
{
	begin_item(to, name);
	write_value(value, to, JSON_INDENT(INDENT));
	json_decref(value);
}

void json_close(struct json_out *to, char bracket)
{
	to->depth--;
	if (to->filled)
		begin_line(to);
	fputc(bracket, to->out);
	if (!to->depth)
		fputc('\n', to->out);
	to->filled = true;
}
