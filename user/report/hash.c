/* Hashing: what one SHA-256 costs, per API style and runtime.
 *
 *	sync               ops/s   CPU ns/op   wakeups/op   switches/op   syscalls/op
 *	    node       1,810,000         551        0.000         0.000         0.001
 *	    bun        2,070,000         482
 *	    bun / node     1.14×       0.875×
 *	webcrypto
 *	    …
 *	webcrypto / sync
 *	    node           0.0130×      41.2×
 */
#include <stdlib.h>
#include <string.h>

#include "report/figures.h"

static const struct figure hash_figures[] = {
	{"operations_per_s", "ops/s", 1, 0, FIGURE_PER_RUN, 0, FIGURE_RANGE},
	{"cpu_ns_per_op", "CPU ns/op", 1, 0, FIGURE_PER_OPERATION, 0, FIGURE_RANGE},
	{"wakeups_per_op", "wakeups/op", 1, 3, FIGURE_PER_OPERATION, 0.01, 0},
	{"switches_per_op", "switches/op", 1, 3, FIGURE_PER_OPERATION, 0.01, 0},
	{"syscalls_per_op", "syscalls/op", 1, 3, FIGURE_PER_OPERATION, 0.01, 0},
	{0},
};

static const char *hash_variant(const struct group *group)
{
	return group->variant ? group->variant : "";
}

static bool hash_is_first(const struct part *part, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (!strcmp(hash_variant(&part->groups.items[i]),
			    hash_variant(&part->groups.items[at])))
			return false;
	}
	return true;
}

static void hash_add_title(struct figures *figures, const char *title)
{
	struct row *row = table_add_row(figures->table);

	row->rule_before = figures->table->rows.n > 1;
	row_add_text(row, title);
}

static void hash_add_variant(struct figures *figures, const struct group *first)
{
	const struct part *part = figures->part;

	if (first->variant)
		hash_add_title(figures, first->variant);
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];

		if (!strcmp(hash_variant(group), hash_variant(first)))
			figures_add_group(figures, group, first->variant ? 1 : 0);
	}
	figures_add_ratios(figures, first->variant, first->variant ? 1 : 0);
}

static const struct group *hash_sync_of(const struct part *part, const char *label)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];

		if (!strcmp(group->label, label) && !strcmp(hash_variant(group), "sync"))
			return group;
	}
	return NULL;
}

/* What the other styles cost beside the synchronous one, on the same runtime. */
static void hash_add_styles(struct figures *figures, const char *variant)
{
	const struct part *part = figures->part;
	bool titled = false;

	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *other = &part->groups.items[i];
		const struct group *base = hash_sync_of(part, other->label);

		if (!base || strcmp(hash_variant(other), variant))
			continue;
		if (!titled) {
			char *title = mem_printf("%s / sync", variant);

			hash_add_title(figures, title);
			free(title);
			titled = true;
		}
		figures_add_ratio(figures, other->label, base, other, 1);
	}
}

void hash_build(struct report *report, const struct part *part)
{
	struct figures figures;

	figures_begin(&figures, report, part, hash_figures);
	for (size_t i = 0; i < part->groups.n; i++) {
		if (hash_is_first(part, i))
			hash_add_variant(&figures, &part->groups.items[i]);
	}
	for (size_t i = 0; i < part->groups.n; i++) {
		const char *variant = hash_variant(&part->groups.items[i]);

		if (hash_is_first(part, i) && *variant && strcmp(variant, "sync"))
			hash_add_styles(&figures, variant);
	}
	figures_end(&figures, report);
}
