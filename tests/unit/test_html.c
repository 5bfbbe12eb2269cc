/* Format html and its pictures: a page that is well formed whatever a name holds, round ticks, bars
 * that add up, labels that do not meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "chart_sample.h"
#include "render/html.h"
#include "render/svg.h"
#include "rendered.h"
#include "sample.h"

static size_t charts_of(const struct report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->blocks.n; i++)
		n += report->blocks.items[i].kind == BLOCK_CHART;
	return n;
}

/* The page of the sample recording with charts of every kind. */
static char *page_of(const char *name, size_t *ret_charts)
{
	struct report_options options = {0};
	struct recording recording;
	struct result result;
	struct report report;
	char *page;

	sample_recording(&recording);
	if (name) {
		free(recording.runs.items[0].label);
		recording.runs.items[0].label = mem_strdup(name);
		*vec_push(&recording.tool.command) = mem_strdup(name);
	}
	result_init(&result, &recording);
	report_build(&report, &result, &options);
	chart_sample(&report, name);
	if (name) {
		report_add_heading(&report, "%s", name);
		report_add_note(&report, NOTE_WARNING, "%s", name);
		report_add_table(&report, name);
		table_add_column(&report.blocks.items[report.blocks.n - 1].table, name, true);
	}
	if (ret_charts)
		*ret_charts = charts_of(&report);
	page = rendered_format("html", &result, &report, 0, false, NULL);
	report_free_members(&report);
	result_free_members(&result);
	recording_free_members(&recording);
	return page;
}

static char *chart_of(enum chart_kind kind, void (*change)(struct chart *chart))
{
	struct report report = {0};
	struct chart *chart = chart_sample_add(&report, kind, NULL);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (change)
		change(chart);
	if (!svg_chart(out, chart, 7))
		fputs("nothing", out);
	assert_int_equal(fclose(out), 0);
	report_free_members(&report);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* ---- well formed --------------------------------------------------------------------------------
 */

#define DEEPEST 32

/* Reads one tag at p, behind its '<'; keeps the stack of open elements. Returns what follows. */
static const char *read_tag(const char *p, char stack[DEEPEST][16], size_t *depth)
{
	static const char *const empty[] = {"meta", "link", NULL};
	bool close = *p == '/';
	size_t n = strcspn(p + close, " >/\n");
	char name[16];

	assert_in_range(n, 1, 15);
	memcpy(name, p + close, n);
	name[n] = 0;
	p += close + n;
	while (*p != '>') { /* attributes: a name, "=", a quoted value */
		p += strspn(p, " \n");
		if (*p == '/' && p[1] == '>') {
			assert_false(close);
			return p + 2;
		}
		assert_false(close);
		p += strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
		assert_true(*p == '=' && p[1] == '"');
		p = strchr(p + 2, '"');
		assert_non_null(p);
		p++;
	}
	for (size_t i = 0; empty[i]; i++) {
		if (!strcmp(name, empty[i]))
			return p + 1;
	}
	if (close) {
		assert_true(*depth > 0);
		assert_string_equal(stack[--*depth], name);
	} else {
		assert_true(*depth < DEEPEST);
		strcpy(stack[(*depth)++], name);
	}
	return p + 1;
}

/* Every element is closed in order, every attribute quoted, every reference one that we write, and
 * no byte could be taken for anything else. */
static void assert_well_formed(const char *page)
{
	static const char start[] = "<!DOCTYPE html>\n";
	char stack[DEEPEST][16];
	size_t depth = 0;

	assert_int_equal(strncmp(page, start, strlen(start)), 0);
	for (const char *p = page + strlen(start); *p;) {
		uint32_t code = 0;
		size_t n = text_decode(p, strlen(p), &code);

		assert_true(n > 0);
		assert_true(code == '\n' || (code >= 0x20 && code != 0x7f));
		assert_false(code >= 0x80 && code < 0xa0);
		if (*p == '<') {
			p = read_tag(p + 1, stack, &depth);
			continue;
		}
		/* The style sheet is the only place for a bare one. */
		assert_true(*p != '>' || !strcmp(stack[depth - 1], "style"));
		if (*p == '&')
			assert_true(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) ||
				    !strncmp(p, "&gt;", 4) || !strncmp(p, "&quot;", 6) ||
				    !strncmp(p, "&#39;", 5));
		p += n;
	}
	assert_int_equal(depth, 0);
}

