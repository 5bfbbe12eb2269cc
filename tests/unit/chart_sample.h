/* Charts of every kind built by hand, for tests of those who draw them. */
#ifndef WAKEWHY_TESTS_CHART_SAMPLE_H
#define WAKEWHY_TESTS_CHART_SAMPLE_H

#include "report/report.h"

/* Adds a heading and a chart of each kind, in the order of enum chart_kind, each with its table.
 * All names are `name`, or plausible ones where it is NULL. */
void chart_sample(struct report *report, const char *name);
/* One chart of a kind. */
struct chart *chart_sample_add(struct report *report, enum chart_kind kind, const char *name);

#endif
