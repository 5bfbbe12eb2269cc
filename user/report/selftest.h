/* The result of `selftest`: figures of known subjects beside what they must be.
 *
 *	subject     figure                      expected      measured
 *	sleeper     wakeups by its timeout            60            60   ok
 *	sleeper     period              9.90 to 10.10 ms      10.00 ms   ok
 *	ping-pong   calls of write                 1,000           998   WRONG
 */
#ifndef WAKEWHY_REPORT_SELFTEST_H
#define WAKEWHY_REPORT_SELFTEST_H

#include "report/report.h"

enum selftest_unit { SELFTEST_COUNT, SELFTEST_NS };

/* One figure. It is right from low to high, both included: equal where only one figure is. */
struct selftest_check {
	char *subject, *figure; /* owned */
	enum selftest_unit unit;
	double low, high;
	double measured; /* NaN: there was none, which is wrong */
};

struct selftest_result {
	const struct capture_tool *tool; /* borrowed */
	VEC(struct selftest_check) checks;
	VEC(char *) doubts; /* why the run is not to be trusted, by its own account; sentences */
	size_t left_out; /* figures that nothing could be said about: the machine was too busy */
	uint64_t took_ns;
};

/* Adds a figure; subject and figure are copied. */
void selftest_add(struct selftest_result *result, const char *subject, const char *figure,
		  enum selftest_unit unit, double measured, double low, double high);
bool selftest_check_ok(const struct selftest_check *check);
/* How many figures are wrong. */
size_t selftest_wrong(const struct selftest_result *result);
/* All figures are right, there is one, and nothing is doubted. */
bool selftest_ok(const struct selftest_result *result);
void selftest_build(struct report *ret_report, const struct selftest_result *result);
void selftest_free_members(struct selftest_result *result);

#endif
