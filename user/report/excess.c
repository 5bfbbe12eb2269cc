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

/* like: all but the text, which is made here. */
__attribute__((format(printf, 3, 4))) static void
judge_add(struct judge *judge, const struct excess *like, const char *fmt, ...)
{
	struct strbuf text = {};
	struct excess *excess;
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	excess = vec_push(&judge->excesses->all);
	*excess = *like;
	excess->text = strbuf_take(&text);
}

/* What cannot be held against the baseline. key: NULL of all. */
static struct excess not_compared(const struct result_key *key)
{
	struct excess excess = {.option = "--baseline", .value = NAN, .allowed = NAN};

	if (key)
		excess.key = *key;
	return excess;
}

/* "idle of zig", "hash of node sync"; the caller frees. */
static char *key_name(const struct result_key *key)
{
	return mem_printf("%s of %s%s%s", key->workload, key->label, key->variant ? " " : "",
			  key->variant ? key->variant : "");
}

static struct result_key key_of(const struct result_summary *summary)
{
	return (struct result_key){summary->label, summary->workload, summary->variant};
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

static void judge_summary(struct judge *judge, const struct result_summary *summary, double limit,
			  const char *option)
{
	struct excess excess = {
		.over = true,
		.option = option,
		.key = key_of(summary),
		.metric = summary->metric,
		.value = summary->stat.median,
		.allowed = limit,
	};
	struct strbuf text = {};
	char *name;

	if (!(summary->stat.median > limit))
		return;
	name = key_name(&excess.key);
	strbuf_printf(&text, "%s: %s ", name, summary->metric->title);
	add_value(&text, summary->metric, excess.value);
	strbuf_add(&text, ", allowed ");
	add_value(&text, summary->metric, limit);
	judge_add(judge, &excess, "%s (%s)", strbuf_text(&text), option);
	strbuf_free_members(&text);
	free(name);
}

/* limit NaN: there is none. Whoever set one must not take the silence of what has no such figure for a
 * pass. */
static void judge_limit(struct judge *judge, const char *id, double limit, const char *option)
{
	const struct excess unused = {.option = option, .value = NAN, .allowed = NAN};
	bool found = false;

	for (size_t i = 0; i < judge->result->summaries.n && !isnan(limit); i++) {
		const struct result_summary *summary = &judge->result->summaries.items[i];

		if (strcmp(summary->metric->id, id) != 0)
			continue;
		found = true;
		judge_summary(judge, summary, limit, option);
	}
	if (!found && !isnan(limit))
		judge_add(judge, &unused, "%s limits nothing here: there are no figures of that kind",
			  option);
}

static void judge_limits(struct judge *judge)
{
	const struct excess_limits *limits = judge->limits;

	judge_limit(judge, "wakeups_per_s", limits->wakeups_per_s, "--max-wakeups");
	judge_limit(judge, "cpu_ms_per_s", limits->cpu_ms_per_s, "--max-cpu");
	judge_limit(judge, "exec_to_exit_ns", limits->startup_ns, "--max-startup");
}

/* ---- baseline -------------------------------------------------------------------------------- */

/* One side of a comparison. */
struct excess_side {
	const struct result_group *group; /* NULL: it has no such runs */
	bool trusted;
	double window_ns; /* mean */
	uint64_t wakeups;
};

static struct excess_side side_of(const struct result_group *group)
{
	struct excess_side side = {.group = group, .trusted = true};

