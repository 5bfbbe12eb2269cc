/* Causes in tables and sentences: what their figures are divided by, and the words around them. */
#ifndef WAKEWHY_REPORT_CAUSE_WORDS_H
#define WAKEWHY_REPORT_CAUSE_WORDS_H

#include "report/cause_sums.h"

/* How a workload's wakeups and on-CPU time are shown: per second of an idle server, per run of a
 * command, per operation of hash, per request of serve. */
struct cause_unit {
	const char *wakeups, *cpu; /* heads of columns */
	const char *cpu_unit;	   /* "ms" */
	const char *each;	   /* " a second", " a request"; "" for a single run */
	double cpu_per_ns;
	int wakeups_decimals, cpu_decimals; /* at most */
	double divisor; /* of a group's sums; 0: there is nothing to divide by */
};

struct cause_unit cause_unit_of(const char *workload, const struct cause_sums *sums);

/* "9.95", "12,345": three significant digits, at most so many decimals. */
void words_add_number(struct strbuf *text, double value, int decimals);
/* "9.95 wakeups a second", "1 wakeup" */
void words_add_wakeups(struct strbuf *text, const struct cause_unit *unit, double wakeups);
/* "0.458 ms a second" */
void words_add_cpu(struct strbuf *text, const struct cause_unit *unit, double oncpu_ns);
/* ", every 100.1 ms (±0.2 ms)"; nothing where it is not periodic. */
void words_add_period(struct strbuf *text, const struct cause_sum *sum);
/* ", futile 95 %"; nothing below half a per cent. */
void words_add_futile(struct strbuf *text, double futile, double wakeups);
/* ", 1.00/s until 28.1 s, then 0.033/s"; nothing where the rate did not change. */
void words_add_phase(struct strbuf *text, const struct cause_sum *sum);

#endif
