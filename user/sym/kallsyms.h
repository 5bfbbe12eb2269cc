/* Names of the kernel's functions, from the text of /proc/kallsyms. */
#ifndef WAKEWHY_SYM_KALLSYMS_H
#define WAKEWHY_SYM_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct kallsyms;

/* Reads text symbols (t, T, w, W) to the end of `in`; lines that are malformed are left out. Where
 * all addresses are 0 (kernel.kptr_restrict), nothing is known afterwards. Never NULL. */
struct kallsyms *kallsyms_read(FILE *in);
void kallsyms_free(struct kallsyms *kallsyms);
/* The symbol that begins at or before address, within its section of the kernel or its module; NULL:
 * none. "name" or "name [module]". Valid as long as kallsyms. */
const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, uint64_t *ret_into);

#endif
