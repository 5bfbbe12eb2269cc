/* server MODE CHILDREN CALLS: starts CHILDREN processes one after the other, by MODE vfork,
 * posix_spawn, clone3 (CLONE_VFORK) or fork; each executes this program as "server child CALLS",
 * makes CALLS getppid calls and ends with status 5.
 *
 * Known answer: CHILDREN processes whose parent is the server, each with an image and exactly CALLS
 * getppid calls in it; the parent makes none. */
#include "truth.h"

#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static pid_t server_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid;
}

static pid_t server_posix_spawn(char **argv)
{
	pid_t pid;

	errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ);
	return errno ? -1 : pid;
}

/* Without CLONE_VM: a raw clone3 that shares the caller's stack frame cannot return twice in C. */
static pid_t server_clone3(char **argv)
{
	struct clone_args args = {.flags = CLONE_VFORK, .exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid;
}

static pid_t server_fork(char **argv)
{
	pid_t pid = fork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid;
}

static const struct mode {
	const char *name;
	pid_t (*start)(char **argv);
} modes[] = {
	{"vfork", server_vfork},
	{"posix_spawn", server_posix_spawn},
	{"clone3", server_clone3},
	{"fork", server_fork},
	{NULL, NULL},
};

static int server_child(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getppid);
	return 5;
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	const struct mode *mode = modes;
	uint64_t children = truth_number(argc, argv, 2, 20);
	char *child_argv[] = {"server", "child", argc > 3 ? argv[3] : "1000", NULL};

	if (argc > 1 && !strcmp(argv[1], "child"))
		return server_child(truth_number(argc, argv, 2, 1000));
	while (mode->name && strcmp(mode->name, argc > 1 ? argv[1] : "vfork"))
		mode++;
	if (!mode->name)
		return 2;
	truth_ready(truth);
	for (uint64_t i = 0; i < children; i++) {
		pid_t pid = mode->start(child_argv);
		int status;

		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			truth_die(mode->name);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
			abort();
	}
	truth_say(truth, "children", (long long)children);
	truth_thread(truth, "server", children);
	truth_write(truth);
	return 0;
}
