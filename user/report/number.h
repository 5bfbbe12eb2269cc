/* Figures as people read them: grouped digits, ratios, shares. */
#ifndef WAKEWHY_REPORT_NUMBER_H
#define WAKEWHY_REPORT_NUMBER_H

#include <stddef.h>

/* Enough for any double that the functions below are given. */
#define NUMBER_BYTES 64
/* Stands for a figure that does not exist. */
#define NUMBER_NONE "–"

/* All write UTF-8 into buf and return it. NaN and infinities give NUMBER_NONE, never "nan". */

/* "12.10", "1,234.5"; a value that is not 0 but would be shown as 0 gives "<0.01". decimals is
 * taken as 0 to 9. */
const char *number_real(char buf[NUMBER_BYTES], double value, int decimals);
/* Three significant digits: "0.387×", "4.03×", "12.1×", "1,210×", "<0.001×", "0×". */
const char *number_ratio(char buf[NUMBER_BYTES], double ratio);
/* share is 0 to 1: "82 %", "8.1 %", "0 %", "<0.1 %". */
const char *number_share(char buf[NUMBER_BYTES], double share);

/* How many decimals show the smallest magnitude in values that is not 0 with three significant
 * digits, without giving the largest more than five; 0 to max. NaN and infinities are ignored. */
int number_decimals(const double *values, size_t n, int max);

#endif
