/* The options that all commands share: one table that parses and that help is printed from. */
#include "cmd/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/output.h"

#define MS_NS 1000000ULL
#define DAY_NS (86400 * WK_SECOND_NS)
#define PID_LIMIT (4 * 1024 * 1024) /* the kernel's PID_MAX_LIMIT */

typedef int take_value(struct options *options, const char *text, struct diag *diag);

struct option_row {
	enum option_id id;
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *meaning;
	take_value *take;
	size_t flag; /* without take: offset of the bool in struct options that it sets */
	bool optional; /* take gets NULL where the argument was left out */
};
#define FLAG(member) offsetof(struct options, member)

/* ---- values ------------------------------------------------------------------------------------ */

static int take_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct diag *diag)
{
	uint64_t value = 0;
	size_t n = strspn(text, "0123456789");

	if (!n || text[n])
		return diag_set(diag, -EINVAL, "'%s' is not a whole number", text);
	for (size_t i = 0; i < n; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > max)
			break;
	}
	if (value < min || value > max)
		return diag_set(diag, -ERANGE, "%s is out of range, from %llu to %llu is possible", text,
				(unsigned long long)min, (unsigned long long)max);
	*ret = value;
	return 0;
}

static int take_text(const char *text, const char **ret, struct diag *diag)
{
	if (!*text)
		return diag_set(diag, -EINVAL, "it is empty");
	*ret = text;
	return 0;
}

static void add_pid(struct options *options, pid_t pid)
{
	for (size_t i = 0; i < options->pids.n; i++)
		if (options->pids.items[i] == pid)
			return;
	*vec_push(&options->pids) = pid;
}

static int take_pids(struct options *options, const char *text, struct diag *diag)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		char *item = mem_strndup(text, n);
		uint64_t pid;
		int err = take_number(item, 1, PID_LIMIT, &pid, diag);

		free(item);
		if (err)
			return diag_hint(diag, err, "process ids, with commas between them");
		add_pid(options, (pid_t)pid);
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

static int take_name(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->name_glob, diag);
}

static int take_cgroup(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->cgroup, diag);
}

static int take_duration(struct options *options, const char *text, struct diag *diag)
{
	uint64_t ns;
	int err = units_parse_duration(text, &ns, diag);

	if (err)
		return diag_hint(diag, err, "5, 5s, 500ms or 2m; a bare number is seconds");
	if (ns < MS_NS || ns > 7 * DAY_NS)
		return diag_set(diag, -ERANGE, "%s is out of range, from 1ms to 7d is possible", text);
	options->duration_ns = ns;
	return 0;
}

static int take_runs(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 1, 100000, &number, diag);

	if (!err)
		options->runs = (uint32_t)number;
	return err;
}

static int take_warmup(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 0, 100000, &number, diag);

	if (!err)
		options->warmup = (uint32_t)number;
	return err;
}

static int take_ops(struct options *options, const char *text, struct diag *diag)
{
	uint64_t count;
	int err = units_parse_count(text, &count, diag);

	if (err)
		return diag_hint(diag, err, "a count such as 5000000 or 5M");
	if (count < 1 || count > 1000000000000ULL)
		return diag_set(diag, -ERANGE, "%s is out of range, from 1 to 1000G is possible", text);
	options->ops = count;
	return 0;
}

static int take_variant(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->variants, diag);
}

static int take_cmd(struct options *options, const char *text, struct diag *diag)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1 + strspn(equals + 1, " \t")])
		return diag_set(diag, -EINVAL, "'%s' is not of the form LABEL=COMMAND LINE", text);
	*vec_push(&options->commands) = text;
	return 0;
}

static int take_cpus(struct options *options, const char *text, struct diag *diag)
{
	struct cpulist list;
	int err = cpulist_parse(&list, text, diag);

	if (!err && !cpulist_count(&list))
		err = diag_set(diag, -EINVAL, "it is empty");
	if (err)
		return diag_hint(diag, err, "CPU numbers such as 0,2-3");
	options->cpus = text;
	return 0;
}

static int take_user(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->user, diag);
}

