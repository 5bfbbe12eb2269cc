/* ELF files: headers, symbols, build ids, separate and packed debug files.
 *
 * An input is the length of the first file (32 bits, little end first), that file, and the separate debug
 * file that it may ask for. */
#include "sym/elf.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

struct debug {
	const uint8_t *bytes;
	size_t n;
};

static int file_of(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	return fd;
}

static int open_debug(void *context, const char *build_id, const char *link_name)
{
	const struct debug *debug = context;

	FUZZ_CHECK(!*build_id != !*link_name);
	FUZZ_CHECK(build_id[strspn(build_id, "0123456789abcdef")] == '\0');
	FUZZ_CHECK(!strchr(link_name, '/') && strcmp(link_name, "..") != 0);
	return debug->n ? file_of(debug->bytes, debug->n) : -1;
}

static void ask(struct elf_file *file, uint64_t offset)
{
	uint64_t into = 0, again = 0, address = 0;
	const char *name = elf_file_symbol(file, offset, &into);

	FUZZ_CHECK(elf_file_symbol(file, offset, &again) == name && again == into);
	if (!name)
		return;
	FUZZ_CHECK(*name && strlen(name) < 1U << 20);
	FUZZ_CHECK(elf_file_address(file, offset, &address));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct debug debug = {};
	struct elf_file *file;
	struct diag diag = {};
	uint32_t first;
	int fd;

	if (n < sizeof(first))
		return 0;
	memcpy(&first, bytes, sizeof(first));
	bytes += sizeof(first);
	n -= sizeof(first);
	if (first > n)
		first = (uint32_t)n;
	debug = (struct debug){bytes + first, n - first};
	fd = file_of(bytes, first);
	if (elf_file_open(&file, fd, open_debug, &debug, &diag)) {
		FUZZ_CHECK(*diag.what);
		close(fd);
		return 0;
	}
	close(fd);
	FUZZ_CHECK(strlen(elf_file_build_id(file)) % 2 == 0);
	for (uint64_t offset = 0; offset < first + 64; offset += 7)
		ask(file, offset);
	ask(file, UINT64_MAX);
	elf_file_free(file);
	return 0;
}