/* Every id is there once, and whatever is pointed to is there. */
static void assert_ids(const char *page)
{
	static const char *const refs[] = {"href=\"#", "labelledby=\"", "describedby=\""};

	for (const char *p = page; (p = strstr(p, " id=\"")); p += 5) {
		char *id = mem_strndup(p, strcspn(p + 5, "\"") + 6);

		if (count(page, id) != 1)
			fail_msg("%s is there %zu times", id, count(page, id));
		free(id);
	}
	for (size_t i = 0; i < sizeof(refs) / sizeof(*refs); i++) {
		for (const char *p = page; (p = strstr(p, refs[i]));) {
			char *id;

			p += strlen(refs[i]);
			id = mem_printf(" id=\"%.*s\"", (int)strcspn(p, "\""), p);
			if (!strstr(page, id))
				fail_msg("nothing has %s", id);
			free(id);
		}
	}
}

static void test_page(void **state)
{
	size_t charts;
	char *page = page_of(NULL, &charts);

	(void)state;
	assert_well_formed(page);
	assert_ids(page);
	assert_true(charts > CHART_FLAME + 1); /* the sample's own, and one of each kind */
	assert_int_equal(count(page, "class=\"chart\" role=\"img\""), charts);
	assert_int_equal(count(page, "<details>"), charts);
	assert_int_equal(count(page, "<h1>"), 1);
	assert_int_equal(count(page, "<main"), 1);
	assert_int_equal(count(page, "<script"), 0);
	assert_int_equal(count(page, "http:") + count(page, "https:"), 0);
	assert_int_equal(count(page, "url("), 0);
	/* Doubts, then what it comes to, then the rest; trust has its place. */
	assert_non_null(
		strstr(page, "<b>not trusted</b>: run of a,&quot;b&quot;\\x1b[2J: 2 events"));
	assert_true(strstr(page, "<b>not trusted</b>") < strstr(page, "<section id=\"short\""));
	assert_true(strstr(page, "<section id=\"short\"") < strstr(page, "<h2 id=\"s"));
	assert_true(strstr(page, "<h2 id=\"trust\">") > strstr(page, "<h2 id=\"s"));
	assert_non_null(strstr(page, "<li><b>lower (better)</b> <span>startup, exec to exit: "
				     "zig → rust 0.425× (0.420×–0.429×)</span></li>"));
	assert_non_null(strstr(page, "<td class=\"s\" style=\"--s:50.0%\">50 %</td>"));
	free(page);
}

/* ---- hostile names ------------------------------------------------------------------------------
 */

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"</title></style></svg><script>alert(1)</script>",
	"\" onload=\"alert(1)",
	"' autofocus onfocus=alert(1) x='",
	"--></desc><svg/onload=alert(1)>",
	"&lt;img src=x onerror=alert(1)&gt;",
	"&#60;b&#62;",
	"javascript:alert(1)",
	"]]><!--",
	"\x1b[2J\x07\x01\x7f",
	"\xff\xfe\xc3\x28\xed\xa0\x80",
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): e is no digit of \xae */
	"\xe2\x80\xae"
	"evil\xe2\x81\xa6",
	"\xe2\x80\xa8line\xe2\x80\xa9",
	"   ",
	"",
	"漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢"
	"字",
	"%s%n%1000000d",
};

/* Elements of a page but for labels in pictures, which are there twice when they are long. */
static size_t elements(const char *page)
{
	return count(page, "<") - count(page, "<text ") - count(page, "</text>");
}

static void test_hostile(void **state)
{
	char *clean = page_of("a name", NULL), *page;
	size_t expected = elements(clean);

	(void)state;
	free(clean);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		page = page_of(hostile[i], NULL);
		assert_well_formed(page);
		assert_ids(page);
		assert_int_equal(count(page, "<script") + count(page, "<img"), 0);
		assert_null(strstr(page, "\xe2\x80\xae"));
		assert_null(strstr(page, "\xe2\x80\xa8"));
		/* Nothing that is empty has a head or a caption. */
		if (*hostile[i])
			assert_int_equal(elements(page), expected);
		free(page);
	}
	page = page_of("<script>alert(1)</script>", NULL);
	assert_true(count(page, "&lt;script&gt;alert(1)&lt;/script&gt;") > 20);
	free(page);
	/* What was escaped already is text, too. */
	page = page_of("&lt;b&gt;", NULL);
	assert_true(count(page, "&amp;lt;b&amp;gt;") > 20);
	free(page);
}

