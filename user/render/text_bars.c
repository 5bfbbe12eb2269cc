/* Bars in text: named values, or a waterfall that leads from one total to another.
 *
 *	  zig                                  ████████████████   11.97
 *	  bun#2: its own 100 ms futex timeout     ░░░░░░░░░░░░░   -9.95
 *	  rust                                 ████                3.02
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/text_sketch.h"

#define BARS_INDENT	 2
#define BARS_GAP	 3
#define BARS_LEAST_CELLS 12
/* Lines of a picture; those behind are added up in the last one. */
#define BARS_LINES 10

enum bar_fill { BAR_FULL, BAR_UP, BAR_DOWN };

struct bar {
	char *name, *figure;
	double from, until; /* from is not above until */
	enum bar_fill fill;
};

struct bars {
	const struct sketch *sketch;
	struct bar all[BARS_LINES];
	size_t n;
	double least, most; /* of the axis, 0 included */
	size_t name_columns, figure_columns, cells;
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool bars_fall(const struct bars *bars)
{
	return bars->sketch->chart->kind == CHART_WATERFALL;
}

/* base: where the bar begins. */
static void bars_add(struct bars *bars, const char *name, double base, double value, bool is_change)
{
	const struct sketch *sketch = bars->sketch;
	struct bar *bar = &bars->all[bars->n++];
	char *number = sketch_number(sketch, &sketch->chart->y, value);

	bar->name = sketch_text(sketch, name, SIZE_MAX);
	bar->figure = mem_printf("%s%s", is_change && value > 0 ? "+" : "", number);
	free(number);
	bar->from = fmin(base, base + value);
	bar->until = fmax(base, base + value);
	bar->fill = !is_change ? BAR_FULL : value < 0 ? BAR_DOWN : BAR_UP;
	bars->least = fmin(bars->least, bar->from);
	bars->most = fmax(bars->most, bar->until);
}

/* What the points from..until-1 come to, as one bar. */
static double bars_add_rest(struct bars *bars, size_t from, size_t until, double base)
{
	const struct chart_point *points = bars->sketch->chart->series.items[0].points.items;
	char *name = mem_printf("… and %zu more", until - from);
	double sum = 0;

	for (size_t i = from; i < until; i++)
		sum += points[i].y;
	bars_add(bars, name, base, sum, bars_fall(bars));
	free(name);
	return sum;
}

/* A waterfall keeps its last point, which is the total. */
static void bars_init(struct bars *bars, const struct sketch *sketch)
{
	const struct chart_series *series = &sketch->chart->series.items[0];
	size_t n = series->points.n;
	size_t last = n && sketch->chart->kind == CHART_WATERFALL ? n - 1 : n;
	size_t shown = n > BARS_LINES ? BARS_LINES - 1 - (n - last) : last;
	double base = 0;

	*bars = (struct bars){.sketch = sketch};
	for (size_t i = 0; i < shown; i++) {
		const struct chart_point *point = &series->points.items[i];

		bars_add(bars, point->name ? point->name : "", base, point->y,
			 bars_fall(bars) && i);
		if (bars_fall(bars))
			base += point->y;
	}
	if (shown < last)
		bars_add_rest(bars, shown, last, base);
	if (last < n)
		bars_add(bars,
			 series->points.items[last].name ? series->points.items[last].name : "", 0,
			 series->points.items[last].y, false);
}

/* Names take half of the width at most, and what figures and bars leave of it. */
static void bars_measure(struct bars *bars)
{
	size_t width = bars->sketch->width, room = width / 2, used = BARS_INDENT + 2 * BARS_GAP;

	for (size_t i = 0; i < bars->n; i++) {
		size_t figure = text_columns(bars->all[i].figure);

		bars->figure_columns =
			figure > bars->figure_columns ? figure : bars->figure_columns;
	}
	used += bars->figure_columns;
	if (used + room + BARS_LEAST_CELLS > width)
		room = width > used + BARS_LEAST_CELLS ? width - used - BARS_LEAST_CELLS : 1;
	for (size_t i = 0; i < bars->n; i++) {
		char *whole = bars->all[i].name;
		size_t name;

		bars->all[i].name = sketch_text(bars->sketch, whole, room);
		free(whole);
		name = text_columns(bars->all[i].name);
		bars->name_columns = name > bars->name_columns ? name : bars->name_columns;
	}
	used += bars->name_columns;
	bars->cells = width > used + BARS_LEAST_CELLS ? width - used : BARS_LEAST_CELLS;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static double bars_place(const struct bars *bars, double value)
{
	if (!(bars->most > bars->least))
		return 0;
	return (value - bars->least) / (bars->most - bars->least) * (double)bars->cells;
}

static const char *bars_glyph(const struct bars *bars, enum bar_fill fill)
{
	static const char *const blocks[] = {"█", "▓", "░"};
	static const char *const letters[] = {"#", "+", "-"};

	return bars->sketch->ascii ? letters[fill] : blocks[fill];
}

/* A bar begins at a whole column; a full one ends at an eighth of one. What is not 0 is seen. */
static void bars_draw(const struct bars *bars, struct strbuf *cells, const struct bar *bar)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	bool eighths = bar->fill == BAR_FULL && !bars->sketch->ascii;
	double begin = floor(bars_place(bars, bar->from) + (eighths ? 0 : 0.5));
	double length = bars_place(bars, bar->until) - begin;
	size_t units = (size_t)fmax(0, rint(length * (eighths ? 8 : 1)));
	size_t whole;

	if (!(bar->until > bar->from))
		return;
	if (!units) {
		units = 1;
		begin = fmin(begin, (double)bars->cells - 1);
	}
	whole = eighths ? units / 8 : units;
	strbuf_add_repeated(cells, ' ', (size_t)begin);
	for (size_t i = 0; i < whole; i++)
		strbuf_add(cells, bars_glyph(bars, bar->fill));
	strbuf_add(cells, eighths ? parts[units % 8] : "");
}

void sketch_bars(const struct sketch *sketch)
{
	struct strbuf line = {0}, cells = {0};
	struct bars bars;

	bars_init(&bars, sketch);
	bars_measure(&bars);
	for (size_t i = 0; i < bars.n; i++) {
		struct bar *bar = &bars.all[i];

		bars_draw(&bars, &cells, bar);
		strbuf_add_repeated(&line, ' ', BARS_INDENT);
		sketch_add_padded(&line, bar->name, bars.name_columns + BARS_GAP);
		sketch_add_padded(&line, strbuf_text(&cells), bars.cells + BARS_GAP);
		strbuf_add_repeated(&line, ' ', bars.figure_columns - text_columns(bar->figure));
		strbuf_add(&line, bar->figure);
		sketch_end_line(sketch, &line);
		strbuf_clear(&cells);
		free(bar->name);
		free(bar->figure);
	}
	strbuf_free_members(&line);
	strbuf_free_members(&cells);
}
