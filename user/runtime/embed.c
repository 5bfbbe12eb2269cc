/* Programs that are part of wakewhy: floor, built for the same machine. */
#include "runtime/embed.h"

#define EMBED(symbol, file)                                                                        \
	__asm__(".pushsection .rodata\n"                                                           \
		".balign 16\n"                                                                     \
		".globl " #symbol "\n" #symbol ":\n"                                               \
		".incbin \"" file "\"\n"                                                           \
		".globl " #symbol "_end\n" #symbol "_end:\n"                                       \
		".byte 0\n"                                                                        \
		".popsection\n")

EMBED(embed_floor_static, FLOOR_STATIC_FILE);
EMBED(embed_floor_hash, FLOOR_HASH_FILE);
