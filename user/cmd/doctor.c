/* doctor: can this machine measure, and what is missing or noisy? */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/findings.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "collect/collect.h"
#include "collect/kernel.h"
#include "collect/machine.h"
#include "collect/topology.h"
#include "runtime/runtimes.h"

/* Long enough for ticks of 10 ms to say something, short enough to wait for. */
#define LOOK_MS 500
/* Beyond these, idle figures are known to grow (claims.md's traps): others' share of all CPUs. */
#define BUSY_SHARE  0.05
#define STEAL_SHARE 0.01

static const struct command_usage usage = {
	.name = "doctor",
	.operands = "",
	.summary = "Can this machine measure, and what is missing or noisy?",
	.details = "Exit status 0 when it can measure (noise is a warning), 4 when it cannot.\n",
	.max_operands = 0,
};

/* ---- the kernel --------------------------------------------------------------------------------
 */

static void check_btf(struct findings *f)
{
	int64_t bytes = kernel_btf_bytes();
	char size[UNITS_TEXT_BYTES];

	if (bytes >= 0) {
		findings_fact(f, "type information", "/sys/kernel/btf/vmlinux, %s",
			      units_format_bytes(size, (double)bytes));
		return;
	}
	findings_fact(f, "type information", "none");
	if (access("/sys/kernel", F_OK))
		findings_problem(f, true, "mount -t sysfs sysfs /sys", "/sys is not mounted");
	else if (bytes == -ENOENT)
		findings_problem(f, true,
				 "run a kernel built with CONFIG_DEBUG_INFO_BTF=y "
				 "(Debian's own are: apt-get install linux-image-amd64)",
				 "this kernel carries no type information (BTF)");
	else
		findings_problem(f, true, "chmod a+r /sys/kernel/btf/vmlinux",
				 "/sys/kernel/btf/vmlinux cannot be read: %s",
				 strerror((int)-bytes));
}

static void check_hooks(struct findings *f)
{
	uint64_t missing;
	size_t n = 0, found = 0;
	int err = kernel_missing_hooks(&missing);

	if (err == -ENOENT)
		return; /* said already: no type information */
	if (err) {
		findings_fact(f, "hooks", "not known");
		findings_problem(f, true, "run a kernel whose BTF bpftool can dump",
				 "the kernel's type information cannot be read: %s",
				 strerror(-err));
		return;
	}
	for (; kernel_hooks[n].tracepoint; n++)
		found += !(missing >> n & 1);
	findings_fact(f, "hooks", "%zu of %zu tracepoints", found, n);
	for (size_t i = 0; i < n; i++)
		if (missing >> i & 1)
			findings_problem(f, kernel_hooks[i].needed,
					 "run a kernel of 5.11 or later with CONFIG_TRACEPOINTS=y",
					 "the kernel has no tracepoint %s (%s)",
					 kernel_hooks[i].tracepoint, kernel_hooks[i].use);
}

static void check_capabilities(struct findings *f)
{
	uint64_t held = kernel_capabilities();
	const char *who = geteuid() ? "not root" : "root";

	if (kernel_capabilities_suffice(held)) {
		findings_fact(f, "capabilities", "%s", who);
		return;
	}
	findings_fact(f, "capabilities", "%s, without CAP_BPF and CAP_PERFMON", who);
	findings_problem(f, true,
			 geteuid() ? "run wakewhy as root, by sudo"
				   : "give the container CAP_BPF and CAP_PERFMON "
				     "(docker run --cap-add BPF --cap-add PERFMON)",
			 "measuring is not permitted to this user");
}

static void check_lockdown(struct findings *f)
{
	enum kernel_lockdown lockdown = kernel_lockdown();

	findings_fact(f, "lockdown", "%s", kernel_lockdown_name(lockdown));
	if (lockdown == KERNEL_LOCKDOWN_CONFIDENTIALITY)
		findings_problem(f, true, "boot with lockdown=integrity, or without Secure Boot",
				 "kernel lockdown forbids probes to read kernel memory");
}

