/* Symbols that a stripped ELF file left elsewhere. Private to the ELF files of this room. */
#ifndef WAKEWHY_SYM_ELF_DEBUG_H
#define WAKEWHY_SYM_ELF_DEBUG_H

#include <stdbool.h>

#include "sym/elf.h"
#include "sym/elf_image.h"

/* The separate debug file: by build id, else by .gnu_debuglink. It is taken only where it has a .symtab and
 * belongs to this very file: the build ids are equal, or where one has none, the checksum is. */
bool elf_debug_open(struct elf_image *ret_debug, const struct elf_image *image,
		    elf_debug_opener *opener, void *context);
/* The one inside, packed in .gnu_debugdata. */
bool elf_debug_open_packed(struct elf_image *ret_debug, const struct elf_image *image);
/* What is to be added to addresses of the debug file: prelink moves the one and not the other. */
uint64_t elf_debug_shift(const struct elf_image *image, const struct elf_image *debug);

#endif
