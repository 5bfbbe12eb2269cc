/* doctor: can this machine measure, and what is missing or noisy? */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/doctor_machine.h"
#include "cmd/findings.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/privileges.h"
#include "collect/collect.h"
#include "collect/kernel.h"
#include "runtime/runtimes.h"

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
	const struct kernel_feature *feature;
	uint64_t missing;
	size_t n = 0, found = 0;
	int err = kernel_missing(&missing, &feature);

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
			findings_problem(f, kernel_hooks[i].needed, KERNEL_HOOK_HINT,
					 "the kernel has no tracepoint %s (%s)",
					 kernel_hooks[i].tracepoint, kernel_hooks[i].use);
	if (feature)
		findings_problem(f, true, KERNEL_FEATURE_HINT,
				 "this kernel lacks %s, which came with %s", feature->name,
				 feature->since);
}

static void check_capabilities(struct findings *f)
{
	uint64_t held = kernel_capabilities();
	const char *who = geteuid() ? "not root" : "root";

	if (kernel_capabilities_suffice(held)) {
		findings_fact(f, "capabilities", "%s%s", who, geteuid() ? ", with what probes need" : "");
		return;
	}
	findings_fact(f, "capabilities", "%s, without CAP_BPF and CAP_PERFMON", who);
	findings_problem(f, true,
			 geteuid() ? "run wakewhy as root, by sudo"
				   : "give the container CAP_BPF and CAP_PERFMON "
				     "(docker run --cap-add BPF --cap-add PERFMON)",
			 "measuring is not permitted to this user");
}

/* Of no use to those who may not measure: they get no stacks. */
static void check_names(struct findings *f)
{
	if (!kernel_capabilities_suffice(kernel_capabilities()))
		return;
	if (kernel_shows_addresses()) {
		findings_fact(f, "kernel's names", "shown");
		return;
	}
	findings_fact(f, "kernel's names", "hidden");
	findings_problem(f, false,
			 "run wakewhy as root, or give it CAP_SYSLOG too",
			 "/proc/kallsyms hides the kernel's addresses: stacks have no kernel part");
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
	check_names(f);
	check_lockdown(f);
	check_bpf(f);
	check_memlock(f);
	/* Whatever stands in the way already has its own line: no need for a second, vaguer one. */
	if (!findings_block(f))
		check_probes(f);
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
		/* What follows starts programs of others to ask for their versions. */
		privileges_keep(PRIVILEGES_LAUNCH);
		doctor_machine(&findings);
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
