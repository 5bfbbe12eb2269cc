/* Names and numbers of system calls, up to Linux 6.18. */
#include "sym/syscall_names.h"

#include <stddef.h>
#include <string.h>

static const char *const x86_64_names[] = {
#include "sym/syscalls_x86_64.inc"
};

static const char *const arm64_names[] = {
#include "sym/syscalls_arm64.inc"
};

static const struct syscall_arch {
	const char *name;
	const char *const *names; /* by number, NULL where there is none */
	size_t n;
} arches[] = {
	{"x86-64", x86_64_names, sizeof(x86_64_names) / sizeof(x86_64_names[0])},
	{"arm64", arm64_names, sizeof(arm64_names) / sizeof(arm64_names[0])},
};

static const struct syscall_arch *syscall_arch(const char *name)
{
	for (size_t i = 0; name && i < sizeof(arches) / sizeof(arches[0]); i++)
		if (strcmp(arches[i].name, name) == 0)
			return &arches[i];
	return NULL;
}

const char *syscall_name(const char *arch_name, uint32_t nr)
{
	const struct syscall_arch *arch = syscall_arch(arch_name);

	return arch && nr < arch->n ? arch->names[nr] : NULL;
}

int syscall_number(const char *arch_name, const char *name)
{
	const struct syscall_arch *arch = syscall_arch(arch_name);

	for (size_t i = 0; arch && i < arch->n; i++)
		if (arch->names[i] && strcmp(arch->names[i], name) == 0)
			return (int)i;
	return -1;
}
