/* Memory that is there or the program ends. */
#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Without stdio: it may want memory itself. */
void mem_out(void)
{
	static const char line[] = "wakewhy: out of memory\n";
	ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);

	(void)written;
	_exit(1);
}

void *mem_zalloc(size_t bytes)
{
	return mem_calloc(1, bytes);
}

void *mem_calloc(size_t n, size_t bytes)
{
	/* calloc may answer NULL to 0 bytes, which is not a failure. */
	void *memory = calloc(n ? n : 1, bytes ? bytes : 1);

	if (!memory)
		mem_out();
	return memory;
}

void *mem_realloc(void *old, size_t n, size_t bytes)
{
	void *memory;
	size_t total;

	if (__builtin_mul_overflow(n, bytes, &total))
		mem_out();
	memory = realloc(old, total ? total : 1);
	if (!memory)
		mem_out();
	return memory;
}

char *mem_strdup(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		mem_out();
	return copy;
}

char *mem_strndup(const char *text, size_t max)
{
	char *copy = strndup(text, max);

	if (!copy)
		mem_out();
	return copy;
}

char *mem_printf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		mem_out();
	return text;
}

void mem_expect(size_t bytes)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start;
	char *room;

	if (bytes < MEM_LARGE_BYTES)
		return;
	/* In the heap, not in a mapping of its own; and what is freed at its end stays. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	room = malloc(bytes);
	if (!room)
		return;
	start = ((uintptr_t)room + page - 1) & ~(page - 1);
	/* Refused where the kernel has no huge pages: pages of the usual size do too. */
	madvise((void *)start, ((uintptr_t)room + bytes - start) & ~(page - 1), MADV_HUGEPAGE);
	free(room);
}

void mem_give_back(void)
{
	mallopt(M_TRIM_THRESHOLD, 128 << 10); /* glibc's own */
	malloc_trim(0);
}

/* items points to a pointer of the caller's type, which only memcpy may read as a void *: the types
 * do not alias. */
void vec_reserve_bytes(void *items, size_t n, size_t *cap, size_t more, size_t item_bytes)
{
	char *start;

	if (more <= *cap - n)
		return;
	memcpy(&start, items, sizeof(start));
	start = mem_realloc(start, n + more, item_bytes);
	memcpy(items, &start, sizeof(start));
	*cap = n + more;
}

void *vec_push_bytes(void *items, size_t *n, size_t *cap, size_t item_bytes)
{
	char *start;

	memcpy(&start, items, sizeof(start));
	if (*n == *cap) {
		size_t grown = *cap ? *cap * 2 : 8;

		start = mem_realloc(start, grown, item_bytes);
		memcpy(items, &start, sizeof(start));
		*cap = grown;
	}
	memset(start + *n * item_bytes, 0, item_bytes);
	return start + (*n)++ * item_bytes;
}