static void check_bpf(struct findings *f)
{
	int err = kernel_try_bpf();

	/* Without the capabilities it must be refused: that has its line already. */
	if (err == -EPERM && !kernel_capabilities_suffice(kernel_capabilities())) {
		findings_tell(f, "bpf system call", "refused");
		return;
	}
	findings_fact(f, "bpf system call", "%s", err ? strerror(-err) : "permitted");
	if (err == -ENOSYS)
		findings_problem(f, true, "run a kernel built with CONFIG_BPF_SYSCALL=y",
				 "this kernel has no bpf system call");
	else if (err)
		findings_problem(f, true,
				 "in a container: docker run --privileged, or a seccomp profile "
				 "that allows bpf",
				 "the bpf system call is refused in spite of the capabilities: %s",
				 strerror(-err));
}

/* Never a failure: since 5.11 maps count against the memory cgroup, not this limit. */
static void check_memlock(struct findings *f)
{
	struct rlimit limit;
	char size[UNITS_TEXT_BYTES];

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		findings_tell(f, "memlock limit", "none");
	else
		findings_tell(f, "memlock limit", "%s, not needed since 5.11",
			      units_format_bytes(size, (double)limit.rlim_cur));
}

/* The proof: the probes themselves, loaded and attached. */
static void check_probes(struct findings *f)
{
	struct collect_options options = {.max_threads = 64, .syscalls = true, .follow = true};
	struct collector *collector;
	struct diag diag = {0};

	if (collector_open(&collector, &options, &diag)) {
		findings_fact(f, "probes", "could not be attached");
		findings_problem(f, true, diag.hint, "%s", diag.what);
		return;
	}
	collector_free(collector);
	findings_fact(f, "probes", "load and attach");
}

static void check_kernel(struct findings *f)
{
	struct utsname name;

	findings_section(f, "this kernel");
	if (!uname(&name))
		findings_tell(f, "release", "%s %s, %s", name.sysname, name.release, name.machine);
	check_btf(f);
	check_hooks(f);
	check_capabilities(f);
	check_lockdown(f);
	check_bpf(f);
	check_memlock(f);
	/* Whatever stands in the way already has its own line: no need for a second, vaguer one. */
	if (!findings_block(f))
		check_probes(f);
}

/* ---- the machine -------------------------------------------------------------------------------
 */

static void check_siblings(struct findings *f, const struct cpulist *allowed)
{
	struct topology topology = {0};
	uint32_t shared;

	/* What cannot be read is not known: none are shown then. */
	topology_read(&topology, "/sys", "/proc", NULL);
	shared = topology_siblings(&topology, allowed);
	topology_free_members(&topology);
	if (!shared) {
		findings_fact(f, "sibling hyper-threads", "none shown");
		return;
	}
	findings_fact(f, "sibling hyper-threads", "%u of %zu CPUs share a core", shared,
		      cpulist_count(allowed));
	findings_problem(f, false,
			 "pin with --cpus to CPUs of different cores, see lscpu -e=CPU,CORE",
			 "CPUs that share a core slow each other");
}

static void check_governor(struct findings *f, const struct cpulist *online)
{
	char *governor = machine_governor(online);

	findings_fact(f, "frequency governor", "%s", *governor ? governor : "none shown");
	if (*governor && strcmp(governor, "performance"))
		findings_problem(f, false, "cpupower frequency-set -g performance",
				 "the frequency governor is %s: clocks change while it measures",
				 governor);
	free(governor);
}

