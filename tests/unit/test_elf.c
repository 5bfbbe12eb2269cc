/* Symbols of ELF files that are built here, and of this machine's programs beside nm and eu-addr2line. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/elf.h"
#include "tests/unit/folder.h"

static const char source[] =
	"static __attribute__((noinline)) int inner(int x) { __asm__(\"\"); return x * 3; }\n"
	"__attribute__((noinline)) int outer(int x) { return inner(x) + 2; }\n"
	"int outer_by_a_longer_name(int x) __attribute__((alias(\"outer\")));\n"
	"int out(int x) __attribute__((weak, alias(\"outer\")));\n"
	"__attribute__((noinline)) int __called(int x) { return inner(x) + 5; }\n"
	"int called_as_documented(int x) __attribute__((weak, alias(\"__called\")));\n"
	"__attribute__((noinline)) int _Z7mangledi(int x) { return inner(x) + 7; }\n"
	"static __attribute__((used, alias(\"_Z7mangledi\"))) int m(int x);\n"
	"__asm__(\".text\\n.p2align 4\\n\"\n"
	"	\".type whole, %function\\nwhole: .skip 32, 0x90\\n\"\n"
	"	\"label_inside: .skip 16, 0x90\\n.size whole, . - whole\\n.skip 16, 0x90\\n\"\n"
	"	\".type without_size, %function\\nwithout_size: .skip 48, 0x90\\n\"\n"
	"	\".type small, %function\\nsmall: .skip 16, 0x90\\n.size small, . - small\\n\"\n"
	"	\".skip 32, 0x90\\n\");\n"
	"int main(int argc, char **argv) { (void)argv; return outer(argc); }\n";


__attribute__((format(printf, 2, 3))) static void in_folder(const struct folder *folder,
							     const char *fmt, ...)
{
	char *command, *whole;
	va_list args;

	va_start(args, fmt);
	assert_true(vasprintf(&command, fmt, args) >= 0);
	va_end(args);
	whole = mem_printf("cd %s && %s", folder->root, command);
	assert_int_equal(system(whole), 0);
	free(whole);
	free(command);
}

static int open_in(const struct folder *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder->root, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

/* Builds `full`, `full.debug` (symbols alone) and `stripped`. */
static void build(struct folder *folder, const char *flags)
{
	folder_make(folder);
	folder_put(folder, "a.c", source);
	in_folder(folder, "gcc -O1 %s -o full a.c && objcopy --only-keep-debug full full.debug && "
			  "strip -o stripped full && nm full > names", flags);
}

/* ---- independent answers ----------------------------------------------------------------------- */

/* Place in the file of an address; UINT64_MAX: not in the file. */
static uint64_t offset_of(int fd, uint64_t address)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (int i = 0; i < header.e_phnum; i++) {
		assert_int_equal(pread(fd, &segment, sizeof(segment),
				       (off_t)(header.e_phoff + (uint64_t)i * sizeof(segment))),
				 sizeof(segment));
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	}
	return UINT64_MAX;
}

static uint64_t nm_address(const struct folder *folder, const char *name)
{
	FILE *in = fdopen(open_in(folder, "names"), "r");
	char line[512], type, found[256];
	uint64_t address, result = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, found) == 3 &&
		    !strcmp(found, name))
			result = address;
	fclose(in);
	assert_true(result);
	return result;
}

/* ---- subjects ---------------------------------------------------------------------------------- */

/* name NULL: none. */
static void check_at(struct elf_file *file, const struct folder *folder, const char *base,
		     uint64_t distance, const char *name, uint64_t into)
{
	int fd = open_in(folder, "full");
	uint64_t address = nm_address(folder, base) + distance, got = 0, itself = 0;
	uint64_t offset = offset_of(fd, address);
	const char *found = elf_file_symbol(file, offset, &got);

	assert_true(elf_file_address(file, offset, &itself));
	assert_int_equal(itself, address);
	if (!name) {
		assert_null(found);
	} else {
		assert_non_null(found);
		assert_string_equal(found, name);
		assert_int_equal(got, into);
	}
	close(fd);
}

