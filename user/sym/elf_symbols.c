/* Functions of one ELF file, from its tables of symbols. */
#include "sym/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/large.h"

/* Symbols have the shape of this machine: elf_image takes no other files. */
#if __SIZEOF_POINTER__ == 8
typedef Elf64_Sym symbol_t;
#else
typedef Elf32_Sym symbol_t;
#endif
#define symbol_type(symbol)    ((symbol)->st_info & 15)
#define symbol_binding(symbol) ((symbol)->st_info >> 4)

struct strings {
	const char *text; /* with a NUL behind the last byte */
	uint64_t bytes;
};

/* Of several functions at one address one that has a size holds. */
#define RANK_SIZED ((uint64_t)1 << 32)
#define UNDERSCORES_MAX 7u
/* Names longer than that are equally long: they may be millions, of millions of bytes. */
#define LENGTH_MAX	256
#define SYMBOLS_AT_ONCE 4096

/* arm64's assembler marks where code ("$x") and data ("$d") begin. */
static bool is_mapping_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static bool names_code(const symbol_t *symbol, const struct elf_section *section, const char *name)
{
	switch (symbol_type(symbol)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return section->executable && !is_mapping_mark(name);
	default:
		return false;
	}
}

/* Underscores that the name begins with; those of a mangled name are not part of what people read. */
static unsigned int underscores(const char *name)
{
	unsigned int n = 0;

	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		return 0;
	while (n < UNDERSCORES_MAX && name[n] == '_')
		n++;
	return n;
}

/* A function before a label; then the name that people call it by, for a libc's own name of a call is often
 * the global one (__poll) and the call itself weak; then a global before a weak before a local one: the higher. */
static uint64_t rank_of(const symbol_t *symbol, const char *name)
{
	unsigned int binding = symbol_binding(symbol);
	uint64_t rank = symbol_type(symbol) != STT_NOTYPE;

	rank = rank * (UNDERSCORES_MAX + 1) + UNDERSCORES_MAX - underscores(name);
	return rank * 4 + (binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2);
}

static bool add_symbol(struct elf_functions *functions, const struct elf_image *image,
		       const symbol_t *symbol, const struct strings *strings, uint64_t shift)
{
	const struct elf_section *section;
	uint64_t start, behind;

	/* Numbers from SHN_LORESERVE on mean other things than sections. */
	if (symbol->st_shndx >= SHN_LORESERVE || !symbol->st_name ||
	    symbol->st_name >= strings->bytes)
		return false;
	section = elf_image_number(image, symbol->st_shndx);
	if (!section || symbol->st_value < section->address ||
	    symbol->st_value - section->address >= section->bytes ||
	    !names_code(symbol, section, strings->text + symbol->st_name))
		return false;
	start = symbol->st_value + shift;
	behind = section->address + section->bytes + shift;
	if (start >= behind)
		return false;
	/* One without a size holds its section's end until it is known what follows. */
	*vec_push(&functions->ranges.items) = (struct range){
		.start = start,
		.end = symbol->st_size && symbol->st_size < behind - start ? start + symbol->st_size
									   : behind,
		.rank = rank_of(symbol, strings->text + symbol->st_name) | (symbol->st_size ? RANK_SIZED : 0),
		.name = strings->text + symbol->st_name,
	};
	return true;
}

/* Makes room for n more at once: growing step by step touches the memory twice. */
static void reserve(struct elf_functions *functions, size_t n)
{
	size_t had = functions->ranges.items.n;
	struct range *items = large_array(had + n, sizeof(*items));

	if (had)
		memcpy(items, functions->ranges.items.items, had * sizeof(*items));
	free(functions->ranges.items.items);
	functions->ranges.items.items = items;
	functions->ranges.items.cap = had + n;
}

/* The table is read in pieces, which stay in the processor's cache. */
static size_t add_table(struct elf_functions *functions, const struct elf_image *image,
			const struct elf_section *table, const struct strings *strings,
			uint64_t shift)
{
	size_t left = table->bytes / sizeof(symbol_t), added = 0;
	symbol_t *symbols = mem_calloc(SYMBOLS_AT_ONCE, sizeof(*symbols));
	uint64_t at = table->offset;

	while (left) {
		size_t n = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		if (!elf_image_read(image, at, n * sizeof(*symbols), symbols))
			break;
		for (size_t i = 0; i < n; i++)
			added += add_symbol(functions, image, &symbols[i], strings, shift);
		at += n * sizeof(*symbols);
		left -= n;
	}
	free(symbols);
	return added;
}

size_t elf_functions_add(struct elf_functions *functions, const struct elf_image *image,
			 uint32_t type, uint64_t shift)
{
	const struct elf_section *table = elf_image_find_type(image, type), *names;
	struct strings strings;
	char *text;

	names = table && elf_image_has(image, table) ? elf_image_number(image, table->link) : NULL;
	if (!names || names->type != SHT_STRTAB)
		return 0;
	text = elf_image_section(image, names);
	if (!text)
		return 0;
	*vec_push(&functions->names) = text;
	strings = (struct strings){text, names->bytes};
	reserve(functions, table->bytes / sizeof(symbol_t));
	return add_table(functions, image, table, &strings, shift);
}

/* By address, what has a size first, then the best name last. */
static int by_place(const void *a, const void *b)
{
	const struct range *one = a, *other = b;
	size_t length, other_length;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	if ((one->rank ^ other->rank) & RANK_SIZED)
		return one->rank & RANK_SIZED ? -1 : 1;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	length = strnlen(one->name, LENGTH_MAX);
	other_length = strnlen(other->name, LENGTH_MAX);
	return (length < other_length) - (length > other_length);
}

/* The innermost function holds, which is the one that starts last. One without a size reaches to the next that
 * starts; where it lies in one that has a size, it is a label and names nothing. */
void elf_functions_settle(struct elf_functions *functions)
{
	struct range *items = functions->ranges.items.items;
	size_t n = functions->ranges.items.n, next = 0;
	uint64_t covered = 0;

	if (n)
		qsort(items, n, sizeof(*items), by_place);
	for (size_t i = 0; i < n; i++) {
		bool sized = items[i].rank & RANK_SIZED;

		while (next < n && items[next].start <= items[i].start)
			next++;
		if (!sized && items[i].start < covered)
			items[i].end = items[i].start;
		else if (!sized && next < n && items[next].start < items[i].end)
			items[i].end = items[next].start;
		if (sized && items[i].end > covered)
			covered = items[i].end;
		items[i].rank = i;
	}
	ranges_settle(&functions->ranges);
}

void elf_functions_free_members(struct elf_functions *functions)
{
	for (size_t i = 0; i < functions->names.n; i++)
		free(functions->names.items[i]);
	free(functions->names.items);
	ranges_free_members(&functions->ranges);
	*functions = (struct elf_functions){};
}
