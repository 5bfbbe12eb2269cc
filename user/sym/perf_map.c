/* Names of code made at run time: the text of a perf map ("START SIZE NAME" in hex, a line each). */
#include "sym/perf_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sym/ranges.h"
#include "sym/scan.h"

/* What a line takes besides its text: a range, its place in the order, and its piece. */
#define LINE_BYTES (sizeof(struct range) + sizeof(struct range *) + sizeof(struct range_piece))

struct perf_map {
	size_t bytes;
	char *text; /* the names are in it */
	struct ranges ranges;
};

/* The kernel's perf reads plain hex; some runtimes write a prefix all the same. */
static bool scan_prefixed(const char **at, const char *end, uint64_t *ret_number)
{
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	return scan_hex(at, end, ret_number);
}

/* `end` is the line's newline, which becomes the NUL behind its name. */
static void add_line(struct perf_map *map, const char *at, char *end, uint64_t number)
{
	uint64_t start, size;

	if (end > at && end[-1] == '\r')
		end--;
	*end = '\0';
	if (!scan_prefixed(&at, end, &start) || !scan_space(&at, end) ||
	    !scan_prefixed(&at, end, &size) || !scan_space(&at, end) || !*at)
		return;
	/* Code of no size covers nothing; none can reach beyond the last address. */
	if (size > UINT64_MAX - start)
		return;
	ranges_add(&map->ranges, start, start + size, number, at);
}

static void forget(struct perf_map *map)
{
	ranges_free_members(&map->ranges);
	free(map->text);
	map->text = NULL;
}

struct perf_map *perf_map_read(FILE *in, size_t max_bytes)
{
	struct perf_map *map = mem_zalloc(sizeof(*map));
	uint64_t number = 0;
	size_t n;
	char *end;

	map->text = scan_all(in, max_bytes, &n);
	if (n == max_bytes) { /* and maybe more */
		forget(map);
		return map;
	}
	/* A last line without an end is still being written. */
	for (char *at = map->text; (end = memchr(at, '\n', (size_t)(map->text + n - at))); at = end + 1) {
		add_line(map, at, end, number++);
		/* Not a part of it: a line at the end may say that the code of one before is another by now. */
		if (n + map->ranges.items.n * LINE_BYTES > max_bytes) {
			forget(map);
			return map;
		}
	}
	map->bytes = n + map->ranges.items.n * LINE_BYTES;
	ranges_settle(&map->ranges);
	return map;
}

size_t perf_map_bytes(const struct perf_map *map)
{
	return map->bytes;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	forget(map);
	free(map);
}

const char *perf_map_find(const struct perf_map *map, uint64_t address, uint64_t *ret_into)
{
	return ranges_find(&map->ranges, address, ret_into);
}
