/* Registers and stacks over files that are sound: this program and libc, at fixed addresses.
 *
 * Words of eight bytes, first the registers, then the stack. The top byte of a word may turn it into an address:
 * E of this program, C of libc, J of a mapping without a file, S of the stack. */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/unwind.h"
#include "sym/unwind_arch.h"
#include "tests/fuzz/fuzz.h"

#define PROGRAM	    0x400000000ULL
#define LIBC	    0x7f0000000000ULL
#define MADE	    0x10000000ULL
#define MADE_BYTES  0x10000ULL
#define STACK	    0x7ffd00000000ULL
#define WORDS_MAX   2048

/* Code of a file: where it is in it, how long. */
struct code {
	uint64_t offset, bytes;
};

static struct code program, libc;
/* The second one forgets all chains before each run. */
static struct unwinder *unwinder, *forgetful;

static const struct unwind_mapping made = {MADE, MADE + MADE_BYTES, 0, "", -1};

static int find_libc(struct dl_phdr_info *info, size_t size, void *ret_path)
{
	(void)size;
	if (strstr(info->dlpi_name, "libc.so"))
		*(const char **)ret_path = info->dlpi_name;
	return 0;
}

static void map(uint64_t start, const char *path, struct code *ret_code)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Phdr) segment;
	ElfW(Ehdr) header;

	FUZZ_CHECK(fd >= 0 && pread(fd, &header, sizeof(header), 0) == sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		FUZZ_CHECK(pread(fd, &segment, sizeof(segment),
				 (off_t)(header.e_phoff + i * sizeof(segment))) ==
			   sizeof(segment));
		if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
			*ret_code = (struct code){segment.p_offset, segment.p_filesz};
	}
	FUZZ_CHECK(ret_code->bytes);
	for (int i = 0; i < 2; i++)
		unwinder_add(i ? forgetful : unwinder,
			     &(struct unwind_mapping){start, start + ret_code->bytes,
						      ret_code->offset, path, fd});
	close(fd);
}

static void set_up(void)
{
	const char *path = NULL;

	unwinder = unwinder_new();
	forgetful = unwinder_new();
	dl_iterate_phdr(find_libc, &path);
	FUZZ_CHECK(path);
	map(PROGRAM, "/proc/self/exe", &program);
	map(LIBC, path, &libc);
	unwinder_add(unwinder, &made);
	unwinder_add(forgetful, &made);
}

static uint64_t word_of(const uint8_t *bytes)
{
	uint64_t word, low;

	memcpy(&word, bytes, sizeof(word));
	low = word & 0xffffffffffffff;
	switch (word >> 56) {
	case 'E': return PROGRAM + low % program.bytes;
	case 'C': return LIBC + low % libc.bytes;
	case 'J': return MADE + low % MADE_BYTES;
	case 'S': return STACK + low % (8 * WORDS_MAX);
	default: return word;
	}
}

static size_t run(struct unwinder *with, const struct unwind_state *state, uint64_t *ret_frames,
		  bool *ret_truncated)
{
	size_t n = unwinder_run(with, state, ret_frames, UNWIND_FRAMES, ret_truncated);

	FUZZ_CHECK(n <= UNWIND_FRAMES);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t first[UNWIND_FRAMES], again[UNWIND_FRAMES], other[UNWIND_FRAMES];
	uint64_t regs[UNWIND_REGS] = {}, words[WORDS_MAX];
	struct unwind_state state = {.regs = regs, .memory = (const uint8_t *)words};
	size_t have = n / 8, used = 0, frames;
	bool truncated, was;

	if (!unwinder)
		set_up();
	for (size_t i = 0; i < UNWIND_USED && used < have; i++)
		regs[i] = word_of(bytes + 8 * used++);
	for (size_t i = 0; i < WORDS_MAX && used < have; i++, state.bytes += 8)
		words[i] = word_of(bytes + 8 * used++);
	frames = run(unwinder, &state, first, &truncated);
	FUZZ_CHECK(run(unwinder, &state, again, &was) == frames && was == truncated);
	FUZZ_CHECK(!memcmp(first, again, frames * sizeof(*first)));
	unwinder_add(forgetful, &made);
	FUZZ_CHECK(run(forgetful, &state, other, &was) == frames && was == truncated);
	FUZZ_CHECK(!memcmp(first, other, frames * sizeof(*first)));
	return 0;
}