/* ---- scales -------------------------------------------------------------------------------------
 */

static void assert_ticks(struct svg_scale scale, size_t n, const double *expected)
{
	double ticks[SVG_TICKS];

	assert_int_equal(svg_scale_ticks(&scale, ticks), n);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(ticks[i] - expected[i]) <= 1e-9 * fabs(expected[i]));
}

static void test_scales(void **state)
{
	struct svg_scale scale = svg_scale_linear(0, 215.1, 5, false, true);

	(void)state;
	assert_ticks(scale, 6, (double[]){0, 50, 100, 150, 200, 250});
	assert_true(scale.high == 250);
	assert_ticks(svg_scale_linear(0.5, 60.5, 6, true, false), 6,
		     (double[]){10, 20, 30, 40, 50, 60});
	assert_ticks(svg_scale_linear(0.5, 3.5, 6, true, false), 3, (double[]){1, 2, 3});
	assert_ticks(svg_scale_linear(7.45, 8.63, 5, false, true), 5,
		     (double[]){7, 7.5, 8, 8.5, 9});
	assert_ticks(svg_scale_linear(-3, 2, 5, false, true), 6, (double[]){-3, -2, -1, 0, 1, 2});
	/* One value, and none above 0. */
	assert_ticks(svg_scale_linear(0, 0, 5, false, true), 6, (double[]){0, .2, .4, .6, .8, 1});
	scale = svg_scale_linear(5, 5, 5, false, true);
	assert_true(scale.low < 5 && scale.high > 5);
	assert_ticks(svg_scale_logarithmic(384, 2e6, 6, false), 4, (double[]){1e3, 1e4, 1e5, 1e6});
	assert_ticks(svg_scale_logarithmic(1, 15, 6, false), 4, (double[]){1, 2, 5, 10});
	assert_ticks(svg_scale_logarithmic(1, 1e12, 6, false), 7,
		     (double[]){1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12});
	/* Whatever is asked: ends in order, ticks within. */
	for (double low = -1e12; low < 1e12; low = low < 0 ? low / 7.3 + 1e-9 : low * 7.9 + 1e-9) {
		double ticks[SVG_TICKS];
		size_t n;

		scale = svg_scale_linear(low, low + fabs(low) * 0.37 + 1e-9, 5, false, true);
		n = svg_scale_ticks(&scale, ticks);
		assert_true(scale.low < scale.high);
		assert_in_range(n, 2, 8);
	}
}

static void test_places(void **state)
{
	struct svg_scale scale = svg_scale_linear(0, 100, 5, false, true);

	(void)state;
	scale.from = 220;
	scale.to = 20;
	assert_true(svg_scale_at(&scale, 0) == 220);
	assert_true(svg_scale_at(&scale, 25) == 170);
	assert_true(svg_scale_at(&scale, 1000) == 20);
	assert_true(svg_scale_at(&scale, -5) == 220);
	scale = svg_scale_logarithmic(1, 1000, 6, false);
	scale.to = 300;
	assert_true(fabs(svg_scale_at(&scale, 10) - 100) < 1e-9);
	assert_true(svg_scale_at(&scale, 0) == 0);
	assert_true(svg_scale_at(&scale, -1) == 0);
}

