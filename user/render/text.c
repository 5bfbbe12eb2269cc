/* Format text: a report for people, aligned, with colour where the style says so. */
#include "render/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/formats.h"

/* Sentences longer than this are hard to read however wide the terminal is. */
#define TEXT_PROSE_COLUMNS 100

/* Bytes of the word at text, up to the space where a line may break: not before a per cent sign. */
static size_t text_word(const char *text)
{
	size_t n = strcspn(text, " ");

	while (text[n] == ' ' && text[n + 1] == '%')
		n += 1 + strcspn(text + n + 1, " ");
	return n;
}

void text_render_prose(FILE *out, const char *text, const struct render_style *style)
{
	size_t columns = TEXT_PROSE_COLUMNS, at = 0;

	if (style->width && style->width < columns)
		columns = style->width;

	while (*text) {
		size_t bytes = text_word(text);
		char *word = mem_strndup(text, bytes);
		size_t width = text_columns(word);

		if (at && at + 1 + width > columns) {
			fputc('\n', out);
			at = 0;
		}
		if (at)
			fputc(' ', out);
		fputs(word, out);
		at += width + (at ? 1 : 0);
		free(word);
		text += bytes;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static enum text_shade text_shade_of(const struct block *block)
{
	if (block->kind == BLOCK_HEADING)
		return TEXT_STRONG;
	if (block->note == NOTE_WARNING)
		return TEXT_BAD;
	return block->note == NOTE_TRUST_OK ? TEXT_GOOD : TEXT_PLAIN;
}

static void text_render_block(FILE *out, const struct block *block,
			      const struct render_style *style)
{
	enum text_shade shade = text_shade_of(block);
	char *text;

	if (block->kind == BLOCK_TABLE) {
		text_render_table(out, &block->table, style);
		return;
	}
	if (block->kind == BLOCK_CHART) {
		text_render_chart(out, block->chart, style);
		return;
	}
	text = text_safe(block->text);
	fputs(text_shade_on(style, shade), out);
	text_render_prose(out, text, style);
	fputs(text_shade_off(style, shade), out);
	free(text);
}

int render_report_text(FILE *out, const struct report *report, const struct render_style *style,
		       struct diag *diag)
{
	const struct block *before = NULL;

	for (size_t i = 0; i < report->blocks.n; i++) {
		const struct block *block = &report->blocks.items[i];

		if (block->kind == BLOCK_CHART && !text_shows_chart(block->chart, style))
			continue;
		/* Notes stand together; everything else stands apart. */
		if (before && !(before->kind == BLOCK_NOTE && block->kind == BLOCK_NOTE))
			fputc('\n', out);
		text_render_block(out, block, style);
		before = block;
	}
	return render_finish(out, diag);
}

int text_render(FILE *out, const struct result *result, const struct report *report,
		const struct render_style *style, struct diag *diag)
{
	(void)result;
	return render_report_text(out, report, style, diag);
}
