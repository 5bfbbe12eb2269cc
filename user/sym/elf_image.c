/* The headers of one ELF file, checked once, and its bytes.
 *
 * libelf reads the headers. Everything behind them is read here, with pread: a mapped file that another
 * process cuts short would end us with SIGBUS. */
#include "sym/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/large.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER ELFDATA2LSB
#else
#define HOST_ORDER ELFDATA2MSB
#endif
/* The kernel loads no file with more (load_elf_phdrs in fs/binfmt_elf.c). */
#define SEGMENTS_MAX (65536 / sizeof(Elf64_Phdr))
/* Notes are a few hundred bytes; tables of them that overlap would be read over and over. */
#define NOTES_BYTES_MAX ((uint64_t)1 << 20)
#define HOST_CLASS	(sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

bool elf_image_read(const struct elf_image *image, uint64_t offset, uint64_t bytes, void *to)
{
	uint8_t *at = to;

	if (offset > image->bytes || bytes > image->bytes - offset)
		return false;
	if (!bytes)
		return true;
	if (image->memory) {
		memcpy(to, image->memory + offset, bytes);
		return true;
	}
	while (bytes) {
		ssize_t n = pread(image->fd, at, bytes, (off_t)offset);

		/* Regular files are read without EINTR; 0 is a file that has become shorter. */
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return true;
}

void *elf_image_bytes(const struct elf_image *image, uint64_t offset, uint64_t bytes)
{
	uint8_t *copy;

	if (offset > image->bytes || bytes > image->bytes - offset)
		return NULL;
	copy = large_alloc(bytes + 1);
	if (!elf_image_read(image, offset, bytes, copy)) {
		free(copy);
		return NULL;
	}
	copy[bytes] = 0;
	return copy;
}

bool elf_image_has(const struct elf_image *image, const struct elf_section *section)
{
	return section->type != SHT_NOBITS && !section->compressed &&
	       section->offset <= image->bytes && section->bytes <= image->bytes - section->offset;
}

void *elf_image_section(const struct elf_image *image, const struct elf_section *section)
{
	if (!elf_image_has(image, section))
		return NULL;
	return elf_image_bytes(image, section->offset, section->bytes);
}

const struct elf_section *elf_image_number(const struct elf_image *image, uint32_t number)
{
	return number && number < image->sections.n ? &image->sections.items[number] : NULL;
}

const struct elf_section *elf_image_find_type(const struct elf_image *image, uint32_t type)
{
	for (size_t i = 1; i < image->sections.n; i++)
		if (image->sections.items[i].type == type)
			return &image->sections.items[i];
	return NULL;
}

const struct elf_section *elf_image_find_name(const struct elf_image *image, const char *name)
{
	for (size_t i = 1; i < image->sections.n; i++) {
		const struct elf_section *section = &image->sections.items[i];

		if (section->name < image->section_names_bytes &&
		    !strcmp(image->section_names + section->name, name))
			return section;
	}
	return NULL;
}

/* ---- headers ----------------------------------------------------------------------------------- */

static bool overflows(uint64_t start, uint64_t bytes)
{
	return bytes > UINT64_MAX - start;
}

static void read_loads(struct elf_image *image, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			return;
		if (phdr.p_type != PT_LOAD || overflows(phdr.p_vaddr, phdr.p_filesz) ||
		    overflows(phdr.p_offset, phdr.p_filesz))
			continue;
		*vec_push(&image->loads) = (struct elf_load){
			.address = phdr.p_vaddr,
			.offset = phdr.p_offset,
			.bytes = phdr.p_filesz,
			.executable = phdr.p_flags & PF_X,
		};
	}
}

static void read_section_names(struct elf_image *image, Elf *elf)
{
	const struct elf_section *section;
	size_t number;

	if (elf_getshdrstrndx(elf, &number) || number > UINT32_MAX)
		return;
	section = elf_image_number(image, (uint32_t)number);
	if (!section || section->type != SHT_STRTAB)
		return;
	image->section_names = elf_image_section(image, section);
	if (image->section_names)
		image->section_names_bytes = section->bytes;
}

static void read_sections(struct elf_image *image, Elf *elf)
{
	size_t n;

	if (elf_getshdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		GElf_Shdr shdr;

		if (!scn || !gelf_getshdr(scn, &shdr))
			return;
		/* One of an impossible size keeps its number and loses its bytes. */
		if (overflows(shdr.sh_addr, shdr.sh_size))
			shdr.sh_size = 0;
		*vec_push(&image->sections) = (struct elf_section){
			.name = shdr.sh_name,
			.type = shdr.sh_type,
			.link = shdr.sh_link,
			.executable = shdr.sh_flags & SHF_EXECINSTR,
			.compressed = shdr.sh_flags & SHF_COMPRESSED,
			.address = shdr.sh_addr,
			.offset = shdr.sh_offset,
			.bytes = shdr.sh_size,
		};
	}
	read_section_names(image, elf);
}

/* ---- build id ---------------------------------------------------------------------------------- */

static uint64_t padded(uint32_t bytes)
{
	return ((uint64_t)bytes + 3) & ~(uint64_t)3;
}

