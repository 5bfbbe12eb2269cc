/* Names of the kernel's functions, from the text of /proc/kallsyms.
 *
 * The text has no sizes: a function reaches to whatever begins next, data included, but not over a gap that
 * no function fills. */
#include "sym/kallsyms.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/large.h"
#include "sym/scan.h"

#define TEXT_BYTES_MAX ((size_t)1 << 28) /* also keeps places in it within 32 bits */
#define GAP_BYTES      ((uint64_t)1 << 20)
#define LINE_BYTES     32 /* most lines have more: room for them is made at once */

/* Data, or the end of the kernel's code: what begins here has no name of ours. */
#define RANK_NO_CODE UINT32_MAX

struct mark {
	uint64_t address;
	uint32_t name; /* place in names */
	uint32_t rank; /* of several at one address the lowest names it */
};

struct kallsyms {
	char *names;
	VEC(struct mark) marks; /* by address, rising, one for each */
};

/* A global name before a weak before a local one, and one that is for people before those with
 * underscores before them (_stext, __pi_…). */
static uint32_t rank_of(char type, const char *name)
{
	uint32_t rank = type == 'T' ? 0 : type == 'W' ? 1 : 2, underscores = 0;

	if (!strchr("tTwW", type) || !strcmp(name, "_etext"))
		return RANK_NO_CODE;
	while (underscores < 255 && name[underscores] == '_')
		underscores++;
	return rank << 8 | underscores;
}

/* Cuts "name" or "name\t[module]" to one word or two. */
static bool name_cut(char *name)
{
	char *tab = strpbrk(name, "\t ");

	if (!*name || tab == name || (tab && (*tab != '\t' || tab[1] != '[')))
		return false;
	if (tab)
		*tab = ' ';
	return true;
}

/* Reads one line, which ends with NUL at `end`, and moves its name down to *to. */
static void add_line(struct kallsyms *kallsyms, char *line, const char *end, char **to)
{
	const char *at = line;
	uint64_t address;
	uint32_t rank;
	char type, *name;

	if (!scan_hex(&at, end, &address) || !scan_char(&at, end, ' ') || end - at < 3)
		return;
	type = *at++;
	if (!scan_char(&at, end, ' '))
		return;
	name = line + (at - line);
	/* Hidden addresses are 0, and absolute ones are offsets into each CPU's own data. */
	if (!address || type == 'a' || type == 'A' || !name_cut(name))
		return;
	rank = rank_of(type, name);
	*vec_push(&kallsyms->marks) =
		(struct mark){address, (uint32_t)(*to - kallsyms->names), rank};
	if (rank != RANK_NO_CODE) {
		size_t n = strlen(name) + 1;

		memmove(*to, name, n);
		*to += n;
	}
}

static int mark_compare(const struct mark *a, const struct mark *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static int by_address(const void *a, const void *b)
{
	return mark_compare(a, b);
}

/* Most of the text is in order already. */
static void sort_marks(struct kallsyms *kallsyms)
{
	struct mark *marks = kallsyms->marks.items;
	size_t n = kallsyms->marks.n, kept = 0, i = 1;

	while (i < n && mark_compare(&marks[i - 1], &marks[i]) <= 0)
		i++;
	if (i < n)
		qsort(marks, n, sizeof(*marks), by_address);
	for (i = 0; i < n; i++)
		if (!kept || marks[kept - 1].address != marks[i].address)
			marks[kept++] = marks[i];
	kallsyms->marks.n = kept;
}

struct kallsyms *kallsyms_read(FILE *in)
{
	struct kallsyms *kallsyms = mem_zalloc(sizeof(*kallsyms));
	size_t n;
	char *text = scan_all(in, TEXT_BYTES_MAX, &n), *to = text;

	kallsyms->names = text;
	kallsyms->marks.cap = n / LINE_BYTES + 1;
	kallsyms->marks.items = large_array(kallsyms->marks.cap, sizeof(struct mark));
	for (char *at = text, *end; at < text + n; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		if (!end)
			end = text + n;
		*end = '\0';
		add_line(kallsyms, at, end, &to);
	}
	kallsyms->names = mem_realloc(text, (size_t)(to - text), 1);
	sort_marks(kallsyms);
	return kallsyms;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	free(kallsyms->names);
	free(kallsyms->marks.items);
	free(kallsyms);
}

const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, uint64_t *ret_into)
{
	const struct mark *marks = kallsyms->marks.items;
	size_t low = 0, high = kallsyms->marks.n;

	/* The number of marks at or before address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (marks[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || marks[low - 1].rank == RANK_NO_CODE ||
	    address - marks[low - 1].address >= GAP_BYTES)
		return NULL;
	*ret_into = address - marks[low - 1].address;
	return kallsyms->names + marks[low - 1].name;
}
