/* Finding call frame information: by the table of .eh_frame_hdr, which linkers sort for this, or where there
 * is none, in an index that is made of .eh_frame and .debug_frame when it is first needed. */
#include "sym/cfi_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/cursor.h"
#include "sym/unwind_arch.h"

#define SEGMENTS_MAX	 128
#define SECTIONS_MAX	 4096
#define NAMES_BYTES	 (1 << 20)	 /* of .shstrtab */
#define INDEXED_BYTES	 (64ULL << 20) /* of a section that an index is made of */
#define TABLE_ROWS	 (8U << 20)
#define FIRST_BYTES	 512 /* read of an entry at first: most are shorter */
#define TABLE_ENCODINGS	 0x3b031b /* .eh_frame's place pcrel sdata4, count udata4, rows datarel sdata4 */

/* Bytes of the file that hold entries: `address` is of the first one. */
struct region {
	uint64_t offset, address, bytes;
	bool debug; /* .debug_frame: pointers to CIEs are offsets in it */
};

struct indexed {
	uint64_t start, end;
	uint64_t at; /* in its region */
	uint32_t region;
};

struct cfi_file {
	int fd;
	bool opened, indexed;
	VEC(Elf64_Phdr) loads; /* PT_LOAD with contents */
	struct region segment; /* that holds what the table points to */
	uint64_t table_address; /* what its rows are relative to */
	uint64_t rows;		/* 0: no table */
	struct table_row {
		int32_t start, function;
	} *table; /* in memory: a search by twenty reads of the file costs more than libdw's part */
	VEC(struct region) regions;  /* that the index is of */
	VEC(struct indexed) index;   /* by start */
};

struct cfi_file *cfi_file_new(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct cfi_file *file;

	if (own < 0)
		return NULL;
	file = mem_zalloc(sizeof(*file));
	file->fd = own;
	return file;
}

void cfi_file_free(struct cfi_file *file)
{
	if (!file)
		return;
	close(file->fd);
	free(file->loads.items);
	free(file->table);
	free(file->regions.items);
	free(file->index.items);
	free(file);
}

