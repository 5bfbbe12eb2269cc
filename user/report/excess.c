/* Is a result within what is allowed: of a budget, and of what an earlier result has come to? */
#include "report/excess.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "report/number.h"

/* Windows that differ by more are of another length: an idle server slows down as it sits. */
#define EXCESS_WINDOW_WITHIN 0.10
/* Wakeups where there were none before. Fewer of them are chance: of 6 that come at random, all lie on
 * the same side in 1.6 % of cases. */
#define EXCESS_LEAST_FROM_NOTHING 6

struct judge {
	struct excesses *excesses;
	const struct result *result;
	const struct excess_limits *limits;
};

/* What is judged by itself. */
struct excess_key {
	const char *label, *workload, *variant;
};

__attribute__((format(printf, 3, 4))) static void judge_add(struct judge *judge, bool over,
							    const char *fmt, ...)
{
	struct strbuf text = {};
	struct excess *excess;
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	excess = vec_push(&judge->excesses->all);
	excess->over = over;
	excess->text = strbuf_take(&text);
}

/* "idle of zig", "hash of node sync"; the caller frees. */
static char *key_name(const struct excess_key *key)
{
	return mem_printf("%s of %s%s%s", key->workload, key->label, key->variant ? " " : "",
			  key->variant ? key->variant : "");
}

static bool key_same(const struct excess_key *a, const struct excess_key *b)
{
	return !strcmp(a->label, b->label) && !strcmp(a->workload, b->workload) &&
	       (a->variant && b->variant ? !strcmp(a->variant, b->variant)
					 : a->variant == b->variant);
}

static struct excess_key key_of(const struct result_summary *summary)
{
	return (struct excess_key){summary->label, summary->workload, summary->variant};
}

/* "7.58 ms", "12.1", "52.0 MB" */
static void add_value(struct strbuf *text, const struct metric *metric, double value)
{
	char number[NUMBER_BYTES], unit[UNITS_TEXT_BYTES];

	if (!strcmp(metric->unit, "ns"))
		strbuf_add(text, units_format_duration(unit, value));
	else if (!strcmp(metric->unit, "bytes"))
		strbuf_add(text, units_format_bytes(unit, value));
	else
		strbuf_add(text, number_real(number, value,
					     value != 0 ? number_decimals(&value, 1, 3) : 0));
}

/* ---- budgets --------------------------------------------------------------------------------- */

static void judge_limit(struct judge *judge, const struct result_summary *summary, const char *id,
			double limit, const char *option)
{
	struct excess_key key = key_of(summary);
	struct strbuf text = {};
	char *name;

	if (strcmp(summary->metric->id, id) != 0 || !(summary->stat.median > limit))
		return;
	name = key_name(&key);
	strbuf_printf(&text, "%s: %s ", name, summary->metric->title);
	add_value(&text, summary->metric, summary->stat.median);
	strbuf_add(&text, ", allowed ");
	add_value(&text, summary->metric, limit);
	judge_add(judge, true, "%s (%s)", strbuf_text(&text), option);
	strbuf_free_members(&text);
	free(name);
}

static void judge_limits(struct judge *judge)
{
	const struct excess_limits *limits = judge->limits;

	for (size_t i = 0; i < judge->result->summaries.n; i++) {
		const struct result_summary *summary = &judge->result->summaries.items[i];

		judge_limit(judge, summary, "wakeups_per_s", limits->wakeups_per_s, "--max-wakeups");
		judge_limit(judge, summary, "cpu_ms_per_s", limits->cpu_ms_per_s, "--max-cpu");
		if (!strcmp(summary->workload, "startup"))
			judge_limit(judge, summary, "exec_to_exit_ns", limits->startup_ns,
				    "--max-startup");
	}
}

/* ---- the runs of one key ---------------------------------------------------------------------- */

/* One side of a comparison. */
struct excess_side {
	VEC(const struct run *) runs; /* those that are summarised */
	bool trusted;
	const char *not_comparable; /* why; NULL: they may be compared */
	double window_ns;	    /* mean */
	uint64_t wakeups;
};

static void side_init(struct excess_side *side, const struct result *result,
		      const struct excess_key *key)
{
	*side = (struct excess_side){.trusted = true};
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];
		const struct capture *capture = run->capture;
		struct excess_key other = {capture->label, capture->workload, capture->variant};

		if (!other.label || !other.workload || !key_same(key, &other) || capture->replaced)
			continue;
		*vec_push(&side->runs) = run;
		side->trusted &= run->trust.ok;
		side->window_ns += (double)run->window_ns;
		side->wakeups += run->totals.wakeups;
		if (capture->not_comparable)
			side->not_comparable = capture->not_comparable;
	}
	if (side->runs.n)
		side->window_ns /= (double)side->runs.n;
}

