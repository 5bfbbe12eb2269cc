/* whyinput: reads its standard input, whatever that is, until the end of file or an empty datagram.
 *
 * Known answer: a wakeup for each message that somebody else sends while it sleeps; the truth says
 * how many came ("messages"). */
#include "truth.h"

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	long long messages = 0;
	char buffer[64];

	truth_ready(truth);
	while (read(0, buffer, sizeof(buffer)) > 0)
		messages++;
	truth_say(truth, "messages", messages);
	truth_thread(truth, "reader", (uint64_t)messages);
	truth_write(truth);
	return 0;
}
