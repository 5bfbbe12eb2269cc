/* Named ranges of addresses that may overlap, made into pieces that do not: for each address one name.
 *
 * A sweep over the starts. The ranges that reach over the current address are in a heap, the highest rank
 * on top; one that has ended is taken out when it comes to the top. */
#include "sym/ranges.h"

#include <stdlib.h>

#include "sym/large.h"

struct sweep {
	struct ranges *ranges;
	const struct range **heap;
	size_t n;
};

void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, uint64_t rank, const char *name)
{
	if (start < end)
		*vec_push(&ranges->items) = (struct range){start, end, rank, name};
}

static void heap_swap(const struct range **heap, size_t a, size_t b)
{
	const struct range *kept = heap[a];

	heap[a] = heap[b];
	heap[b] = kept;
}

static void heap_push(struct sweep *sweep, const struct range *range)
{
	size_t at = sweep->n++;

	sweep->heap[at] = range;
	for (; at && sweep->heap[(at - 1) / 2]->rank < sweep->heap[at]->rank; at = (at - 1) / 2)
		heap_swap(sweep->heap, at, (at - 1) / 2);
}

static void heap_pop(struct sweep *sweep)
{
	size_t at = 0, child;

	sweep->heap[0] = sweep->heap[--sweep->n];
	while ((child = 2 * at + 1) < sweep->n) {
		if (child + 1 < sweep->n &&
		    sweep->heap[child]->rank < sweep->heap[child + 1]->rank)
			child++;
		if (sweep->heap[at]->rank >= sweep->heap[child]->rank)
			break;
		heap_swap(sweep->heap, at, child);
		at = child;
	}
}

static void add_piece(struct ranges *ranges, const struct range *range, uint64_t begin, uint64_t end)
{
	size_t n = ranges->pieces.n;
	struct range_piece *last = n ? &ranges->pieces.items[n - 1] : NULL;

	if (last && last->end == begin && last->start == range->start && last->name == range->name)
		last->end = end;
	else
		*vec_push(&ranges->pieces) =
			(struct range_piece){begin, end, range->start, range->name};
}

/* Writes the pieces from `begin` up to `until`, where the next range starts. */
static void advance(struct sweep *sweep, uint64_t begin, uint64_t until)
{
	while (sweep->n && begin < until) {
		const struct range *top = sweep->heap[0];
		uint64_t end = top->end < until ? top->end : until;

		if (begin < end) {
			add_piece(sweep->ranges, top, begin, end);
			begin = end;
		}
		if (top->end <= begin)
			heap_pop(sweep);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static void sort_items(struct ranges *ranges)
{
	struct range *items = ranges->items.items;
	size_t n = ranges->items.n, i = 1;

	while (i < n && items[i - 1].start <= items[i].start)
		i++;
	if (i < n)
		qsort(items, n, sizeof(*items), by_start);
}

void ranges_settle(struct ranges *ranges)
{
	size_t n = ranges->items.n;
	struct sweep sweep = {.ranges = ranges};

	if (!n)
		return;
	sort_items(ranges);
	sweep.heap = large_array(n, sizeof(*sweep.heap));
	/* Seldom do ranges overlap: one piece each. */
	ranges->pieces.items = large_array(n, sizeof(*ranges->pieces.items));
	ranges->pieces.cap = n;
	for (size_t i = 0; i < n; i++) {
		const struct range *range = &ranges->items.items[i];

		if (range->start < range->end)
			heap_push(&sweep, range);
		advance(&sweep, range->start, i + 1 < n ? range[1].start : UINT64_MAX);
	}
	free(sweep.heap);
	free(ranges->items.items);
	ranges->items.items = NULL;
	ranges->items.n = ranges->items.cap = 0;
}

const char *ranges_find(const struct ranges *ranges, uint64_t address, uint64_t *ret_into)
{
	size_t low = 0, high = ranges->pieces.n;

	/* The number of pieces that begin at or before address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->pieces.items[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= ranges->pieces.items[low - 1].end)
		return NULL;
	*ret_into = address - ranges->pieces.items[low - 1].start;
	return ranges->pieces.items[low - 1].name;
}

void ranges_free_members(struct ranges *ranges)
{
	free(ranges->items.items);
	free(ranges->pieces.items);
	*ranges = (struct ranges){};
}
