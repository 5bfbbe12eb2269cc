/* Taking entries of call frame information apart, and checking their programs. */
#include "sym/cfi.h"

#include <dwarf.h>
#include <string.h>

#include "sym/cursor.h"

#define EXPRESSION_BYTES 256 /* of one; the longest of glibc has 9 */
#define REMEMBERED	 64  /* states at a time; compilers remember one */
#define LETTERS		 16  /* of an augmentation, NUL included; the longest is zPLRSB */

/* ---- addresses --------------------------------------------------------------------------------- */

static size_t encoded_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4: return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2: return 2;
	default: return 0;
	}
}

/* Absolute ones and those relative to their own place, of a fixed size: linkers write no others. */
static uint64_t encoded_address(struct cursor *c, const struct cfi_bytes *bytes, uint8_t encoding)
{
	uint64_t place = bytes->address + (uint64_t)(c->at - bytes->at);
	size_t n = encoded_bytes(encoding);
	uint64_t number;

	if (!n || (encoding & 0xf0 & ~DW_EH_PE_pcrel)) {
		c->bad = true;
		return 0;
	}
	number = cursor_number(c, n);
	if ((encoding & DW_EH_PE_signed) && n < 8 && number >> (8 * n - 1))
		number |= ~0ULL << (8 * n);
	return encoding & DW_EH_PE_pcrel ? place + number : number;
}

/* ---- entries ----------------------------------------------------------------------------------- */

/* The letters after z. Returns false at one that is not known: what it means is not known either. */
static bool read_augmentation(struct cursor data, const char *letters, struct cfi_common *common)
{
	for (; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R': common->encoding = (uint8_t)cursor_number(&data, 1); break;
		case 'L': cursor_skip(&data, 1); break;
		case 'S': common->signal = true; break;
		case 'B': break; /* arm64: return addresses are signed with the other key */
		case 'P':
			encoding = (uint8_t)cursor_number(&data, 1);
			if (!encoded_bytes(encoding))
				return false;
			cursor_skip(&data, encoded_bytes(encoding));
			break;
		default: return false;
		}
	}
	return !data.bad;
}

static bool common_is_sound(const struct cfi_common *common)
{
	return common->code_align >= 1 && common->code_align <= CFI_ALIGN_MAX &&
	       common->data_align >= -CFI_ALIGN_MAX && common->data_align <= CFI_ALIGN_MAX &&
	       common->return_reg < CFI_REGS;
}

bool cfi_read_common(const struct cfi_bytes *bytes, struct cfi_common *ret_common)
{
	struct cursor c = {.at = bytes->at, .left = bytes->n};
	struct cfi_common common = {.encoding = DW_EH_PE_absptr};
	const uint8_t *nul;
	const char *letters;
	uint64_t version;

	cursor_number(&c, 4); /* what says that it is a CIE */
	version = cursor_number(&c, 1);
	letters = (const char *)c.at;
	nul = memchr(c.at, 0, c.left < LETTERS ? c.left : LETTERS);
	if (!nul || (version != 1 && version != 3 && version != 4))
		return false;
	cursor_skip(&c, (uint64_t)(nul - c.at) + 1);
	/* Size of an address, and of a segment selector. */
	if (version == 4) {
		uint64_t address = cursor_number(&c, 1), segment = cursor_number(&c, 1);

		if (address != 8 || segment)
			return false;
	}
	common.code_align = cursor_uleb(&c);
	common.data_align = cursor_sleb(&c);
	common.return_reg = version == 1 ? cursor_number(&c, 1) : cursor_uleb(&c);
	if (*letters == 'z') {
		struct cursor data = {.left = cursor_uleb(&c)};

		data.at = cursor_skip(&c, data.left);
		if (c.bad || !read_augmentation(data, letters + 1, &common))
			return false;
		common.sized = true;
	} else if (*letters) {
		return false;
	}
	common.program = c.at;
	common.program_bytes = c.left;
	if (c.bad || !common_is_sound(&common))
		return false;
	*ret_common = common;
	return true;
}

bool cfi_read_entry(const struct cfi_bytes *bytes, struct cfi_entry *ret_entry)
{
	struct cursor c = {.at = bytes->at, .left = bytes->n};
	const struct cfi_common *common = &ret_entry->common;
	uint64_t start, length;

	cursor_number(&c, 4); /* where its CIE is */
	start = encoded_address(&c, bytes, common->encoding);
	length = encoded_address(&c, bytes, common->encoding & 0x07);
	if (common->sized)
		cursor_skip(&c, cursor_uleb(&c));
	if (c.bad || !length || start + length < start)
		return false;
	ret_entry->start = start;
	ret_entry->end = start + length;
	ret_entry->program = c.at;
	ret_entry->program_bytes = c.left;
	return true;
}

/* ---- programs ---------------------------------------------------------------------------------- */

struct check {
	struct cursor c;
	uint64_t sources;
	unsigned remembered;
};

static void check_register(struct check *check)
{
	if (cursor_uleb(&check->c) >= CFI_REGS)
		check->c.bad = true;
}

