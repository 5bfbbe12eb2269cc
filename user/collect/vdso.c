/* The kernel's own code in each process. */
#include "collect/vdso.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/maps.h"

uint64_t vdso_bytes(void)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR), bytes = 0;
	FILE *in = start ? fopen("/proc/self/maps", "re") : NULL;
	struct maps maps;

	if (!in)
		return 0;
	maps_read(&maps, in);
	fclose(in);
	for (size_t i = 0; i < maps.rows.n; i++)
		if (maps.rows.items[i].start == start)
			bytes = maps.rows.items[i].end - start;
	maps_free_members(&maps);
	return bytes;
}

int vdso_open(void)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR), bytes = vdso_bytes();
	int fd = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, (const void *)(uintptr_t)start, bytes) != (ssize_t)bytes) {
		close(fd);
		fd = -1;
	}
	return fd;
}
