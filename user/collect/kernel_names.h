/* Names of the kernel's frames, and which of them are the probe's own. */
#ifndef WAKEWHY_COLLECT_KERNEL_NAMES_H
#define WAKEWHY_COLLECT_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A frame of what took the stack: the BPF program, its wrappers, the tracepoint's call. */
bool kernel_names_is_probe(const char *name);
/* How many of the first frames belong to whatever took the stack: up to the last such frame before the
 * first that is not. The names are innermost first, "" where not known. */
size_t kernel_names_probe_frames(const char *const *names, size_t n);

#endif