/* Room for all of its runs; returns how many have the metric. */
static size_t side_values(const struct excess_side *side, const struct metric *metric, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < side->runs.n; i++)
		n += metric->get(side->runs.items[i], &values[n]);
	return n;
}

/* ---- baseline -------------------------------------------------------------------------------- */

/* One metric of one key on both sides. ratio: the worse for it, the larger. */
struct versus {
	const struct metric *metric;
	const struct excess_side *before, *now;
	double median_before, median_now;
	struct stat_ratio ratio;
};

static bool versus_init(struct versus *versus, const struct metric *metric,
			const struct excess_side *before, const struct excess_side *now)
{
	double *b = mem_calloc(before->runs.n + 1, sizeof(*b));
	double *n = mem_calloc(now->runs.n + 1, sizeof(*n));
	size_t n_before = side_values(before, metric, b), n_now = side_values(now, metric, n);
	bool higher = metric->better == METRIC_HIGHER;

	*versus = (struct versus){.metric = metric, .before = before, .now = now};
	if (n_before && n_now) {
		versus->median_before = stat_summarise(b, n_before).median;
		versus->median_now = stat_summarise(n, n_now).median;
		versus->ratio = stat_compare(higher ? n : b, higher ? n_now : n_before,
					     higher ? b : n, higher ? n_before : n_now, 0, 1);
	}
	free(b);
	free(n);
	return n_before && n_now;
}

/* Something where there was nothing has no ratio. */
static bool versus_is_from_nothing(const struct versus *versus)
{
	bool counts = !strcmp(versus->metric->id, "wakeups") ||
		      !strcmp(versus->metric->id, "wakeups_per_s");

	if (versus->ratio.verdict == STAT_HIGHER)
		return true;
	return counts && !versus->before->wakeups &&
	       versus->now->wakeups >= EXCESS_LEAST_FROM_NOTHING;
}

static bool versus_is_over(const struct versus *versus, double tolerance)
{
	const struct stat_ratio *ratio = &versus->ratio;

	if (!isfinite(ratio->ratio))
		return versus_is_from_nothing(versus);
	return ratio->ratio > 1 + tolerance &&
	       (!ratio->has_interval || ratio->ci_low > 1 + tolerance);
}

/* The ratio as people have it: now divided by before. */
static void versus_add_ratio(const struct versus *versus, struct strbuf *text, double tolerance)
{
	bool higher = versus->metric->better == METRIC_HIGHER;
	const struct stat_ratio *ratio = &versus->ratio;
	char number[NUMBER_BYTES], other[NUMBER_BYTES];
	double low = higher ? 1 / ratio->ci_high : ratio->ci_low;
	double high = higher ? 1 / ratio->ci_low : ratio->ci_high;
	double allowed = higher ? 1 / (1 + tolerance) : 1 + tolerance;

	if (isfinite(ratio->ratio))
		strbuf_printf(text, ": %s",
			      number_ratio(number, higher ? 1 / ratio->ratio : ratio->ratio));
	if (ratio->has_interval)
		strbuf_printf(text, " (%s–%s)", number_ratio(number, low),
			      number_ratio(other, high));
	strbuf_printf(text, ", allowed %s", number_ratio(number, allowed));
}

static void judge_versus(struct judge *judge, const char *name, const struct versus *versus)
{
	const struct excess_limits *limits = judge->limits;
	struct strbuf text = {};

	if (!versus_is_over(versus, limits->tolerance))
		return;
	strbuf_printf(&text, "%s: %s ", name, versus->metric->title);
	add_value(&text, versus->metric, versus->median_now);
	strbuf_printf(&text, ", in %s ", limits->baseline_name);
	add_value(&text, versus->metric, versus->median_before);
	versus_add_ratio(versus, &text, limits->tolerance);
	judge_add(judge, true, "%s (--baseline)", strbuf_text(&text));
	strbuf_free_members(&text);
}

static bool windows_differ(const struct excess_side *before, const struct excess_side *now)
{
	return fabs(now->window_ns - before->window_ns) >
	       EXCESS_WINDOW_WITHIN * before->window_ns;
}

