/* Stacks of a capture, built by hand. */
#ifndef WAKEWHY_TESTS_SAMPLE_STACKS_H
#define WAKEWHY_TESTS_SAMPLE_STACKS_H

#include "model/capture.h"

/* All return the place of what they add. Names are copied. */
uint32_t sample_add_module(struct capture *capture, const char *path, const char *build_id);
uint32_t sample_add_kernel_frame(struct capture *capture, const char *name);
uint32_t sample_add_file_frame(struct capture *capture, uint32_t module, uint64_t offset,
			       const char *name);
uint32_t sample_add_jit_frame(struct capture *capture, uint64_t address, const char *name);
/* frames: n places, innermost first, of which the first `kernel` are the kernel's. */
uint32_t sample_add_stack(struct capture *capture, uint32_t pid, uint32_t kernel,
			  const uint32_t *frames, size_t n);
#define SAMPLE_STACK(capture, pid, kernel, ...)                                                    \
	sample_add_stack(capture, pid, kernel, (const uint32_t[]){__VA_ARGS__},                    \
			 sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void sample_add_wake_stack(struct capture *capture, uint32_t cause, uint32_t sleeper,
			   uint32_t waker, uint64_t wakeups);
void sample_add_sample(struct capture *capture, uint32_t serial, uint32_t stack, uint64_t count);

/* A recording of a server that has everything that stacks can have: kernel, files (with and without names,
 * with and without build ids), made at run time, two ways into one sleep, a waker, a truncated stack,
 * samples, stacks that were lost, and names that nobody must print as they are. */
void sample_stacks_recording(struct recording *ret_recording);

#endif
