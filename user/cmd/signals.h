/* The signals that end a measurement, as something to poll. */
#ifndef WAKEWHY_CMD_SIGNALS_H
#define WAKEWHY_CMD_SIGNALS_H

#include <stdbool.h>

#include "base/diag.h"

/* A signal as it came. */
struct signal_seen {
	int signo;
	bool sent; /* by a process with kill(); false: by the terminal, which told the command too */
};

/* From here on SIGINT, SIGTERM and SIGHUP are noted instead of ending us; those that are ignored
 * (nohup, a background job) stay ignored. To be called once. */
int signals_begin(struct diag *diag);
/* Readable while a signal waits to be taken. */
int signals_fd(void);
/* Takes the next one; false when there is none. */
bool signals_take(struct signal_seen *ret_signal);
/* How many came, for functions that wait on their own account. */
const volatile int *signals_stop(void);
/* The measurement is over: the next signal ends us, so that a stuck reader of our output cannot
 * hold us. */
void signals_end(void);

#endif