static void check_all(struct elf_file *file, const struct folder *folder)
{
	check_at(file, folder, "inner", 1, "inner", 1);
	check_at(file, folder, "main", 0, "main", 0);
	/* Global before weak, then the shortest. */
	check_at(file, folder, "outer", 2, "outer", 2);
	/* Fewer underscores before global; those of a mangled name are none. */
	check_at(file, folder, "__called", 1, "called_as_documented", 1);
	check_at(file, folder, "_Z7mangledi", 1, "_Z7mangledi", 1);
	/* A label in a function that has a size is not one. */
	check_at(file, folder, "whole", 40, "whole", 40);
	check_at(file, folder, "whole", 48, NULL, 0);
	check_at(file, folder, "without_size", 47, "without_size", 47);
	check_at(file, folder, "small", 15, "small", 15);
	check_at(file, folder, "small", 16, NULL, 0);
}

static struct elf_file *open_subject(const struct folder *folder, const char *name,
				     elf_debug_opener *opener, void *context)
{
	struct elf_file *file;
	struct diag diag = {};
	int fd = open_in(folder, name);

	assert_true(fd >= 0);
	if (elf_file_open(&file, fd, opener, context, &diag))
		fail_msg("%s", diag.what);
	close(fd);
	return file;
}

static void functions_are_found_in_each_layout(void **state)
{
	static const char *const flags[] = {"-no-pie -fno-pie", "-pie -fPIE", "-static",
					    "-pie -fPIE -Wl,-z,noseparate-code"};
	uint64_t into, address;

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct folder folder;
		struct elf_file *file;

		build(&folder, flags[i]);
		file = open_subject(&folder, "full", NULL, NULL);
		check_all(file, &folder);
		assert_null(elf_file_symbol(file, UINT64_MAX, &into));
		assert_false(elf_file_address(file, (uint64_t)1 << 40, &address));
		elf_file_free(file);
		file = open_subject(&folder, "stripped", NULL, NULL);
		check_at(file, &folder, "inner", 1, NULL, 0);
		elf_file_free(file);
		folder_remove(&folder);
	}
	elf_file_free(NULL);
}

/* ---- separate debug files ---------------------------------------------------------------------- */

struct opener {
	const struct folder *folder;
	const char *by_id, *by_link; /* what is handed out */
	char asked_id[130], asked_link[64];
};

static int hand_out(void *context, const char *build_id, const char *link_name)
{
	struct opener *opener = context;
	const char *name = *build_id ? opener->by_id : opener->by_link;

	if (*build_id)
		snprintf(opener->asked_id, sizeof(opener->asked_id), "%s", build_id);
	else
		snprintf(opener->asked_link, sizeof(opener->asked_link), "%s", link_name);
	return name ? open_in(opener->folder, name) : -1;
}

/* Whether the functions of `name` are found with these debug files. */
static void check_debug(const struct folder *folder, const char *name, const char *by_id,
			const char *by_link, bool found)
{
	struct opener opener = {.folder = folder, .by_id = by_id, .by_link = by_link};
	struct elf_file *file = open_subject(folder, name, hand_out, &opener);

	if (found)
		check_all(file, folder);
	else
		check_at(file, folder, "inner", 1, NULL, 0);
	elf_file_free(file);
}

static void the_build_id_decides(void **state)
{
	struct opener opener = {};
	struct folder folder;
	struct elf_file *file;
	char line[256] = "", id[130];
	uint64_t into;
	FILE *in;

	(void)state;
	build(&folder, "-Wl,--build-id=sha1");
	in_folder(&folder, "gcc -O0 -Wl,--build-id=sha1 -o other a.c && "
			   "objcopy --add-gnu-debuglink=full.debug stripped linked && "
			   "readelf -n full | sed -n 's/.*Build ID: //p' > id");
	check_debug(&folder, "stripped", "full.debug", NULL, true);
	check_debug(&folder, "stripped", "full", NULL, true);
	check_debug(&folder, "stripped", "stripped", NULL, false);
	check_debug(&folder, "stripped", "id", NULL, false); /* no ELF file */
	check_debug(&folder, "stripped", "other", NULL, false);
	check_debug(&folder, "linked", NULL, "full.debug", true);
	check_debug(&folder, "linked", "other", "full.debug", true);
	/* Another build, though by the right name. */
	check_debug(&folder, "linked", NULL, "other", false);

	opener.folder = &folder;
	file = open_subject(&folder, "linked", hand_out, &opener);
	assert_null(elf_file_symbol(file, 0x1000, &into));
	assert_string_equal(opener.asked_link, "full.debug");
	in = fdopen(open_in(&folder, "id"), "r");
	assert_non_null(fgets(line, sizeof(line), in));
	fclose(in);
	assert_int_equal(sscanf(line, "%129s", id), 1);
	assert_string_equal(opener.asked_id, id);
	assert_string_equal(elf_file_build_id(file), id);
	elf_file_free(file);
	folder_remove(&folder);
}