/* What of a stack is taken, by its name on the command line. */
static const struct {
	const char *name;
	uint32_t stacks;
} stack_parts[] = {
	{"k", WK_STACKS_KERNEL},
	{"u", WK_STACKS_USER},
	{"dwarf", WK_STACKS_COPY},
	{"no", 0},
};

static bool stack_part_find(const char *text, size_t n, uint32_t *ret_stacks)
{
	for (size_t i = 0; i < sizeof(stack_parts) / sizeof(stack_parts[0]); i++) {
		if (strlen(stack_parts[i].name) == n && !strncmp(stack_parts[i].name, text, n)) {
			*ret_stacks = stack_parts[i].stacks;
			return true;
		}
	}
	return false;
}

static int take_stacks(struct options *options, const char *text, struct diag *diag)
{
	const char *at;
	uint32_t stacks = 0, part;

	text = text ? text : "k,dwarf";
	for (at = text;;) {
		size_t n = strcspn(at, ",");

		if (!stack_part_find(at, n, &part) || (!part && strcmp(text, "no")))
			return diag_hint(diag, diag_set(diag, -EINVAL, "'%s' is no list of stacks", text),
					 "k (kernel), u (user, by frame pointers), dwarf (user, copied and "
					 "unwound), as in k,u; or no");
		stacks |= part;
		if (!at[n])
			break;
		at += n + 1;
	}
	options->stacks = stacks;
	return 0;
}

static int take_stack_limit(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 0, 1000000, &number, diag);

	if (!err)
		options->stack_limit = (uint32_t)number;
	return err;
}

static int take_sample(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number = 999; /* not 1000: in step with nothing that is timed in milliseconds */
	int err = text ? take_number(text, 1, 10000, &number, diag) : 0;

	if (!err)
		options->sample_hz = (uint32_t)number;
	return err;
}

static int take_max_threads(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 16, 1000000, &number, diag);

	if (!err)
		options->max_threads = (uint32_t)number;
	return err;
}

static int take_backend(struct options *options, const char *text, struct diag *diag)
{
	static const char *const names[] = {
		[BACKEND_AUTO] = "auto", [BACKEND_BPF] = "bpf", [BACKEND_PROC] = "proc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		options->backend = (enum backend_choice)i;
		return 0;
	}
	diag_set(diag, -EINVAL, "there is no backend '%s'", text);
	return diag_hint(diag, -EINVAL, "bpf, proc or auto");
}

static int take_seed(struct options *options, const char *text, struct diag *diag)
{
	return take_number(text, 1, UINT64_MAX / 16, &options->seed, diag);
}

/* "2%", or a bare number that means the same; into a share of 1. */
static int take_percent(const char *text, double min, double max, double *ret, struct diag *diag)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || text[strspn(text, "0123456789.%")] || (*end && strcmp(end, "%")))
		return diag_set(diag, -EINVAL, "'%s' is not a percentage such as 2%%", text);
	if (value < min || value > max)
		return diag_set(diag, -ERANGE, "%s is out of range, from %g%% to %g%% is possible", text,
				min, max);
	*ret = value / 100;
	return 0;
}

static int take_until(struct options *options, const char *text, struct diag *diag)
{
	return take_percent(text, 0.1, 50, &options->until, diag);
}

static int take_tolerance(struct options *options, const char *text, struct diag *diag)
{
	return take_percent(text, 0, 1000, &options->tolerance, diag);
}

static int take_retries(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 0, 100, &number, diag);

	if (!err)
		options->retries = (uint32_t)number;
	return err;
}

static int take_connections(struct options *options, const char *text, struct diag *diag)
{
	uint64_t number;
	int err = take_number(text, 1, 10000, &number, diag);

	if (!err)
		options->connections = (uint32_t)number;
	return err;
}

static int take_load_cpus(struct options *options, const char *text, struct diag *diag)
{
	const char *cpus = options->cpus;
	int err = take_cpus(options, text, diag);

	options->load_cpus = options->cpus;
	options->cpus = cpus;
	return err;
}

static int take_resume(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->resume, diag);
}

static int take_claims(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->claims, diag);
}

static int take_baseline(struct options *options, const char *text, struct diag *diag)
{
	return take_text(text, &options->baseline, diag);
}

