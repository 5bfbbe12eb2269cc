/* renamed NAME COUNT: a thread that renames itself COUNT times by prctl, to "old 1", "old 2" … and
 * last to NAME (any bytes, \xNN stands for one); the main thread renames itself to "boss" last.
 *
 * Known answer: the last names, and a report that NAME cannot break. */
#include "truth.h"

#include <sys/prctl.h>

static struct truth *truth;
static uint64_t count;
static char name[16];

static void *renamed_body(void *unused)
{
	char old[16];

	for (uint64_t i = 1; i < count; i++) {
		snprintf(old, sizeof(old), "old %u", (unsigned int)i);
		prctl(PR_SET_NAME, old);
		truth_sleep_ns(100000);
	}
	prctl(PR_SET_NAME, name);
	truth_sleep_ns(100000);
	truth_thread(truth, "renamed", count);
	return unused;
}

static void renamed_unescape(const char *text)
{
	size_t n = 0;
	unsigned int byte;

	while (*text && n < sizeof(name) - 1) {
		if (text[0] == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
			name[n++] = (char)byte;
			text += 4;
		} else {
			name[n++] = *text++;
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	truth = truth_new(&argc, argv);
	renamed_unescape(argc > 1 ? argv[1] : "\\x1b[31m<b>,=\"");
	count = truth_number(argc, argv, 2, 3);
	truth_ready(truth);
	prctl(PR_SET_NAME, "nobody");
	thread = truth_start(renamed_body, NULL);
	pthread_join(thread, NULL);
	prctl(PR_SET_NAME, "boss");
	truth_thread(truth, "main", 0);
	truth_write(truth);
	return 0;
}