static void without_ids_the_checksum_decides(void **state)
{
	struct folder folder;
	struct elf_file *file;

	(void)state;
	build(&folder, "-Wl,--build-id=none");
	in_folder(&folder, "objcopy --add-gnu-debuglink=full.debug stripped linked && "
			   "cp full.debug longer && printf x >> longer");
	file = open_subject(&folder, "full", NULL, NULL);
	assert_string_equal(elf_file_build_id(file), "");
	elf_file_free(file);
	check_debug(&folder, "linked", NULL, "full.debug", true);
	check_debug(&folder, "linked", NULL, "longer", false);
	check_debug(&folder, "linked", NULL, NULL, false);
	check_debug(&folder, "stripped", NULL, "full.debug", false); /* it names none */
	folder_remove(&folder);
}

/* ---- what lies in the file --------------------------------------------------------------------- */

static uint8_t *read_file(const struct folder *folder, const char *name, size_t *ret_bytes)
{
	int fd = open_in(folder, name);
	off_t n = lseek(fd, 0, SEEK_END);
	uint8_t *bytes = mem_zalloc((size_t)n);

	assert_int_equal(pread(fd, bytes, (size_t)n, 0), n);
	close(fd);
	*ret_bytes = (size_t)n;
	return bytes;
}

static void write_file(const struct folder *folder, const char *name, const uint8_t *bytes,
		       size_t n)
{
	char *path = mem_printf("%s/%s", folder->root, name);
	FILE *out = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, n, out), n);
	assert_int_equal(fclose(out), 0);
	free(path);
}

/* Packs full.debug, with so many zeros behind it. */
static void pack_debug(const struct folder *folder, size_t zeros)
{
	size_t n, packed = 0, cap;
	uint8_t *bytes = read_file(folder, "full.debug", &n), *out;

	bytes = mem_realloc(bytes, n + zeros, 1);
	memset(bytes + n, 0, zeros);
	cap = lzma_stream_buffer_bound(n + zeros);
	out = mem_zalloc(cap);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes, n + zeros, out,
						 &packed, cap),
			 LZMA_OK);
	write_file(folder, "debug.xz", out, packed);
	free(out);
	free(bytes);
	in_folder(folder, "objcopy --add-section .gnu_debugdata=debug.xz stripped packed");
}

static void packed_symbols_are_found(void **state)
{
	struct folder folder;

	(void)state;
	build(&folder, "-rdynamic");
	pack_debug(&folder, 0);
	check_debug(&folder, "packed", NULL, NULL, true);
	/* 4 MB out of a few KB: more than symbols can be. */
	pack_debug(&folder, (size_t)4 << 20);
	check_debug(&folder, "packed", NULL, NULL, false);
	/* Cut short. */
	pack_debug(&folder, 0);
	in_folder(&folder, "head -c 300 debug.xz > cut.xz && "
			   "objcopy --add-section .gnu_debugdata=cut.xz stripped packed");
	check_debug(&folder, "packed", NULL, NULL, false);
	folder_remove(&folder);
}

static void exported_functions_are_found(void **state)
{
	struct folder folder;
	struct elf_file *file;

	(void)state;
	build(&folder, "-rdynamic");
	file = open_subject(&folder, "stripped", NULL, NULL);
	check_at(file, &folder, "outer", 1, "outer", 1);
	check_at(file, &folder, "inner", 1, NULL, 0);
	elf_file_free(file);
	folder_remove(&folder);
}

/* ---- strange files ----------------------------------------------------------------------------- */

/* Calls `change` on each symbol of the bytes of a file. */
static void each_symbol(uint8_t *bytes, void (*change)(Elf64_Sym *symbol, const char *name))
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++) {
		Elf64_Sym *symbols = (Elf64_Sym *)(bytes + sections[i].sh_offset);
		const char *names = (char *)bytes + sections[sections[i].sh_link].sh_offset;

		for (size_t k = 0; sections[i].sh_type == SHT_SYMTAB &&
				   k < sections[i].sh_size / sizeof(*symbols);
		     k++)
			change(&symbols[k], names + symbols[k].st_name);
	}
}

