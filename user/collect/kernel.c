/* What this kernel allows this process. */
#include "collect/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/machine.h"
#include "collect/shapes.h"

const struct kernel_hook kernel_hooks[] = {
	{"sched_switch", "on-CPU time and switches", true},
	{"sched_waking", "wake-ups", true},
	{"sched_wakeup_new", "starts of threads", true},
	{"sched_process_fork", "following children", true},
	{"sched_process_exec", "following programs", true},
	{"sched_process_exit", "ends of threads", true},
	{"task_rename", "names of threads", true},
	{"sys_enter", "system calls", true},
	{"hrtimer_expire_entry", "wakes by timers", true},
	{"hrtimer_expire_exit", "wakes by timers", true},
	{"timer_expire_entry", "wakes by timers", true},
	{"timer_expire_exit", "wakes by timers", true},
	{"softirq_entry", "wakes by interrupts", true},
	{"softirq_exit", "wakes by interrupts", true},
	{"irq_handler_entry", "wakes by interrupts", true},
	{"irq_handler_exit", "wakes by interrupts", true},
	{"cgroup_attach_task", "processes that enter a cgroup", false},
	{NULL, NULL, false},
};

uint64_t kernel_capabilities(void)
{
	char *text = machine_read_file("/proc/self/status", 65536);
	char *line = text ? strstr(text, "\nCapEff:") : NULL;
	unsigned long long capabilities = 0;

	if (line && sscanf(line, "\nCapEff: %llx", &capabilities) != 1)
		capabilities = 0;
	free(text);
	return capabilities;
}

bool kernel_holds(uint64_t capabilities, int capability)
{
	return capabilities >> capability & 1;
}

bool kernel_capabilities_suffice(uint64_t capabilities)
{
	return kernel_holds(capabilities, CAP_SYS_ADMIN) ||
	       (kernel_holds(capabilities, CAP_BPF) && kernel_holds(capabilities, CAP_PERFMON));
}

enum kernel_lockdown kernel_parse_lockdown(const char *text)
{
	if (strstr(text, "[none]"))
		return KERNEL_LOCKDOWN_NONE;
	if (strstr(text, "[integrity]"))
		return KERNEL_LOCKDOWN_INTEGRITY;
	if (strstr(text, "[confidentiality]"))
		return KERNEL_LOCKDOWN_CONFIDENTIALITY;
	return KERNEL_LOCKDOWN_UNKNOWN;
}

enum kernel_lockdown kernel_lockdown(void)
{
	char *text = machine_read_file("/sys/kernel/security/lockdown", 256);
	enum kernel_lockdown lockdown =
		text ? kernel_parse_lockdown(text) : KERNEL_LOCKDOWN_UNKNOWN;

	free(text);
	return lockdown;
}

const char *kernel_lockdown_name(enum kernel_lockdown lockdown)
{
	switch (lockdown) {
	case KERNEL_LOCKDOWN_NONE:
		return "none";
	case KERNEL_LOCKDOWN_INTEGRITY:
		return "integrity";
	case KERNEL_LOCKDOWN_CONFIDENTIALITY:
		return "confidentiality";
	case KERNEL_LOCKDOWN_UNKNOWN:
		break;
	}
	return "not shown";
}

int kernel_try_bpf(void)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	fd = (int)syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Where they are hidden every line begins with zeros; where not, those of each CPU's own data at most. */
bool kernel_shows_addresses(void)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char line[1024];

	for (int i = 0; in && !address && i < 1000 && fgets(line, sizeof(line), in); i++)
		address = strtoull(line, NULL, 16);
	if (in)
		fclose(in);
	return address != 0;
}

int kernel_sysctl(const char *name)
{
	char path[128], *text, *end;
	long value;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	text = machine_read_file(path, 64);
	if (!text)
		return -1;
	value = strtol(text, &end, 10);
	if (end == text || value < 0 || value > 1000000)
		value = -1;
	free(text);
	return (int)value;
}

int64_t kernel_btf_bytes(void)
{
	struct stat st;

	if (stat(KERNEL_BTF_PATH, &st))
		return -errno;
	return access(KERNEL_BTF_PATH, R_OK) ? -errno : st.st_size;
}

int kernel_missing(uint64_t *ret_hooks, const struct kernel_feature **ret_feature)
{
	/* What libbpf would print about broken type information, the caller says in a line. */
	libbpf_print_fn_t printer = libbpf_set_print(NULL);
	struct btf *btf = btf__parse(KERNEL_BTF_PATH, NULL);
	int err = btf ? 0 : -errno;

	libbpf_set_print(printer);
	if (err)
		return err;
	*ret_hooks = shapes_missing_hooks(btf);
	*ret_feature = shapes_missing_feature(btf);
	btf__free(btf);
	return 0;
}