/* Why the sides cannot be compared, in words after the name; NULL: they can. The caller frees. */
static char *sides_differ(const char *workload, const struct excess_side *before,
			  const struct excess_side *now)
{
	bool idle = !strcmp(workload, "idle") || !strcmp(workload, "attach");
	const char *reason = now->not_comparable ? now->not_comparable : before->not_comparable;
	char was[UNITS_TEXT_BYTES], is[UNITS_TEXT_BYTES];

	if (!before->runs.n)
		return mem_strdup("is not in it");
	if (!before->trusted)
		return mem_strdup("is not to be trusted there");
	if (reason)
		return mem_printf("must not be compared: %s", reason);
	if (idle && windows_differ(before, now))
		return mem_printf("was watched for %s there, and for %s now",
				  units_format_duration_plain(was, before->window_ns),
				  units_format_duration_plain(is, now->window_ns));
	return NULL;
}

static void judge_metrics(struct judge *judge, const char *name, const char *workload,
			  const struct excess_side *before, const struct excess_side *now)
{
	for (const struct metric *metric = metrics; metric->id; metric++) {
		struct versus versus;

		if (metric_is_main(metric, workload) && versus_init(&versus, metric, before, now))
			judge_versus(judge, name, &versus);
	}
}

static void judge_key(struct judge *judge, const struct excess_key *key)
{
	struct excess_side before, now;
	char *name = key_name(key), *why;

	side_init(&before, judge->limits->baseline, key);
	side_init(&now, judge->result, key);
	why = sides_differ(key->workload, &before, &now);
	if (why)
		judge_add(judge, false, "not compared with %s: %s %s",
			  judge->limits->baseline_name, name, why);
	else
		judge_metrics(judge, name, key->workload, &before, &now);
	free(why);
	free(before.runs.items);
	free(now.runs.items);
	free(name);
}

static bool tool_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* What ran elsewhere is another experiment. */
static bool judge_machines(struct judge *judge)
{
	const struct capture_tool *before = &judge->limits->baseline->recording->tool;
	const struct capture_tool *now = &judge->result->recording->tool;

	if (tool_same(before->kernel, now->kernel) && tool_same(before->arch, now->arch) &&
	    before->cpus == now->cpus)
		return true;
	judge_add(judge, false,
		  "not compared with %s: it is from another machine or kernel (Linux %s, %s, %u CPUs; here "
		  "Linux %s, %s, %u CPUs)",
		  judge->limits->baseline_name, before->kernel ? before->kernel : "?",
		  before->arch ? before->arch : "?", before->cpus, now->kernel ? now->kernel : "?",
		  now->arch ? now->arch : "?", now->cpus);
	return false;
}

static void judge_baseline(struct judge *judge)
{
	const struct result *result = judge->result;

	if (!judge->limits->baseline || !judge_machines(judge))
		return;
	/* Summaries of a key stand together. */
	for (size_t i = 0; i < result->summaries.n; i++) {
		struct excess_key key = key_of(&result->summaries.items[i]);
		struct excess_key last = i ? key_of(&result->summaries.items[i - 1]) : key;

		if (!i || !key_same(&key, &last))
			judge_key(judge, &key);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* What is over comes first, otherwise as found. */
static void excesses_sort(struct excesses *excesses)
{
	struct excess *sorted = mem_calloc(excesses->all.n + 1, sizeof(*sorted));
	size_t n = 0;

	for (int over = 1; over >= 0; over--)
		for (size_t i = 0; i < excesses->all.n; i++)
			if (excesses->all.items[i].over == over)
				sorted[n++] = excesses->all.items[i];
	free(excesses->all.items);
	excesses->all.items = sorted;
}

void excesses_init(struct excesses *ret_excesses, const struct result *result,
		   const struct excess_limits *limits)
{
	struct excesses excesses = {0};
	struct judge judge = {&excesses, result, limits};

	judge_limits(&judge);
	judge_baseline(&judge);
	excesses_sort(&excesses);
	*ret_excesses = excesses;
}

void excesses_free_members(struct excesses *excesses)
{
	if (!excesses)
		return;
	for (size_t i = 0; i < excesses->all.n; i++)
		free(excesses->all.items[i].text);
	free(excesses->all.items);
	*excesses = (struct excesses){0};
}

bool excesses_any_over(const struct excesses *excesses)
{
	return excesses->all.n && excesses->all.items[0].over;
}

void excesses_build(struct report *report, const struct excesses *excesses)
{
	for (size_t i = 0; i < excesses->all.n; i++) {
		const struct excess *excess = &excesses->all.items[i];

		report_add_note(report, excess->over ? NOTE_WARNING : NOTE_TEXT, "%s%s%s",
				excess->over ? "over budget: " : "", excess->text,
				excess->over ? "" : ".");
	}
}
