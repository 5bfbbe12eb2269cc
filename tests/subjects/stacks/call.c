/* NAME COUNT MICROSECONDS: main → chain_call → chain(), COUNT times; chain() is another file's and sleeps
 * for MICROSECONDS in functions of its own. */
#include "call.h"

#include "../truth.h"
#include "known.h"

void chain_call(uint64_t ns);

KNOWN void chain_call(uint64_t ns)
{
	chain(ns);
	KNOWN_END();
}

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t count = truth_number(argc, argv, 1, 10);
	uint64_t ns = truth_number(argc, argv, 2, 10000) * 1000;

	truth_ready(truth);
	for (uint64_t i = 0; i < count; i++)
		chain_call(ns);
	truth_thread(truth, "main", count);
	truth_write(truth);
	return 0;
}
