/* What the stacks of a run say: for each cause, where its thread slept and where its waker was, with the
 * few frames that matter; what the threads ran when they were sampled; where each thread began. */
#ifndef WAKEWHY_MODEL_STACKS_H
#define WAKEWHY_MODEL_STACKS_H

#include "model/plumbing.h"
#include "model/why.h"

/* A frame in words: owned by struct stacks. */
struct stacks_frame {
	char *text;	/* "uv_cond_wait", "bun+0x5c7bc86" (file, address as objdump has it),
			 * "bun@0x581bc86" (place in the file, where the address is not known),
			 * "[jit] 0x7f…"; bytes from outside: see base/text.h */
	char *file;	/* base name of its file, "kernel", "jit" */
	bool plumbing;	/* of the kernel, glibc, a thread library, a language's runtime glue: folded unless all
			 * frames are asked for */
	bool start;	/* plumbing that leads to a thread's first function, or into the kernel: names no call */
};

/* Where wakes of one row of why.causes slept and who woke them, most wakes first. */
struct stacks_wake {
	size_t cause; /* place in why->causes */
	uint32_t sleeper, waker; /* places in the capture's stacks; STACK_NONE */
	uint64_t wakeups, sleep_ns;
};

struct stacks_sample {
	const struct run_thread *thread;
	uint32_t stack;
	uint64_t count;
};

struct stacks {
	bool known; /* false: no stacks were taken, and all else is empty */
	uint64_t wakeups, wakeups_with; /* of all causes; of these, with the sleeper's stack */
	uint64_t samples; /* of all rows */
	uint64_t lost;	  /* stacks that found no room: their wakes and samples are without */
	uint64_t uncopied; /* taken by frame pointers, for want of room for a copy */
	VEC(struct stacks_frame) frames; /* same index as capture.frames */
	VEC(struct stacks_wake) wakes;	 /* by cause, then wakeups falling */
	VEC(struct stacks_sample) rows;	 /* by thread as in run, then count falling */
	/* Where each thread began: its outermost frame that is neither glibc's nor the program's start, in more
	 * than half of its wakes (of its samples, where no wake has a stack to its end); same index as
	 * run->threads; "" where not known. The same for all runs of one build. */
	VEC(char *) begins;
};

/* Points into why, run and capture. Any capture is accepted. */
void stacks_init(struct stacks *ret_stacks, const struct why *why, const struct run *run);
void stacks_free_members(struct stacks *stacks);
/* Fills ret_frames (places in capture.frames, innermost first) with those that matter, at most max: not plumbing, or
 * where there is nothing else the outermost of the plumbing that names the call (pthread_cond_timedwait).
 * Returns how many: 0 only for stacks without frames, and for STACK_NONE. */
size_t stacks_matter(const struct stacks *stacks, const struct capture *capture, uint32_t stack,
		     uint32_t *ret_frames, size_t max);
/* Place in capture.frames of the plumbing that the innermost frame that matters has called: of libc
 * pthread_cond_timedwait, or where nothing of libc has a name, of the kernel __x64_sys_futex. STACK_NONE:
 * it called none, or that is what stacks_matter() shows already. */
uint32_t stacks_call(const struct stacks *stacks, const struct capture *capture, uint32_t stack);
/* How a frame of these two is called in a line: its text, for the kernel's entry of a system call without what the
 * architecture puts before its name (__x64_sys_epoll_pwait2: epoll_pwait2). */
const char *stacks_short_text(const struct stacks *stacks, const struct capture *capture, uint32_t frame);

#endif
