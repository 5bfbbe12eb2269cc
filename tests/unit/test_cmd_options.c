/* Options: what is accepted, what is refused and in which words, and that help lists the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/options.h"

#define MS_NS 1000000ULL

static const struct option_default defaults[] = {{OPTION_RUNS, "60"}, {0, NULL}};

static const struct command_usage everything = {
	.name = "measure",
	.operands = "THING...",
	.summary = "Measure things",
	.details = "More about things.\n",
	.accepts = OPTION_BIT(OPTION_MAX) - 1,
	.defaults = defaults,
	.max_operands = SIZE_MAX,
};

static const struct command_usage nothing = {
	.name = "look",
	.operands = "",
	.summary = "Look",
	.accepts = OPTION_BIT(OPTION_PARALLEL) | OPTION_BIT(OPTION_PID),
};

static const struct command_usage runner = {
	.name = "run",
	.operands = "-- CMD [ARG...]",
	.summary = "Run",
	.accepts = OPTION_BIT(OPTION_DURATION),
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.stop_at_operand = true,
};

/* A parse with what it printed. */
struct outcome {
	struct options options;
	bool goes_on;
	int status;
	char said[16384]; /* on standard output and standard error */
};

static void parse_args(struct outcome *o, const struct command_usage *usage, char **argv)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), said = memfd_create("said", 0);
	int argc = 0;
	ssize_t n;

	while (argv[argc])
		argc++;
	fflush(stdout);
	dup2(said, STDOUT_FILENO);
	dup2(said, STDERR_FILENO);
	o->status = -1;
	o->goes_on = options_parse(&o->options, usage, argc, argv, &o->status);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	n = pread(said, o->said, sizeof(o->said) - 1, 0);
	o->said[n > 0 ? n : 0] = '\0';
	close(said);
}

#define parse(o, usage, ...) parse_args(o, usage, (char *[]){(char *)"command", __VA_ARGS__, NULL})

static void expect_refused(const struct command_usage *usage, char **argv, const char *words)
{
	struct outcome o;

	parse_args(&o, usage, argv);
	assert_false(o.goes_on);
	assert_int_equal(o.status, EXIT_USAGE);
	assert_string_equal(o.said, words);
	options_free_members(&o.options);
}

#define refused(usage, words, ...)                                                                 \
	expect_refused(usage, (char *[]){(char *)"command", __VA_ARGS__, NULL},                    \
		       "wakewhy: " words "\n")
#define MEASURE_TRY " (try 'wakewhy measure --help')"
#define LOOK_TRY " (try 'wakewhy look --help')"

static void values_arrive(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &everything, "-p", "12,7,12", "-n", "no*", "-c", "a/b", "-a", "--kernel", "--no-follow",
	      "-d", "500ms", "-r", "9", "-w", "0", "--ops", "5M", "--variant", "sync", "--cmd",
	      "x=true", "--parallel", "--cpus", "0,2-3", "-u", "me", "--no-syscalls",
	      "--max-threads", "64", "-o", "a.json", "-o", "-", "-f", "json", "-q", "-v", "one", "two");
	assert_string_equal(o.said, "");
	assert_true(o.goes_on);
	assert_int_equal(o.options.pids.n, 2);
	assert_int_equal(o.options.pids.items[0], 12);
	assert_int_equal(o.options.pids.items[1], 7);
	assert_string_equal(o.options.name_glob, "no*");
	assert_string_equal(o.options.cgroup, "a/b");
	assert_true(o.options.all && o.options.kernel && o.options.no_follow && o.options.parallel);
	assert_true(o.options.no_syscalls && o.options.quiet && o.options.verbose);
	assert_int_equal(o.options.duration_ns, 500 * MS_NS);
	assert_int_equal(o.options.runs, 9);
	assert_int_equal(o.options.warmup, 0);
	assert_true(options_given(&o.options, OPTION_WARMUP));
	assert_int_equal(o.options.ops, 5000000);
	assert_string_equal(o.options.variants, "sync");
	assert_string_equal(o.options.commands.items[0], "x=true");
	assert_string_equal(o.options.cpus, "0,2-3");
	assert_string_equal(o.options.user, "me");
	assert_int_equal(o.options.max_threads, 64);
	assert_int_equal(o.options.outputs.n, 2);
	assert_string_equal(o.options.format->name, "json");
	assert_int_equal(o.options.n_operands, 2);
	assert_string_equal(o.options.operands[1], "two");
	assert_null(o.options.operands[2]);
	options_free_members(&o.options);
}

