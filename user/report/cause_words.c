/* Causes in tables and sentences: what their figures are divided by, and the words around them. */
#include "report/cause_words.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/number.h"

/* A spread below this part of the period is beyond what the clock is good for. */
#define WORDS_JITTER_LEAST 1e-4
#define WORDS_FUTILE_LEAST 0.005

struct cause_unit cause_unit_of(const char *workload, const struct cause_sums *sums)
{
	if (!strcmp(workload, "hash"))
		return (struct cause_unit){
			"wakeups/op",	 "CPU ns/op", "ns", " an operation", 1, 3, 0,
			sums->operations};
	if (!strcmp(workload, "serve"))
		return (struct cause_unit){
			"wakeups/request", "CPU µs/request", "µs", " a request", 1e-3, 3, 2,
			sums->operations};
	if (!strcmp(workload, "idle") || !strcmp(workload, "attach"))
		return (struct cause_unit){"wakeups/s", "CPU ms/s", "ms", " a second",
					   1e-6,	2,	    3,	  sums->window_ns / 1e9};
	return (struct cause_unit){
		"wakeups", "CPU ms",	     "ms", sums->n_runs > 1 ? " a run" : "",
		1e-6,	   sums->n_runs > 1, 3,	   (double)sums->n_runs};
}

void words_add_number(struct strbuf *text, double value, int decimals)
{
	char number[NUMBER_BYTES];

	strbuf_add(text, number_real(number, value, number_decimals(&value, 1, decimals)));
}

static double words_divided(double amount, const struct cause_unit *unit)
{
	return unit->divisor > 0 ? amount / unit->divisor : NAN;
}

void words_add_wakeups(struct strbuf *text, const struct cause_unit *unit, double wakeups)
{
	double shown = words_divided(wakeups, unit);

	words_add_number(text, shown, unit->wakeups_decimals);
	strbuf_printf(text, " %s%s", shown == 1 && !*unit->each ? "wakeup" : "wakeups", unit->each);
}

void words_add_cpu(struct strbuf *text, const struct cause_unit *unit, double oncpu_ns)
{
	words_add_number(text, words_divided(oncpu_ns * unit->cpu_per_ns, unit),
			 unit->cpu_decimals);
	strbuf_printf(text, " %s%s", unit->cpu_unit, unit->each);
}

void words_add_period(struct strbuf *text, const struct cause_sum *sum)
{
	char period[UNITS_TEXT_BYTES], jitter[UNITS_TEXT_BYTES];

	if (!sum->period.known)
		return;
	strbuf_printf(text, ", every %s", units_format_duration(period, sum->period.period_ns));
	if (sum->period.jitter_ns >= WORDS_JITTER_LEAST * sum->period.period_ns)
		strbuf_printf(text, " (±%s)", units_format_duration(jitter, sum->period.jitter_ns));
}

void words_add_futile(struct strbuf *text, double futile, double wakeups)
{
	char share[NUMBER_BYTES];

	if (!(wakeups > 0) || futile < WORDS_FUTILE_LEAST * wakeups)
		return;
	strbuf_printf(text, ", futile %s", number_share(share, futile / wakeups));
}

void words_add_phase(struct strbuf *text, const struct cause_sum *sum)
{
	char at[UNITS_TEXT_BYTES];

	if (!sum->phase.known)
		return;
	strbuf_add(text, ", ");
	words_add_number(text, sum->phase.before_per_s, 3);
	strbuf_printf(text, "/s until %s, then ",
		      units_format_duration(at, (double)sum->phase.at_ns));
	words_add_number(text, sum->phase.after_per_s, 3);
	strbuf_add(text, "/s");
}
