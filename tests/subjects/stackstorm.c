/* stackstorm FOLDER SECONDS: a storm of timers on each CPU, while pairs of processes hand a byte to and fro.
 *
 * For each CPU two processes that wait for a timer of 1 kHz each (timerfd, and setitimer with a signal), and
 * two pairs: one on the CPU, one across CPUs. Each is a program of its own, at addresses of its own, and writes
 * FOLDER/PID: "NS", the monotonic time from which on these are its mappings that can be executed, "BEGIN END" each,
 * all in hexadecimal: before its exec it ran at its parent's addresses. Built with frame pointers. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "truth.h"

static void mappings_write(const char *folder)
{
	unsigned long long begin, end;
	char line[4096], path[4096], rights[5];
	FILE *in = fopen("/proc/self/maps", "re"), *out;

	snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
	out = fopen(path, "we");
	if (!in || !out)
		truth_die(path);
	fprintf(out, "%llx\n", (unsigned long long)truth_clock_ns(CLOCK_MONOTONIC));
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%llx-%llx %4s", &begin, &end, rights) == 3 && rights[2] == 'x')
			fprintf(out, "%llx %llx\n", begin, end);
	fclose(in);
	if (fclose(out))
		truth_die(path);
}

/* All calls by syscall(), which leaves the frame pointer alone. */
static void timerfd_wait(void)
{
	struct itimerspec each = {{0, 1000000}, {0, 1000000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t ticks;

	timerfd_settime(fd, 0, &each, NULL);
	while (syscall(SYS_read, fd, &ticks, sizeof(ticks)) == sizeof(ticks))
		;
}

static void on_alarm(int number)
{
	(void)number;
}

static void itimer_wait(void)
{
	struct itimerval each = {{0, 1000}, {0, 1000}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &each, NULL);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static void hand(int from, int to)
{
	char byte;

	while (syscall(SYS_read, from, &byte, 1) == 1 && syscall(SYS_write, to, &byte, 1) == 1)
		;
}

static int role(char **argv)
{
	truth_pin(atoi(argv[3]));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mappings_write(argv[1]);
	if (!strcmp(argv[2], "timerfd"))
		timerfd_wait();
	else if (!strcmp(argv[2], "itimer"))
		itimer_wait();
	else
		hand(atoi(argv[4]), atoi(argv[5]));
	return 0;
}

static void start(char *self, char *folder, char *what, int cpu, int from, int to)
{
	char numbers[3][16];
	char *argv[] = {self, folder, what, numbers[0], numbers[1], numbers[2], NULL};

	snprintf(numbers[0], 16, "%d", cpu);
	snprintf(numbers[1], 16, "%d", from);
	snprintf(numbers[2], 16, "%d", to);
	switch (fork()) {
	case -1:
		truth_die("fork");
	case 0:
		execv("/proc/self/exe", argv);
		truth_die("execv");
	}
}

static void pair_start(char *self, char *folder, int cpu, int other)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back) || write(there[1], "x", 1) != 1)
		truth_die("pipe");
	start(self, folder, "hand", cpu, there[0], back[1]);
	start(self, folder, "hand", other, back[0], there[1]);
}

int main(int argc, char **argv)
{
	struct truth *truth;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	if (argc == 6 && strncmp(argv[1], "--", 2))
		return role(argv);
	truth = truth_new(&argc, argv);
	truth_ready(truth);
	for (int cpu = 0; cpu < cpus; cpu++) {
		start(argv[0], argv[1], "timerfd", cpu, -1, -1);
		start(argv[0], argv[1], "itimer", cpu, -1, -1);
		pair_start(argv[0], argv[1], cpu, cpu);
		pair_start(argv[0], argv[1], cpu, cpu + 1);
	}
	truth_sleep_ns(truth_number(argc, argv, 2, 5) * 1000000000ULL);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	truth_thread(truth, "storm", 0);
	truth_write(truth);
	return 0;
}