static void note_source(struct check *check, uint64_t reg)
{
	if (reg >= CFI_REGS)
		check->c.bad = true;
	else if (reg < 64)
		check->sources |= 1ULL << reg;
}

/* Operands of what may stand in an expression. Neither jumps (time) nor DW_OP_div and deref_size (libdw ends
 * the process) nor addresses of the file (the entry is moved). Returns false for those. */
static bool check_operation(struct check *check, struct cursor *e)
{
	uint64_t op = cursor_number(e, 1);

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return true;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		cursor_sleb(e);
		note_source(check, op - DW_OP_breg0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick: cursor_skip(e, 1); return true;
	case DW_OP_const2u:
	case DW_OP_const2s: cursor_skip(e, 2); return true;
	case DW_OP_const4u:
	case DW_OP_const4s: cursor_skip(e, 4); return true;
	case DW_OP_const8u:
	case DW_OP_const8s: cursor_skip(e, 8); return true;
	case DW_OP_constu:
	case DW_OP_plus_uconst: cursor_uleb(e); return true;
	case DW_OP_consts: cursor_sleb(e); return true;
	case DW_OP_bregx:
		note_source(check, cursor_uleb(e));
		cursor_sleb(e);
		return true;
	case DW_OP_deref: case DW_OP_dup: case DW_OP_drop: case DW_OP_over: case DW_OP_swap:
	case DW_OP_rot: case DW_OP_abs: case DW_OP_and: case DW_OP_minus: case DW_OP_mul:
	case DW_OP_neg: case DW_OP_not: case DW_OP_or: case DW_OP_plus: case DW_OP_shl:
	case DW_OP_shr: case DW_OP_shra: case DW_OP_xor: case DW_OP_eq: case DW_OP_ge:
	case DW_OP_gt: case DW_OP_le: case DW_OP_lt: case DW_OP_ne: case DW_OP_nop: return true;
	default: return false;
	}
}

static void check_expression(struct check *check)
{
	struct cursor e = {.left = cursor_uleb(&check->c)};

	if (!e.left || e.left > EXPRESSION_BYTES)
		check->c.bad = true;
	e.at = cursor_skip(&check->c, e.left);
	while (!check->c.bad && e.left) {
		if (!check_operation(check, &e) || e.bad)
			check->c.bad = true;
	}
}

static void check_remembered(struct check *check, bool more)
{
	if (more ? check->remembered == REMEMBERED : !check->remembered)
		check->c.bad = true;
	else
		check->remembered += more ? 1 : -1U;
}

/* Instructions whose operands are all in bytes of their own. */
static void check_extended(struct check *check, uint64_t op)
{
	struct cursor *c = &check->c;

	switch (op) {
	case DW_CFA_nop: break;
#ifdef __aarch64__
	case DW_CFA_AARCH64_negate_ra_state: break; /* the return address is signed from here on, or not */
#endif
	case DW_CFA_advance_loc1: cursor_skip(c, 1); break;
	case DW_CFA_advance_loc2: cursor_skip(c, 2); break;
	case DW_CFA_advance_loc4: cursor_skip(c, 4); break;
	case DW_CFA_undefined:
	case DW_CFA_restore_extended: check_register(check); break;
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register: note_source(check, cursor_uleb(c)); break;
	case DW_CFA_def_cfa: note_source(check, cursor_uleb(c)); cursor_uleb(c); break;
	case DW_CFA_def_cfa_sf: note_source(check, cursor_uleb(c)); cursor_sleb(c); break;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_GNU_args_size: cursor_uleb(c); break;
	case DW_CFA_def_cfa_offset_sf: cursor_sleb(c); break;
	case DW_CFA_def_cfa_expression: check_expression(check); break;
	case DW_CFA_expression:
	case DW_CFA_val_expression: check_register(check); check_expression(check); break;
	case DW_CFA_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_GNU_negative_offset_extended: check_register(check); cursor_uleb(c); break;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf: check_register(check); cursor_sleb(c); break;
	case DW_CFA_register: check_register(check); note_source(check, cursor_uleb(c)); break;
	case DW_CFA_remember_state: check_remembered(check, true); break;
	case DW_CFA_restore_state: check_remembered(check, false); break;
	default: c->bad = true;
	}
}

static bool check_program(const uint8_t *program, size_t n, uint64_t *sources)
{
	struct check check = {.c = {.at = program, .left = n}, .sources = *sources};

	while (check.c.left) {
		uint64_t op = cursor_number(&check.c, 1);

		if ((op & 0xc0) == DW_CFA_offset)
			cursor_uleb(&check.c);
		else if ((op & 0xc0) == 0)
			check_extended(&check, op);
	}
	*sources = check.sources;
	return !check.c.bad;
}

bool cfi_check(const struct cfi_entry *entry, uint64_t *ret_sources)
{
	uint64_t sources = 0;
	bool sound;

	sound = check_program(entry->common.program, entry->common.program_bytes, &sources) &&
		check_program(entry->program, entry->program_bytes, &sources);
	*ret_sources = sources;
	return sound;
}
