/* A hostile ELF file, mapped as code twice: as it would be, and from its beginning. Before it in the input: a
 * byte that says how many words of stack there are, then for each a byte. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/unwind.h"
#include "sym/unwind_arch.h"
#include "tests/fuzz/fuzz.h"

#define START	   0x400000ULL
#define AGAIN	   0x7f0000000000ULL
#define STACK	   0x7ffd00000000ULL
#define BYTES_MAX  0x4000ULL

/* An address in the first mapping or the second, of the stack, or a small number. */
static uint64_t word_of(uint8_t byte, uint8_t next)
{
	uint64_t low = (uint64_t)(byte & 0x3f) << 8 | next;

	switch (byte >> 6) {
	case 0: return START + low;
	case 1: return AGAIN + low;
	case 2: return STACK + low % 2048;
	default: return low;
	}
}

static struct unwinder *map(const uint8_t *bytes, size_t n)
{
	struct unwind_mapping mapping = {START, START + BYTES_MAX, 0, "file", -1};
	struct unwinder *unwinder = unwinder_new();
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	FUZZ_CHECK(!ftruncate(fd, 0) && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	mapping.fd = fd;
	unwinder_add(unwinder, &mapping);
	mapping = (struct unwind_mapping){AGAIN, AGAIN + BYTES_MAX, 0x1000, "again", fd};
	unwinder_add(unwinder, &mapping);
	return unwinder;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t regs[UNWIND_REGS] = {}, words[256] = {}, frames[UNWIND_FRAMES];
	size_t n_words = n ? bytes[0] : 0, n_frames;
	struct unwind_state state = {.regs = regs, .memory = (const uint8_t *)words};
	struct unwinder *unwinder;
	bool truncated;

	if (n < 2 + n_words)
		return 0;
	for (size_t i = 0; i < n_words; i++)
		words[i] = word_of(bytes[1 + i], bytes[2 + i]);
	memcpy(regs, words, sizeof(regs));
	regs[UNWIND_SP] = STACK;
	state.bytes = 8 * n_words;
	unwinder = map(bytes + 1 + n_words, n - 1 - n_words);
	for (size_t i = 0; i < 3 && i < n_words; i++) {
		regs[UNWIND_PC] = START + words[i] % BYTES_MAX;
		n_frames = unwinder_run(unwinder, &state, frames, UNWIND_FRAMES, &truncated);
		FUZZ_CHECK(n_frames >= 1 && n_frames <= UNWIND_FRAMES);
	}
	unwinder_free(unwinder);
	return 0;
}
