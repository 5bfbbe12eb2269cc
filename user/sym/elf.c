/* Symbols of an ELF file, by place in the file. */
#include "sym/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/elf_debug.h"
#include "sym/elf_image.h"
#include "sym/elf_symbols.h"

struct elf_file {
	struct elf_image image; /* without its file once the symbols are read */
	elf_debug_opener *open_debug;
	void *context;
	bool has_symbols;
	struct elf_functions functions;
};

int elf_file_open(struct elf_file **ret_file, int fd, elf_debug_opener *open_debug, void *context,
		  struct diag *diag)
{
	struct elf_file file = {.open_debug = open_debug, .context = context};
	int err, own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return diag_set(diag, -errno, "cannot keep the file open: %s", strerror(errno));
	err = elf_image_open(&file.image, own, diag);
	if (err)
		return err;
	*ret_file = mem_zalloc(sizeof(file));
	**ret_file = file;
	return 0;
}

void elf_file_free(struct elf_file *file)
{
	if (!file)
		return;
	elf_image_close(&file->image);
	elf_functions_free_members(&file->functions);
	free(file);
}

const char *elf_file_build_id(const struct elf_file *file)
{
	return file->image.build_id;
}

static uint64_t table_bytes(const struct elf_image *image, uint32_t type)
{
	const struct elf_section *table = elf_image_find_type(image, type);

	return table ? table->bytes : 0;
}

/* Adds the functions of a debug file, which is closed. Returns the size of its table. */
static uint64_t add_debug(struct elf_file *file, struct elf_image *debug)
{
	uint64_t bytes = table_bytes(debug, SHT_SYMTAB);

	if (!elf_functions_add(&file->functions, debug, SHT_SYMTAB,
			       elf_debug_shift(&file->image, debug)))
		bytes = 0;
	elf_image_close(debug);
	return bytes;
}

/* .symtab has all that .dynsym has, unless someone has thinned it out; .gnu_debugdata has what .dynsym
 * has not. */
static void read_symbols(struct elf_file *file)
{
	struct elf_image *image = &file->image, debug;
	uint64_t bytes = 0;

	file->has_symbols = true;
	if (elf_functions_add(&file->functions, image, SHT_SYMTAB, 0))
		bytes = table_bytes(image, SHT_SYMTAB);
	else if (elf_debug_open(&debug, image, file->open_debug, file->context))
		bytes = add_debug(file, &debug);
	if (!bytes && elf_debug_open_packed(&debug, image))
		add_debug(file, &debug);
	if (bytes < table_bytes(image, SHT_DYNSYM))
		elf_functions_add(&file->functions, image, SHT_DYNSYM, 0);
	elf_functions_settle(&file->functions);
	close(image->fd);
	image->fd = -1;
	image->bytes = 0;
}

/* Code is what is asked for: where segments share bytes of the file, the executable one counts. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret_address)
{
	const struct elf_load *found = NULL;

	for (size_t i = 0; i < file->image.loads.n; i++) {
		const struct elf_load *load = &file->image.loads.items[i];

		if (offset < load->offset || offset - load->offset >= load->bytes)
			continue;
		if (!found || (load->executable && !found->executable))
			found = load;
	}
	if (found)
		*ret_address = found->address + (offset - found->offset);
	return found;
}

const char *elf_file_symbol(struct elf_file *file, uint64_t offset, uint64_t *ret_into)
{
	const char *name;
	uint64_t address;

	if (!file->has_symbols)
		read_symbols(file);
	if (!elf_file_address(file, offset, &address))
		return NULL;
	name = ranges_find(&file->functions.ranges, address, ret_into);
	return name && *name ? name : NULL;
}
