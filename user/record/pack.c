/* The envelope of a recording: a header, then deflated bytes. */
#include "record/pack.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define CHUNK_BYTES 65536
/* Measurements deflate to a fourth or a twentieth. What holds so much more was made to fill memory; a small one
 * may, where all of a long table is zeros. */
#define RATIO_FREE_BYTES (16u << 20)
#define RATIO_MAX 64

enum {
	HEADER_BYTES = 40,
	HEADER_CRC = 36, /* offset of the header's own checksum */
	FLAG_INCOMPLETE = 1,
};

/* The first byte is no ASCII and the line ends are of both kinds, so that a transfer in text mode
 * shows; 1A ends a listing on a terminal that honours it. */
static const unsigned char magic[8] = {0x89, 'W', 'K', 'W', '\r', '\n', 0x1a, '\n'};

struct header {
	uint32_t version;
	uint32_t flags;
	uint64_t packed_bytes;
	uint64_t plain_bytes;
	uint32_t crc;
};

static void put_number(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static void header_encode(const struct header *header, unsigned char bytes[HEADER_BYTES])
{
	memcpy(bytes, magic, sizeof(magic));
	put_number(bytes + 8, header->version, 4);
	put_number(bytes + 12, header->flags, 4);
	put_number(bytes + 16, header->packed_bytes, 8);
	put_number(bytes + 24, header->plain_bytes, 8);
	put_number(bytes + 32, header->crc, 4);
	put_number(bytes + HEADER_CRC, crc32(0, bytes, HEADER_CRC), 4);
}

static struct header header_decode(const unsigned char bytes[HEADER_BYTES])
{
	return (struct header){
		.version = (uint32_t)get_number(bytes + 8, 4),
		.flags = (uint32_t)get_number(bytes + 12, 4),
		.packed_bytes = get_number(bytes + 16, 8),
		.plain_bytes = get_number(bytes + 24, 8),
		.crc = (uint32_t)get_number(bytes + 32, 4),
	};
}

/* ---- writing --------------------------------------------------------------------------------- */

void packer_init(struct packer *packer)
{
	memset(packer, 0, sizeof(*packer));
	if (deflateInit(&packer->stream, Z_DEFAULT_COMPRESSION) != Z_OK)
		mem_out();
}

static void packer_deflate(struct packer *packer, const void *bytes, size_t n, int flush)
{
	unsigned char out[16384];

	packer->stream.next_in = (z_const Bytef *)bytes;
	packer->stream.avail_in = (uInt)n;
	do {
		packer->stream.next_out = out;
		packer->stream.avail_out = sizeof(out);
		deflate(&packer->stream, flush);
		strbuf_add_bytes(&packer->packed, out, sizeof(out) - packer->stream.avail_out);
	} while (packer->stream.avail_out == 0);
}

static void packer_flush(struct packer *packer, int flush)
{
	packer->crc = (uint32_t)crc32(packer->crc, packer->waiting, (uInt)packer->waiting_bytes);
	packer_deflate(packer, packer->waiting, packer->waiting_bytes, flush);
	packer->waiting_bytes = 0;
}

void packer_add(struct packer *packer, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	packer->plain_bytes += n;
	while (n > 0) {
		size_t room = sizeof(packer->waiting) - packer->waiting_bytes;
		size_t part = n < room ? n : room;

		memcpy(packer->waiting + packer->waiting_bytes, p, part);
		packer->waiting_bytes += part;
		p += part;
		n -= part;
		if (part == room)
			packer_flush(packer, Z_NO_FLUSH);
	}
}

/* Appending streams can seek, and write at the end all the same. */
static bool can_go_back(FILE *out, off_t *ret_start)
{
	int fd = fileno(out), flags;
	off_t start = ftello(out);

	if (start < 0 || fseeko(out, start, SEEK_SET) != 0)
		return false;
	flags = fd >= 0 ? fcntl(fd, F_GETFL) : 0; /* a stream in memory has no descriptor */
	if (flags < 0 || flags & O_APPEND)
		return false;
	*ret_start = start;
	return true;
}

static bool write_header(FILE *out, const struct header *header)
{
	unsigned char bytes[HEADER_BYTES];

	header_encode(header, bytes);
	return fwrite(bytes, 1, sizeof(bytes), out) == sizeof(bytes);
}

static bool write_all(FILE *out, struct header *header, const struct strbuf *packed)
{
	off_t start = 0;
	bool two_steps = can_go_back(out, &start);

	header->flags = two_steps ? FLAG_INCOMPLETE : 0;
	if (!write_header(out, header) ||
	    fwrite(strbuf_text(packed), 1, packed->n, out) != packed->n || fflush(out) != 0)
		return false;
	if (!two_steps)
		return true;
	header->flags = 0;
	return fseeko(out, start, SEEK_SET) == 0 && write_header(out, header) && fflush(out) == 0 &&
	       fseeko(out, start + HEADER_BYTES + (off_t)packed->n, SEEK_SET) == 0;
}

int packer_write(struct packer *packer, FILE *out, struct diag *diag)
{
	struct header header = {.version = PACK_VERSION};

	packer_flush(packer, Z_FINISH);
	if (packer->plain_bytes > PACK_BYTES_LIMIT || packer->packed.n > PACK_BYTES_LIMIT)
		return diag_set(diag, -EFBIG, "the recording is larger than 1 GiB");
	header.packed_bytes = packer->packed.n;
	header.plain_bytes = packer->plain_bytes;
	header.crc = packer->crc;
	errno = 0;
	if (!write_all(out, &header, &packer->packed))
		return diag_set(diag, -EIO, "cannot write the recording: %s",
				strerror(errno ? errno : EIO));
	return 0;
}

void packer_free_members(struct packer *packer)
{
	if (!packer)
		return;
	deflateEnd(&packer->stream);
	strbuf_free_members(&packer->packed);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int damaged(struct diag *diag, const char *name, const char *how)
{
	return diag_set(diag, -EINVAL, "%s is a damaged recording: %s", name, how);
}

static int cut_short(struct diag *diag, const char *name, uint64_t have, uint64_t want)
{
	return diag_set(diag, -EINVAL, "%s is cut short: it holds %" PRIu64 " of %" PRIu64 " bytes",
			name, have, want);
}

/* Fewer bytes than wanted: the end of the file, or an error of reading it. */
static int read_error(FILE *in, const char *name, struct diag *diag)
{
	return ferror(in) ? diag_set(diag, -EIO, "cannot read %s: %s", name,
				     strerror(errno ? errno : EIO))
			  : 0;
}

static int check_header(const unsigned char *bytes, size_t n, const char *name,
			struct header *ret_header, struct diag *diag)
{
	struct header header;

	if (n == 0)
		return diag_set(diag, -EINVAL, "%s is empty, not a recording", name);
	if (memcmp(bytes, magic, n < sizeof(magic) ? n : sizeof(magic)) != 0) {
		diag_set(diag, -EINVAL, "%s is not a recording", name);
		return diag_hint(diag, -EINVAL, "recordings are made with -o FILE.wkw");
	}
	if (n < HEADER_BYTES)
		return cut_short(diag, name, n, HEADER_BYTES);
	if (crc32(0, bytes, HEADER_CRC) != get_number(bytes + HEADER_CRC, 4))
		return damaged(diag, name, "its header does not match its checksum");
	header = header_decode(bytes);
	if (header.version != PACK_VERSION || header.flags & ~FLAG_INCOMPLETE) {
		diag_set(diag, -ENOTSUP,
			 "%s is a recording of version %" PRIu32
			 ", of which this wakewhy reads version %d",
			 name, header.version, PACK_VERSION);
		return diag_hint(diag, -ENOTSUP, "use the wakewhy that made it, or a newer one");
	}
	if (header.flags & FLAG_INCOMPLETE)
		return diag_set(diag, -EINVAL,
				"%s is incomplete: wakewhy was stopped while it wrote it", name);
	if (header.packed_bytes > PACK_BYTES_LIMIT || header.plain_bytes > PACK_BYTES_LIMIT)
		return diag_set(diag, -EINVAL, "%s says that it holds more than 1 GiB", name);
	if (header.plain_bytes > RATIO_FREE_BYTES &&
	    header.plain_bytes / RATIO_MAX > header.packed_bytes)
		return diag_set(diag, -EINVAL,
				"%s says that it holds %" PRIu64 " times its size: no measurement does",
				name, header.plain_bytes / (header.packed_bytes + 1));
	*ret_header = header;
	return 0;
}

/* Inflates what is in stream->next_in. The result may not grow beyond what the header promised,
 * which is 1 GiB at most. */
static int inflate_chunk(z_stream *stream, const struct header *header, struct strbuf *plain,
			 bool *ret_ended, const char *name, struct diag *diag)
{
	unsigned char out[CHUNK_BYTES];
	int status;

	do {
		stream->next_out = out;
		stream->avail_out = sizeof(out);
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_MEM_ERROR)
			mem_out();
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return damaged(diag, name, "it cannot be inflated");
		strbuf_add_bytes(plain, out, sizeof(out) - stream->avail_out);
		if (plain->n > header->plain_bytes)
			return damaged(diag, name, "it inflates to more than it says");
	} while (stream->avail_out == 0 && status != Z_STREAM_END);
	*ret_ended = status == Z_STREAM_END;
	if (*ret_ended && stream->avail_in > 0)
		return damaged(diag, name, "bytes follow its end");
	return 0;
}

static int read_packed(FILE *in, z_stream *stream, const struct header *header,
		       struct strbuf *plain, const char *name, struct diag *diag)
{
	unsigned char chunk[CHUNK_BYTES];
	uint64_t left = header->packed_bytes;
	bool ended = false;

	while (left > 0) {
		size_t want = left < sizeof(chunk) ? left : sizeof(chunk);
		size_t n = fread(chunk, 1, want, in);
		int err;

		if (n < want) {
			err = read_error(in, name, diag);
			return err ? err
				   : cut_short(diag, name,
					       HEADER_BYTES + header->packed_bytes - left + n,
					       HEADER_BYTES + header->packed_bytes);
		}
		left -= n;
		if (ended)
			return damaged(diag, name, "bytes follow its end");
		stream->next_in = chunk;
		stream->avail_in = (uInt)n;
		err = inflate_chunk(stream, header, plain, &ended, name, diag);
		if (err)
			return err;
	}
	if (!ended || plain->n != header->plain_bytes)
		return damaged(diag, name, "it inflates to less than it says");
	if (crc32_z(0, (const Bytef *)strbuf_text(plain), plain->n) != header->crc)
		return damaged(diag, name, "its contents do not match their checksum");
	if (fgetc(in) != EOF)
		return damaged(diag, name, "bytes follow its end");
	return read_error(in, name, diag);
}

int pack_read(FILE *in, const char *name, struct strbuf *ret_plain, struct diag *diag)
{
	unsigned char bytes[HEADER_BYTES];
	struct strbuf plain = {};
	struct header header;
	z_stream stream = {};
	size_t n;
	int err;

	errno = 0;
	n = fread(bytes, 1, sizeof(bytes), in);
	err = read_error(in, name, diag);
	if (!err)
		err = check_header(bytes, n, name, &header, diag);
	if (err)
		return err;
	if (inflateInit(&stream) != Z_OK)
		mem_out();
	err = read_packed(in, &stream, &header, &plain, name, diag);
	inflateEnd(&stream);
	if (err)
		strbuf_free_members(&plain);
	else
		*ret_plain = plain;
	return err;
}