static void check_cpus(struct findings *f)
{
	struct cpulist online, allowed;
	struct diag diag = {0};
	char *list;

	if (machine_online_cpus(&online, &diag) || machine_allowed_cpus(&allowed, &diag)) {
		findings_fact(f, "CPUs", "not known");
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	list = cpulist_format(&allowed);
	findings_fact(f, "CPUs", "%zu online, allowed on %s", cpulist_count(&online), list);
	free(list);
	check_siblings(f, &allowed);
	check_governor(f, &online);
}

static void add_shares(struct findings *f, const struct machine_cpu_times *d)
{
	double all = (double)(d->busy_ns + d->irq_ns + d->steal_ns + d->idle_ns);
	double busy, steal;

	if (all <= 0)
		return;
	busy = (double)(d->busy_ns + d->irq_ns) / all;
	steal = (double)d->steal_ns / all;
	findings_fact(f, "busy now", "%.1f %% of all CPUs over %d ms", busy * 100, LOOK_MS);
	if (busy > BUSY_SHARE)
		findings_problem(
			f, false, "wakewhy attach -a -d 5 shows who it is",
			"other programs use %.0f %% of the CPUs: idle figures come out too high",
			busy * 100);
	findings_fact(f, "stolen now", "%.1f %%", steal * 100);
	if (steal > STEAL_SHARE)
		findings_problem(f, false, "repeat with more runs (-r 30), or on another host",
				 "the hypervisor takes %.0f %% of the CPU time away", steal * 100);
}

static void check_load(struct findings *f)
{
	struct machine_cpu_times before, after, d;
	struct diag diag = {0};
	double load;

	if (!machine_load(&load, NULL))
		findings_tell(f, "load", "%.2f over the last minute", load);
	if (machine_cpu_times(&before, &diag)) {
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	poll(NULL, 0, LOOK_MS);
	if (machine_cpu_times(&after, &diag))
		return;
	d = machine_cpu_times_between(&before, &after);
	add_shares(f, &d);
}

static void check_machine(struct findings *f)
{
	char *cgroup = machine_cgroup();

	findings_section(f, "this machine");
	check_cpus(f);
	check_load(f);
	findings_tell(f, "cgroup", "%s", *cgroup ? cgroup : "none of version 2");
	free(cgroup);
}

/* ---- the runtimes ------------------------------------------------------------------------------
 */

/* The first of the family's names that is on PATH. */
static bool find_runtime(const struct family *family, struct runtime *ret_runtime)
{
	for (size_t i = 0; family->bases[i]; i++)
		if (!runtime_parse(ret_runtime, family->bases[i], NULL))
			return true;
	return false;
}

static void check_runtime(struct findings *f, struct runtime *runtime)
{
	struct diag diag = {0};
	char size[UNITS_TEXT_BYTES];

	if (runtime_probe(runtime, NULL, &diag)) {
		findings_fact(f, runtime->family->name, "%s, does not run", runtime->path);
		findings_problem(f, false, diag.hint, "%s", diag.what);
		return;
	}
	findings_fact(f, runtime->family->name, "%s, %s, %s", runtime->version, runtime->path,
		      units_format_bytes(size, (double)runtime->size_bytes));
}

static void check_runtimes(struct findings *f)
{
	findings_section(f, "runtimes");
	for (const struct family *family = families; family->name; family++) {
		struct runtime runtime = {0};

		if (family->builtin) {
			findings_tell(f, family->name, "built in");
		} else if (find_runtime(family, &runtime)) {
			check_runtime(f, &runtime);
			runtime_free_members(&runtime);
		} else {
			findings_tell(f, family->name, "not on PATH");
		}
	}
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int print(const struct findings *findings)
{
	struct render_style style = output_style(STDOUT_FILENO);
	struct diag diag = {0};

	if (!render_report_text(stdout, &findings->report, &style, &diag))
		return output_finish(stdout, "standard output");
	log_diag(&diag);
	return EXIT_FAILED;
}

int cmd_doctor(int argc, char **argv)
{
	struct findings findings = {0};
	struct options options;
	int status;

	if (options_parse(&options, &usage, argc, argv, &status)) {
		check_kernel(&findings);
		check_machine(&findings);
		check_runtimes(&findings);
		findings_conclude(&findings);
		status = print(&findings);
		if (!status && findings_block(&findings))
			status = EXIT_NOT_SUPPORTED;
	}
	findings_free_members(&findings);
	options_free_members(&options);
	return status;
}