/* A budget: a number that is not negative. */
static int take_budget(const char *text, double *ret, struct diag *diag)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || text[strspn(text, "0123456789.")] || value > 1e12)
		return diag_set(diag, -EINVAL, "'%s' is not a number such as 12.5", text);
	*ret = value;
	return 0;
}

static int take_max_wakeups(struct options *options, const char *text, struct diag *diag)
{
	return take_budget(text, &options->max_wakeups, diag);
}

static int take_max_cpu(struct options *options, const char *text, struct diag *diag)
{
	return take_budget(text, &options->max_cpu, diag);
}

static int take_max_startup(struct options *options, const char *text, struct diag *diag)
{
	int err = units_parse_duration(text, &options->max_startup_ns, diag);

	return err ? diag_hint(diag, err, "a time such as 8ms") : 0;
}

static int take_output(struct options *options, const char *text, struct diag *diag)
{
	const char *path = NULL;
	int err = take_text(text, &path, diag);

	if (!err)
		*vec_push(&options->outputs) = path;
	return err;
}

static int take_format(struct options *options, const char *text, struct diag *diag)
{
	struct strbuf names = {};

	options->format = format_find(text);
	if (options->format)
		return 0;
	for (const struct format *format = formats; format->name; format++)
		strbuf_printf(&names, "%s%s", format == formats ? "" : ", ", format->name);
	diag_set(diag, -EINVAL, "there is no format '%s'", text);
	diag_hint(diag, -EINVAL, "formats are %s", strbuf_text(&names));
	strbuf_free_members(&names);
	return -EINVAL;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* In the order of enum option_id, which is also the order of --help. */
static const struct option_row rows[] = {
	{OPTION_PID, 'p', "pid", "LIST", "processes with all their threads and later children", take_pids},
	{OPTION_NAME, 'n', "name", "GLOB", "processes by name, also those that appear later", take_name},
	{OPTION_CGROUP, 'c', "cgroup", "PATH", "processes of a cgroup, also those that appear later",
	 take_cgroup},
	{OPTION_ALL, 'a', "all", NULL, "the whole machine, a row for each process", NULL, FLAG(all)},
	{OPTION_KERNEL, 0, "kernel", NULL, "with --all: kernel threads too", NULL, FLAG(kernel)},
	{OPTION_NO_FOLLOW, 0, "no-follow", NULL, "leave child processes out", NULL, FLAG(no_follow)},
	{OPTION_DURATION, 'd', "duration", "TIME", "length of the window: 5, 5s, 500ms, 2m",
	 take_duration},
	{OPTION_RUNS, 'r', "runs", "N", "counted repetitions", take_runs},
	{OPTION_WARMUP, 'w', "warmup", "N", "uncounted repetitions before them", take_warmup},
	{OPTION_OPS, 0, "ops", "N", "operations (5000000, 5M) instead of a time", take_ops},
	{OPTION_VARIANT, 0, "variant", "LIST", "API styles: sync,oneshot,webcrypto", take_variant},
	{OPTION_CMD, 0, "cmd", "LABEL=COMMAND", "measure this command line too (repeatable)", take_cmd},
	{OPTION_PARALLEL, 0, "parallel", NULL, "all at once in one window", NULL, FLAG(parallel)},
	{OPTION_CPUS, 0, "cpus", "LIST", "pin the workload to these CPUs: 0,2-3", take_cpus},
	{OPTION_USER, 'u', "user", "NAME", "run the workload as this user", take_user},
	{OPTION_NO_SYSCALLS, 0, "no-syscalls", NULL,
	 "do not count system calls (it slows each by some 80 ns)", NULL, FLAG(no_syscalls)},
	{OPTION_STACKS, 's', "stacks", "LIST",
	 "where threads slept and woke others: k,u,dwarf or no (alone: k,dwarf)", take_stacks, 0, true},
	{OPTION_STACK_LIMIT, 0, "stack-limit", "N", "stacks of one thread in a second, 0: no limit (default 200)",
	 take_stack_limit},
	{OPTION_SAMPLE, 0, "sample", "HZ", "which code runs, looked at so often a second (alone: 999)",
	 take_sample, 0, true},
	{OPTION_ALL_FRAMES, 0, "all-frames", NULL, "whole stacks, not only the frames that matter", NULL,
	 FLAG(all_frames)},
	{OPTION_MAX_THREADS, 0, "max-threads", "N", "followed threads alive at once", take_max_threads},
	{OPTION_BACKEND, 0, "backend", "NAME",
	 "bpf: probes; proc: /proc once a second, without privileges; auto: what is permitted", take_backend},
	{OPTION_SEED, 0, "seed", "N", "seed of the order in which runs are made (default: drawn, and told)",
	 take_seed},
	{OPTION_UNTIL, 0, "until", "PERCENT", "go on until each ratio's interval is ± that narrow", take_until},
	{OPTION_RETRIES, 0, "retries", "N", "times that a disturbed window is measured again", take_retries},
	{OPTION_NO_BARE, 0, "no-bare", NULL, "leave out the runs without probes, which tell what probes cost",
	 NULL, FLAG(no_bare)},
	{OPTION_CONNECTIONS, 0, "connections", "N", "connections that the load keeps open", take_connections},
	{OPTION_LOAD_CPUS, 0, "load-cpus", "LIST", "pin the load generator to these CPUs", take_load_cpus},
	{OPTION_FORCE, 0, "force", NULL, "accept CPUs that share a physical core", NULL, FLAG(force)},
	{OPTION_QUICK, 0, "quick", NULL, "short runs: some minutes for four runtimes", NULL, FLAG(quick)},
	{OPTION_FULL, 0, "full", NULL, "as long as the articles: 60 starts, 300 s idle, 5M digests", NULL,
	 FLAG(full)},
	{OPTION_RESUME, 0, "resume", "DIR", "keep each measurement in DIR, and go on from what is there",
	 take_resume},
	{OPTION_CLAIMS, 0, "claims", "FILE", "show the claims of FILE beside what is measured", take_claims},
	{OPTION_MAX_WAKEUPS, 0, "max-wakeups", "RATE", "exit status 3 above so many wakeups a second",
	 take_max_wakeups},
	{OPTION_MAX_CPU, 0, "max-cpu", "MS_PER_S", "exit status 3 above so many ms on CPU a second",
	 take_max_cpu},
	{OPTION_MAX_STARTUP, 0, "max-startup", "TIME", "exit status 3 above this median from exec to exit",
	 take_max_startup},
	{OPTION_BASELINE, 0, "baseline", "FILE", "exit status 3 where it got worse than in FILE (JSON, .wkw)",
	 take_baseline},
	{OPTION_TOLERANCE, 0, "tolerance", "PERCENT", "with --baseline: what may be worse (default 5%)",
	 take_tolerance},
	{OPTION_OUTPUT, 'o', "output", "FILE", "write FILE, its extension picks the format (repeatable)",
	 take_output},
	{OPTION_FORMAT, 'f', "format", "NAME", "format on standard output", take_format},
	{OPTION_QUIET, 'q', "quiet", NULL, "no progress, no warnings; no report where -o has it",
	 NULL, FLAG(quiet)},
	{OPTION_VERBOSE, 'v', "verbose", NULL, "say more; all rows of every table", NULL, FLAG(verbose)},
	{OPTION_VERSION, 'V', "version", NULL, "print the version", NULL},
	{OPTION_HELP, 'h', "help", NULL, "print this", NULL},
};
_Static_assert(sizeof(rows) / sizeof(rows[0]) == OPTION_MAX, "a row for each option");

static bool row_accepted(const struct option_row *row, const struct command_usage *usage)
{
	return (usage->accepts | OPTIONS_ALWAYS) & OPTION_BIT(row->id);
}

/* ---- help -------------------------------------------------------------------------------------- */

static const char *default_of(const struct command_usage *usage, enum option_id id)
{
	for (const struct option_default *d = usage->defaults; d && d->text; d++)
		if (d->id == id)
			return d->text;
	return NULL;
}

static void print_row(const struct option_row *row, const struct command_usage *usage)
{
	const char *text = default_of(usage, row->id);
	char head[64];

	snprintf(head, sizeof(head), "%c%c%c --%s%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		 !row->argument ? "" : row->optional ? "[=" : " ", row->argument ? row->argument : "",
		 row->optional ? "]" : "");
	printf("  %-24s %s", head, row->meaning);
	if (text)
		printf(" (default %s)", text);
	putchar('\n');
}

static void print_help(const struct command_usage *usage)
{
	printf("usage: wakewhy %s [OPTIONS]%s%s\n\n%s.\n\n", usage->name, *usage->operands ? " " : "",
	       usage->operands, usage->summary);
	for (size_t i = 0; i < OPTION_MAX; i++)
		if (row_accepted(&rows[i], usage))
			print_row(&rows[i], usage);
	if (usage->details)
		printf("\n%s", usage->details);
	if (usage->examples)
		printf("\nexamples:\n%s", usage->examples);
}

/* ---- errors ------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 0))) static int usage_error(const struct command_usage *usage,
							     const char *fmt, va_list args)
{
	struct strbuf text = {};

	strbuf_vprintf(&text, fmt, args);
	log_error("%s: %s (try 'wakewhy %s --help')", usage->name, strbuf_text(&text), usage->name);
	strbuf_free_members(&text);
	return EXIT_USAGE;
}

int options_usage_error(const struct command_usage *usage, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	usage_error(usage, fmt, args);
	va_end(args);
	return EXIT_USAGE;
}

static const struct option_row *row_of_letter(int letter)
{
	for (size_t i = 0; i < OPTION_MAX; i++)
		if (letter && rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static const struct option_row *row_of_name(const char *name, size_t n)
{
	for (size_t i = 0; i < OPTION_MAX; i++)
		if (strlen(rows[i].name) == n && !strncmp(rows[i].name, name, n))
			return &rows[i];
	return NULL;
}

static int unknown_letter(const struct command_usage *usage, int letter)
{
	const struct option_row *row = row_of_letter(letter);

	if (row)
		return options_usage_error(usage, "it takes no -%c, --%s", row->letter, row->name);
	return options_usage_error(usage, "unknown option '-%c'", letter);
}

static int ambiguous_name(const struct command_usage *usage, const char *name, size_t n)
{
	struct strbuf names = {};
	int status;

	for (size_t i = 0; i < OPTION_MAX; i++)
		if (row_accepted(&rows[i], usage) && !strncmp(rows[i].name, name, n))
			strbuf_printf(&names, "%s--%s", names.n ? " or " : "", rows[i].name);
	status = options_usage_error(usage, "'--%.*s' may be %s", (int)n, name, strbuf_text(&names));
	strbuf_free_members(&names);
	return status;
}

/* text: "--NAME" or "--NAME=VALUE" as it was given. */
static int unknown_name(const struct command_usage *usage, const char *text)
{
	const char *candidates[OPTION_MAX + 1] = {}, *name = text + 2, *near;
	size_t n = strcspn(name, "="), n_candidates = 0, beginnings = 0;
	char *word;

	if (row_of_name(name, n))
		return options_usage_error(usage, "it takes no --%.*s", (int)n, name);
	for (size_t i = 0; i < OPTION_MAX; i++) {
		if (!row_accepted(&rows[i], usage))
			continue;
		candidates[n_candidates++] = rows[i].name;
		beginnings += n && !strncmp(rows[i].name, name, n);
	}
	if (beginnings > 1)
		return ambiguous_name(usage, name, n);
	word = mem_strndup(name, n);
	near = nearest_of(word, candidates);
	free(word);
	if (near)
		return options_usage_error(usage, "unknown option '--%.*s', did you mean '--%s'?",
					   (int)n, name, near);
	return options_usage_error(usage, "unknown option '--%.*s'", (int)n, name);
}

static int wrong_value(const struct command_usage *usage, const struct option_row *row,
		       const struct diag *diag)
{
	return options_usage_error(usage, "--%s: %s%s%s", row->name, diag->what,
				   *diag->hint ? "; " : "", diag->hint);
}

/* ---- parsing ----------------------------------------------------------------------------------- */

/* getopt_long's own tables, of what the command accepts. A long option returns LONG_BASE + its row:
 * beyond every letter. */
#define LONG_BASE 256

struct getopt_tables {
	struct option names[OPTION_MAX + 1];
	char letters[2 + 3 * OPTION_MAX + 1];
};

static void fill_tables(struct getopt_tables *tables, const struct command_usage *usage)
{
	struct option *name = tables->names;
	char *letter = tables->letters;

	if (usage->stop_at_operand)
		*letter++ = '+';
	*letter++ = ':'; /* a missing value is told from an unknown option */
	for (int i = 0; i < OPTION_MAX; i++) {
		const struct option_row *row = &rows[i];

		if (!row_accepted(row, usage))
			continue;
		*name++ = (struct option){row->name,
					  !row->argument  ? no_argument :
					  row->optional ? optional_argument :
							  required_argument,
					  NULL, LONG_BASE + i};
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (row->argument)
			*letter++ = ':';
		if (row->optional)
			*letter++ = ':';
	}
}

static const struct option_row *row_of_code(int code)
{
	return code >= LONG_BASE ? &rows[code - LONG_BASE] : row_of_letter(code);
}

/* What getopt_long refused. An unknown name leaves optopt 0; a letter or the code of the row
 * stands there otherwise. */
static int refused(const struct command_usage *usage, int code, char **argv)
{
	const struct option_row *row = optopt ? row_of_code(optopt) : NULL;

	if (code == ':' && row)
		return options_usage_error(usage, "--%s needs its %s", row->name, row->argument);
	if (optopt >= LONG_BASE && row)
		return options_usage_error(usage, "--%s takes no value", row->name);
	if (optopt)
		return unknown_letter(usage, optopt);
	return unknown_name(usage, argv[optind - 1]);
}

/* Returns a status to end with, or -1 to go on. */
static int take_row(struct options *options, const struct option_row *row,
		    const struct command_usage *usage)
{
	struct diag diag = {};

	options->given |= OPTION_BIT(row->id);
	if (row->id == OPTION_HELP) {
		print_help(usage);
		return output_finish(stdout, "standard output");
	}
	if (row->id == OPTION_VERSION) {
		printf("wakewhy %s\n", WAKEWHY_VERSION);
		return output_finish(stdout, "standard output");
	}
	if (!row->take)
		*(bool *)((char *)options + row->flag) = true;
	else if (row->take(options, optarg, &diag))
		return wrong_value(usage, row, &diag);
	return -1;
}

static int check_operands(const struct options *options, const struct command_usage *usage)
{
	if (options->n_operands < usage->min_operands)
		return options_usage_error(usage, "%s is missing", usage->operands);
	if (options->n_operands <= usage->max_operands)
		return -1;
	if (!usage->max_operands)
		return options_usage_error(usage, "it takes options only, '%s' is none",
					   options->operands[0]);
	return options_usage_error(usage, "'%s' is one too many",
				   options->operands[usage->max_operands]);
}

static int parse(struct options *options, const struct command_usage *usage, int argc, char **argv)
{
	struct getopt_tables tables = {};
	int code, status;

	fill_tables(&tables, usage);
	opterr = 0;
	optind = 0; /* begin anew, with this string's '+' */
	while ((code = getopt_long(argc, argv, tables.letters, tables.names, NULL)) != -1) {
		if (code == '?' || code == ':')
			return refused(usage, code, argv);
		status = take_row(options, row_of_code(code), usage);
		if (status >= 0)
			return status;
	}
	options->operands = argv + optind;
	options->n_operands = (size_t)(argc - optind);
	return check_operands(options, usage);
}

bool options_parse(struct options *ret_options, const struct command_usage *usage, int argc,
		   char **argv, int *ret_status)
{
	int status;

	*ret_options = (struct options){};
	status = parse(ret_options, usage, argc, argv);
	if (status >= 0) {
		*ret_status = status;
		return false;
	}
	if (ret_options->quiet)
		log_set_level(LOG_LEVEL_QUIET);
	else if (ret_options->verbose)
		log_set_level(LOG_LEVEL_VERBOSE);
	return true;
}

void options_free_members(struct options *options)
{
	free(options->pids.items);
	free(options->commands.items);
	free(options->outputs.items);
	*options = (struct options){};
}
