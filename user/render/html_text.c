/* The one way of text into a page. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "render/html.h"

static const char *html_reference(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

void html_text(FILE *out, const char *text)
{
	char *safe = text_safe(text ? text : "");

	for (const char *p = safe; *p;) {
		size_t plain = strcspn(p, "&<>\"'");

		fwrite(p, 1, plain, out);
		p += plain;
		if (*p)
			fputs(html_reference(*p++), out);
	}
	free(safe);
}

void html_text_bytes(FILE *out, const char *text, size_t n)
{
	char *copy = mem_strndup(text, n);

	html_text(out, copy);
	free(copy);
}
