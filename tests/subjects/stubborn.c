/* stubborn: ignores SIGINT, SIGTERM and SIGHUP and sleeps for ever: only SIGKILL ends it. */
#include "truth.h"

#include <signal.h>

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	truth_ready(truth);
	for (;;)
		pause();
}
