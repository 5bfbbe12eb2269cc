/* A staircase in text: what has been used up until each moment, in dots of braille, or in letters.
 *
 *	  14.8                          ⢀⣀⠤⠒   zig 14.8
 *	                         ⢀⣀⠤⠔⠒⠉
 *	                ⢀⣀⠤⠔⠒⠉⠁
 *	   0.0  ⣀⣀⣀⡠⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉   rust 4.88
 *	        0                    20 seconds
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/text_sketch.h"

#define STAIRS_LINES  6
#define STAIRS_INDENT 2
#define STAIRS_GAP    2

struct stairs {
	const struct sketch *sketch;
	size_t columns;	       /* cells in a line */
	size_t dots_x, dots_y; /* in a cell: 2 and 4 of braille, 1 and 1 of letters */
	double x_most, y_most;
	unsigned char *cells; /* lines × columns, the top line first: dots of braille, or letters */
	char *labels[STAIRS_LINES]; /* beside the lines: who ends there; may be NULL */
};

/* ---- drawing --------------------------------------------------------------------------------- */

/* A dot, counted from the lower left. */
static void stairs_dot(struct stairs *s, size_t x, size_t y, size_t look)
{
	/* Bits of U+2800 by row from the top, for the left and the right half of a cell. */
	static const unsigned char bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
	size_t line = STAIRS_LINES - 1 - y / s->dots_y;
	unsigned char *cell = &s->cells[line * s->columns + x / s->dots_x];

	if (s->sketch->ascii)
		*cell = *cell ? *cell : (unsigned char)('a' + look % 26);
	else
		*cell |= bits[3 - y % 4][x % 2];
}

static size_t stairs_height(const struct stairs *s, double y)
{
	double top = (double)(STAIRS_LINES * s->dots_y - 1);

	return (size_t)(fmin(fmax(y / s->y_most, 0), 1) * top + 0.5);
}

/* Steps from left to right, each rise as a vertical line. */
static void stairs_draw(struct stairs *s, size_t at)
{
	const struct chart_series *series = &s->sketch->chart->series.items[at];
	size_t n = s->columns * s->dots_x, next = 0, before = 0;
	double y = 0;

	if (!series->points.n)
		return;
	for (size_t x = 0; x < n; x++) {
		double until = (double)(x + 1) / (double)n * s->x_most;
		size_t height;

		while (next < series->points.n &&
		       series->points.items[next].x <= until * (1 + 1e-9))
			y = series->points.items[next++].y;
		height = stairs_height(s, y);
		for (size_t h = x && before < height ? before + 1 : height; h < height; h++)
			stairs_dot(s, x, h, series->look);
		stairs_dot(s, x, height, series->look);
		before = height;
		/* A window that was shorter than the others ends where it ended. */
		if (next == series->points.n)
			break;
	}
}

/* ---- labels ---------------------------------------------------------------------------------- */

static double stairs_last(const struct chart_series *series)
{
	return series->points.n ? series->points.items[series->points.n - 1].y : 0;
}

