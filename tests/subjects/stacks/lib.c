/* A library that a program opens while it runs: library_entry → library_sleep, which is not exported. */
#include "call.h"
#include "known.h"

static void library_sleep(uint64_t ns);
void library_entry(uint64_t ns);

static KNOWN void library_sleep(uint64_t ns)
{
	call_sleep(ns);
	KNOWN_END();
}

KNOWN void library_entry(uint64_t ns)
{
	library_sleep(ns);
	KNOWN_END();
}