static void nothing_is_given_by_itself(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &everything, "x");
	assert_true(o.goes_on);
	assert_int_equal(o.options.given, 0);
	assert_int_equal(o.options.duration_ns, 0);
	assert_null(o.options.format);
	options_free_members(&o.options);
}

static void stacks_may_be_named_or_not(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &everything, "-s", "bun");
	assert_int_equal(o.options.stacks, WK_STACKS_KERNEL | WK_STACKS_COPY);
	assert_int_equal(o.options.n_operands, 1);
	options_free_members(&o.options);
	parse(&o, &everything, "-sk,u", "--sample", "--stack-limit", "0", "x");
	assert_int_equal(o.options.stacks, WK_STACKS_KERNEL | WK_STACKS_USER);
	assert_int_equal(o.options.sample_hz, 999);
	assert_true(options_given(&o.options, OPTION_STACK_LIMIT) && !o.options.stack_limit);
	options_free_members(&o.options);
	parse(&o, &everything, "--stacks=no", "--sample=97", "--all-frames", "x");
	assert_true(options_given(&o.options, OPTION_STACKS) && !o.options.stacks);
	assert_int_equal(o.options.sample_hz, 97);
	assert_true(o.options.all_frames);
	options_free_members(&o.options);
#define STACKS_TRY                                                                                 \
	" is no list of stacks; k (kernel), u (user, by frame pointers), dwarf (user, copied and " \
	"unwound), as in k,u; or no" MEASURE_TRY
	refused(&everything, "measure: --stacks: 'k,no'" STACKS_TRY, "-sk,no");
	refused(&everything, "measure: --stacks: 'k,'" STACKS_TRY, "--stacks=k,");
	refused(&everything, "measure: --stacks: ''" STACKS_TRY, "--stacks=");
	refused(&everything, "measure: --sample: 0 is out of range, from 1 to 10000 is possible" MEASURE_TRY,
		"--sample=0");
}

static void long_names_may_be_short(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &everything, "--dur=2m", "--para", "x", "--ru", "3");
	assert_true(o.goes_on);
	assert_int_equal(o.options.duration_ns, 120000 * MS_NS);
	assert_true(o.options.parallel);
	assert_int_equal(o.options.runs, 3);
	assert_int_equal(o.options.n_operands, 1);
	options_free_members(&o.options);
}

static void a_command_keeps_its_own_options(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &runner, "-d", "1", "ls", "-d", "--help");
	assert_true(o.goes_on);
	assert_int_equal(o.options.n_operands, 3);
	assert_string_equal(o.options.operands[1], "-d");
	options_free_members(&o.options);
	parse(&o, &runner, "--", "-odd", "-d");
	assert_true(o.goes_on);
	assert_string_equal(o.options.operands[0], "-odd");
	options_free_members(&o.options);
	refused(&runner, "run: -- CMD [ARG...] is missing (try 'wakewhy run --help')", "-d", "1");
	/* Parsing begins anew each time, also with another order of options. */
	parse(&o, &everything, "x", "-q");
	assert_true(o.options.quiet);
	options_free_members(&o.options);
}

static void unknown_options_name_the_nearest(void **state)
{
	(void)state;
	refused(&everything, "measure: unknown option '--ruins', did you mean '--runs'?" MEASURE_TRY,
		"--ruins=4");
	refused(&everything, "measure: unknown option '--zebra'" MEASURE_TRY, "--zebra");
	refused(&everything, "measure: unknown option '-Z'" MEASURE_TRY, "-qZ");
	refused(&everything, "measure: '--no' may be --no-follow or --no-syscalls or --no-bare" MEASURE_TRY, "--no");
	refused(&nothing, "look: it takes no --runs" LOOK_TRY, "--runs", "3");
	refused(&nothing, "look: it takes no -r, --runs" LOOK_TRY, "-r3");
	refused(&nothing, "look: it takes options only, 'x' is none" LOOK_TRY, "x");
	refused(&everything, "measure: unknown option '--\\x1b[2J'" MEASURE_TRY, "--\033[2J");
}

