/* The signals that end a measurement, as something to poll. */
#include "cmd/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signal_numbers[] = {SIGINT, SIGTERM, SIGHUP};
#define N_SIGNALS (sizeof(signal_numbers) / sizeof(signal_numbers[0]))

/* What a handler can reach is static; there is no other way to it. */
static struct {
	int pipe[2];
	pid_t owner; /* a forked child that has not reset its handlers yet must not speak for us */
	volatile int count;
	bool taken_over[N_SIGNALS];
} state = {.pipe = {-1, -1}};

static void on_signal(int signo, siginfo_t *info, void *context)
{
	/* What the kernel sent (SI_KERNEL: the terminal) has a positive code. */
	struct signal_seen seen = {.signo = signo, .sent = info->si_code <= 0};
	int saved = errno;

	(void)context;
	if (getpid() == state.owner) {
		state.count++;
		/* A full pipe holds more signals than anybody will take. */
		if (write(state.pipe[1], &seen, sizeof(seen)) < 0)
			errno = saved;
	}
	errno = saved;
}

int signals_begin(struct diag *diag)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;

	if (pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK))
		return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
	state.owner = getpid();
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&action.sa_mask, signal_numbers[i]);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		if (sigaction(signal_numbers[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue;
		state.taken_over[i] = !sigaction(signal_numbers[i], &action, NULL);
	}
	return 0;
}

int signals_fd(void)
{
	return state.pipe[0];
}

bool signals_take(struct signal_seen *ret_signal)
{
	struct signal_seen seen;

	if (read(state.pipe[0], &seen, sizeof(seen)) != (ssize_t)sizeof(seen))
		return false;
	*ret_signal = seen;
	return true;
}

const volatile int *signals_stop(void)
{
	return &state.count;
}

void signals_end(void)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (state.taken_over[i])
			signal(signal_numbers[i], SIG_DFL);
	memset(state.taken_over, 0, sizeof(state.taken_over));
	if (state.pipe[0] >= 0) {
		close(state.pipe[0]);
		close(state.pipe[1]);
	}
	state.pipe[0] = state.pipe[1] = -1;
}