	for (size_t i = 0; group && i < group->runs.n; i++) {
		const struct run *run = group->runs.items[i];

		side.trusted &= run->trust.ok;
		side.window_ns += (double)run->window_ns / (double)group->runs.n;
		side.wakeups += run->totals.wakeups;
	}
	return side;
}

/* One metric of one key on both sides. ratio: the worse for it, the larger. */
struct versus {
	const struct metric *metric;
	const struct excess_side *before, *now;
	double median_before, median_now;
	struct stat_ratio ratio;
};

static double median_of(const struct result_group *group, const struct metric *metric)
{
	struct result_values values = result_values(group, metric);
	double median = stat_summarise(values.values, values.n).median;

	result_free_values(&values);
	return median;
}

/* False: one of them does not have it. */
static bool versus_init(struct versus *versus, const struct metric *metric,
			const struct excess_side *before, const struct excess_side *now)
{
	bool higher = metric->better == METRIC_HIGHER;

	*versus = (struct versus){
		.metric = metric,
		.before = before,
		.now = now,
		.median_before = median_of(before->group, metric),
		.median_now = median_of(now->group, metric),
		.ratio = result_compare_apart(higher ? now->group : before->group,
					      higher ? before->group : now->group, metric),
	};
	return isfinite(versus->median_before) && isfinite(versus->median_now);
}

/* Something where there was nothing has no ratio. */
static bool versus_is_from_nothing(const struct versus *versus)
{
	bool counts = !strcmp(versus->metric->id, "wakeups") ||
		      !strcmp(versus->metric->id, "wakeups_per_s");

	/* Of what is better higher there is nothing left. */
	if (versus->metric->better == METRIC_HIGHER)
		return versus->median_before > 0;
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

/* What now may be divided by before. */
static double versus_allowed(const struct versus *versus, double tolerance)
{
	return versus->metric->better == METRIC_HIGHER ? 1 / (1 + tolerance) : 1 + tolerance;
}

/* The ratio as people have it: now divided by before. */
static void versus_add_ratio(const struct versus *versus, struct strbuf *text, double tolerance)
{
	bool higher = versus->metric->better == METRIC_HIGHER;
	const struct stat_ratio *ratio = &versus->ratio;
	char number[NUMBER_BYTES], other[NUMBER_BYTES];
	double low = higher ? 1 / ratio->ci_high : ratio->ci_low;
	double high = higher ? 1 / ratio->ci_low : ratio->ci_high;

	if (isfinite(ratio->ratio))
		strbuf_printf(text, ": %s",
			      number_ratio(number, higher ? 1 / ratio->ratio : ratio->ratio));
	if (ratio->has_interval)
		strbuf_printf(text, " (%s–%s)", number_ratio(number, low),
			      number_ratio(other, high));
	strbuf_printf(text, ", allowed %s", number_ratio(number, versus_allowed(versus, tolerance)));
}

static void judge_versus(struct judge *judge, const char *name, const struct versus *versus)
{
	const struct excess_limits *limits = judge->limits;
	struct excess excess = {
		.over = true,
		.option = "--baseline",
		.key = versus->now->group->key,
		.metric = versus->metric,
		.value = versus->median_now,
		.allowed = versus->median_before * versus_allowed(versus, limits->tolerance),
	};
	struct strbuf text = {};

	if (!versus_is_over(versus, limits->tolerance))
		return;
	strbuf_printf(&text, "%s: %s ", name, versus->metric->title);
	add_value(&text, versus->metric, versus->median_now);
	strbuf_printf(&text, ", in %s ", limits->baseline_name);
	add_value(&text, versus->metric, versus->median_before);
	versus_add_ratio(versus, &text, limits->tolerance);
	judge_add(judge, &excess, "%s (%s)", strbuf_text(&text), excess.option);
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
	const char *reason = now->group->not_comparable;
	char was[UNITS_TEXT_BYTES], is[UNITS_TEXT_BYTES];

	if (!before->group)
		return mem_strdup("is not in it");
	reason = reason ? reason : before->group->not_comparable;
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

static void judge_group(struct judge *judge, const struct result_group *group,
			const struct result_groups *baseline)
{
	struct excess_side before = side_of(result_find_group(baseline, &group->key));
	struct excess_side now = side_of(group);
	char *name = key_name(&group->key);
	char *why = sides_differ(group->key.workload, &before, &now);
	struct excess excess = not_compared(&group->key);

	if (why)
		judge_add(judge, &excess, "not compared with %s: %s %s",
			  judge->limits->baseline_name, name, why);
	else
		judge_metrics(judge, name, group->key.workload, &before, &now);
	free(why);
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
	struct excess excess = not_compared(NULL);

	if (tool_same(before->kernel, now->kernel) && tool_same(before->arch, now->arch) &&
	    before->cpus == now->cpus)
		return true;
	judge_add(judge, &excess,
		  "not compared with %s: it is from another machine or kernel (Linux %s, %s, %u CPUs; here "
		  "Linux %s, %s, %u CPUs)",
		  judge->limits->baseline_name, before->kernel ? before->kernel : "?",
		  before->arch ? before->arch : "?", before->cpus, now->kernel ? now->kernel : "?",
		  now->arch ? now->arch : "?", now->cpus);
	return false;
}

static void judge_baseline(struct judge *judge)
{
	struct result_groups now, before;

	if (!judge->limits->baseline || !judge_machines(judge))
		return;
	result_group_runs(&now, judge->result);
	result_group_runs(&before, judge->limits->baseline);
	for (size_t i = 0; i < now.all.n; i++)
		if (now.all.items[i].runs.n)
			judge_group(judge, &now.all.items[i], &before);
	result_free_groups(&now);
	result_free_groups(&before);
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
