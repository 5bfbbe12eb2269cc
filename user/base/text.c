/* Text from outside: made safe for a terminal, made valid UTF-8, measured in columns. */
#include "base/text.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

struct text_range {
	uint32_t first, last;
};

#include "base/text_widths.h"

static bool text_in(const struct text_range *ranges, size_t n, uint32_t code)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code > ranges[middle].last)
			low = middle + 1;
		else if (code < ranges[middle].first)
			high = middle;
		else
			return true;
	}
	return false;
}

#define TEXT_IN(ranges, code) text_in(ranges, sizeof(ranges) / sizeof((ranges)[0]), code)

bool text_is_hidden(uint32_t code)
{
	return code < 0x20 || code == 0x7f || TEXT_IN(hidden_ranges, code);
}

/* Table 3-7 of the Unicode standard: the second byte's range excludes overlong forms, surrogates
 * and what lies beyond U+10FFFF. */
size_t text_decode(const char *bytes, size_t n, uint32_t *ret_code)
{
	const unsigned char *b = (const unsigned char *)bytes;
	unsigned char low = 0x80, high = 0xbf;
	size_t need;
	uint32_t code;

	if (n == 0)
		return 0;
	if (b[0] < 0x80) {
		*ret_code = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		need = 2;
		code = b[0] & 0x1f;
	} else if (b[0] >= 0xe0 && b[0] <= 0xef) {
		need = 3;
		code = b[0] & 0x0f;
		low = b[0] == 0xe0 ? 0xa0 : low;
		high = b[0] == 0xed ? 0x9f : high;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		need = 4;
		code = b[0] & 0x07;
		low = b[0] == 0xf0 ? 0x90 : low;
		high = b[0] == 0xf4 ? 0x8f : high;
	} else {
		return 0;
	}
	if (n < need || b[1] < low || b[1] > high)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3f);
	}
	*ret_code = code;
	return need;
}

char *text_safe_bytes(const char *bytes, size_t n)
{
	struct strbuf out = {};
	size_t i = 0;

	while (i < n) {
		uint32_t code;
		size_t used = text_decode(bytes + i, n - i, &code);

		if (used == 0 || code < 0x20 || code == 0x7f) {
			strbuf_printf(&out, "\\x%02x", (unsigned char)bytes[i]);
			used = 1;
		} else if (TEXT_IN(hidden_ranges, code) ||
			   ((i == 0 || bytes[i - 1] == ' ') && TEXT_IN(combining_ranges, code))) {
			strbuf_printf(&out, "\\u{%04x}", code);
		} else {
			strbuf_add_bytes(&out, bytes + i, used);
		}
		i += used;
	}
	return strbuf_take(&out);
}

char *text_safe(const char *text)
{
	return text_safe_bytes(text, strlen(text));
}

char *text_utf8_bytes(const char *bytes, size_t n)
{
	struct strbuf out = {};
	size_t i = 0;

	while (i < n) {
		uint32_t code;
		size_t used = text_decode(bytes + i, n - i, &code);

		if (used == 0 || code == 0) {
			strbuf_add(&out, "\xef\xbf\xbd");
			used = 1;
		} else {
			strbuf_add_bytes(&out, bytes + i, used);
		}
		i += used;
	}
	return strbuf_take(&out);
}

char *text_utf8(const char *text)
{
	return text_utf8_bytes(text, strlen(text));
}

size_t text_columns(const char *text)
{
	size_t n = strlen(text), columns = 0, i = 0;

	while (i < n) {
		uint32_t code;
		size_t used = text_decode(text + i, n - i, &code);

		if (used == 0) {
			used = 1;
			columns++;
		} else if (TEXT_IN(wide_ranges, code)) {
			columns += 2;
		} else if (!TEXT_IN(combining_ranges, code)) {
			columns++;
		}
		i += used;
	}
	return columns;
}

char *text_shorten(const char *text, size_t bytes)
{
	size_t n = strlen(text), keep = 0;

	if (n <= bytes)
		return mem_strdup(text);
	for (;;) {
		uint32_t code;
		size_t step = text_decode(text + keep, n - keep, &code);

		step += !step; /* a byte that is no character */
		if (keep + step > bytes)
			break;
		keep += step;
	}
	return mem_printf("%.*s…", (int)keep, text);
}
