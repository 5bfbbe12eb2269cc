/* wakewhy list: what can be measured, why threads wake, how figures are called, which formats there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "model/cause.h"
#include "model/metric.h"
#include "report/report.h"
#include "runtime/runtimes.h"

static void list_columns(struct table *table, const char *const *titles)
{
	for (; *titles; titles++)
		table_add_column(table, *titles, true);
}

/* "bun, bunx": the words of a NULL-terminated list. */
static void list_add_words(struct row *row, const char *const *words)
{
	struct strbuf text = {0};

	for (size_t i = 0; words && words[i]; i++)
		strbuf_printf(&text, "%s%s", i ? ", " : "", words[i]);
	row_add_text(row, strbuf_text(&text));
	strbuf_free_members(&text);
}

static void list_runtimes(struct report *report)
{
	static const char *const titles[] = {"family", "found as", "workloads", "hash variants",
					     NULL};
	struct table *table = report_add_table(report, NULL);

	list_columns(table, titles);
	for (const struct family *family = families; family->name; family++) {
		struct row *row = table_add_row(table);
		const char *can[WORKLOAD_MAX + 1];
		size_t n = 0;

		for (int i = 0; i < WORKLOAD_MAX; i++) {
			if (family->builtin || family->scripts[i].text)
				can[n++] = workload_name((enum workload)i);
		}
		can[n] = NULL;
		row_add_text(row, family->name);
		if (family->builtin)
			row_add_text(row, "built in");
		else
			list_add_words(row, family->bases);
		list_add_words(row, can);
		list_add_words(row, family->variants);
	}
	report_add_note(report, NOTE_TEXT,
			"A RUNTIME is NAME (found on PATH), PATH, LABEL=NAME, LABEL=PATH or "
			"LABEL=FAMILY:PATH; 'wakewhy doctor' says which are here.");
}

static void list_workloads(struct report *report)
{
	struct table *table = report_add_table(report, NULL);

	table_add_column(table, "", true);
	table_add_column(table, "", true);
	for (int i = 0; i < WORKLOAD_MAX; i++) {
		struct row *row = table_add_row(table);

		row_add_text(row, workload_name((enum workload)i));
		row_add_text(row, workload_meaning((enum workload)i));
	}
}

static void list_causes(struct report *report)
{
	static const char *const titles[] = {"cause", "reads like", "found from", NULL};
	struct table *table = report_add_table(report, NULL);

	list_columns(table, titles);
	for (const struct cause_rule *rule = cause_rules; rule->id; rule++) {
		struct row *row = table_add_row(table);

		row_add_text(row, rule->id);
		row_add_text(row, rule->example);
		row_add_text(row, rule->evidence);
	}
	report_add_note(report, NOTE_TEXT,
			"The first row that fits is the cause. start and before are no wakeups: they "
			"hold what a thread ran before its first sleep.");
}

static void list_metrics(struct report *report)
{
	static const char *const titles[] = {"metric", "unit", "workloads", "meaning", NULL};
	static const char *const counters[] = {"counter of a thread", "unit", "meaning", NULL};
	struct table *table = report_add_table(report, NULL);

	list_columns(table, titles);
	for (const struct metric *metric = metrics; metric->id; metric++) {
		struct row *row = table_add_row(table);

		row_add_text(row, metric->id);
		row_add_text(row, metric->unit);
		row_add_text(row, metric->workloads);
		row_add_text(row, metric->meaning);
	}
	table = report_add_table(report, NULL);
	list_columns(table, counters);
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		struct row *row = table_add_row(table);

		row_add_text(row, field->id);
		row_add_text(row, field->unit);
		row_add_text(row, field->meaning);
	}
}

static void list_formats(struct report *report)
{
	static const char *const titles[] = {"format", "-o extension", "meaning", NULL};
	struct table *table = report_add_table(report, NULL);

	list_columns(table, titles);
	for (const struct format *format = formats; format->name; format++) {
		struct row *row = table_add_row(table);
		struct strbuf extension = {0};

		strbuf_printf(&extension, ".%s", format->extension);
		row_add_text(row, format->name);
		row_add_text(row, strbuf_text(&extension));
		row_add_text(row, format->meaning);
		strbuf_free_members(&extension);
	}
}

static const struct list {
	const char *name;
	void (*build)(struct report *report);
} lists[] = {
	{"runtimes", list_runtimes},
	{"workloads", list_workloads},
	{"causes", list_causes},
	{"metrics", list_metrics},
	{"formats", list_formats},
};
#define LISTS (sizeof(lists) / sizeof(*lists))

static const struct command_usage list_usage = {
	.name = "list",
	.operands = "runtimes|workloads|causes|metrics|formats",
	.summary = "Say what can be measured, which causes, figures and formats there are",
	.min_operands = 1,
	.max_operands = 1,
};

static int list_unknown(const char *word)
{
	const char *names[LISTS + 1] = {NULL};
	const char *near;

	for (size_t i = 0; i < LISTS; i++)
		names[i] = lists[i].name;
	near = nearest_of(word, names);
	if (near)
		return options_usage_error(&list_usage, "there is no list '%s', did you mean '%s'?",
					   word, near);
	return options_usage_error(&list_usage, "there is no list '%s'; lists are %s", word,
				   list_usage.operands);
}

/* Through memory, so that the one place that writes to standard output also says what went wrong.
 */
static int list_print(const struct list *list)
{
	struct render_style style = output_style(fileno(stdout));
	struct report report = {0};
	struct diag diag = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	style.width = 0; /* the terminal may wrap a long meaning; cutting it would lose the point */
	list->build(&report);
	if (!out || render_report_text(out, &report, &style, &diag) || fclose(out)) {
		log_error("out of memory");
		exit(EXIT_FAILED);
	}
	report_free_members(&report);
	fwrite(text, 1, bytes, stdout);
	free(text);
	return output_finish(stdout, "standard output");
}

int cmd_list(int argc, char **argv)
{
	struct options options;
	int status;

	if (options_parse(&options, &list_usage, argc, argv, &status)) {
		const struct list *found = NULL;

		for (size_t i = 0; i < LISTS; i++) {
			if (!strcmp(lists[i].name, options.operands[0]))
				found = &lists[i];
		}
		status = found ? list_print(found) : list_unknown(options.operands[0]);
	}
	options_free_members(&options);
	return status;
}
