/* A bar on standard error: what runs now, and the time left. */
#include "cmd/progress.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "bpf/abi.h"

#define REDRAW_NS 250000000ULL
#define BAR_COLUMNS 30
#define SHORTEST_BAR_COLUMNS 8
#define FALLBACK_COLUMNS 80

struct progress {
	char *what;
	bool utf8;
	bool shown;
	uint64_t drawn_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * WK_SECOND_NS + (uint64_t)now.tv_nsec;
}

/* The program itself keeps the C locale; only the question is asked of the user's. */
static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

struct progress *progress_new(bool quiet)
{
	const char *term = getenv("TERM");
	struct progress *progress;

	if (quiet || !isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return NULL;
	progress = mem_zalloc(sizeof(*progress));
	progress->what = mem_strdup("");
	progress->utf8 = locale_is_utf8();
	return progress;
}

void progress_say(struct progress *progress, const char *fmt, ...)
{
	struct strbuf text = {};
	va_list args;

	if (!progress)
		return;
	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	free(progress->what);
	progress->what = text_safe(strbuf_text(&text));
	strbuf_free_members(&text);
	progress->drawn_ns = 0; /* news are drawn at once */
}

static size_t screen_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
		return FALLBACK_COLUMNS;
	return size.ws_col;
}

/* Eighths of a column where the terminal shows UTF-8, whole columns of '#' otherwise. */
static void add_bar(struct strbuf *line, uint64_t done, uint64_t total, size_t columns, bool utf8)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	double share = done >= total ? 1 : (double)done / (double)total;
	size_t eighths = (size_t)(share * (double)(columns * 8)), full = eighths / 8, used = full;

	if (!utf8)
		strbuf_add_char(line, '[');
	for (size_t i = 0; i < full; i++)
		strbuf_add(line, utf8 ? "█" : "#");
	if (utf8 && eighths % 8) {
		strbuf_add(line, parts[eighths % 8]);
		used++;
	}
	strbuf_add_repeated(line, ' ', columns - used);
	if (!utf8)
		strbuf_add_char(line, ']');
}

static void add_time_left(struct strbuf *line, uint64_t left_ns)
{
	uint64_t left_s = (left_ns + WK_SECOND_NS / 2) / WK_SECOND_NS;

	if (left_ns == UINT64_MAX)
		return;
	if (left_s >= 60)
		strbuf_printf(line, "  %llu min %02llu s left", (unsigned long long)(left_s / 60),
			      (unsigned long long)(left_s % 60));
	else
		strbuf_printf(line, "  %llu s left", (unsigned long long)left_s);
}

/* As much of what runs now as fits before the rest. */
static void add_what(struct strbuf *line, const struct progress *progress, size_t columns)
{
	const char *text = progress->what;
	size_t used = 0;

	while (*text) {
		uint32_t code;
		size_t n = text_decode(text, strlen(text), &code), width;
		char one[5] = {};

		if (!n)
			break;
		memcpy(one, text, n);
		width = text_columns(one);
		if (used + width > columns)
			break;
		/* A terminal that does not show UTF-8 gets no byte of it. */
		strbuf_add(line, code < 128 || progress->utf8 ? one : "?");
		used += width;
		text += n;
	}
}

/* What fits between the text and the time left; 0: no bar. */
static size_t bar_columns(size_t columns, size_t taken, bool utf8)
{
	size_t spare = utf8 ? 2 : 4; /* blanks before it, brackets around it */

	if (columns < taken + spare + SHORTEST_BAR_COLUMNS)
		return 0;
	columns -= taken + spare;
	return columns < BAR_COLUMNS ? columns : BAR_COLUMNS;
}

static void draw(struct progress *progress, uint64_t done, uint64_t total, uint64_t left_ns)
{
	struct strbuf left = {}, line = {};
	/* The last column stays free: writing there may wrap. */
	size_t columns = screen_columns() - 1, taken, bar;

	add_time_left(&left, left_ns);
	taken = text_columns(progress->what) + text_columns(strbuf_text(&left));
	bar = total ? bar_columns(columns, taken, progress->utf8) : 0;
	strbuf_add(&line, "\r");
	add_what(&line, progress, columns);
	if (bar) {
		strbuf_add(&line, "  ");
		add_bar(&line, done, total, bar, progress->utf8);
	}
	if (taken <= columns)
		strbuf_add(&line, strbuf_text(&left));
	strbuf_add(&line, "\033[K");
	fwrite(line.text, 1, line.n, stderr);
	fflush(stderr);
	progress->shown = true;
	strbuf_free_members(&left);
	strbuf_free_members(&line);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total, uint64_t left_ns)
{
	uint64_t now;

	if (!progress)
		return;
	now = now_ns();
	if (progress->drawn_ns && now - progress->drawn_ns < REDRAW_NS)
		return;
	progress->drawn_ns = now;
	draw(progress, done, total, left_ns);
}

uint64_t progress_interval_ns(const struct progress *progress)
{
	return progress ? REDRAW_NS : UINT64_MAX;
}

void progress_clear(struct progress *progress)
{
	if (!progress || !progress->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
	progress->drawn_ns = 0;
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	progress_clear(progress);
	free(progress->what);
	free(progress);
}