static void test_tick_texts(void **state)
{
	static const struct {
		enum cell_kind kind;
		double step, value;
		const char *text;
	} cases[] = {
		{CELL_REAL, 0.5, 1.5, "1.5"},	     {CELL_REAL, 0.02, 0.1, "0.10"},
		{CELL_REAL, 50, 100, "100"},	     {CELL_COUNT, 1000, 3000, "3000"},
		{CELL_COUNT, 5000, 15000, "15 k"},   {CELL_COUNT, 500000, 1.5e6, "1.5 M"},
		{CELL_DURATION, 5e6, 15e6, "15 ms"}, {CELL_DURATION, 5e6, 0, "0"},
		{CELL_BYTES, 5e7, 1e8, "100 MB"},    {CELL_SHARE, 0.2, 0.4, "40 %"},
		{CELL_REAL, 0.1, -0.0, "0.0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct svg_scale scale = {.low = 0, .high = 1, .step = cases[i].step};
		struct chart_axis axis = {.kind = cases[i].kind};
		char buf[SVG_TICK_BYTES];

		assert_string_equal(svg_tick_text(buf, &scale, &axis, cases[i].value),
				    cases[i].text);
	}
}

static void test_text_cut(void **state)
{
	static const char *const texts[] = {"futex wake by bun, every 1.00 s", "漢字漢字漢字",
					    "WWWWWWWWWWWW", "e\xcc\x81t\xc3\xa9", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		double whole = svg_text_width(texts[i], 12);

		for (double width = 12; width < whole + 20; width += 3) {
			char text[128];

			snprintf(text, sizeof(text), "%s", texts[i]);
			svg_text_cut(text, width, 12);
			assert_true(svg_text_width(text, 12) <= width);
			assert_int_equal(!strcmp(text, texts[i]), whole <= width);
		}
	}
}

/* ---- pictures -----------------------------------------------------------------------------------
 */

static void test_dots(void **state)
{
	char *svg = chart_of(CHART_DOTS, NULL);

	(void)state;
	assert_int_equal(count(svg, "</title></use>"), 4 * 60);
	assert_int_equal(count(svg, "<line class=\"l k"), 4);
	assert_non_null(strstr(svg, "zig: median 10.60"));
	/* Told apart by shape, too. */
	for (int i = 0; i < 4; i++) {
		char *shape = mem_printf("href=\"#c7m%d\"", i);

		assert_int_equal(count(svg, shape), 61); /* and one in the legend */
		free(shape);
	}
	free(svg);
}

static void spoil(struct chart *chart)
{
	for (size_t i = 0; i < chart->series.n; i++) {
		for (size_t j = 0; j < chart->series.items[i].points.n; j++) {
			struct chart_point *point = &chart->series.items[i].points.items[j];

			point->y = j % 4 == 0 ? NAN : j % 4 == 2 ? INFINITY : point->y;
			point->x = j % 6 == 1 ? -INFINITY : point->x;
		}
	}
	for (size_t i = 0; i < chart->links.n; i++)
		chart->links.items[i].weight = i % 2 ? NAN : -INFINITY;
	if (chart->links.n)
		chart->links.items[0].to = 99;
	for (size_t i = 1; i < chart->boxes.n; i++) {
		struct chart_box *box = &chart->boxes.items[i];

		box->width = i % 4 == 1 ? NAN : i % 4 == 2 ? INFINITY : box->width;
		box->begin = i % 4 == 3 ? -INFINITY : box->begin;
		box->series = SIZE_MAX - i;
	}
}

static void empty(struct chart *chart)
{
	for (size_t i = 0; i < chart->series.n; i++) {
		struct chart_series *series = &chart->series.items[i];

		while (series->points.n)
			free(series->points.items[--series->points.n].name);
	}
	while (chart->links.n)
		free(chart->links.items[--chart->links.n].text);
	while (chart->boxes.n)
		free(chart->boxes.items[--chart->boxes.n].name);
}

static void one_point(struct chart *chart)
{
	for (size_t i = 0; i < chart->series.n; i++) {
		while (chart->series.items[i].points.n > 1)
			free(chart->series.items[i]
				     .points.items[--chart->series.items[i].points.n]
				     .name);
	}
}

static void huge(struct chart *chart)
{
	for (size_t i = 0; i < chart->boxes.n; i++)
		chart->boxes.items[i].width *= 1e305;
	for (size_t i = 0; i < chart->series.n; i++) {
		for (size_t j = 0; j < chart->series.items[i].points.n; j++) {
			chart->series.items[i].points.items[j].x *= 1e300;
			chart->series.items[i].points.items[j].y *= j % 2 ? -1e300 : 1e300;
		}
	}
}

/* No damaged figure becomes a place in the picture. */
static void test_odd_figures(void **state)
{
	static void (*const changes[])(struct chart * chart) = {NULL, spoil, one_point, huge};

	(void)state;
	for (int kind = CHART_DOTS; kind <= CHART_FLAME; kind++) {
		char *svg;

		for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
			svg = chart_of((enum chart_kind)kind, changes[i]);
			assert_int_equal(strncmp(svg, "<svg class=\"chart\"", 18), 0);
			assert_null(strstr(svg, "nan"));
			assert_null(strstr(svg, "inf"));
			free(svg);
		}
		svg = chart_of((enum chart_kind)kind, empty);
		assert_string_equal(svg, "nothing");
		free(svg);
	}
}

