/* The command line: options with their values, and the names of runtimes. A line for each argument. */
#include "cmd/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "runtime/runtimes.h"
#include "tests/fuzz/fuzz.h"

#define ARGUMENTS_MAX 64

static const struct command_usage usage = {
	.name = "fuzz",
	.operands = "RUNTIME...",
	.summary = "Takes every option",
	.accepts = (OPTION_BIT(OPTION_MAX) - 1) & ~OPTION_BIT(OPTION_HELP),
	.max_operands = SIZE_MAX,
};

static void check_ranges(const struct options *options)
{
	FUZZ_CHECK(options->duration_ns <= 7 * 86400 * 1000000000ULL);
	FUZZ_CHECK(options->runs <= 100000 && options->warmup <= 100000 && options->retries <= 100);
	FUZZ_CHECK(options->until >= 0 && options->until <= 0.5);
	FUZZ_CHECK(options->tolerance >= 0 && options->tolerance <= 10);
	FUZZ_CHECK(isfinite(options->max_wakeups) && options->max_wakeups >= 0);
	FUZZ_CHECK(isfinite(options->max_cpu) && options->max_cpu >= 0);
	for (size_t i = 0; i < options->pids.n; i++) {
		FUZZ_CHECK(options->pids.items[i] > 0);
		for (size_t j = 0; j < i; j++)
			FUZZ_CHECK(options->pids.items[i] != options->pids.items[j]);
	}
	FUZZ_CHECK(!options_given(options, OPTION_CPUS) || *options->cpus);
	FUZZ_CHECK(!options_given(options, OPTION_LOAD_CPUS) || *options->load_cpus);
	FUZZ_CHECK(!options_given(options, OPTION_FORMAT) || options->format);
}

static void check_runtime(int err, struct runtime *runtime, const struct diag *diag)
{
	if (err) {
		FUZZ_CHECK(*diag->what);
		return;
	}
	FUZZ_CHECK(*runtime->label && (runtime->family || runtime->command));
	runtime_free_members(runtime);
}

static void parse_runtimes(const struct options *options)
{
	for (size_t i = 0; i < options->n_operands; i++) {
		struct runtime runtime = {};
		struct diag diag = {};

		check_runtime(runtime_parse(&runtime, options->operands[i], &diag), &runtime, &diag);
	}
	for (size_t i = 0; i < options->commands.n; i++) {
		struct runtime runtime = {};
		struct diag diag = {};

		check_runtime(runtime_parse_command(&runtime, options->commands.items[i], &diag),
			      &runtime, &diag);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n), *argv[ARGUMENTS_MAX + 2] = {"fuzz"};
	struct options options;
	int argc = 1, status = -1;

	fuzz_be_quiet();
	for (char *line = text; line && argc <= ARGUMENTS_MAX; argc++) {
		argv[argc] = line;
		line = strchr(line, '\n');
		if (line)
			*line++ = '\0';
	}
	if (options_parse(&options, &usage, argc, argv, &status)) {
		check_ranges(&options);
		parse_runtimes(&options);
	} else {
		FUZZ_CHECK(status == EXIT_USAGE || status == EXIT_DONE);
	}
	options_free_members(&options);
	free(text);
	return 0;
}
