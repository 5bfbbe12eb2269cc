/* What this machine is and how busy it is: facts that /proc and /sys show to anyone. */
#ifndef WAKEWHY_COLLECT_MACHINE_H
#define WAKEWHY_COLLECT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpulist.h"
#include "base/diag.h"

/* CPU time of the whole machine since boot, all CPUs added, in ns. The kernel shows it in ticks
 * (10 ms nearly everywhere): good for shares of a machine over a second or more, never for the time
 * of a thread. Guest time is part of busy, waiting for a disk part of idle. */
struct machine_cpu_times {
	uint64_t busy_ns;  /* user, nice, system */
	uint64_t irq_ns;   /* hard and soft interrupts, where the kernel accounts them apart */
	uint64_t steal_ns; /* the hypervisor ran somebody else */
	uint64_t idle_ns;
};

/* The lines of /proc/stat about CPUs, and more. Owned by the caller; NULL with errno set. */
char *machine_read_stat(void);
/* Reads /proc/stat. -EIO or another -errno with diag when it cannot be read or understood. */
int machine_cpu_times(struct machine_cpu_times *ret_times, struct diag *diag);
/* The same from the text of a /proc/stat; ticks_per_s as sysconf(_SC_CLK_TCK) gives it. */
int machine_parse_stat(const char *text, long ticks_per_s, struct machine_cpu_times *ret_times);
/* Of some of its CPUs: the lines "cpuN" of these, added up. -ENOENT where there is none of them. */
int machine_parse_stat_of(const char *text, long ticks_per_s, const struct cpulist *cpus,
			  struct machine_cpu_times *ret_times);
/* later - earlier, never below 0 (idle and steal have been seen to run backwards). */
struct machine_cpu_times machine_cpu_times_between(const struct machine_cpu_times *earlier,
						   const struct machine_cpu_times *later);

/* CPU time that a process has used, threads that have ended and children that it has waited for
 * included, in ns of ticks. A process that has ended and was not waited for yet still has one. */
int machine_process_ns(pid_t pid, uint64_t *ret_ns);
/* The same from the text of a /proc/PID/stat. */
int machine_parse_process_stat(const char *text, long ticks_per_s, uint64_t *ret_ns);

/* CPUs that are online / that this process may run on / that a thread of another may. -EIO … with
 * diag. */
int machine_online_cpus(struct cpulist *ret_cpus, struct diag *diag);
int machine_allowed_cpus(struct cpulist *ret_cpus, struct diag *diag);
int machine_thread_cpus(pid_t tid, struct cpulist *ret_cpus, struct diag *diag);

/* The frequency governor of these CPUs: its name, the names joined by ", " where they differ, ""
 * where the machine shows none (most virtual ones). Owned by the caller, never NULL. */
char *machine_governor(const struct cpulist *cpus);

/* May clocks rise above their nominal rate? 1 yes, -1 no, 0 not known. sys: "/sys", or a folder of the
 * same shape in tests. */
int machine_turbo(const char *sys);

/* Reads a list of CPUs from a file of /sys. -errno or -EIO with diag. */
int machine_read_cpus(const char *path, struct cpulist *ret_cpus, struct diag *diag);

/* The one-minute load average; -EIO … with diag. */
int machine_load(double *ret_load, struct diag *diag);

/* Path of this process's cgroup in the unified hierarchy ("/user.slice/…"), "" where there is none.
 * Owned by the caller, never NULL. */
char *machine_cgroup(void);

/* Reads a whole small file (at most max_bytes, NUL added, text beyond is left out). Owned by the
 * caller; NULL with errno set when it cannot be read. */
char *machine_read_file(const char *path, size_t max_bytes);

#endif
