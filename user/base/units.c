/* Numbers with units: what people type, and what people read. */
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit duration_units[] = {
	{"", 1000000000},
	{"ns", 1},
	{"us", 1000},
	{"µs", 1000},
	{"μs", 1000}, /* Greek mu beside the micro sign above: keyboards differ */
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60000000000},
	{"min", 60000000000},
	{"h", 3600000000000},
	{"d", 86400000000000},
	{NULL, 0},
};

static const struct unit count_units[] = {
	{"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

/* whole.fraction × unit in integers, so that no digit typed is lost. -EDOM: not a whole result. */
static int units_parse(const char *text, const struct unit *units, uint64_t *ret_value)
{
	uint64_t whole = 0, part = 0, scale = 1, value;
	const struct unit *unit;
	const char *p = text;
	bool range = false;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++)
		range |= __builtin_mul_overflow(whole, 10, &whole) ||
			 __builtin_add_overflow(whole, *p - '0', &whole);
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		for (; is_digit(*p); p++) {
			if (scale > UINT64_MAX / 100 || part > UINT64_MAX / 100)
				return -EDOM; /* finer than any unit */
			part = part * 10 + (*p - '0');
			scale *= 10;
		}
	}
	unit = unit_find(units, p);
	if (!unit)
		return -EINVAL;
	if (range || __builtin_mul_overflow(whole, unit->factor, &value))
		return -ERANGE;
	if ((unsigned __int128)part * unit->factor % scale)
		return -EDOM;
	if (__builtin_add_overflow(
		    value, (uint64_t)((unsigned __int128)part * unit->factor / scale), &value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int units_parse_duration(const char *text, uint64_t *ret_ns, struct diag *diag)
{
	int err = units_parse(text, duration_units, ret_ns);

	if (err == -ERANGE)
		return diag_set(diag, err, "duration '%s' is too long", text);
	if (err == -EDOM)
		return diag_set(diag, -EINVAL, "duration '%s' is finer than a nanosecond", text);
	if (err) {
		diag_set(diag, err, "'%s' is not a duration", text);
		return diag_hint(diag, err,
				 "like 5, 5s, 500ms, 2m or 1h; a bare number is seconds");
	}
	return 0;
}

int units_parse_count(const char *text, uint64_t *ret_count, struct diag *diag)
{
	int err = units_parse(text, count_units, ret_count);

	if (err == -ERANGE)
		return diag_set(diag, err, "number '%s' is too large", text);
	if (err == -EDOM)
		return diag_set(diag, -EINVAL, "'%s' is not a whole number", text);
	if (err) {
		diag_set(diag, err, "'%s' is not a number", text);
		return diag_hint(diag, err, "like 60, 5000000, 500k or 5M");
	}
	return 0;
}

/* Three significant digits of value, which is less than 1,000 after rounding. */
static void units_format_three(char buf[static UNITS_TEXT_BYTES], double value, const char *unit)
{
	int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;

	snprintf(buf, UNITS_TEXT_BYTES, "%.*f %s", decimals, value, unit);
}

/* The largest unit in which value does not round to 1,000 of it; whole numbers stay whole in the
 * smallest. */
static char *units_format_scaled(char buf[static UNITS_TEXT_BYTES], double value,
				 const char *const *units, size_t n)
{
	size_t i = 0;

	if (!isfinite(value)) {
		strcpy(buf, "—");
		return buf;
	}
	if (fabs(value) < 999.5 && value == rint(value)) {
		/* + 0.0 turns -0 into 0. */
		snprintf(buf, UNITS_TEXT_BYTES, "%.0f %s", value + 0.0, units[0]);
		return buf;
	}
	while (i + 1 < n && fabs(value) >= 999.5) {
		value /= 1000;
		i++;
	}
	if (fabs(value) < 999.5)
		units_format_three(buf, value, units[i]);
	else if (fabs(value) < 1e15)
		snprintf(buf, UNITS_TEXT_BYTES, "%.0f %s", value, units[i]);
	else
		snprintf(buf, UNITS_TEXT_BYTES, "%.3g %s", value, units[i]);
	return buf;
}

char *units_format_duration(char buf[static UNITS_TEXT_BYTES], double ns)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};

	return units_format_scaled(buf, ns, units, 4);
}

char *units_format_duration_plain(char buf[static UNITS_TEXT_BYTES], double ns)
{
	char *space, *end;

	units_format_duration(buf, ns);
	space = strchr(buf, ' ');
	if (!space || !memchr(buf, '.', space - buf))
		return buf;
	for (end = space; end[-1] == '0'; end--)
		;
	if (end[-1] == '.')
		end--;
	memmove(end, space, strlen(space) + 1);
	return buf;
}

char *units_format_bytes(char buf[static UNITS_TEXT_BYTES], double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

	return units_format_scaled(buf, bytes, units, 7);
}

char *units_format_count(char buf[static UNITS_TEXT_BYTES], uint64_t count)
{
	char digits[UNITS_TEXT_BYTES];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *out = buf;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

char *units_format_time(char buf[static UNITS_TEXT_BYTES], int64_t unix_s)
{
	time_t seconds = unix_s;
	struct tm tm = {};

	if (!gmtime_r(&seconds, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900 ||
	    strftime(buf, UNITS_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		strcpy(buf, "0000-00-00T00:00:00Z");
	return buf;
}
