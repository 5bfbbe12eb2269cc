/* The envelope of a recording: a header, then deflated bytes. Knows nothing of what they say.
 *
 *	offset  bytes
 *	0       8      magic: 89 "WKW" 0D 0A 1A 0A
 *	8       4      version
 *	12      4      flags: bit 0 incomplete
 *	16      8      packed bytes, after the header
 *	24      8      plain bytes
 *	32      4      CRC-32 of the plain bytes
 *	36      4      CRC-32 of the 36 bytes before it
 *
 * All numbers are little-endian. This header stays as it is in every version.
 */
#ifndef WAKEWHY_RECORD_PACK_H
#define WAKEWHY_RECORD_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define PACK_VERSION	 1
#define PACK_BYTES_LIMIT (1ULL << 30) /* of plain bytes, and of packed ones */

struct packer {
	z_stream stream;
	unsigned char waiting[16384]; /* collected here: JSON comes a token at a time */
	size_t waiting_bytes;
	struct strbuf packed;
	uint64_t plain_bytes;
	uint32_t crc;
};

void packer_init(struct packer *packer);
void packer_add(struct packer *packer, const void *bytes, size_t n);
/* Writes header and packed bytes. Where out can seek, the header says "incomplete" until all bytes
 * after it are written. -EFBIG beyond PACK_BYTES_LIMIT, -EIO, both with diag. */
int packer_write(struct packer *packer, FILE *out, struct diag *diag);
void packer_free_members(struct packer *packer);

/* Reads header and packed bytes up to the end of in, which must be their end, and inflates them.
 * Errors as record_read()'s. The caller frees ret_plain's members. */
int pack_read(FILE *in, const char *name, struct strbuf *ret_plain, struct diag *diag);

#endif
