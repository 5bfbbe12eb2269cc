/* Charts in text with a line for each series: runs as dots, seconds as a strip.
 *
 *	  zig                                  · ·┃· ·   10.50–10.70
 *	  rust   · ·┃· ·                                   4.40–4.60
 *	         4.40     ms from exec to exit   10.70
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/text_sketch.h"

#define ROWS_INDENT	 2
#define ROWS_GAP	 3
#define ROWS_LEAST_CELLS 16
/* A column for each second, as many times as wide as there is room for. */
#define ROWS_WIDEST 3

/* The lines of a chart: name, cells, figure. */
struct rows {
	const struct sketch *sketch;
	char **names, **figures; /* one for each series */
	size_t name_columns, figure_columns;
	size_t cells; /* columns between them */
};

/* ---- layout ---------------------------------------------------------------------------------- */

static size_t rows_widest(char *const *texts, size_t n)
{
	size_t widest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t columns = text_columns(texts[i]);

		widest = columns > widest ? columns : widest;
	}
	return widest;
}

/* figures: handed over, one for each series. */
static void rows_init(struct rows *rows, const struct sketch *sketch, char **figures)
{
	const struct chart *chart = sketch->chart;
	size_t used;

	*rows = (struct rows){.sketch = sketch, .figures = figures};
	rows->names = mem_calloc(chart->series.n + 1, sizeof(*rows->names));
	for (size_t i = 0; i < chart->series.n; i++)
		rows->names[i] =
			sketch_text(sketch, chart->series.items[i].name, sketch->width / 4);
	rows->name_columns = rows_widest(rows->names, chart->series.n);
	rows->figure_columns = rows_widest(figures, chart->series.n);
	used = ROWS_INDENT + rows->name_columns + 2 * ROWS_GAP;
	if (used + rows->figure_columns + ROWS_LEAST_CELLS > sketch->width) {
		/* The picture goes before its figures: the table has them. */
		rows->figure_columns = 0;
		for (size_t i = 0; i < chart->series.n; i++)
			figures[i][0] = '\0';
	}
	rows->cells = sketch->width - used - rows->figure_columns;
}

static void rows_free_members(struct rows *rows)
{
	for (size_t i = 0; i < rows->sketch->chart->series.n; i++) {
		free(rows->names[i]);
		free(rows->figures[i]);
	}
	free(rows->names);
	free(rows->figures);
}

static size_t rows_indent(const struct rows *rows)
{
	return ROWS_INDENT + rows->name_columns + ROWS_GAP;
}

/* Writes the line of series i; cells are as many columns wide as the picture. */
static void rows_write(const struct rows *rows, size_t i, const char *cells)
{
	struct strbuf line = {0};
	size_t columns = text_columns(rows->figures[i]);

	strbuf_add_repeated(&line, ' ', ROWS_INDENT);
	sketch_add_padded(&line, rows->names[i], rows->name_columns + ROWS_GAP);
	sketch_add_padded(&line, cells, rows->cells + ROWS_GAP);
	strbuf_add_repeated(&line, ' ', rows->figure_columns - columns);
	strbuf_add(&line, rows->figures[i]);
	sketch_end_line(rows->sketch, &line);
	strbuf_free_members(&line);
}

/* ---- dots ------------------------------------------------------------------------------------ */

struct span {
	double least, most;
};

static struct span span_of(const struct chart_series *series)
{
	struct span span = {INFINITY, -INFINITY};

	for (size_t i = 0; i < series->points.n; i++) {
		span.least = fmin(span.least, series->points.items[i].y);
		span.most = fmax(span.most, series->points.items[i].y);
	}
	return span;
}

static struct span span_of_chart(const struct chart *chart)
{
	struct span all = {INFINITY, -INFINITY};

	for (size_t i = 0; i < chart->series.n; i++) {
		struct span span = span_of(&chart->series.items[i]);

		all.least = fmin(all.least, span.least);
		all.most = fmax(all.most, span.most);
	}
	return all;
}

static size_t dots_column(const struct rows *rows, const struct span *span, double y)
{
	double part =
		span->most > span->least ? (y - span->least) / (span->most - span->least) : 0.5;

	return (size_t)(fmin(fmax(part, 0), 1) * (double)(rows->cells - 1) + 0.5);
}

static const char *dots_glyph(const struct sketch *sketch, size_t n)
{
	if (!n)
		return " ";
	if (n == 1)
		return sketch->ascii ? "." : "·";
	if (n < 4)
		return sketch->ascii ? "o" : "•";
	return sketch->ascii ? "O" : "●";
}

static void dots_write(const struct rows *rows, size_t at, const struct span *span)
{
	const struct chart_series *series = &rows->sketch->chart->series.items[at];
	size_t *counts = mem_calloc(rows->cells, sizeof(*counts));
	size_t mark = isfinite(series->mark) ? dots_column(rows, span, series->mark) : SIZE_MAX;
	struct strbuf cells = {0};

	for (size_t i = 0; i < series->points.n; i++)
		counts[dots_column(rows, span, series->points.items[i].y)]++;
	for (size_t i = 0; i < rows->cells; i++)
		strbuf_add(&cells, i != mark		 ? dots_glyph(rows->sketch, counts[i])
				   : rows->sketch->ascii ? "|"
							 : "┃");
	rows_write(rows, at, strbuf_text(&cells));
	strbuf_free_members(&cells);
	free(counts);
}

