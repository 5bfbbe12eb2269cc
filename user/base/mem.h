/* Memory that is there or the program ends: a profiler without memory has nothing left to do. */
#ifndef WAKEWHY_BASE_MEM_H
#define WAKEWHY_BASE_MEM_H

#include <stddef.h>

/* Ends the process for want of memory: for libraries that answer with NULL instead. */
__attribute__((noreturn)) void mem_out(void);

/* All end the process with one line on standard error and status 1 when memory is out. */
void *mem_zalloc(size_t bytes);
void *mem_calloc(size_t n, size_t bytes);
void *mem_realloc(void *old, size_t n, size_t bytes); /* n * bytes, overflow checked */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t max);
__attribute__((format(printf, 1, 2))) char *mem_printf(const char *fmt, ...);

/* Work of about so many bytes begins: above MEM_LARGE_BYTES the heap gets room for it in huge pages, where the
 * kernel gives them. Room that is not touched costs nothing, so the guess may be generous. Most of the time of a
 * report of ten thousand threads, and a third of that to start, went into the faults of fresh pages, some microseconds
 * each on a virtual machine. Allocation never depends on it. */
#define MEM_LARGE_BYTES ((size_t)8 << 20)
void mem_expect(size_t bytes);
/* That work is done: what is free at the heap's end goes back to the system. */
void mem_give_back(void);

/* Growable array of any struct: `struct { T *items; size_t n, cap; }`. Returns a pointer to a new,
 * zeroed last item; earlier pointers into items are invalid afterwards. */
#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *items;                                                                          \
		size_t n;                                                                          \
		size_t cap;                                                                        \
	}
#define vec_push(v)                                                                                \
	((__typeof__((v)->items))vec_push_bytes(&(v)->items, &(v)->n, &(v)->cap,                   \
						sizeof(*(v)->items)))
/* Room for `more` items besides those that are there, taken at once: a vector of large items that grows by itself
 * is copied again and again. */
#define vec_reserve(v, more) vec_reserve_bytes(&(v)->items, (v)->n, &(v)->cap, (more), sizeof(*(v)->items))
void vec_reserve_bytes(void *items, size_t n, size_t *cap, size_t more, size_t item_bytes);
void *vec_push_bytes(void *items, size_t *n, size_t *cap, size_t item_bytes);

#endif
