/* whyspin HOW MILLISECONDS: repeats a wait that never waits, for so long:
 *	epoll		epoll_wait with timeout 0
 *	condition	pthread_cond_timedwait with a deadline that is always past
 *	child		waitpid with WNOHANG on a child that sleeps
 *
 * Known answer: no wakeups, all of the time on the CPU, one call repeated ("calls" in the truth).
*/
#include "truth.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

static int epoll_fd;
static pid_t child;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void spin_epoll(void)
{
	struct epoll_event event;

	epoll_wait(epoll_fd, &event, 1, 0);
}

static void spin_condition(void)
{
	struct timespec past = {1, 0};

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &past);
	pthread_mutex_unlock(&mutex);
}

static void spin_child(void)
{
	waitpid(child, NULL, WNOHANG);
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	const char *how = argc > 1 ? argv[1] : "epoll";
	uint64_t end_ns, calls = 0, ms = truth_number(argc, argv, 2, 500);
	void (*spin)(void) = spin_epoll;

	if (!strcmp(how, "condition"))
		spin = spin_condition;
	if (!strcmp(how, "child")) {
		spin = spin_child;
		child = fork();
		if (child == 0) {
			truth_sleep_ns(60000000000);
			_exit(0);
		}
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	truth_ready(truth);
	end_ns = truth_clock_ns(CLOCK_MONOTONIC) + ms * 1000000;
	for (; truth_clock_ns(CLOCK_MONOTONIC) < end_ns; calls++)
		spin();
	truth_say(truth, "calls", (long long)calls);
	truth_thread(truth, "spinner", calls);
	truth_write(truth);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}
