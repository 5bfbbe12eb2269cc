/* What is mapped executable in one address space, and since when. */
#include "collect/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "collect/module_files.h"

struct address_space *address_space_new(uint32_t owner)
{
	struct address_space *space = mem_zalloc(sizeof(*space));

	space->refs = 1;
	space->owner = owner;
	return space;
}

void address_space_drop(struct address_space *space)
{
	if (!space || --space->refs)
		return;
	unwinder_free(space->unwinder);
	free(space->log.items);
	free(space->segments.items);
	free(space);
}

static void *copy(const void *items, size_t n, size_t bytes)
{
	void *made = mem_calloc(n, bytes);

	if (n)
		memcpy(made, items, n * bytes);
	return made;
}

void address_space_own(struct address_space **space, uint32_t pid)
{
	struct address_space *old = *space, *own;

	if (old->refs == 1)
		return;
	own = address_space_new(pid);
	own->log.items = copy(old->log.items, old->log.n, sizeof(*old->log.items));
	own->log.n = own->log.cap = old->log.n;
	own->segments.items =
		copy(old->segments.items, old->segments.n, sizeof(*old->segments.items));
	own->segments.n = own->segments.cap = old->segments.n;
	if (old->owner == pid) {
		own->unwinder = old->unwinder;
		own->unwinder_fed = old->unwinder_fed;
		own->unwinder_files = old->unwinder_files;
		own->unwinder_used = old->unwinder_used;
		old->unwinder = NULL;
		old->unwinder_fed = old->unwinder_files = 0;
	}
	address_space_drop(old);
	*space = own;
}

/* The first segment that ends behind address. */
static size_t first_behind(const struct address_space *space, uint64_t address)
{
	size_t low = 0, high = space->segments.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->segments.items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The same bytes of the same file at the same place: an mprotect() there and back says it again. */
static bool is_known(const struct address_space *space, const struct mapping *mapping)
{
	size_t at = first_behind(space, mapping->start);
	const struct mapping_segment *segment = space->segments.items + at;
	const struct mapping *known;

	if (at == space->segments.n || segment->start > mapping->start ||
	    segment->end < mapping->end)
		return false;
	known = &space->log.items[segment->mapping];
	return known->file == mapping->file &&
	       (known->file == MODULE_ANONYMOUS ||
		known->file_offset - known->start == mapping->file_offset - mapping->start);
}

/* Puts one segment in, and cuts those that it overlaps: the first may stay to the left of it, the last to
 * the right. */
static void put_segment(struct address_space *space, const struct mapping_segment *new)
{
	struct mapping_segment put[3];
	size_t first = first_behind(space, new->start), last = first, n = 0, tail;
	struct mapping_segment *items = space->segments.items;

	while (last < space->segments.n && items[last].start < new->end)
		last++;
	if (first < last && items[first].start < new->start) {
		put[n] = items[first];
		put[n++].end = new->start;
	}
	put[n++] = *new;
	if (first < last && items[last - 1].end > new->end) {
		put[n] = items[last - 1];
		put[n++].start = new->end;
	}
	tail = space->segments.n - last;
	for (size_t i = last - first; i < n; i++)
		vec_push(&space->segments);
	items = space->segments.items;
	memmove(items + first + n, items + last, tail * sizeof(*items));
	memcpy(items + first, put, n * sizeof(*items));
	space->segments.n = first + n + tail;
}

bool address_space_add(struct address_space *space, const struct mapping *mapping)
{
	struct mapping_segment segment = {mapping->start, mapping->end, (uint32_t)space->log.n};

	if (mapping->start >= mapping->end || is_known(space, mapping))
		return false;
	*vec_push(&space->log) = *mapping;
	put_segment(space, &segment);
	return true;
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t address,
					 uint64_t time_ns)
{
	size_t at = first_behind(space, address);
	const struct mapping *mapping;

	if (at == space->segments.n || space->segments.items[at].start > address)
		return NULL;
	mapping = &space->log.items[space->segments.items[at].mapping];
	if (mapping->since_ns <= time_ns)
		return mapping;
	/* Mapped over since then: what was there before? */
	for (size_t i = space->log.n; i-- > 0;) {
		mapping = &space->log.items[i];
		if (mapping->since_ns <= time_ns && mapping->start <= address &&
		    address < mapping->end)
			return mapping;
	}
	return NULL;
}
