/* A string that grows. */
#include "base/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Room for n more bytes and the NUL. */
static char *strbuf_room(struct strbuf *buf, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(buf->n, n, &need) || __builtin_add_overflow(need, 1, &need))
		need = SIZE_MAX; /* mem_realloc ends the program */
	if (need > buf->cap) {
		size_t grown = buf->cap > SIZE_MAX / 2 ? need : buf->cap * 2;

		if (grown < need)
			grown = need;
		if (grown < 64)
			grown = 64;
		buf->text = mem_realloc(buf->text, grown, 1);
		buf->cap = grown;
	}
	return buf->text + buf->n;
}

void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t n)
{
	char *end = strbuf_room(buf, n);

	if (n)
		memcpy(end, bytes, n);
	end[n] = '\0';
	buf->n += n;
}

void strbuf_add(struct strbuf *buf, const char *text)
{
	strbuf_add_bytes(buf, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buf, char c)
{
	strbuf_add_bytes(buf, &c, 1);
}

void strbuf_add_repeated(struct strbuf *buf, char c, size_t n)
{
	char *end = strbuf_room(buf, n);

	memset(end, c, n);
	end[n] = '\0';
	buf->n += n;
}

void strbuf_vprintf(struct strbuf *buf, const char *fmt, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	vsnprintf(strbuf_room(buf, n), (size_t)n + 1, fmt, args);
	buf->n += n;
}

void strbuf_printf(struct strbuf *buf, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(buf, fmt, args);
	va_end(args);
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->text ? buf->text : "";
}

char *strbuf_take(struct strbuf *buf)
{
	char *text = buf->text ? buf->text : mem_strdup("");

	memset(buf, 0, sizeof(*buf));
	return text;
}

void strbuf_clear(struct strbuf *buf)
{
	buf->n = 0;
	if (buf->text)
		buf->text[0] = '\0';
}

void strbuf_free_members(struct strbuf *buf)
{
	free(buf->text);
	memset(buf, 0, sizeof(*buf));
}
