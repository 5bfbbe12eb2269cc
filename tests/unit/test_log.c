/* Messages: which level lets which through, and that none carries a terminal escape. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* What all kinds of message put on standard error at one level. */
static void capture_log(enum log_level level, char *text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	log_set_level(level);
	log_error("e%d", 1);
	log_warn("w\x1b[2J");
	log_info("i");
	log_debug("d");
	log_diag(&(struct diag){.what = "bad\n", .hint = "fix it"});
	log_set_level(LOG_LEVEL_NORMAL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

static void levels_let_through_what_they_say(void **state)
{
	char text[512];

	(void)state;
	capture_log(LOG_LEVEL_QUIET, text, sizeof(text));
	assert_string_equal(text, "wakewhy: e1\nwakewhy: bad\\x0a\n  fix it\n");
	capture_log(LOG_LEVEL_NORMAL, text, sizeof(text));
	assert_string_equal(text, "wakewhy: e1\nwakewhy: warning: w\\x1b[2J\nwakewhy: i\n"
				  "wakewhy: bad\\x0a\n  fix it\n");
	capture_log(LOG_LEVEL_VERBOSE, text, sizeof(text));
	assert_non_null(strstr(text, "wakewhy: debug: d\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_let_through_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
