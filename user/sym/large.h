/* Memory for tables of megabytes. */
#ifndef WAKEWHY_SYM_LARGE_H
#define WAKEWHY_SYM_LARGE_H

#include <stddef.h>

/* Not zeroed; the caller frees, and may realloc. From a megabyte on it is of huge pages where the kernel has them: a
 * page fault costs 2 to 20 microseconds on a virtual machine, and 10 MB of small pages take 2,500. Ends
 * the process where memory is out. */
void *large_alloc(size_t bytes);
/* The same as large_alloc for an array. */
void *large_array(size_t n, size_t bytes);

#endif
