/* One cell as text, its length in columns, its shade. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/text.h"
#include "report/number.h"

static char *text_of_number(const struct cell *cell)
{
	char number[NUMBER_BYTES];
	char unit[UNITS_TEXT_BYTES];

	switch (cell->kind) {
	case CELL_COUNT:
		return mem_strdup(number_real(number, cell->number, 0));
	case CELL_REAL:
		return mem_strdup(number_real(number, cell->number, cell->decimals));
	case CELL_RATIO:
		return mem_strdup(number_ratio(number, cell->number));
	case CELL_SHARE:
		return mem_strdup(number_share(number, cell->number));
	case CELL_DURATION:
		return mem_strdup(units_format_duration(unit, cell->number));
	case CELL_BYTES:
		return mem_strdup(units_format_bytes(unit, cell->number));
	case CELL_EMPTY:
	case CELL_TEXT:
		break;
	}
	return mem_strdup("");
}

char *text_of_cell(const struct cell *cell)
{
	if (cell->kind == CELL_EMPTY)
		return mem_strdup("");
	if (cell->kind == CELL_TEXT)
		return text_safe(cell->text ? cell->text : "");
	if (!isfinite(cell->number))
		return mem_strdup(NUMBER_NONE);
	return text_of_number(cell);
}

void text_cut(char *text, size_t columns)
{
	static const char mark[] = "…";
	size_t bytes = strlen(text), at = 0, used = 0, keep = 0;

	if (text_columns(text) <= columns)
		return;
	while (at < bytes) {
		char one[5] = "";
		uint32_t code;
		size_t n = text_decode(text + at, bytes - at, &code);

		memcpy(one, text + at, n ? n : 1);
		used += text_columns(one);
		if (used + 1 > columns)
			break;
		at += n ? n : 1;
		keep = at;
	}
	memcpy(text + keep, columns ? mark : "", columns ? sizeof(mark) : 1);
}

static const char *const text_shades[] = {
	[TEXT_PLAIN] = "",	  [TEXT_STRONG] = "\033[1m", [TEXT_FAINT] = "\033[2m",
	[TEXT_GOOD] = "\033[32m", [TEXT_BAD] = "\033[1;31m",
};

const char *text_shade_on(const struct render_style *style, enum text_shade shade)
{
	return style->colour ? text_shades[shade] : "";
}

const char *text_shade_off(const struct render_style *style, enum text_shade shade)
{
	return style->colour && shade != TEXT_PLAIN ? "\033[0m" : "";
}
