/* Registers of the machine that matter for unwinding, in DWARF's numbering. */
#ifndef WAKEWHY_SYM_UNWIND_ARCH_H
#define WAKEWHY_SYM_UNWIND_ARCH_H

#include <elf.h>

#define UNWIND_BIT(n) (1ULL << (n))

#if defined(__aarch64__)
#define UNWIND_MACHINE	EM_AARCH64
#define UNWIND_USED	33
#define UNWIND_FP	29
#define UNWIND_RETURN	30
#define UNWIND_SP	31
#define UNWIND_PC	32
#define UNWIND_KEPT	(0x7ffULL << 19 | UNWIND_BIT(30)) /* by calls: x19 to x29; x30 for the leaf */
#define UNWIND_PC_MASK	((1ULL << 48) - 1) /* above: signature of a return address */
#else
#define UNWIND_MACHINE	EM_X86_64
#define UNWIND_USED	17
#define UNWIND_FP	6
#define UNWIND_RETURN	16
#define UNWIND_SP	7
#define UNWIND_PC	16
#define UNWIND_KEPT	(UNWIND_BIT(3) | UNWIND_BIT(6) | 0xfULL << 12) /* rbx rbp r12 to r15 */
#define UNWIND_PC_MASK	UINT64_MAX
#endif

#endif
