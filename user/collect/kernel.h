/* What this kernel allows this process: the questions that decide whether the probes can run. */
#ifndef WAKEWHY_COLLECT_KERNEL_H
#define WAKEWHY_COLLECT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the kernel shows its own type information. */
#define KERNEL_BTF_PATH "/sys/kernel/btf/vmlinux"

/* Effective capabilities of this process, one bit for each CAP_ number; 0 when unknown. */
uint64_t kernel_capabilities(void);
bool kernel_holds(uint64_t capabilities, int capability);
/* True when this process holds what the probes need: CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. */
bool kernel_capabilities_suffice(uint64_t capabilities);

enum kernel_lockdown {
	KERNEL_LOCKDOWN_UNKNOWN, /* not built in, or securityfs is not mounted */
	KERNEL_LOCKDOWN_NONE,
	KERNEL_LOCKDOWN_INTEGRITY,
	KERNEL_LOCKDOWN_CONFIDENTIALITY, /* refuses probes that read kernel memory */
};
enum kernel_lockdown kernel_lockdown(void);
/* The same from the text of the lockdown file: "none [integrity] confidentiality". */
enum kernel_lockdown kernel_parse_lockdown(const char *text);
const char *kernel_lockdown_name(enum kernel_lockdown lockdown);

/* Asks the bpf system call for a map of one entry and gives it back. 0, or -EPERM (not permitted),
 * -ENOSYS (not in this kernel), or what else the kernel said. */
int kernel_try_bpf(void);

/* Whether /proc/kallsyms has addresses for this process: CAP_SYSLOG, or kernel.kptr_restrict 0 with
 * kernel.perf_event_paranoid of 1 or less. Without them no frame of the kernel has a name. */
bool kernel_shows_addresses(void);

/* sysctl kernel.unprivileged_bpf_disabled and kernel.bpf_stats_enabled; -1 when not shown. */
int kernel_sysctl(const char *name);

/* Size of the kernel's own type information in bytes, or -errno (-ENOENT: built without). */
int64_t kernel_btf_bytes(void);

/* What the probes hook into, as the kernel's type information names it. */
struct kernel_hook {
	const char *tracepoint; /* sched_switch */
	const char *use;	/* what it is needed for, for people */
	bool needed;		/* false: wakewhy runs without it, less exactly */
};
extern const struct kernel_hook kernel_hooks[]; /* ended by a row whose tracepoint is NULL */
#define KERNEL_HOOK_HINT "run a kernel of 5.15 or later with CONFIG_TRACEPOINTS=y"

/* What the probes use beside hooks, and not every kernel has. */
struct kernel_feature {
	const char *name;  /* for people */
	const char *since; /* the kernel that brought it: for people, never compared */
};
#define KERNEL_FEATURE_HINT "run a kernel of 5.15 or later"

/* What this kernel lacks, by its type information: bit i of *ret_hooks is set when it does not have
 * kernel_hooks[i]; *ret_feature is NULL when it has all of the rest, and never freed. 0, or -errno when the type
 * information cannot be read. */
int kernel_missing(uint64_t *ret_hooks, const struct kernel_feature **ret_feature);

#endif