static void values_are_checked(void **state)
{
	(void)state;
	refused(&everything, "measure: --duration needs its TIME" MEASURE_TRY, "-d");
	refused(&everything, "measure: --parallel takes no value" MEASURE_TRY, "--parallel=1");
	refused(&everything, "measure: --runs: '3x' is not a whole number" MEASURE_TRY, "-r", "3x");
	refused(&everything, "measure: --runs: 0 is out of range, from 1 to 100000 is possible" MEASURE_TRY,
		"-r", "0");
	refused(&everything, "measure: --runs: 18446744073709551617 is out of range, from 1 to 100000 is "
		"possible" MEASURE_TRY, "-r", "18446744073709551617");
	refused(&everything, "measure: --runs: '-1' is not a whole number" MEASURE_TRY, "-r", "-1");
	refused(&everything, "measure: --duration: 0 is out of range, from 1ms to 7d is possible" MEASURE_TRY,
		"-d", "0");
	refused(&everything, "measure: --duration: 8d is out of range, from 1ms to 7d is possible" MEASURE_TRY,
		"-d8d");
	refused(&everything, "measure: --pid: '' is not a whole number; process ids, with commas between "
		"them" MEASURE_TRY, "-p", "1,,2");
	refused(&everything, "measure: --pid: 0 is out of range, from 1 to 4194304 is possible; process "
		"ids, with commas between them" MEASURE_TRY, "-p0");
	refused(&everything, "measure: --name: it is empty" MEASURE_TRY, "-n", "");
	refused(&everything, "measure: --cmd: 'x' is not of the form LABEL=COMMAND LINE" MEASURE_TRY,
		"--cmd", "x");
	refused(&everything, "measure: --cmd: 'x= ' is not of the form LABEL=COMMAND LINE" MEASURE_TRY,
		"--cmd", "x= ");
	refused(&everything, "measure: --cpus: it is empty; CPU numbers such as 0,2-3" MEASURE_TRY,
		"--cpus=");
}

static void unknown_format_lists_the_formats(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &everything, "-f", "jsn");
	assert_int_equal(o.status, EXIT_USAGE);
	assert_non_null(strstr(o.said, "there is no format 'jsn'; formats are "));
	for (const struct format *format = formats; format->name; format++)
		assert_non_null(strstr(o.said, format->name));
	options_free_members(&o.options);
}

static void help_lists_what_is_accepted(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, &nothing, "--help", "--zebra");
	assert_int_equal(o.status, EXIT_DONE);
	assert_false(o.goes_on);
	assert_string_equal(o.said,
		"usage: wakewhy look [OPTIONS]\n"
		"\n"
		"Look.\n"
		"\n"
		"  -p, --pid LIST           processes with all their threads and later children\n"
		"      --parallel           all at once in one window\n"
		"  -q, --quiet              no progress, no warnings; no report where -o has it\n"
		"  -v, --verbose            say more; all rows of every table\n"
		"  -V, --version            print the version\n"
		"  -h, --help               print this\n");
	parse(&o, &everything, "-h");
	assert_non_null(strstr(o.said, "-r, --runs N             counted repetitions (default 60)\n"));
	assert_non_null(strstr(o.said, "\nMore about things.\n"));
	parse(&o, &everything, "-V");
	assert_int_equal(o.status, EXIT_DONE);
	assert_string_equal(o.said, "wakewhy " WAKEWHY_VERSION "\n");
}

/* Every option of the table is in a full help once: no name or letter is used twice. */
static void no_option_twice(void **state)
{
	struct outcome o;
	char *save, *line, *names[64];
	unsigned letters[256] = {};
	size_t n = 0;

	(void)state;
	parse(&o, &everything, "--help");
	for (line = strtok_r(o.said, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = strstr(line, "--");

		if (strncmp(line, "  ", 2) || name != line + 6)
			continue;
		if (line[2] == '-')
			assert_int_equal(letters[(unsigned char)line[3]]++, 0);
		name[strcspn(name, " ")] = '\0';
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(names[i], name);
		names[n++] = name;
	}
	assert_int_equal(n, OPTION_MAX);
}

static void nearest_word(void **state)
{
	static const char *const words[] = {"run", "attach", "startup", "idle", "hash", "report", NULL};

	(void)state;
	assert_string_equal(nearest_of("repotr", words), "report");
	assert_string_equal(nearest_of("att", words), "attach");
	assert_string_equal(nearest_of("startpu", words), "startup");
	assert_string_equal(nearest_of("idel", words), "idle");
	assert_null(nearest_of("zebra", words));
	assert_null(nearest_of("", words));
	assert_null(nearest_of("x", words));
	assert_null(nearest_of("a very long word that nobody would ever mean to type", words));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_arrive),
		cmocka_unit_test(nothing_is_given_by_itself),
		cmocka_unit_test(stacks_may_be_named_or_not),
		cmocka_unit_test(long_names_may_be_short),
		cmocka_unit_test(a_command_keeps_its_own_options),
		cmocka_unit_test(unknown_options_name_the_nearest),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(unknown_format_lists_the_formats),
		cmocka_unit_test(help_lists_what_is_accepted),
		cmocka_unit_test(no_option_twice),
		cmocka_unit_test(nearest_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
