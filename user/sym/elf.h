/* Symbols of an ELF file, by place in the file: .symtab, .dynsym, a separate debug file, and the
 * .gnu_debugdata inside. The only header of names in files; libelf is seen nowhere else.
 *
 * The file is hostile: nothing in it is believed, and none makes this crash, hang or ask for memory
 * that the file's own size does not explain. */
#ifndef WAKEWHY_SYM_ELF_H
#define WAKEWHY_SYM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct elf_file;

/* Opens the separate debug file of a build id (hex digits) or, with "", of a name as .gnu_debuglink has
 * it (a plain file name without a slash). The descriptor becomes the caller's; -1: there is none. */
typedef int elf_debug_opener(void *context, const char *build_id, const char *link_name);

/* fd stays the caller's and may be closed afterwards. open_debug may be NULL. -EINVAL with diag where it
 * is no ELF file of this machine's word size, or broken. Symbols are read when they are first
 * asked for. */
int elf_file_open(struct elf_file **ret_file, int fd, elf_debug_opener *open_debug, void *context,
		  struct diag *diag);
void elf_file_free(struct elf_file *file); /* NULL is fine */

/* Hex digits; "" where the file has none. Valid as long as the file. */
const char *elf_file_build_id(const struct elf_file *file);

/* The function that holds byte `offset` of the file, as the file spells it (mangled); *ret_into is the
 * distance from its beginning. NULL: no symbol covers it (one without a size reaches to the next one
 * of its section). Among several of one address: a function before others, the one with the fewest leading
 * underscores (a mangled name has none), a global one before weak before local, then the shortest. Valid as
 * long as the file. */
const char *elf_file_symbol(struct elf_file *file, uint64_t offset, uint64_t *ret_into);

/* The address that the file itself has for byte `offset` of it (as in objdump), for the unwinder and for
 * people; false: no loaded segment holds it. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret_address);

/* The name as a person writes it: C++ and Rust (both manglings) with parameters left out of Rust's and kept
 * for C++; a copy of `name` where it is not mangled. A version behind it ("read@@GLIBC_2.2.5") is left out.
 * Never fails; the caller frees. Names longer than a sensible limit are copied as they are. */
char *symbol_demangle(const char *name);

#endif
