/* mortals COUNT FOLDER: COUNT threads, one after the other, each of which sleeps for 50 µs, starts the next one,
 * and ends.
 *
 * Known answer: each but the first was started because of the sleep of the one before, and the main thread was woken
 * because of that of the last one. FOLDER/tids has their ids, in order. */
#include "truth.h"

#include <semaphore.h>

static struct mortals {
	uint64_t count;
	pid_t *tids;
	sem_t done;
} mortals;

static void *mortal(void *number)
{
	struct timespec nap = {0, 50000};
	uint64_t i = (uintptr_t)number;

	mortals.tids[i] = gettid();
	pthread_detach(pthread_self());
	nanosleep(&nap, NULL);
	if (i + 1 < mortals.count)
		truth_start(mortal, (void *)(uintptr_t)(i + 1));
	else
		sem_post(&mortals.done);
	return NULL;
}

static void tids_write(const char *folder)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/tids", folder);
	out = fopen(path, "we");
	for (uint64_t i = 0; out && i < mortals.count; i++)
		fprintf(out, "%d\n", (int)mortals.tids[i]);
	if (!out || fclose(out))
		truth_die(path);
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);

	mortals.count = truth_number(argc, argv, 1, 1000);
	mortals.tids = calloc(mortals.count, sizeof(*mortals.tids));
	if (!mortals.count || !mortals.tids || sem_init(&mortals.done, 0, 0))
		truth_die("mortals");
	truth_ready(truth);
	truth_start(mortal, NULL);
	while (sem_wait(&mortals.done))
		;
	truth_say(truth, "mortals", (long long)mortals.count);
	tids_write(argc > 2 ? argv[2] : ".");
	truth_write(truth);
	return 0;
}
