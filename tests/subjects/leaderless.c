/* leaderless SLEEPS STATUS: the main thread ends first (pthread_exit); another one sleeps SLEEPS
 * times 1 ms, makes 1,000 getppid calls and ends the process with STATUS.
 *
 * Known answer: SLEEPS wakeups of the thread "survivor", exit status STATUS; the leader is a zombie
 * meanwhile and nothing of it is lost. */
#include "truth.h"

#include <sys/prctl.h>

static struct truth *truth;
static uint64_t sleeps;
static int status;

/* A zombie leader is what this subject is about: begin only when it is one. */
static void leaderless_await_zombie(void)
{
	char text[256], *end;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		truth_die("/proc/self/stat");
	do {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		end = strrchr(text, ')');
	} while (!end || end[2] != 'Z');
	close(fd);
}

static void *survivor(void *unused)
{
	prctl(PR_SET_NAME, "survivor");
	leaderless_await_zombie();
	for (uint64_t i = 0; i < sleeps; i++)
		truth_sleep_ns(1000000);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	truth_thread(truth, "survivor", sleeps);
	truth_write(truth);
	exit(status);
	return unused;
}

int main(int argc, char **argv)
{
	truth = truth_new(&argc, argv);
	sleeps = truth_number(argc, argv, 1, 100);
	status = (int)truth_number(argc, argv, 2, 23);
	truth_ready(truth);
	truth_start(survivor, NULL);
	pthread_exit(NULL);
}