/* Boxes are as wide as their share, names are cut to them, and what has no room is told on hovering. */
static void test_flame(void **state)
{
	char *svg = chart_of(CHART_FLAME, NULL);

	(void)state;
	assert_int_equal(count(svg, "<rect "), 8 + 3); /* and the legend's */
	assert_int_equal(count(svg, "</title></rect>"), 8);
	assert_non_null(strstr(svg, "x=\"70%\" y=\"66\" width=\"30%\" height=\"17\"><title>libuv-worker: "
				    "300 wakeups, 30 % (thread or cause)</title>"));
	assert_non_null(strstr(svg, "<rect class=\"s0 fb k0\" x=\"90%\""));
	assert_non_null(strstr(svg, "<title>…: 2 wakeups, 0.2 % (thread or cause)</title>"));
	assert_int_equal(count(svg, ">…<"), 0);
	assert_int_equal(count(svg, "class=\"wid\">worker<"), 1); /* no room on a phone */
	free(svg);
}

/* Ends of the bars of a waterfall: each begins where the one before it ended. */
static void test_waterfall(void **state)
{
	char *svg = chart_of(CHART_WATERFALL, NULL), *p = svg;
	double ends[5][2];
	size_t n = 0;

	(void)state;
	for (; (p = strstr(p, "<rect ")); p++) {
		double x, y, width, height;

		assert_int_equal(sscanf(strstr(p, "x=\""),
					"x=\"%lf%%\" y=\"%lf\" width=\"%lf%%\" height=\"%lf\"", &x,
					&y, &width, &height),
				 4);
		assert_true(n < 5);
		ends[n][0] = x;
		ends[n++][1] = x + width;
	}
	assert_int_equal(n, 5);
	assert_true(fabs(ends[0][1] - ends[1][1]) < 0.05); /* down from the total */
	assert_true(fabs(ends[1][0] - ends[2][0]) < 0.05); /* up from there */
	assert_true(fabs(ends[2][1] - ends[4][1]) < 0.05); /* to the other total */
	assert_true(fabs(ends[0][0] - ends[4][0]) < 0.05); /* both stand on 0 */
	assert_non_null(strstr(svg, ">-9.95<"));
	assert_non_null(strstr(svg, ">+1.00<"));
	free(svg);
}

/* Figures of links stand a line apart, so do names; every link has a band. */
static void test_graph(void **state)
{
	char *svg = chart_of(CHART_GRAPH, NULL);
	double y[64] = {0};
	size_t n = 0;

	(void)state;
	assert_int_equal(count(svg, "<path class=\"s"), 8);
	for (const char *p = svg; (p = strstr(p, "<text x=\"68%\"")); p++) {
		assert_true(n < sizeof(y) / sizeof(*y));
		assert_int_equal(sscanf(p, "<text x=\"68%%\" y=\"%lf\"", &y[n]), 1);
		n++;
	}
	assert_int_equal(n, 9); /* with the head */
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++)
			assert_true(fabs(y[i] - y[j]) >= 14);
	}
	free(svg);
}

static void test_strip(void **state)
{
	char *svg = chart_of(CHART_STRIP, NULL);

	(void)state;
	/* A column for each second with time in it: 300 of zig, 28 + 9 × 3 of rust, none of node.
	 */
	assert_int_equal(count(svg, "z\"") + count(svg, "zM"), 300 + 28 + 9 * 3);
	free(svg);
}

/* Half octaves stand side by side without gaps, the lowest one included. */
static void test_columns(void **state)
{
	char *svg = chart_of(CHART_COLUMNS, NULL), *path = strstr(svg, "<path d=\"M");
	double left, low, y, right, last = SVG_UNITS(SVG_LEFT);
	size_t n = 0;

	(void)state;
	assert_non_null(path);
	for (path += 9; sscanf(path, "M%lf %lfV%lfH%lfV", &left, &low, &y, &right) == 4; n++) {
		assert_true(fabs(left - last) < 2.5);
		assert_true(y < low);
		last = right;
		path = strchr(path, 'z') + 1;
	}
	assert_in_range(n, 20, 28);
	free(svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),	   cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_scales),	   cmocka_unit_test(test_places),
		cmocka_unit_test(test_tick_texts), cmocka_unit_test(test_text_cut),
		cmocka_unit_test(test_dots),	   cmocka_unit_test(test_odd_figures),
		cmocka_unit_test(test_waterfall),  cmocka_unit_test(test_graph),
		cmocka_unit_test(test_flame),
		cmocka_unit_test(test_strip),	   cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
