/* From values to places: scales with round ticks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/svg.h"
#include "report/number.h"

/* Room for what dividing and multiplying again makes of a whole number. */
#define SCALE_SLACK 1e-9

/* The smallest of 1, 2, 5 times a power of ten that covers the span in at most `most` steps. */
static double scale_step(double span, size_t most)
{
	static const double steps[] = {1, 2, 5, 10};
	double unit = pow(10, floor(log10(span / (double)most)));

	for (size_t i = 0; i < 3; i++) {
		if (span / (unit * steps[i]) <= (double)most + SCALE_SLACK)
			return unit * steps[i];
	}
	return unit * steps[3];
}

struct svg_scale svg_scale_linear(double low, double high, size_t most, bool whole, bool round)
{
	struct svg_scale scale = {.low = low, .high = high};

	/* One value: a scale that has it in its middle, or 0 at its foot. */
	if (!(scale.high - scale.low > fabs(scale.high) * SCALE_SLACK)) {
		double room = scale.high != 0 ? fabs(scale.high) / 2 : 1;

		scale.high += room;
		scale.low -= low != 0 ? room : 0;
	}
	scale.step = scale_step(scale.high - scale.low, most);
	if (whole && scale.step < 1)
		scale.step = 1;
	if (round) {
		scale.low = floor(scale.low / scale.step + SCALE_SLACK) * scale.step;
		scale.high = ceil(scale.high / scale.step - SCALE_SLACK) * scale.step;
	}
	return scale;
}

struct svg_scale svg_scale_logarithmic(double low, double high, size_t most, bool round)
{
	struct svg_scale scale = {.low = low, .high = high, .logarithmic = true};
	double decades;

	if (!(scale.high > 0))
		scale.high = 1;
	if (!(scale.low > 0) || scale.low > scale.high)
		scale.low = scale.high;
	if (round || scale.high < scale.low * 1.01) {
		scale.low = pow(10, floor(log10(scale.low) + SCALE_SLACK));
		scale.high = pow(10, ceil(log10(scale.high) - SCALE_SLACK));
	}
	if (scale.high < scale.low * 1.01)
		scale.high = scale.low * 10;
	decades = log10(scale.high / scale.low);
	/* 1, 2 and 5 of each have room for their labels in one decade only. */
	scale.step = decades < 1.2 ? 0 : ceil(decades / (double)most - SCALE_SLACK);
	return scale;
}

double svg_scale_at(const struct svg_scale *scale, double value)
{
	double share;

	if (scale->logarithmic)
		share = value > scale->low ? log(value / scale->low) / log(scale->high / scale->low)
					   : 0;
	else
		share = (value - scale->low) / (scale->high - scale->low);
	return scale->from + (scale->to - scale->from) * fmin(fmax(share, 0), 1);
}

static size_t scale_ticks_linear(const struct svg_scale *scale, double *ticks)
{
	double first = ceil(scale->low / scale->step - SCALE_SLACK);
	size_t n = 0;

	while (n < SVG_TICKS &&
	       (first + (double)n) * scale->step <= scale->high + scale->step * SCALE_SLACK) {
		ticks[n] = (first + (double)n) * scale->step;
		n++;
	}
	return n;
}

static size_t scale_ticks_logarithmic(const struct svg_scale *scale, double *ticks)
{
	static const double parts[] = {1, 2, 5};
	double decade = floor(log10(scale->low) + SCALE_SLACK);
	size_t n = 0;

	for (; pow(10, decade) <= scale->high * (1 + SCALE_SLACK) &&
			       n<SVG_TICKS; decade += scale->step> 0
		       ? scale->step
		       : 1) {
		for (size_t i = 0; i < (scale->step > 0 ? 1 : 3) && n < SVG_TICKS; i++) {
			double tick = parts[i] * pow(10, decade);

			if (tick >= scale->low * (1 - SCALE_SLACK) &&
			    tick <= scale->high * (1 + SCALE_SLACK))
				ticks[n++] = tick;
		}
	}
	return n;
}

size_t svg_scale_ticks(const struct svg_scale *scale, double ret_ticks[SVG_TICKS])
{
	return scale->logarithmic ? scale_ticks_logarithmic(scale, ret_ticks)
				  : scale_ticks_linear(scale, ret_ticks);
}

/* "20 k", "1.5 M": a plain number has no place for more than four digits. */
static const char *scale_plain(char buf[SVG_TICK_BYTES], double step, double value)
{
	static const struct {
		double least, unit;
		const char *name;
	} units[] = {{1e12, 1e12, " T"}, {1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}};
	double size = fabs(value);
	int decimals;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (size < units[i].least * (1 - SCALE_SLACK))
			continue;
		snprintf(buf, SVG_TICK_BYTES, "%.4g%s", value / units[i].unit, units[i].name);
		return buf;
	}
	decimals = step > 0 && step < 1 ? (int)fmin(ceil(-log10(step) - SCALE_SLACK), 9) : 0;
	snprintf(buf, SVG_TICK_BYTES, "%.*f", decimals, size < step * SCALE_SLACK ? 0 : value);
	return buf;
}

const char *svg_tick_text(char buf[SVG_TICK_BYTES], const struct svg_scale *scale,
			  const struct chart_axis *axis, double value)
{
	char number[NUMBER_BYTES];

	switch (axis->kind) {
	case CELL_DURATION:
		return value == 0 ? strcpy(buf, "0") : units_format_duration_plain(buf, value);
	case CELL_BYTES:
		return value == 0 ? strcpy(buf, "0") : units_format_bytes(buf, value);
	case CELL_SHARE:
		snprintf(buf, SVG_TICK_BYTES, "%.30s", number_share(number, value));
		return buf;
	case CELL_RATIO:
		snprintf(buf, SVG_TICK_BYTES, "%.30s", number_ratio(number, value));
		return buf;
	case CELL_EMPTY:
	case CELL_TEXT:
	case CELL_COUNT:
	case CELL_REAL:
		break;
	}
	return scale_plain(buf, scale->logarithmic ? fabs(value) : scale->step, value);
}
