/* Frames that are there in every program: what lies between a program's own code and the kernel, and
 * between a thread's start and the program's own code. */
#ifndef WAKEWHY_MODEL_PLUMBING_H
#define WAKEWHY_MODEL_PLUMBING_H

#include "model/capture.h"

enum plumbing {
	PLUMBING_NONE,	/* the program's own, or a library's that it has chosen */
	PLUMBING_CALL,	/* the kernel's, or what leads there: libc's and a language's own library */
	PLUMBING_START, /* what leads from the start of a process or thread to its first own function */
};

/* file: base name of the frame's file; "" for frames that are in none. Looks at a frame's name once,
 * from its beginning to its end. */
enum plumbing plumbing_of(const struct capture_frame *frame, const char *file);

#endif
