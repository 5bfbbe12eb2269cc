/* reuse CHILDREN CALLS: CHILDREN processes one after the other that all get the same pid (clone3
 * with set_tid: needs CAP_CHECKPOINT_RESTORE); the k-th makes k × CALLS getppid calls.
 *
 * Known answer: CHILDREN threads with one tid, told apart by their start time, with 1, 2, 3 … times
 * CALLS getppid calls. */
#include "truth.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

/* The same pid each time; 0 lets the kernel choose the first, whose number is then free again. */
static pid_t reuse_fork(pid_t wanted)
{
	struct clone_args args = {.exit_signal = SIGCHLD};

	if (wanted) {
		args.set_tid = (uint64_t)(uintptr_t)&wanted;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t children = truth_number(argc, argv, 1, 5);
	uint64_t calls = truth_number(argc, argv, 2, 1000);
	pid_t wanted = 0;

	truth_ready(truth);
	for (uint64_t k = 1; k <= children; k++) {
		pid_t pid = reuse_fork(wanted);

		if (pid == 0) {
			for (uint64_t i = 0; i < k * calls; i++)
				syscall(SYS_getppid);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			truth_die("clone3 with set_tid");
		wanted = pid;
	}
	truth_say(truth, "reused_pid", wanted);
	truth_thread(truth, "parent", children);
	truth_write(truth);
	return 0;
}
