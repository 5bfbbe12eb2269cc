/* "In short": the verdicts on what a reader comes for, before anything else. */
#include <math.h>
#include <string.h>

#include "render/html.h"
#include "report/number.h"

/* What a workload is run for; the tables have all the rest. */
static const struct {
	const char *workload, *metric;
} short_metrics[] = {
	{"startup", "exec_to_exit_ns"}, {"idle", "cpu_ms_per_s"},      {"idle", "wakeups_per_s"},
	{"hash", "operations_per_s"},	{"serve", "operations_per_s"},
};

static bool short_is(const struct result_comparison *comparison)
{
	if (!strcmp(comparison->base, "floor"))
		return false;
	for (size_t i = 0; i < sizeof(short_metrics) / sizeof(*short_metrics); i++) {
		if (!strcmp(comparison->workload, short_metrics[i].workload) &&
		    !strcmp(comparison->metric->id, short_metrics[i].metric))
			return true;
	}
	return false;
}

bool html_short_has(const struct result *result)
{
	for (size_t i = 0; i < result->comparisons.n; i++) {
		if (short_is(&result->comparisons.items[i]))
			return true;
	}
	return false;
}

static void short_ratio(FILE *out, const struct stat_ratio *ratio)
{
	char number[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];

	fputs(number_ratio(number, ratio->ratio), out);
	if (ratio->has_interval)
		fprintf(out, " (95 %% interval %s to %s)", number_ratio(low, ratio->ci_low),
			number_ratio(high, ratio->ci_high));
	else
		fputs(" (too few runs for an interval)", out);
}

static void short_row(FILE *out, const struct result_comparison *comparison)
{
	fprintf(out, "<li><b>%s</b> <span>", stat_verdict_name(comparison->ratio.verdict));
	html_text(out, comparison->workload);
	if (comparison->variant) {
		fputc(' ', out);
		html_text(out, comparison->variant);
	}
	fputs(", ", out);
	html_text(out, comparison->metric->title);
	fputs(": ", out);
	html_text(out, comparison->other);
	fputs(" / ", out);
	html_text(out, comparison->base);
	fputc(' ', out);
	short_ratio(out, &comparison->ratio);
	fputs("</span></li>\n", out);
}

bool html_short(FILE *out, const struct result *result)
{
	if (!html_short_has(result))
		return false;
	fputs("<section id=\"short\" aria-labelledby=\"short-h\"><h2 id=\"short-h\">In "
	      "short</h2>\n<ul>\n",
	      out);
	for (size_t i = 0; i < result->comparisons.n; i++) {
		if (short_is(&result->comparisons.items[i]))
			short_row(out, &result->comparisons.items[i]);
	}
	fputs("</ul></section>\n", out);
	return true;
}