static void write_hex(char *to, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

/* Looks for the build id among notes. gelf_getnote is not asked: it wants the notes from libelf. */
static bool notes_have_id(struct elf_image *image, uint64_t offset, uint64_t bytes,
			  uint64_t *budget)
{
	uint8_t *notes = bytes <= *budget ? elf_image_bytes(image, offset, bytes) : NULL;
	uint8_t *at = notes;
	uint64_t left = notes ? bytes : 0;
	Elf64_Nhdr header; /* of the same shape in 32-bit files */

	*budget -= left;
	while (left >= sizeof(header)) {
		uint64_t name, whole;

		memcpy(&header, at, sizeof(header));
		name = sizeof(header) + padded(header.n_namesz);
		whole = name + padded(header.n_descsz);
		if (name + header.n_descsz > left)
			break;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(at + sizeof(header), "GNU", 4) && header.n_descsz &&
		    header.n_descsz <= ELF_ID_BYTES_MAX) {
			write_hex(image->build_id, at + name, header.n_descsz);
			break;
		}
		if (whole > left)
			break;
		at += whole;
		left -= whole;
	}
	free(notes);
	return *image->build_id;
}

/* Sections first: in a separate debug file the segments are those of the other file. */
static void read_build_id(struct elf_image *image, Elf *elf)
{
	uint64_t budget = NOTES_BYTES_MAX;
	size_t n;

	for (size_t i = 1; i < image->sections.n; i++) {
		const struct elf_section *section = &image->sections.items[i];

		if (section->type == SHT_NOTE && !section->compressed &&
		    notes_have_id(image, section->offset, section->bytes, &budget))
			return;
	}
	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_NOTE &&
		    notes_have_id(image, phdr.p_offset, phdr.p_filesz, &budget))
			return;
	}
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* Whether a table of headers that begins there can be in the file: what libelf has not to be asked. */
static bool table_fits(const struct elf_image *image, uint64_t offset, uint64_t n, uint64_t size)
{
	return !n || (offset <= image->bytes && n <= (image->bytes - offset) / size);
}

static bool headers_fit(const struct elf_image *image)
{
	Elf64_Ehdr header;
	Elf64_Shdr first;
	uint64_t sections, segments;

	if (HOST_CLASS != ELFCLASS64)
		return true;
	if (!elf_image_read(image, 0, sizeof(header), &header))
		return false;
	sections = header.e_shnum;
	segments = header.e_phnum;
	/* Counts that do not fit the header are in the first section's. */
	if (header.e_shoff && (!sections || segments == PN_XNUM)) {
		if (!elf_image_read(image, header.e_shoff, sizeof(first), &first))
			return false;
		if (!sections)
			sections = first.sh_size;
		if (segments == PN_XNUM)
			segments = first.sh_info;
	}
	return table_fits(image, header.e_shoff, sections, sizeof(first)) &&
	       table_fits(image, header.e_phoff, segments, sizeof(Elf64_Phdr));
}

static int check_ident(const struct elf_image *image, struct diag *diag)
{
	uint8_t ident[EI_NIDENT];

	if (!elf_image_read(image, 0, sizeof(ident), ident) || memcmp(ident, ELFMAG, SELFMAG))
		return diag_set(diag, -EINVAL, "this is no ELF file");
	if (ident[EI_CLASS] != HOST_CLASS || ident[EI_DATA] != HOST_ORDER)
		return diag_set(diag, -EINVAL,
				"this ELF file is of another word size or byte order than ours");
	if (!headers_fit(image))
		return diag_set(diag, -EINVAL, "the headers of this ELF file are cut off");
	return 0;
}

/* Leaves the image to be closed by the caller in any case. */
static int read_headers(struct elf_image *image, struct diag *diag)
{
	Elf *elf;
	int err = check_ident(image, diag);

	if (err)
		return err;
	elf_version(EV_CURRENT);
	elf = image->fd < 0 ? elf_memory((char *)image->memory, image->bytes)
			    : elf_begin(image->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		err = diag_set(diag, -EINVAL, "libelf cannot read this ELF file");
	} else {
		read_loads(image, elf);
		read_sections(image, elf);
		read_build_id(image, elf);
	}
	elf_end(elf);
	return err;
}

int elf_image_open(struct elf_image *ret_image, int fd, struct diag *diag)
{
	struct elf_image image = {.fd = fd};
	struct stat st;
	int err;

	if (fstat(fd, &st))
		err = diag_set(diag, -errno, "cannot look at the file: %s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = diag_set(diag, -EINVAL, "this is no regular file");
	else
		err = 0;
	if (!err) {
		image.bytes = (uint64_t)st.st_size;
		err = read_headers(&image, diag);
	}
	if (err)
		elf_image_close(&image);
	else
		*ret_image = image;
	return err;
}

int elf_image_open_memory(struct elf_image *ret_image, uint8_t *memory, size_t bytes,
			  struct diag *diag)
{
	struct elf_image image = {.fd = -1, .memory = memory, .bytes = bytes};
	int err = read_headers(&image, diag);

	if (err)
		elf_image_close(&image);
	else
		*ret_image = image;
	return err;
}

void elf_image_close(struct elf_image *image)
{
	if (image->fd >= 0)
		close(image->fd);
	free(image->memory);
	free(image->loads.items);
	free(image->sections.items);
	free(image->section_names);
	*image = (struct elf_image){.fd = -1};
}
