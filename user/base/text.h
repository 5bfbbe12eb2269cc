/* Text from outside: made safe for a terminal, made valid UTF-8, measured in columns. Needs no
 * locale and changes none. */
#ifndef WAKEWHY_BASE_TEXT_H
#define WAKEWHY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copy that a terminal shows and cannot act on: printable UTF-8 stays as it is. Control bytes and
 * bytes that are not UTF-8 (surrogates included) become \xNN; code points that control, hide or
 * reorder text (C1, bidi controls, zero-width and other invisible ones, line separators, private
 * use, noncharacters, a combining mark with nothing or a space before it, where a line may be broken)
 * become \u{NNNN}. Caller frees. */
char *text_safe(const char *text);
char *text_safe_bytes(const char *bytes, size_t n);

/* Copy that is valid UTF-8, each broken byte and each NUL replaced by U+FFFD; control characters
 * stay, for JSON writes them as escapes. The caller frees. */
char *text_utf8(const char *text);
char *text_utf8_bytes(const char *bytes, size_t n);

/* Whether text begins with all of `with`. */
static inline bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Copy of text of at most `bytes` bytes, cut between characters, "…" at the end of a shortened one.
 * The caller frees. */
char *text_shorten(const char *text, size_t bytes);

/* Columns that a terminal needs for text: 2 for wide characters, 0 for combining ones. Meant for
 * what text_safe returned; a broken byte counts 1. */
size_t text_columns(const char *text);

/* Reads one code point. Returns the bytes it takes (1 to 4), or 0 where the bytes are not valid
 * UTF-8 (overlong, surrogate, beyond U+10FFFF, cut short, or n is 0). */
size_t text_decode(const char *bytes, size_t n, uint32_t *ret_code);

/* Whether a code point controls, hides or reorders text: those that text_safe does not leave as they are,
 * but for combining marks. */
bool text_is_hidden(uint32_t code);

#endif
