/* Messages for people on standard error. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/text.h"

static enum log_level current_level = LOG_LEVEL_NORMAL;

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_get_level(void)
{
	return current_level;
}

static void log_line(const char *prefix, const char *text)
{
	struct strbuf line = {};
	char *safe = text_safe(text);
	int saved = errno;

	strbuf_printf(&line, "%s%s\n", prefix, safe);
	fwrite(line.text, 1, line.n, stderr);
	fflush(stderr);
	strbuf_free_members(&line);
	free(safe);
	errno = saved;
}

__attribute__((format(printf, 3, 0))) static void log_at(enum log_level level, const char *prefix,
							 const char *fmt, va_list args)
{
	struct strbuf text = {};

	if (level > current_level)
		return;
	strbuf_vprintf(&text, fmt, args);
	log_line(prefix, strbuf_text(&text));
	strbuf_free_members(&text);
}

void log_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_at(LOG_LEVEL_QUIET, "wakewhy: ", fmt, args);
	va_end(args);
}

void log_warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_at(LOG_LEVEL_NORMAL, "wakewhy: warning: ", fmt, args);
	va_end(args);
}

void log_info(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_at(LOG_LEVEL_NORMAL, "wakewhy: ", fmt, args);
	va_end(args);
}

void log_debug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_at(LOG_LEVEL_VERBOSE, "wakewhy: debug: ", fmt, args);
	va_end(args);
}

void log_diag(const struct diag *diag)
{
	log_line("wakewhy: ", diag->what);
	if (diag->hint[0])
		log_line("  ", diag->hint);
}
