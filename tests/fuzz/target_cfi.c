/* Programs of call frame information, as one entry of a file: what cfi_check lets pass, libdw must survive.
 *
 * Bytes: alignments of code and data, the return address's register, flags, where in the function, length of
 * the CIE's program, it, the FDE's program. */
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_rule.h"
#include "sym/unwind_arch.h"
#include "tests/fuzz/fuzz.h"

#define START 0x1000ULL
#define END   0x1100ULL
#define BIAS  0x7f0000000000ULL
#define STACK 0x7ffd00000000ULL

static bool read_word(void *context, uint64_t address, uint64_t *ret_word)
{
	unsigned *left = context;

	if (!*left || address % 4096 > 4000)
		return false;
	--*left;
	*ret_word = address ^ BIAS;
	return true;
}

static void step(const struct cfi_entry *entry, uint8_t where)
{
	struct cfi_rule *rule = cfi_rule_new(entry, BIAS);
	struct unwind_frame frame = {
		.known = UNWIND_BIT(UNWIND_USED) - 1,
		.pc = BIAS + START + where,
		.exact = true,
	};
	unsigned left = 1000;

	if (!rule)
		return;
	for (unsigned i = 0; i < UNWIND_REGS; i++)
		frame.regs[i] = STACK + 64 * i;
	/* Twice: libdw keeps what it has read. */
	for (int i = 0; i < 2; i++) {
		struct unwind_frame at = frame;

		if (cfi_rule_step(rule, &at, read_word, &left) == UNWIND_MOVED)
			FUZZ_CHECK(at.pc == at.regs[UNWIND_PC]);
	}
	cfi_rule_free(rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cfi_entry entry = {.start = START, .end = END};
	uint8_t length;
	char *copy;

	if (n < 6)
		return 0;
	length = bytes[5] < n - 6 ? bytes[5] : (uint8_t)(n - 6);
	/* A copy, so that reading beyond the end is seen. */
	copy = fuzz_text(bytes, n);
	entry.common = (struct cfi_common){
		.code_align = (uint64_t)bytes[0] + 1,
		.data_align = (int8_t)bytes[1],
		.return_reg = bytes[2] % CFI_REGS,
		.signal = bytes[3] & 1,
		.program = (const uint8_t *)copy + 6,
		.program_bytes = length,
	};
	entry.program = (const uint8_t *)copy + 6 + length;
	entry.program_bytes = n - 6 - length;
	step(&entry, bytes[4]);
	free(copy);
	return 0;
}