static void make_endless(Elf64_Sym *symbol, const char *name)
{
	if (!strcmp(name, "small"))
		symbol->st_size = UINT64_MAX;
	else if (!strcmp(name, "outer_by_a_longer_name"))
		symbol->st_value = UINT64_MAX - 1;
	else if (!strcmp(name, "out"))
		symbol->st_shndx = 60000;
}

static void sizes_end_with_the_section(void **state)
{
	struct folder folder;
	struct elf_file *file;
	uint8_t *bytes;
	size_t n;

	(void)state;
	build(&folder, "-no-pie -fno-pie");
	bytes = read_file(&folder, "full", &n);
	each_symbol(bytes, make_endless);
	write_file(&folder, "endless", bytes, n);
	free(bytes);
	file = open_subject(&folder, "endless", NULL, NULL);
	check_at(file, &folder, "small", 40, "small", 40);
	check_at(file, &folder, "main", 1, "main", 1); /* starts later */
	check_at(file, &folder, "_init", 0, "_init", 0);
	check_at(file, &folder, "_fini", 1, "_fini", 1);
	elf_file_free(file);
	folder_remove(&folder);
}

#define PRELINK_SHIFT 0x10000000

static void shift_back(Elf64_Sym *symbol, const char *name)
{
	(void)name;
	if (symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE)
		symbol->st_value += PRELINK_SHIFT;
}

/* The debug file of a library that prelink has moved has the addresses of before. */
static void a_moved_file_fits_its_debug_file(void **state)
{
	struct folder folder;
	Elf64_Ehdr *header;
	uint8_t *bytes;
	size_t n;

	(void)state;
	build(&folder, "-pie -fPIE -Wl,--build-id=sha1");
	bytes = read_file(&folder, "full.debug", &n);
	header = (Elf64_Ehdr *)bytes;
	for (int i = 0; i < header->e_phnum; i++)
		((Elf64_Phdr *)(bytes + header->e_phoff))[i].p_vaddr += PRELINK_SHIFT;
	for (int i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr *section = (Elf64_Shdr *)(bytes + header->e_shoff) + i;

		if (section->sh_flags & SHF_ALLOC)
			section->sh_addr += PRELINK_SHIFT;
	}
	each_symbol(bytes, shift_back);
	write_file(&folder, "moved.debug", bytes, n);
	free(bytes);
	check_debug(&folder, "stripped", "moved.debug", NULL, true);
	folder_remove(&folder);
}

static void open_bytes(const struct folder *folder, const uint8_t *bytes, size_t n)
{
	struct elf_file *file;
	struct diag diag = {};
	uint64_t into;
	int fd;

	write_file(folder, "cut", bytes, n);
	fd = open_in(folder, "cut");
	if (elf_file_open(&file, fd, NULL, NULL, &diag)) {
		assert_true(*diag.what);
	} else {
		for (uint64_t offset = 0; offset < n; offset += 512)
			elf_file_symbol(file, offset, &into);
		elf_file_free(file);
	}
	close(fd);
}

static void broken_files_do_no_harm(void **state)
{
	struct elf_file *file = NULL;
	struct diag diag = {};
	struct folder folder;
	uint8_t *bytes;
	size_t n;

	(void)state;
	assert_int_equal(elf_file_open(&file, -1, NULL, NULL, &diag), -EBADF);
	build(&folder, "-no-pie -fno-pie");
	bytes = read_file(&folder, "full", &n);
	for (size_t i = 0; i < 64; i++)
		open_bytes(&folder, bytes, i);
	for (size_t i = 64; i < n; i += 397)
		open_bytes(&folder, bytes, i);
	for (size_t i = 0; i < 64 * 3; i++) {
		bytes[i] ^= 0xff;
		open_bytes(&folder, bytes, n);
		bytes[i] ^= 0xff;
	}
	bytes[EI_CLASS] = ELFCLASS32;
	write_file(&folder, "other", bytes, n);
	free(bytes);
	assert_int_equal(elf_file_open(&file, open_in(&folder, "other"), NULL, NULL, &diag), -EINVAL);
	assert_string_equal(diag.what,
			    "this ELF file is of another word size or byte order than ours");
	assert_int_equal(elf_file_open(&file, open_in(&folder, "a.c"), NULL, NULL, &diag), -EINVAL);
	assert_string_equal(diag.what, "this is no ELF file");
	assert_int_equal(elf_file_open(&file, open_in(&folder, "."), NULL, NULL, &diag), -EINVAL);
	assert_string_equal(diag.what, "this is no regular file");
	assert_null(file);
	folder_remove(&folder);
}

