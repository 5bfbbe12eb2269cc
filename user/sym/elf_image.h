/* The headers of one ELF file, checked once, and its bytes. Private to the ELF files of this room. */
#ifndef WAKEWHY_SYM_ELF_IMAGE_H
#define WAKEWHY_SYM_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/mem.h"

#define ELF_ID_BYTES_MAX 64 /* of a build id; 20 is usual */

/* A piece of the file that is mapped. Neither end overflows. */
struct elf_load {
	uint64_t address, offset, bytes; /* bytes that are in the file */
	bool executable;
};

struct elf_section {
	uint32_t name; /* place in section_names */
	uint32_t type, link;
	bool executable, compressed;
	uint64_t address, offset, bytes; /* address + bytes does not overflow */
};

struct elf_image {
	int fd; /* -1: the bytes are in memory */
	uint8_t *memory;
	uint64_t bytes;
	VEC(struct elf_load) loads;
	VEC(struct elf_section) sections; /* by number: the first is none */
	char *section_names;
	size_t section_names_bytes;
	char build_id[2 * ELF_ID_BYTES_MAX + 1];
};

/* Takes fd over, even where it fails. */
int elf_image_open(struct elf_image *ret_image, int fd, struct diag *diag);
/* Takes the allocated memory over, even where it fails. */
int elf_image_open_memory(struct elf_image *ret_image, uint8_t *memory, size_t bytes,
			  struct diag *diag);
void elf_image_close(struct elf_image *image); /* all zero with an fd of -1 is fine */

/* Writes bytes of the file to `to`; false where they are not all in the file. */
bool elf_image_read(const struct elf_image *image, uint64_t offset, uint64_t bytes, void *to);
/* A copy of bytes of the file with a NUL behind them, which the caller frees; NULL where they are not all in
 * the file. */
void *elf_image_bytes(const struct elf_image *image, uint64_t offset, uint64_t bytes);
/* Whether the section's bytes are in the file, as they are. */
bool elf_image_has(const struct elf_image *image, const struct elf_section *section);
/* A copy of a section; NULL where the file has them not. */
void *elf_image_section(const struct elf_image *image, const struct elf_section *section);
/* The first section of that type, or of that name; NULL: none. */
const struct elf_section *elf_image_find_type(const struct elf_image *image, uint32_t type);
const struct elf_section *elf_image_find_name(const struct elf_image *image, const char *name);
/* The section of that number; NULL: none. */
const struct elf_section *elf_image_number(const struct elf_image *image, uint32_t number);

#endif
