/* Where an ELF file has call frame information for an address of its code. The file is hostile, and may
 * change while it is read: everything is read by its descriptor, in bounded pieces, and checked in the
 * copy. */
#ifndef WAKEWHY_SYM_CFI_FILE_H
#define WAKEWHY_SYM_CFI_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi.h"

struct cfi_file;

/* Takes a copy of the descriptor and reads nothing yet. NULL where no descriptor is left. */
struct cfi_file *cfi_file_new(int fd);
void cfi_file_free(struct cfi_file *file); /* NULL is fine */

/* The file's own address of the byte at `offset`, which is mapped as code. False: no segment of code holds it,
 * or it is no ELF file of this machine. */
bool cfi_file_address(struct cfi_file *file, uint64_t offset, uint64_t *ret_address);

/* The entry of the function that holds `address`, read into two blocks that the caller frees with
 * cfi_found_free() in any case. False: there is none. */
struct cfi_found {
	struct cfi_entry entry;
	uint8_t *common, *function; /* what entry points into */
};
bool cfi_file_find(struct cfi_file *file, uint64_t address, struct cfi_found *ret_found);
void cfi_found_free(struct cfi_found *found);

#endif