static bool read_at(const struct cfi_file *file, uint64_t offset, void *bytes, size_t n)
{
	if (offset > INT64_MAX - n)
		return false;
	return pread(file->fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* ---- segments ---------------------------------------------------------------------------------- */

/* Part of a segment from `address` on. */
static bool segment_at(const struct cfi_file *file, uint64_t address, struct region *ret_segment)
{
	for (size_t i = 0; i < file->loads.n; i++) {
		const Elf64_Phdr *p = &file->loads.items[i];

		if (address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz) {
			*ret_segment = (struct region){
				.offset = p->p_offset,
				.address = p->p_vaddr,
				.bytes = p->p_filesz,
			};
			return true;
		}
	}
	return false;
}

/* Other encodings than everybody's are left to the index. */
static void read_table(struct cfi_file *file, const Elf64_Phdr *header)
{
	uint8_t bytes[12];
	struct cursor c = {.at = bytes, .left = sizeof(bytes)};
	uint64_t frames, rows;

	if (header->p_filesz < sizeof(bytes) ||
	    !read_at(file, header->p_offset, bytes, sizeof(bytes)) || cursor_number(&c, 1) != 1 ||
	    cursor_number(&c, 3) != TABLE_ENCODINGS)
		return;
	frames = header->p_vaddr + 4 + (uint64_t)(int32_t)cursor_number(&c, 4);
	rows = cursor_number(&c, 4);
	if (!rows || rows > TABLE_ROWS ||
	    rows > (header->p_filesz - sizeof(bytes)) / sizeof(*file->table) ||
	    !segment_at(file, frames, &file->segment))
		return;
	/* Not cleared: the number may be a lie, and then nothing is touched. */
	file->table = mem_realloc(NULL, rows, sizeof(*file->table));
	file->table_address = header->p_vaddr;
	if (read_at(file, header->p_offset + sizeof(bytes), file->table,
		    rows * sizeof(*file->table)))
		file->rows = rows;
}

static bool read_header(const struct cfi_file *file, Elf64_Ehdr *ret_header)
{
	return read_at(file, 0, ret_header, sizeof(*ret_header)) &&
	       !memcmp(ret_header->e_ident, ELFMAG, SELFMAG) &&
	       ret_header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_header->e_ident[EI_DATA] == ELFDATA2LSB && ret_header->e_machine == UNWIND_MACHINE;
}

static void open_file(struct cfi_file *file)
{
	Elf64_Phdr segments[SEGMENTS_MAX], *table = NULL;
	Elf64_Ehdr header;

	if (file->opened)
		return;
	file->opened = true;
	if (!read_header(file, &header) || header.e_phentsize != sizeof(segments[0]) ||
	    header.e_phnum > SEGMENTS_MAX ||
	    !read_at(file, header.e_phoff, segments, header.e_phnum * sizeof(segments[0])))
		return;
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr *p = &segments[i];

		if (p->p_type == PT_LOAD && p->p_offset + p->p_filesz >= p->p_offset &&
		    p->p_vaddr + p->p_filesz >= p->p_vaddr)
			*vec_push(&file->loads) = *p;
		else if (p->p_type == PT_GNU_EH_FRAME)
			table = p;
	}
	if (table)
		read_table(file, table);
}

bool cfi_file_address(struct cfi_file *file, uint64_t offset, uint64_t *ret_address)
{
	open_file(file);
	for (size_t i = 0; i < file->loads.n; i++) {
		const Elf64_Phdr *p = &file->loads.items[i];

		if ((p->p_flags & PF_X) && offset >= p->p_offset &&
		    offset - p->p_offset < p->p_filesz) {
			*ret_address = p->p_vaddr + (offset - p->p_offset);
			return true;
		}
	}
	return false;
}

/* ---- entries ----------------------------------------------------------------------------------- */

/* Reads the entry at `at` of a region into a block of its own; false: none. 64-bit DWARF is not understood: it
 * is for sections beyond 4 GB. */
static bool read_entry(const struct cfi_file *file, const struct region *region, uint64_t at,
		       uint8_t **ret_block, struct cfi_bytes *ret_bytes)
{
	uint64_t have = at < region->bytes ? region->bytes - at : 0, read;
	uint8_t first[FIRST_BYTES];
	uint32_t n;

	read = have < sizeof(first) ? have : sizeof(first);
	if (have < sizeof(n) || !read_at(file, region->offset + at, first, read))
		return false;
	memcpy(&n, first, sizeof(n));
	if (n < sizeof(n) || n > CFI_ENTRY_BYTES || n > have - sizeof(n))
		return false;
	*ret_block = mem_calloc(n, 1);
	*ret_bytes = (struct cfi_bytes){
		.at = *ret_block,
		.n = n,
		.address = region->address + at + sizeof(n),
	};
	if (n > read - sizeof(n))
		return read_at(file, region->offset + at + sizeof(n), *ret_block, n);
	memcpy(*ret_block, first + sizeof(n), n);
	return true;
}

/* Where the CIE of an entry is, by its first word; false: it is a CIE itself. */
static bool common_place(const struct region *region, uint64_t at, uint32_t word, uint64_t *ret_at)
{
	if (region->debug) {
		*ret_at = word;
		return word != UINT32_MAX;
	}
	*ret_at = at + 4 - word;
	return word && word <= at + 4;
}

static bool read_function(const struct cfi_file *file, const struct region *region, uint64_t at,
			  struct cfi_found *found)
{
	struct cfi_bytes function, common;
	uint64_t common_at;
	uint32_t word;

	if (!read_entry(file, region, at, &found->function, &function))
		return false;
	memcpy(&word, function.at, sizeof(word));
	if (!common_place(region, at, word, &common_at) ||
	    !read_entry(file, region, common_at, &found->common, &common))
		return false;
	memcpy(&word, common.at, sizeof(word));
	return word == (region->debug ? UINT32_MAX : 0) &&
	       cfi_read_common(&common, &found->entry.common) &&
	       cfi_read_entry(&function, &found->entry);
}

/* ---- by the table ------------------------------------------------------------------------------ */

/* The last function that begins at or before the address. */
static bool find_in_table(const struct cfi_file *file, uint64_t address, struct cfi_found *found)
{
	uint64_t low = 0, high = file->rows;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (file->table_address + (uint64_t)(int64_t)file->table[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	return read_function(file, &file->segment,
			     file->table_address +
				     (uint64_t)(int64_t)file->table[low - 1].function -
				     file->segment.address,
			     found);
}

/* ---- by an index ------------------------------------------------------------------------------- */

/* Adds the functions of a region whose bytes are in memory. */
static void index_region(struct cfi_file *file, uint32_t number, const uint8_t *bytes)
{
	const struct region *region = &file->regions.items[number];
	struct cursor all = {.at = bytes, .left = region->bytes};
	uint64_t common_of = UINT64_MAX; /* whose CIE is in entry.common */
	struct cfi_entry entry = {};

	while (all.left > 4) {
		uint64_t at = (uint64_t)(all.at - bytes), n = cursor_number(&all, 4), common_at;
		struct cfi_bytes body = {.n = n, .address = region->address + at + 4};
		uint32_t word, length;

		body.at = cursor_skip(&all, n);
		if (all.bad || n < 4)
			return;
		memcpy(&word, body.at, sizeof(word));
		if (!common_place(region, at, word, &common_at))
			continue;
		if (common_at != common_of) {
			if (common_at > region->bytes - 8)
				continue;
			memcpy(&length, bytes + common_at, sizeof(length));
			if (length < 4 || length > CFI_ENTRY_BYTES ||
			    length > region->bytes - common_at - 4 ||
			    !cfi_read_common(&(struct cfi_bytes){.at = bytes + common_at + 4,
								 .n = length},
					     &entry.common))
				continue;
			common_of = common_at;
		}
		if (cfi_read_entry(&body, &entry))
			*vec_push(&file->index) = (struct indexed){
				.start = entry.start,
				.end = entry.end,
				.at = at,
				.region = number,
			};
	}
}

/* Sections that may hold entries: .eh_frame only where its table is not there. */
static void find_regions(struct cfi_file *file, const Elf64_Shdr *sections, size_t n,
			 const char *names, size_t names_bytes)
{
	for (size_t i = 0; i < n; i++) {
		const Elf64_Shdr *s = &sections[i];
		const char *name = s->sh_name < names_bytes ? names + s->sh_name : "";
		bool debug = !strcmp(name, ".debug_frame");

		if ((!debug && (file->rows || strcmp(name, ".eh_frame") != 0)) ||
		    s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) || s->sh_size < 8 ||
		    s->sh_size > INDEXED_BYTES)
			continue;
		*vec_push(&file->regions) = (struct region){
			.offset = s->sh_offset,
			.address = s->sh_addr,
			.bytes = s->sh_size,
			.debug = debug,
		};
		/* A hostile file has thousands. */
		if (file->regions.n == 2)
			return;
	}
}

static void read_sections(struct cfi_file *file)
{
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	size_t n;

	if (!read_header(file, &header) || header.e_shentsize != sizeof(*sections) ||
	    header.e_shnum > SECTIONS_MAX || header.e_shstrndx >= header.e_shnum)
		return;
	n = header.e_shnum;
	sections = mem_calloc(n, sizeof(*sections));
	if (read_at(file, header.e_shoff, sections, n * sizeof(*sections))) {
		const Elf64_Shdr *s = &sections[header.e_shstrndx];
		size_t bytes = s->sh_size < NAMES_BYTES ? s->sh_size : 0;
		char *names = mem_zalloc(bytes + 1);

		if (read_at(file, s->sh_offset, names, bytes))
			find_regions(file, sections, n, names, bytes);
		free(names);
	}
	free(sections);
}

static int compare_indexed(const void *a, const void *b)
{
	const struct indexed *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->region > y->region) - (x->region < y->region);
}

static void make_index(struct cfi_file *file)
{
	if (file->indexed)
		return;
	file->indexed = true;
	read_sections(file);
	for (uint32_t i = 0; i < file->regions.n; i++) {
		const struct region *region = &file->regions.items[i];
		/* Not cleared: the section's size may be a lie, and then nothing is touched. */
		uint8_t *bytes = mem_realloc(NULL, region->bytes, 1);

		if (read_at(file, region->offset, bytes, region->bytes))
			index_region(file, i, bytes);
		free(bytes);
	}
	if (file->index.n)
		qsort(file->index.items, file->index.n, sizeof(file->index.items[0]),
		      compare_indexed);
}

static bool find_in_index(struct cfi_file *file, uint64_t address, struct cfi_found *found)
{
	size_t low = 0, high;
	const struct indexed *last;

	make_index(file);
	high = file->index.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->index.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	last = &file->index.items[low - 1];
	return address < last->end &&
	       read_function(file, &file->regions.items[last->region], last->at, found);
}

static bool holds(const struct cfi_found *found, uint64_t address)
{
	return address >= found->entry.start && address < found->entry.end;
}

bool cfi_file_find(struct cfi_file *file, uint64_t address, struct cfi_found *ret_found)
{
	*ret_found = (struct cfi_found){};
	open_file(file);
	if (find_in_table(file, address, ret_found) && holds(ret_found, address))
		return true;
	cfi_found_free(ret_found);
	return find_in_index(file, address, ret_found) && holds(ret_found, address);
}

void cfi_found_free(struct cfi_found *found)
{
	free(found->common);
	free(found->function);
	*found = (struct cfi_found){};
}
