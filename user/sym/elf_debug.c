/* Symbols that a stripped ELF file left elsewhere. */
#include "sym/elf_debug.h"

#include <libelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK_NAME_BYTES_MAX 255
#define CRC_CHUNK_BYTES	    ((uint64_t)1 << 18)

/* xz -9 wants 65 MB to unpack; what a small file does not fill of that is never touched. */
#define LZMA_MEMORY_BYTES_MAX ((uint64_t)72 << 20)
/* Tables of symbols shrink to a third or so. */
#define UNPACKED_RATIO_MAX 32
#define UNPACKED_BYTES_MIN ((uint64_t)1 << 16)
#define UNPACKED_BYTES_MAX ((uint64_t)256 << 20)

/* ---- a separate file --------------------------------------------------------------------------- */

static bool crc_of(const struct elf_image *image, uint32_t *ret_crc)
{
	uint32_t crc = 0;

	for (uint64_t at = 0; at < image->bytes; at += CRC_CHUNK_BYTES) {
		uint64_t left = image->bytes - at;
		uint64_t n = left < CRC_CHUNK_BYTES ? left : CRC_CHUNK_BYTES;
		uint8_t *chunk = elf_image_bytes(image, at, n);

		if (!chunk)
			return false;
		crc = lzma_crc32(chunk, n, crc);
		free(chunk);
	}
	*ret_crc = crc;
	return true;
}

/* Takes fd over. want_crc: NULL where only the build id can tell. */
static bool open_separate(struct elf_image *ret_debug, const struct elf_image *image, int fd,
			  const uint32_t *want_crc)
{
	struct elf_image debug;
	bool belongs;
	uint32_t crc;

	if (fd < 0 || elf_image_open(&debug, fd, NULL))
		return false;
	if (*image->build_id && *debug.build_id)
		belongs = !strcmp(image->build_id, debug.build_id);
	else
		belongs = want_crc && crc_of(&debug, &crc) && crc == *want_crc;
	if (!belongs || !elf_image_find_type(&debug, SHT_SYMTAB)) {
		elf_image_close(&debug);
		return false;
	}
	*ret_debug = debug;
	return true;
}

/* .gnu_debuglink: a name, NUL, up to three bytes to a multiple of four, the checksum. */
static char *read_link(const struct elf_image *image, uint32_t *ret_crc)
{
	const struct elf_section *section = elf_image_find_name(image, ".gnu_debuglink");
	char *link;
	size_t n, crc_at;

	if (!section || section->bytes > LINK_NAME_BYTES_MAX + 8)
		return NULL;
	link = elf_image_section(image, section);
	if (!link)
		return NULL;
	n = strlen(link);
	crc_at = (n + 4) & ~(size_t)3;
	if (!n || crc_at + sizeof(*ret_crc) > section->bytes || strchr(link, '/') ||
	    !strcmp(link, ".") || !strcmp(link, "..")) {
		free(link);
		return NULL;
	}
	memcpy(ret_crc, link + crc_at, sizeof(*ret_crc));
	return link;
}

bool elf_debug_open(struct elf_image *ret_debug, const struct elf_image *image,
		    elf_debug_opener *opener, void *context)
{
	uint32_t crc;
	char *link;
	bool found;

	if (!opener)
		return false;
	if (*image->build_id &&
	    open_separate(ret_debug, image, opener(context, image->build_id, ""), NULL))
		return true;
	link = read_link(image, &crc);
	found = link && open_separate(ret_debug, image, opener(context, "", link), &crc);
	free(link);
	return found;
}

uint64_t elf_debug_shift(const struct elf_image *image, const struct elf_image *debug)
{
	if (!image->loads.n || !debug->loads.n)
		return 0;
	return image->loads.items[0].address - debug->loads.items[0].address;
}

/* ---- packed inside ----------------------------------------------------------------------------- */

/* Decodes to the end of the stream. NULL: broken, cut off, or more than max bytes. */
static uint8_t *unpack(lzma_stream *stream, uint64_t max, size_t *ret_bytes)
{
	size_t cap = UNPACKED_BYTES_MIN;
	uint8_t *bytes = mem_realloc(NULL, cap, 1);
	lzma_ret ret;

	for (;;) {
		stream->next_out = bytes + stream->total_out;
		stream->avail_out = cap - stream->total_out;
		ret = lzma_code(stream, LZMA_FINISH);
		if (ret != LZMA_OK || stream->avail_out || cap == max)
			break;
		cap = cap > max / 2 ? max : cap * 2;
		bytes = mem_realloc(bytes, cap, 1);
	}
	if (ret != LZMA_STREAM_END) {
		free(bytes);
		return NULL;
	}
	*ret_bytes = stream->total_out;
	return bytes;
}

bool elf_debug_open_packed(struct elf_image *ret_debug, const struct elf_image *image)
{
	const struct elf_section *section = elf_image_find_name(image, ".gnu_debugdata");
	uint8_t *packed = section ? elf_image_section(image, section) : NULL, *bytes = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t n;
	uint64_t max;

	if (!packed)
		return false;
	max = section->bytes < UNPACKED_BYTES_MAX / UNPACKED_RATIO_MAX
		      ? section->bytes * UNPACKED_RATIO_MAX
		      : UNPACKED_BYTES_MAX;
	if (max < UNPACKED_BYTES_MIN)
		max = UNPACKED_BYTES_MIN;
	if (lzma_stream_decoder(&stream, LZMA_MEMORY_BYTES_MAX, 0) == LZMA_OK) {
		stream.next_in = packed;
		stream.avail_in = section->bytes;
		bytes = unpack(&stream, max, &n);
		lzma_end(&stream);
	}
	free(packed);
	return bytes && !elf_image_open_memory(ret_debug, bytes, n, NULL);
}
