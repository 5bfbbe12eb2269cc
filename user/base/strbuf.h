/* A string that grows. */
#ifndef WAKEWHY_BASE_STRBUF_H
#define WAKEWHY_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

/* All zero is an empty one. `text` is NULL until something is added, and ends with NUL after that;
 * it may hold NUL bytes before the end when bytes with NUL were added. */
struct strbuf {
	char *text;
	size_t n; /* bytes, without the last NUL */
	size_t cap;
};

void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t n);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_add_repeated(struct strbuf *buf, char c, size_t n);
__attribute__((format(printf, 2, 3))) void strbuf_printf(struct strbuf *buf, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void strbuf_vprintf(struct strbuf *buf, const char *fmt,
							  va_list args);
/* What is in it, "" when empty; owned by buf, valid until it changes. */
const char *strbuf_text(const struct strbuf *buf);
/* Hands the string over to the caller, who frees it; buf is empty again. Never NULL. */
char *strbuf_take(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf); /* keeps the memory */
void strbuf_free_members(struct strbuf *buf);

#endif
