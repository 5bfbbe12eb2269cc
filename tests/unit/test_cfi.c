/* Entries of call frame information: what libdw may be given, and what not. */
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <string.h>

#include "sym/cfi.h"

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static uint64_t sources;

static bool passes(const uint8_t *program, size_t n)
{
	struct cfi_entry entry = {.start = 1, .end = 2, .program = program, .program_bytes = n};

	return cfi_check(&entry, &sources);
}

static void test_what_compilers_write(void **state)
{
	(void)state;
	assert_true(passes(PROGRAM(0x41, DW_CFA_def_cfa_offset, 16, 0x86, 2, 0x43,
				   DW_CFA_def_cfa_register, 6, DW_CFA_remember_state, 0x5a,
				   DW_CFA_def_cfa, 7, 8, 0xc6, DW_CFA_restore_state)));
	assert_int_equal(sources, 1 << 6 | 1 << 7);
	/* The procedure linkage table's. */
	assert_true(passes(PROGRAM(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
				   DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
				   DW_OP_shl, DW_OP_plus)));
	assert_int_equal(sources, 1 << 7 | 1 << 16);
	/* A trampoline's. */
	assert_true(passes(PROGRAM(DW_CFA_expression, 8, 2, DW_OP_breg7, 40)));
	assert_true(passes(PROGRAM(DW_CFA_register, 16, 2)));
	assert_int_equal(sources, 1 << 2);
}

/* Each of these makes libdw 0.188 crash, or take what it finds. */
static void test_what_harms(void **state)
{
	(void)state;
	/* Size of a read in a rule for the CFA: through NULL. */
	assert_false(passes(PROGRAM(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0,
				    DW_OP_deref_size, 4)));
	/* INT64_MIN / -1. */
	assert_false(passes(PROGRAM(DW_CFA_val_expression, 3, 6, DW_OP_lit1, DW_OP_const1u, 63,
				    DW_OP_shl, DW_OP_lit0, DW_OP_div)));
	/* Backwards. */
	assert_false(passes(PROGRAM(DW_CFA_expression, 3, 3, DW_OP_skip, 0xfd, 0xff)));
	/* Two gigabytes of registers. */
	assert_false(passes(PROGRAM(DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x3f, 1)));
	assert_false(passes(PROGRAM(DW_CFA_undefined, 0x80, 1)));
	/* Operands that are cut off. */
	assert_false(passes(PROGRAM(DW_CFA_advance_loc1)));
	assert_false(passes(PROGRAM(DW_CFA_def_cfa, 7)));
	assert_false(passes(PROGRAM(DW_CFA_def_cfa, 0x80)));
	assert_false(passes(PROGRAM(DW_CFA_expression, 3, 9, DW_OP_lit0)));
	assert_false(passes(PROGRAM(DW_CFA_expression, 3, 1, DW_OP_breg7)));
	assert_false(passes(PROGRAM(DW_CFA_expression, 3, 0)));
	/* States: one that was not remembered, and too many. */
	assert_false(passes(PROGRAM(DW_CFA_restore_state)));
	uint8_t many[100];

	memset(many, DW_CFA_remember_state, sizeof(many));
	assert_false(passes(many, sizeof(many)));
	assert_false(passes(PROGRAM(0x3f)));
}

static void test_common(void **state)
{
	static const uint8_t good[] = {0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b,
				       DW_CFA_def_cfa, 7, 8};
	struct cfi_common common;
	uint8_t bytes[sizeof(good)];

	(void)state;
	assert_true(cfi_read_common(&(struct cfi_bytes){good, sizeof(good), 0}, &common));
	assert_true(common.signal && common.sized);
	assert_int_equal(common.encoding, 0x1b);
	assert_int_equal(common.data_align, -8);
	assert_int_equal(common.return_reg, 16);
	assert_int_equal(common.program_bytes, 3);
	for (size_t n = 4; n < 14; n++)
		assert_false(cfi_read_common(&(struct cfi_bytes){good, n, 0}, &common));
	memcpy(bytes, good, sizeof(bytes));
	bytes[12] = 200; /* augmentation data beyond the end */
	assert_false(cfi_read_common(&(struct cfi_bytes){bytes, sizeof(bytes), 0}, &common));
	memcpy(bytes, good, sizeof(bytes));
	bytes[12] = 0; /* none for the R */
	assert_false(cfi_read_common(&(struct cfi_bytes){bytes, sizeof(bytes), 0}, &common));
	memcpy(bytes, good, sizeof(bytes));
	bytes[7] = '?';
	assert_false(cfi_read_common(&(struct cfi_bytes){bytes, sizeof(bytes), 0}, &common));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_compilers_write),
		cmocka_unit_test(test_what_harms),
		cmocka_unit_test(test_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
