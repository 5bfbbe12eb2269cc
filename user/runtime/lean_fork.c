/* A fork whose child is small. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/lean_fork.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEP_MEMORY 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define KEEP_MEMORY 1 /* the child's code looks into the shadow memory */
#endif
#ifndef KEEP_MEMORY
#define KEEP_MEMORY 0
#endif

/* The kernel joins neighbouring anonymous mappings: what malloc maps grows together with the first
 * ones of the dynamic linker (our thread's block, the tables that binding reads), which then lie at
 * one end. Both ends stay. */
#define MARGIN_BYTES (64U << 10)

struct range {
	uintptr_t start, end;
};
struct ranges {
	VEC(struct range) list;
};

static bool range_has(const struct range *range, const void *address)
{
	return (uintptr_t)address >= range->start && (uintptr_t)address < range->end;
}

/* A line of /proc/self/maps: what of it does the child do without? Never the stack that we run on
 * nor our thread's own block, which may both be anonymous. */
static bool find_range(const char *line, struct range *ret_range)
{
	unsigned long start, end, inode;
	char mode[5];
	int name = 0;
	struct range range;
	int on_stack;

	if (sscanf(line, "%lx-%lx %4s %*s %*s %lu %n", &start, &end, mode, &inode, &name) < 4 ||
	    !name || inode != 0 || mode[3] != 'p' || mode[1] != 'w')
		return false;
	if (line[name] == '[' && strncmp(line + name, "[heap]", 6))
		return false;
	if (end - start <= 2 * MARGIN_BYTES)
		return false;
	range = (struct range){start + MARGIN_BYTES, end - MARGIN_BYTES};
	if (range_has(&range, &on_stack) || range_has(&range, __builtin_thread_pointer()))
		return false;
	*ret_range = range;
	return true;
}

static void find_ranges(struct ranges *ranges)
{
	FILE *maps = KEEP_MEMORY ? NULL : fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t cap = 0;
	struct range range;

	while (maps && getline(&line, &cap, maps) > 0)
		if (find_range(line, &range))
			*vec_push(&ranges->list) = range;
	free(line);
	if (maps)
		fclose(maps);
}

/* Where it fails the child is larger than it need be, no more. */
static void advise(const struct ranges *ranges, int advice)
{
	for (size_t i = 0; i < ranges->list.n; i++) {
		const struct range *range = &ranges->list.items[i];

		madvise((void *)range->start, range->end - range->start, advice);
	}
}

pid_t lean_fork(void)
{
	struct ranges ranges = {0};
	pid_t pid;
	int err;

	find_ranges(&ranges);
	advise(&ranges, MADV_DONTFORK);
	pid = _Fork(); /* fork() would run handlers that may use the heap */
	if (pid == 0)
		return 0;
	err = errno;
	advise(&ranges, MADV_DOFORK);
	free(ranges.list.items);
	errno = err;
	return pid;
}
