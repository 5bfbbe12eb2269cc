/* The kernel side, one object: the parts share their maps and are inlined into each other. */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/abi.h"
#include "bpf/config.h"
#include "bpf/maps.bpf.h"
#define ACCOUNT_RARE __noinline int
#include "bpf/account.h"
#include "bpf/compat.bpf.h"
#include "bpf/view.bpf.h"

#include "bpf/context.bpf.c"
#include "bpf/sleep.bpf.c"
#include "bpf/stack.bpf.c"
#include "bpf/cause.bpf.c"
#include "bpf/life.bpf.c"
#include "bpf/sched.bpf.c"
#include "bpf/seed.bpf.c"
#include "bpf/syscall.bpf.c"

char LICENSE[] SEC("license") = "GPL";
