/* Which capabilities this process holds, and until when. No library for it: two system calls do. */
#include "cmd/privileges.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each capability and what needs it; those that are not here are never needed once the first probes are
 * loaded. */
static const struct {
	int capability;
	unsigned uses;
} needs[] = {
	/* Maps are read by the bpf call, and kernels before 5.19 ask for this each time. */
	{CAP_BPF, PRIVILEGES_PROBES | PRIVILEGES_LOAD},
	/* Probes that were taken off for a while are put back. */
	{CAP_PERFMON, PRIVILEGES_PROBES | PRIVILEGES_LOAD},
	/* Timing the probes is turned on with it, and the list of modules read. */
	{CAP_SYS_ADMIN, PRIVILEGES_LOAD},
	{CAP_SYS_PTRACE, PRIVILEGES_PROCESSES},	      /* maps, root, environ, smaps of /proc/PID */
	{CAP_CHECKPOINT_RESTORE, PRIVILEGES_PROCESSES}, /* map_files: also files that were removed */
	{CAP_DAC_READ_SEARCH, PRIVILEGES_PROCESSES},    /* programs in directories that are closed */
	{CAP_SYSLOG, PRIVILEGES_PROCESSES},	      /* addresses in /proc/kallsyms */
	{CAP_SETUID, PRIVILEGES_LAUNCH},
	{CAP_SETGID, PRIVILEGES_LAUNCH},
	{CAP_KILL, PRIVILEGES_LAUNCH},
	{CAP_CHOWN, PRIVILEGES_LAUNCH}, /* a directory in the workload's own; what a study keeps */
	{CAP_DAC_OVERRIDE, PRIVILEGES_LAUNCH | PRIVILEGES_FILES},
	{CAP_FOWNER, PRIVILEGES_FILES}, /* replaces a file in a sticky directory */
};

#define N_NEEDS (sizeof(needs) / sizeof(*needs))

static uint64_t bit(int capability)
{
	return 1ULL << capability;
}

/* What kernels know, in two halves. */
struct sets {
	struct __user_cap_data_struct half[2];
};

static long get(struct sets *ret_sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, ret_sets->half);
}

static void set(const struct sets *sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	/* Taking away is always allowed. */
	syscall(SYS_capset, &header, sets->half);
}

void privileges_begin(void)
{
	struct sets sets = {};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (get(&sets))
		return;
	for (size_t i = 0; i < 2; i++)
		sets.half[i].inheritable = 0;
	set(&sets);
}

static uint64_t needed(unsigned uses, uint64_t permitted)
{
	uint64_t keep = 0;

	for (size_t i = 0; i < N_NEEDS; i++)
		if (needs[i].uses & uses)
			keep |= bit(needs[i].capability);
	/* The old one that stands for both, where they were not given. */
	if (uses & PRIVILEGES_PROBES && ~permitted & (bit(CAP_BPF) | bit(CAP_PERFMON)))
		keep |= bit(CAP_SYS_ADMIN);
	return keep;
}

void privileges_keep(unsigned uses)
{
	/* An exec as root gives all of them, and one that gives more than were permitted clears the signal by
	 * which a program that we started ends with us (PR_SET_PDEATHSIG; the kernel's commit_creds()). */
	bool starts_as_root = uses & PRIVILEGES_LAUNCH && !geteuid();
	struct sets sets = {};
	uint64_t keep;

	if (get(&sets))
		return;
	keep = needed(uses, (uint64_t)sets.half[1].permitted << 32 | sets.half[0].permitted);
	for (size_t i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(keep >> 32 * i);

		if (!starts_as_root)
			sets.half[i].permitted &= half;
		sets.half[i].effective &= half;
		sets.half[i].inheritable = 0;
	}
	set(&sets);
}
