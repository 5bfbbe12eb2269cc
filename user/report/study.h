/* The parts of a report that stand above its workloads: a study's table, and claims. */
#ifndef WAKEWHY_REPORT_STUDY_H
#define WAKEWHY_REPORT_STUDY_H

#include "report/report.h"

/* The recording is a study's: its command says so. */
bool study_is(const struct result *result);
/* A row for each runtime, a column for each figure that a study is about, ratios below. */
void study_build(struct report *report, const struct result *result);
/* The recording's claims beside what was measured here; nothing where it has none. */
void claims_build(struct report *report, const struct result *result);

/* Equal texts, or both NULL. */
bool study_same(const char *a, const char *b);

#endif
