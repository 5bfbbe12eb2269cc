/* Processes for tests of the stackbook: the test's own program, executed again, does one of a few things and
 * says where in its code it is. */
#ifndef WAKEWHY_TESTS_BOOK_SUBJECT_H
#define WAKEWHY_TESTS_BOOK_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Somewhere in a process, at a time. */
struct book_spot {
	uint32_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t address;
};

struct book_subject {
	pid_t pid;
	int in, out; /* closing `in` ends a subject that waits */
};

/* What a program is to do (its first argument); each writes its spots and ends. */
#define BOOK_HERE   "here"	/* a spot in book_here() */
#define BOOK_WAIT   "here-wait" /* the same, then waits */
#define BOOK_DLOPEN "dlopen"	/* a spot in a library that it loads, BOOK_LIBRARY; waits */
#define BOOK_CHAIN  "chain"	/* a spot, then executes the program that the next argument names */
#define BOOK_FORK   "fork"	/* a child gives a spot and ends; then waits */
#define BOOK_SLEEP  "sleep"	/* a spot, then sleeps in book_inner() of book_middle() of book_outer() */
#define BOOK_JIT    "jit"	/* a spot in code made at run time, see the next argument; waits */
#define BOOK_BOX    "box"	/* the same in a mount and a pid namespace of its own, with another /tmp */
/* Next argument of BOOK_JIT: what its perf map is like. */
#define JIT_PLAIN   "plain"
#define JIT_LINK    "link"
#define JIT_OTHERS  "others" /* owned by another user */
#define JIT_OPEN    "open"   /* writable for all */
#define JIT_HARD    "hard"   /* another name of a file */
#define JIT_STALE   "stale"  /* written before the program began, as its time says */
#define JIT_NONE    "none"

#define BOOK_LIBRARY  "libresolv.so.2"
#define BOOK_FUNCTION "ns_get16"
#define BOOK_JIT_NAME "made at run time"

/* At the beginning of main(): does what the arguments say where it is executed as a subject, and ends. */
void book_subject_main(int argc, char **argv);

/* Executes `program` (the test's own, or a copy) to do that; argument may be NULL. */
void book_subject_start(struct book_subject *ret_subject, const char *program, const char *what,
			const char *argument);
/* The next spot; the test fails where none comes. */
struct book_spot book_subject_spot(const struct book_subject *subject);
/* Lets it go on to its end and waits for it. */
void book_subject_end(struct book_subject *subject);

/* The test's own program. The caller frees. */
char *book_program(void);
/* A copy of it in `folder`. The caller frees the name. */
char *book_program_copy(const char *folder, const char *name);

#endif
