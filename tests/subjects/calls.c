/* calls N: a fixed set of system calls by two threads and two children, whatever the machine: for
 * the comparison with other tracers.
 *
 * Known answer: "getppid" N + 100 in all, and what strace counts. */
#include "truth.h"

#include <sys/wait.h>

static void *calls_thread(void *number)
{
	uint64_t n = (uintptr_t)number;
	char text[64];

	for (uint64_t i = 0; i < n / 10; i++) {
		int fd = open("/proc/self/stat", O_RDONLY);

		if (fd < 0 || read(fd, text, sizeof(text)) < 0)
			truth_die("/proc/self/stat");
		close(fd);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t n = truth_number(argc, argv, 1, 1000);
	pthread_t thread;

	truth_ready(truth);
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getppid);
	thread = truth_start(calls_thread, (void *)(uintptr_t)n);
	pthread_join(thread, NULL);
	for (int child = 0; child < 2; child++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int i = 0; i < 50; i++)
				syscall(SYS_getppid);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			truth_die("fork");
	}
	truth_say(truth, "getppid", (long long)(n + 100));
	truth_thread(truth, "main", n);
	truth_write(truth);
	return 0;
}
