/* Questions to a kernel's type information (BTF): what it has of what the probes need, and in which shape.
 * Types, fields and arguments are asked for, never versions. */
#ifndef WAKEWHY_COLLECT_SHAPES_H
#define WAKEWHY_COLLECT_SHAPES_H

#include <stdint.h>

#include "base/diag.h"

struct btf;
struct kernel_feature;
struct wk_config;

/* Looks up the type of each hook: bit i is set when kernel_hooks[i] has none. */
uint64_t shapes_missing_hooks(const struct btf *btf);

/* The first thing that no probe can do without and this kernel lacks; NULL: all is there. Never freed. */
const struct kernel_feature *shapes_missing_feature(const struct btf *btf);

/* Adapts cfg to the arguments that this kernel's tracepoints have. -ENOTSUP with diag, which names in one
 * sentence what is missing or of no use; cfg is then as it was. */
int shapes_config(struct wk_config *cfg, const struct btf *btf, struct diag *diag);

#endif
