/* How much a file that is read may hold, whichever form it has. */
#include "record/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What repeats have in common; all borrowed. */
struct bounds_label {
	const char *label, *workload, *variant;
};

static int bounds_compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int bounds_order(const void *a, const void *b)
{
	const struct bounds_label *x = a, *y = b;
	int order = bounds_compare(x->label, y->label);

	if (!order)
		order = bounds_compare(x->workload, y->workload);
	return order ? order : bounds_compare(x->variant, y->variant);
}

int bounds_check(const struct field_reader *reader, const struct recording *recording)
{
	size_t n = recording->runs.n + recording->bare.n, at = 0, distinct = 0;
	struct bounds_label *labels = mem_calloc(n + 1, sizeof(*labels));

	for (size_t i = 0; i < recording->runs.n; i++) {
		const struct capture *run = &recording->runs.items[i];

		labels[at++] = (struct bounds_label){run->label, run->workload, run->variant};
	}
	for (size_t i = 0; i < recording->bare.n; i++) {
		const struct capture_bare *bare = &recording->bare.items[i];

		labels[at++] = (struct bounds_label){bare->label, bare->workload, bare->variant};
	}
	qsort(labels, n, sizeof(*labels), bounds_order);
	for (size_t i = 0; i < n; i++)
		distinct += !i || bounds_order(&labels[i - 1], &labels[i]) != 0;
	free(labels);
	if (distinct > LABELS_MAX)
		return field_refuse(reader, "its runs have %zu labels, more than %d", distinct,
				    LABELS_MAX);
	return 0;
}
