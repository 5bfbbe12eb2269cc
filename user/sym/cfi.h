/* Call frame information: one entry of .eh_frame or .debug_frame, taken apart and checked, so that libdw
 * can be given it.
 *
 * libdw 0.188 trusts the bytes of CFI: a register number of 100 million is two gigabytes of table, a
 * DW_OP_deref_size in a rule for the CFA reads through NULL, INT64_MIN / -1 in an expression ends the process,
 * augmentations are read beyond their end. What passes here does none of this. Nothing is executed
 * here. */
#ifndef WAKEWHY_SYM_CFI_H
#define WAKEWHY_SYM_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_ENTRY_BYTES 65536 /* of an entry, its length not counted; compilers stay far below */

/* An entry as it lies in the file. */
struct cfi_bytes {
	const uint8_t *at; /* behind the length */
	size_t n;
	uint64_t address; /* of `at`, in the file's addresses: pointers may be relative to it */
};

/* What a CIE says. Points into its bytes. */
struct cfi_common {
	uint8_t encoding;      /* of addresses in its FDEs, DW_EH_PE_… */
	bool sized;	       /* its FDEs have augmentation data, with a length before */
	bool signal;	       /* its code was not called: the kernel put its frame on the stack */
	uint64_t code_align;   /* 1 to CFI_ALIGN_MAX */
	int64_t data_align;    /* -CFI_ALIGN_MAX to CFI_ALIGN_MAX */
	uint64_t return_reg;   /* below CFI_REGS */
	const uint8_t *program;
	size_t program_bytes;
};

#define CFI_ALIGN_MAX 256
#define CFI_REGS      128 /* register numbers are below this */

/* A function: addresses of the file, rules for its caller's registers. Points into the bytes of FDE and CIE. */
struct cfi_entry {
	struct cfi_common common;
	uint64_t start, end; /* start < end */
	const uint8_t *program;
	size_t program_bytes;
};

/* False: no CIE of a kind that is understood. */
bool cfi_read_common(const struct cfi_bytes *bytes, struct cfi_common *ret_common);
/* Fills the rest of an entry whose common part is set; the programs are not looked at. False: broken. */
bool cfi_read_entry(const struct cfi_bytes *bytes, struct cfi_entry *ret_entry);
/* Whether both programs are sound: known instructions, whole operands, small register numbers,
 * expressions without jumps and divisions. *ret_sources: bit n is set where register n (below 64) may be
 * read to find the caller's. */
bool cfi_check(const struct cfi_entry *entry, uint64_t *ret_sources);

#endif