/* ---- programs of this machine ------------------------------------------------------------------ */

static int open_installed(void *context, const char *build_id, const char *link_name)
{
	char path[256];

	(void)context;
	(void)link_name;
	if (strlen(build_id) < 3)
		return -1;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Each function that nm lists with a size is found at its first and last byte: at the first by a name that
 * starts there, too. Returns how many. */
static size_t compare_with_nm(const char *path, const char *options)
{
	char *command = mem_printf("nm --defined-only -S %s %s", options, path), line[8192], type;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t address, size, into;
	struct elf_file *file;
	size_t n = 0;
	FILE *in;

	assert_int_equal(elf_file_open(&file, fd, NULL, NULL, NULL), 0);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		uint64_t offset;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c", &address, &size, &type) != 3 ||
		    !strchr("tTwWi", type))
			continue;
		offset = offset_of(fd, address);
		assert_non_null(elf_file_symbol(file, offset, &into));
		assert_int_equal(into, 0);
		assert_non_null(elf_file_symbol(file, offset + size - 1, &into));
		assert_true(into < size);
		n++;
	}
	assert_int_equal(pclose(in), 0);
	free(command);
	elf_file_free(file);
	close(fd);
	return n;
}

static void nm_agrees(void **state)
{
	char self[512] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_true(compare_with_nm(self, "") > 20);
	if (!access("/usr/bin/python3", R_OK))
		assert_true(compare_with_nm("/usr/bin/python3", "-D") > 500);
}

/* 400 places of a program's code: the distance into the function is what elfutils says, and where we know none,
 * neither does it. Names may be others of the same address. */
static void compare_with_addr2line(const char *path)
{
	char *command, line[8192], position[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t address, into, theirs, named = 0;
	struct elf_file *file;
	FILE *in;

	if (fd < 0)
		return;
	assert_int_equal(elf_file_open(&file, fd, open_installed, NULL, NULL), 0);
	command = mem_printf("readelf -lW %s | awk '/LOAD.* R E / { print $3, $5 }' | python3 -c '\n"
			     "import random\n"
			     "start, size = (int(x, 16) for x in input().split())\n"
			     "for i in range(400): print(hex(start + random.Random(i).randrange(size)))' | "
			     "eu-addr2line -a -S -e %s",
			     path, path);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		char symbol[8192] = "", *plus;
		const char *name;

		assert_int_equal(sscanf(line, "%" SCNx64, &address), 1);
		assert_non_null(fgets(symbol, sizeof(symbol), in));
		assert_non_null(fgets(position, sizeof(position), in));
		name = elf_file_symbol(file, offset_of(fd, address), &into);
		/* "name+0x1f", "name", "??", and "+0x1f" or "()" for none. */
		if (strchr("?+(", *symbol)) {
			assert_null(name);
			continue;
		}
		plus = strrchr(symbol, '+');
		theirs = plus ? strtoull(plus + 1, NULL, 16) : 0;
		assert_non_null(name);
		assert_int_equal(into, theirs);
		named++;
	}
	assert_int_equal(pclose(in), 0);
	assert_true(named > 10);
	free(command);
	elf_file_free(file);
	close(fd);
}

static void addr2line_agrees(void **state)
{
	(void)state;
	compare_with_addr2line("/usr/bin/python3");
	compare_with_addr2line("/usr/bin/redis-server");
	compare_with_addr2line("/lib/x86_64-linux-gnu/libc.so.6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_in_each_layout),
		cmocka_unit_test(the_build_id_decides),
		cmocka_unit_test(without_ids_the_checksum_decides),
		cmocka_unit_test(packed_symbols_are_found),
		cmocka_unit_test(exported_functions_are_found),
		cmocka_unit_test(sizes_end_with_the_section),
		cmocka_unit_test(a_moved_file_fits_its_debug_file),
		cmocka_unit_test(broken_files_do_no_harm),
		cmocka_unit_test(nm_agrees),
		cmocka_unit_test(addr2line_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
