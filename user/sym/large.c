/* Memory for tables of megabytes. */
#include "sym/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

#define LARGE_BYTES ((size_t)1 << 20)
#define HUGE_BYTES  ((size_t)2 << 20)

void *large_alloc(size_t bytes)
{
	void *memory;

	if (bytes < LARGE_BYTES)
		return mem_realloc(NULL, bytes, 1);
	if (bytes > SIZE_MAX - HUGE_BYTES)
		mem_out();
	/* Whole pages, so that what is advised is ours alone. */
	bytes = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	if (posix_memalign(&memory, HUGE_BYTES, bytes))
		mem_out();
	/* Refused where there are no huge pages: then it is slower. */
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

void *large_array(size_t n, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(n, bytes, &total))
		mem_out();
	return large_alloc(total);
}