/* "4.40–4.60" */
static char **dots_figures(const struct sketch *sketch)
{
	const struct chart *chart = sketch->chart;
	char **figures = mem_calloc(chart->series.n + 1, sizeof(*figures));

	for (size_t i = 0; i < chart->series.n; i++) {
		struct span span = span_of(&chart->series.items[i]);
		char *least = sketch_number(sketch, &chart->y, span.least);
		char *most = sketch_number(sketch, &chart->y, span.most);

		figures[i] = chart->series.items[i].points.n
				     ? mem_printf("%s%s%s", least, sketch->ascii ? "-" : "–", most)
				     : mem_strdup("");
		free(least);
		free(most);
	}
	return figures;
}

void sketch_dots(const struct sketch *sketch)
{
	struct span span = span_of_chart(sketch->chart);
	char *title = sketch_text(sketch, sketch->chart->y.title, SIZE_MAX);
	char *words = mem_printf("%s, %s median", title, sketch->ascii ? "|" : "┃");
	char *least = sketch_number(sketch, &sketch->chart->y, span.least);
	char *most = sketch_number(sketch, &sketch->chart->y, span.most);
	struct rows rows;

	rows_init(&rows, sketch, dots_figures(sketch));
	for (size_t i = 0; i < sketch->chart->series.n; i++)
		dots_write(&rows, i, &span);
	sketch_add_axis(sketch, rows_indent(&rows), rows.cells, least, words,
			span.most > span.least ? most : "");
	rows_free_members(&rows);
	free(title);
	free(words);
	free(least);
	free(most);
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* How steps are put into columns: `joined` steps each, `wide` columns for one. */
struct strip {
	size_t steps, joined, wide;
	double most; /* of all columns */
};

static size_t strip_columns(const struct strip *strip)
{
	return (strip->steps + strip->joined - 1) / strip->joined;
}

static double strip_amount(const struct strip *strip, const struct chart_series *series,
			   size_t column)
{
	double sum = 0;

	for (size_t i = column * strip->joined;
	     i < (column + 1) * strip->joined && i < series->points.n; i++)
		sum += series->points.items[i].y;
	return sum;
}

static double strip_most(const struct strip *strip, const struct chart_series *series)
{
	double most = 0;

	for (size_t i = 0; i < strip_columns(strip); i++)
		most = fmax(most, strip_amount(strip, series, i));
	return most;
}

/* Nothing is a space, the least something is seen. */
static const char *strip_glyph(const struct sketch *sketch, double share)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const letters[] = {".", ":", "-", "=", "+", "*", "#", "@"};
	double level = ceil(share * 8 - 1e-9);
	size_t at = level < 1 ? 0 : level > 8 ? 7 : (size_t)level - 1;

	if (!(share > 0))
		return " ";
	return sketch->ascii ? letters[at] : blocks[at];
}

static void strip_write(const struct rows *rows, const struct strip *strip, size_t at)
{
	const struct chart_series *series = &rows->sketch->chart->series.items[at];
	struct strbuf cells = {0};

	for (size_t i = 0; i < strip_columns(strip); i++) {
		double amount = strip_amount(strip, series, i);
		const char *glyph =
			strip_glyph(rows->sketch, strip->most > 0 ? amount / strip->most : 0);

		for (size_t j = 0; j < strip->wide; j++)
			strbuf_add(&cells, glyph);
	}
	rows_write(rows, at, strbuf_text(&cells));
	strbuf_free_members(&cells);
}

/* The figures stand for columns, whose number depends on the figures' width: two rounds, the first
 * with steps as they are. */
static char **strip_figures(const struct sketch *sketch, const struct strip *strip)
{
	const struct chart *chart = sketch->chart;
	char **figures = mem_calloc(chart->series.n + 1, sizeof(*figures));

	for (size_t i = 0; i < chart->series.n; i++) {
		char *most = sketch_number(sketch, &chart->y,
					   strip_most(strip, &chart->series.items[i]));

		figures[i] = mem_printf("max %s", most);
		free(most);
	}
	return figures;
}

static void strip_fit(struct strip *strip, struct rows *rows)
{
	const struct sketch *sketch = rows->sketch;

	if (strip->steps <= rows->cells) {
		strip->wide = rows->cells / strip->steps;
		strip->wide = strip->wide < ROWS_WIDEST ? strip->wide : ROWS_WIDEST;
	} else {
		/* Larger sums may need a few columns more. */
		size_t room = rows->cells > 16 ? rows->cells - 4 : rows->cells;

		room = room ? room : 1;
		strip->joined = (strip->steps + room - 1) / room;
		rows_free_members(rows);
		rows_init(rows, sketch, strip_figures(sketch, strip));
	}
	rows->cells = strip_columns(strip) * strip->wide;
	for (size_t i = 0; i < sketch->chart->series.n; i++)
		strip->most = fmax(strip->most, strip_most(strip, &sketch->chart->series.items[i]));
}

void sketch_strip(const struct sketch *sketch)
{
	const struct chart *chart = sketch->chart;
	struct strip strip = {.steps = 1, .joined = 1, .wide = 1}; /* of nothing there is one step */
	char *end, *until, *words;
	struct rows rows;

	for (size_t i = 0; i < chart->series.n; i++)
		if (chart->series.items[i].points.n > strip.steps)
			strip.steps = chart->series.items[i].points.n;
	rows_init(&rows, sketch, strip_figures(sketch, &strip));
	strip_fit(&strip, &rows);
	for (size_t i = 0; i < chart->series.n; i++)
		strip_write(&rows, &strip, i);
	end = sketch_number(sketch, &chart->x, (double)strip.steps * chart->x_step);
	until = mem_printf("%s %s", end, chart->x.title);
	words = strip.joined > 1 ? mem_printf("%.0f %s a column",
					      (double)strip.joined * chart->x_step, chart->x.title)
				 : mem_strdup("");
	sketch_add_axis(sketch, rows_indent(&rows), rows.cells, "0", words, until);
	free(end);
	free(until);
	free(words);
	rows_free_members(&rows);
}
