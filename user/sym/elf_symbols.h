/* Functions of one ELF file, from its tables of symbols. Private to the ELF files of this room. */
#ifndef WAKEWHY_SYM_ELF_SYMBOLS_H
#define WAKEWHY_SYM_ELF_SYMBOLS_H

#include "sym/elf_image.h"
#include "sym/ranges.h"

struct elf_functions {
	struct ranges ranges;
	VEC(char *) names; /* the tables of strings, which the names are in */
};

/* Adds the functions of the first table of that type (SHT_SYMTAB, SHT_DYNSYM); `shift` is added to
 * addresses. Returns how many. */
size_t elf_functions_add(struct elf_functions *functions, const struct elf_image *image,
			 uint32_t type, uint64_t shift);
/* Decides which function each address is in: ranges_find may be asked then. Once, when all are added. */
void elf_functions_settle(struct elf_functions *functions);
void elf_functions_free_members(struct elf_functions *functions);

#endif
