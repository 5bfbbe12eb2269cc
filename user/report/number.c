/* Figures as people read them: grouped digits, ratios, shares. */
#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond this, digits are noise and the buffer would not hold them. */
#define NUMBER_LARGEST 1e18

/* Copies a plain decimal number and sets a comma before every third digit of its whole part. */
static void number_group(char *to, const char *plain)
{
	size_t whole = strspn(plain, "-0123456789");
	size_t digits = whole - (*plain == '-');

	for (size_t i = 0; i < whole; i++) {
		size_t left = whole - i; /* digits from here to the point */

		if (plain[i] != '-' && left % 3 == 0 && left != digits)
			*to++ = ',';
		*to++ = plain[i];
	}
	memcpy(to, plain + whole, strlen(plain + whole) + 1);
}

const char *number_real(char buf[NUMBER_BYTES], double value, int decimals)
{
	char plain[NUMBER_BYTES];
	double least;

	decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
	if (!isfinite(value)) {
		snprintf(buf, NUMBER_BYTES, "%s", NUMBER_NONE);
		return buf;
	}
	if (fabs(value) > NUMBER_LARGEST) {
		snprintf(buf, NUMBER_BYTES, "%.2e", value);
		return buf;
	}
	least = pow(10, -decimals);
	if (value != 0 && fabs(value) < least / 2) {
		snprintf(buf, NUMBER_BYTES, "%s%.*f", value < 0 ? ">-" : "<", decimals, least);
		return buf;
	}
	snprintf(plain, sizeof(plain), "%.*f", decimals, value == 0 ? 0 : value);
	number_group(buf, plain);
	return buf;
}

/* Decimals that show a magnitude with three significant digits. */
static int number_significant(double magnitude)
{
	if (magnitude >= 99.95)
		return 0;
	if (magnitude >= 9.995)
		return 1;
	if (magnitude >= 0.9995)
		return 2;
	if (!(magnitude > 1e-9))
		return 9;
	return 2 - (int)floor(log10(magnitude) + 1e-9);
}

const char *number_ratio(char buf[NUMBER_BYTES], double ratio)
{
	int decimals = ratio == 0 ? 0 : number_significant(fabs(ratio));

	number_real(buf, ratio, decimals > 3 ? 3 : decimals);
	if (isfinite(ratio))
		strncat(buf, "×", NUMBER_BYTES - strlen(buf) - 1);
	return buf;
}

const char *number_share(char buf[NUMBER_BYTES], double share)
{
	double percent = share * 100;

	number_real(buf, percent, percent == 0 || fabs(percent) >= 9.95 ? 0 : 1);
	if (isfinite(percent))
		strncat(buf, " %", NUMBER_BYTES - strlen(buf) - 1);
	return buf;
}

int number_decimals(const double *values, size_t n, int max)
{
	double least = INFINITY, most = 0;
	int decimals;

	for (size_t i = 0; i < n; i++) {
		double magnitude = fabs(values[i]);

		if (!isfinite(magnitude) || magnitude == 0)
			continue;
		least = fmin(least, magnitude);
		most = fmax(most, magnitude);
	}
	if (!isfinite(least))
		return max;
	decimals = number_significant(least);
	if (decimals > max)
		decimals = max;
	/* 1,234.5 and 12,345 are as long as a figure gets. */
	while (decimals > 0 && most * pow(10, decimals) >= 99999.5)
		decimals--;
	return decimals;
}
