/* The text of /proc/PID/maps. */
#include "sym/maps.h"

#include <stdlib.h>
#include <string.h>

#include "sym/scan.h"

#define MAPS_BYTES_MAX ((size_t)1 << 28)
#define DELETED	       " (deleted)"

/* The kernel writes a newline in a path as \012, and nothing else as an escape (show_map_vma in
 * fs/proc/task_mmu.c): a backslash stands for itself, so "\134" is a name of four letters. */
static char *path_decode(const char *path, size_t n)
{
	char *out = mem_strndup(path, n), *to = out;

	for (const char *from = out; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return out;
}

static void path_set(struct maps_row *row, const char *path, size_t n)
{
	size_t tail = sizeof(DELETED) - 1;

	/* Only files can be deleted: "[stack]" and the like are names of the kernel's own. */
	row->deleted = n > tail && *path == '/' && !memcmp(path + n - tail, DELETED, tail);
	row->path = path_decode(path, row->deleted ? n - tail : n);
}

/* "r-xp": what may be done, and whether it is shared. */
static bool scan_permissions(const char **at, const char *end, bool *ret_executable)
{
	if (end - *at < 4 || !strchr("r-", (*at)[0]) || !strchr("w-", (*at)[1]) ||
	    !strchr("x-", (*at)[2]) || !strchr("sp", (*at)[3]))
		return false;
	*ret_executable = (*at)[2] == 'x';
	*at += 4;
	return true;
}

static bool row_parse(struct maps_row *ret_row, const char *at, const char *end)
{
	struct maps_row row = {};
	uint64_t major, minor;

	if (!scan_hex(&at, end, &row.start) || !scan_char(&at, end, '-') ||
	    !scan_hex(&at, end, &row.end) || !scan_space(&at, end) ||
	    !scan_permissions(&at, end, &row.executable) || !scan_space(&at, end) ||
	    !scan_hex(&at, end, &row.offset) || !scan_space(&at, end) ||
	    !scan_hex(&at, end, &major) || !scan_char(&at, end, ':') ||
	    !scan_hex(&at, end, &minor) || !scan_space(&at, end) ||
	    !scan_decimal(&at, end, &row.inode))
		return false;
	if (row.start >= row.end || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	if (!scan_space(&at, end) && at < end)
		return false;
	row.device_major = (uint32_t)major;
	row.device_minor = (uint32_t)minor;
	path_set(&row, at, (size_t)(end - at));
	*ret_row = row;
	return true;
}

void maps_read(struct maps *ret_maps, FILE *in)
{
	struct maps maps = {};
	struct maps_row row;
	uint64_t behind = 0; /* the end of the last row */
	size_t n;
	char *text = scan_all(in, MAPS_BYTES_MAX, &n);

	for (const char *at = text, *end; at < text + n; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		if (!end)
			end = text + n;
		if (!row_parse(&row, at, end))
			continue;
		if (row.start < behind) {
			free(row.path);
			continue;
		}
		behind = row.end;
		*vec_push(&maps.rows) = row;
	}
	free(text);
	*ret_maps = maps;
}

void maps_free_members(struct maps *maps)
{
	for (size_t i = 0; i < maps->rows.n; i++)
		free(maps->rows.items[i].path);
	free(maps->rows.items);
	*maps = (struct maps){};
}