/* The series by where they end, the lowest first. */
static void stairs_order(const struct chart *chart, size_t *order)
{
	for (size_t i = 0; i < chart->series.n; i++) {
		size_t at = i;

		while (at && stairs_last(&chart->series.items[order[at - 1]]) >
				     stairs_last(&chart->series.items[i])) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

/* "zig 14.8"; the letter that draws it before, in ASCII. */
static char *stairs_label(const struct stairs *s, size_t at)
{
	const struct sketch *sketch = s->sketch;
	const struct chart_series *series = &sketch->chart->series.items[at];
	char *name = sketch_text(sketch, series->name, sketch->width / 4);
	char *end = sketch_number(sketch, &sketch->chart->y, stairs_last(series)), *label;

	if (sketch->ascii)
		label = mem_printf("%c: %s %s", (int)('a' + series->look % 26), name, end);
	else
		label = mem_printf("%s %s", name, end);
	free(name);
	free(end);
	return label;
}

/* A label as near to the end of its line as others leave room, each above those that end lower. Of
 * more labels than lines, the highest share one. */
static void stairs_place_labels(struct stairs *s)
{
	const struct chart *chart = s->sketch->chart;
	size_t *order = mem_calloc(chart->series.n + 1, sizeof(*order));
	size_t free_from = 0; /* lines, counted from below */

	stairs_order(chart, order);
	for (size_t i = 0; i < chart->series.n; i++) {
		size_t above = chart->series.n - 1 - i;
		size_t highest = above < STAIRS_LINES ? STAIRS_LINES - 1 - above : 0;
		size_t line =
			stairs_height(s, stairs_last(&chart->series.items[order[i]])) / s->dots_y;
		char *label = stairs_label(s, order[i]), **place, *joined;

		line = line > highest ? highest : line;
		line = line < free_from ? free_from : line;
		line = line >= STAIRS_LINES ? STAIRS_LINES - 1 : line;
		free_from = line + 1;
		place = &s->labels[STAIRS_LINES - 1 - line];
		joined = *place ? mem_printf("%s, %s", label, *place) : mem_strdup(label);
		free(label);
		free(*place);
		*place = joined;
	}
	free(order);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void stairs_write_cells(const struct stairs *s, struct strbuf *line, size_t at)
{
	for (size_t i = 0; i < s->columns; i++) {
		unsigned char cell = s->cells[at * s->columns + i];
		/* U+2800 to U+28FF. */
		char braille[] = {'\xe2', (char)(0xa0 | cell >> 6), (char)(0x80 | (cell & 0x3f)),
				  0};

		if (!cell)
			strbuf_add_char(line, ' ');
		else if (s->sketch->ascii)
			strbuf_add_char(line, (char)cell);
		else
			strbuf_add(line, braille);
	}
}

static void stairs_write(const struct stairs *s, const char *most, const char *least, size_t left)
{
	struct strbuf line = {0};

	for (size_t i = 0; i < STAIRS_LINES; i++) {
		const char *label = !i ? most : i == STAIRS_LINES - 1 ? least : "";

		strbuf_add_repeated(&line, ' ', left - STAIRS_GAP - text_columns(label));
		sketch_add_padded(&line, label, text_columns(label) + STAIRS_GAP);
		stairs_write_cells(s, &line, i);
		if (s->labels[i]) {
			strbuf_add_repeated(&line, ' ', STAIRS_GAP);
			strbuf_add(&line, s->labels[i]);
		}
		sketch_end_line(s->sketch, &line);
	}
	strbuf_free_members(&line);
}

static void stairs_measure(struct stairs *s)
{
	const struct chart *chart = s->sketch->chart;

	for (size_t i = 0; i < chart->series.n; i++)
		for (size_t j = 0; j < chart->series.items[i].points.n; j++) {
			s->x_most = fmax(s->x_most, chart->series.items[i].points.items[j].x);
			s->y_most = fmax(s->y_most, chart->series.items[i].points.items[j].y);
		}
	s->y_most = s->y_most > 0 ? s->y_most : 1;
}

/* Columns that labels take, cut to what a third of the width holds. */
static size_t stairs_fit_labels(struct stairs *s)
{
	size_t room = s->sketch->width / 3, widest = 0;

	for (size_t i = 0; i < STAIRS_LINES; i++) {
		char *label = s->labels[i];
		size_t columns;

		if (!label)
			continue;
		s->labels[i] = sketch_text(s->sketch, label, room);
		free(label);
		columns = text_columns(s->labels[i]);
		widest = columns > widest ? columns : widest;
	}
	return widest;
}

void sketch_stairs(const struct sketch *sketch)
{
	const struct chart *chart = sketch->chart;
	struct stairs s = {
		.sketch = sketch, .dots_x = sketch->ascii ? 1 : 2, .dots_y = sketch->ascii ? 1 : 4};
	char *most, *least, *end, *until, *unit, *words;
	size_t left, used;

	stairs_measure(&s);
	stairs_place_labels(&s);
	most = sketch_number(sketch, &chart->y, s.y_most);
	least = sketch_number(sketch, &chart->y, 0);
	end = sketch_number(sketch, &chart->x, s.x_most);
	until = mem_printf("%s %s", end, chart->x.title);
	unit = sketch_text(sketch, chart->y.title, SIZE_MAX);
	words = mem_printf("%s, as it adds up", unit);
	left = STAIRS_INDENT + STAIRS_GAP +
	       (text_columns(most) > text_columns(least) ? text_columns(most)
							 : text_columns(least));
	used = left + STAIRS_GAP + stairs_fit_labels(&s);
	s.columns = sketch->width > used + 8 ? sketch->width - used : 8;
	s.cells = mem_calloc(STAIRS_LINES * s.columns, 1);
	for (size_t i = 0; i < chart->series.n; i++)
		stairs_draw(&s, i);
	stairs_write(&s, most, least, left);
	sketch_add_axis(sketch, left, s.columns, "0", words, until);
	for (size_t i = 0; i < STAIRS_LINES; i++)
		free(s.labels[i]);
	free(s.cells);
	free(most);
	free(least);
	free(end);
	free(until);
	free(unit);
	free(words);
}
