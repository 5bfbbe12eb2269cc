/* What the builders of charts share: points, names, the run that stands for its repeats. */
#include <math.h>
#include <stdlib.h>

#include "report/chart.h"

void chart_add_point(struct chart_series *series, double x, double y, const char *name_or_null)
{
	struct chart_point *point;

	if (!isfinite(x) || !isfinite(y))
		return;
	point = vec_push(&series->points);
	point->x = x;
	point->y = y;
	point->name = name_or_null ? mem_strdup(name_or_null) : NULL;
}

struct chart_series *chart_add_group(struct chart *chart, const char *name, size_t look)
{
	struct chart_series *series = chart_add_series(chart, name);

	if (look != SIZE_MAX)
		series->look = look;
	return series;
}

char *chart_group_name(const struct group *group)
{
	char *whole = group_name(group), *name = part_shorten(whole, CHART_NAME_BYTES);

	free(whole);
	return name;
}

/* A run and its place in the group. */
struct placed_run {
	uint64_t oncpu_ns;
	size_t at;
};

static int placed_order(const void *a, const void *b)
{
	const struct placed_run *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

size_t chart_typical_run(const struct group *group, bool knows_why)
{
	struct placed_run *runs = mem_calloc(group->runs.n + 1, sizeof(*runs));
	size_t n = 0, at;

	for (size_t i = 0; i < group->runs.n; i++)
		if (!knows_why || group->whys.items[i]->known)
			runs[n++] = (struct placed_run){group->runs.items[i]->totals.oncpu_ns, i};
	qsort(runs, n, sizeof(*runs), placed_order);
	at = n ? runs[(n - 1) / 2].at : SIZE_MAX;
	free(runs);
	return at;
}

char *chart_run_name(const struct group *group, size_t run)
{
	char *name = chart_group_name(group), *numbered;

	if (group->runs.n < 2)
		return name;
	numbered = mem_printf("%s (run %zu of %zu)", name, run + 1, group->runs.n);
	free(name);
	return numbered;
}
