/* Two results side by side: what is in both is paired, and each pair is a difference. */
#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

#include "report/chart.h"

static const char *diff_text(const char *text)
{
	return text ? text : "";
}

static bool diff_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* ---- sides ----------------------------------------------------------------------------------- */

static void side_init(struct diff_side *side, const struct result *result, const char *name)
{
	*side = (struct diff_side){.result = result, .name = name};
	for (size_t i = 0; i < result->runs.n; i++) {
		const char *workload = diff_text(result->runs.items[i].capture->workload);
		bool known = false;

		for (size_t j = 0; j < side->parts.n; j++)
			known |= part_is(&side->parts.items[j], workload);
		if (!known)
			part_init(vec_push(&side->parts), result, workload);
	}
}

static void side_free_members(struct diff_side *side)
{
	for (size_t i = 0; i < side->parts.n; i++)
		part_free_members(&side->parts.items[i]);
	free(side->parts.items);
}

/* A group and the workload it belongs to. */
struct place {
	const struct group *group;
	const char *workload;
};

struct places {
	VEC(struct place) all;
};

static bool group_knows_why(const struct group *group)
{
	for (size_t i = 0; i < group->whys.n; i++)
		if (group->whys.items[i]->known)
			return true;
	return false;
}

/* All groups of a side that hold causes; the floor is a limit, not something that changes. */
static void places_init(struct places *places, const struct diff_side *side)
{
	*places = (struct places){0};
	for (size_t i = 0; i < side->parts.n; i++) {
		const struct part *part = &side->parts.items[i];

		for (size_t j = 0; j < part->groups.n; j++) {
			const struct group *group = &part->groups.items[j];

			if (group_knows_why(group) && strcmp(group->label, "floor") != 0)
				*vec_push(&places->all) = (struct place){group, part->workload};
		}
	}
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool place_same_case(const struct place *a, const struct place *b)
{
	return !strcmp(a->workload, b->workload) && diff_same(a->group->variant, b->group->variant);
}

/* How many of the places are of the same workload and variant. */
static size_t places_like(const struct places *places, const struct place *like)
{
	size_t n = 0;

	for (size_t i = 0; i < places->all.n; i++)
		n += place_same_case(&places->all.items[i], like);
	return n;
}

/* The counterpart of a base; NULL: none. */
static const struct place *places_find(const struct places *base, const struct places *other,
				       const struct place *place)
{
	for (size_t i = 0; i < other->all.n; i++)
		if (place_same_case(place, &other->all.items[i]) &&
		    !strcmp(place->group->label, other->all.items[i].group->label))
			return &other->all.items[i];
	if (base->all.n == 1 && other->all.n == 1)
		return &other->all.items[0];
	for (size_t i = 0; i < other->all.n; i++)
		if (place_same_case(place, &other->all.items[i]) && places_like(base, place) == 1 &&
		    places_like(other, place) == 1)
			return &other->all.items[i];
	return NULL;
}

static void diff_add_pair(struct diff *diff, const struct place *base, const struct place *other)
{
	struct diff_pair *pair = vec_push(&diff->pairs);
	bool by_label = strcmp(base->group->label, other->group->label) != 0;

	pair->base = base->group;
	pair->other = other->group;
	pair->base_workload = base->workload;
	pair->other_workload = other->workload;
	pair->base_name = by_label ? base->group->label : diff->base.name;
	pair->other_name = by_label ? other->group->label : diff->other.name;
	difference_init(&pair->difference,
			strcmp(base->workload, other->workload) ? NULL : base->workload,
			base->group, other->group);
}

static void diff_remark_alone(struct diff *diff, const struct place *place, const char *name)
{
	char *group = group_name(place->group);

	*vec_push(&diff->remarks) =
		mem_printf("%s of %s is in %s alone", place->workload, group, name);
	free(group);
}

static void diff_pair_all(struct diff *diff)
{
	struct places base, other;

	places_init(&base, &diff->base);
	places_init(&other, &diff->other);
	for (size_t i = 0; i < base.all.n; i++) {
		const struct place *found = places_find(&base, &other, &base.all.items[i]);

		if (found)
			diff_add_pair(diff, &base.all.items[i], found);
		else
			diff_remark_alone(diff, &base.all.items[i], diff->base.name);
	}
	for (size_t i = 0; i < other.all.n; i++)
		if (!places_find(&other, &base, &other.all.items[i]))
			diff_remark_alone(diff, &other.all.items[i], diff->other.name);
	free(base.all.items);
	free(other.all.items);
}

/* ---- what else differs ----------------------------------------------------------------------- */

static void diff_remark_machines(struct diff *diff)
{
	const struct capture_tool *base = &diff->base.result->recording->tool;
	const struct capture_tool *other = &diff->other.result->recording->tool;

	if (!diff_same(base->kernel, other->kernel) || !diff_same(base->arch, other->arch) ||
	    base->cpus != other->cpus)
		*vec_push(&diff->remarks) =
			mem_printf("measured on different machines or kernels: %s on Linux %s, %s, "
				   "%u CPUs; %s "
				   "on Linux %s, %s, %u CPUs",
				   diff->base.name, diff_text(base->kernel), diff_text(base->arch),
				   base->cpus, diff->other.name, diff_text(other->kernel),
				   diff_text(other->arch), other->cpus);
	for (size_t i = 0; i < diff->pairs.n; i++) {
		const struct diff_pair *pair = &diff->pairs.items[i];

		if (strcmp(pair->base_workload, pair->other_workload) != 0)
			*vec_push(&diff->remarks) = mem_printf(
				"the workloads differ: %s is %s, %s is %s", diff->base.name,
				pair->base_workload, diff->other.name, pair->other_workload);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int diff_refuse(const struct diff *diff, struct diag *diag)
{
	const struct diff_side *sides[] = {&diff->base, &diff->other};

	for (size_t i = 0; i < 2; i++) {
		bool known = false;

		for (size_t j = 0; j < sides[i]->result->whys.n; j++)
			known |= sides[i]->result->whys.items[j].known;
		if (known)
			continue;
		diag_set(diag, -EINVAL, "%s holds no causes of wakeups", sides[i]->name);
		return diag_hint(diag, -EINVAL,
				 "it was made by an older wakewhy, or nothing was measured");
	}
	diag_set(diag, -EINVAL, "%s and %s have nothing in common", diff->base.name,
		 diff->other.name);
	return diag_hint(diag, -EINVAL,
			 "they need a label and a workload that are the same, or hold "
			 "one run each");
}

int diff_init(struct diff *ret_diff, const struct result *base, const char *base_name,
	      const struct result *other, const char *other_name, struct diag *diag)
{
	struct diff diff = {0};
	int err = 0;

	side_init(&diff.base, base, base_name);
	side_init(&diff.other, other, other_name);
	diff_pair_all(&diff);
	diff_remark_machines(&diff);
	if (!diff.pairs.n)
		err = diff_refuse(&diff, diag);
	if (err)
		diff_free_members(&diff);
	else
		*ret_diff = diff;
	return err;
}

void diff_free_members(struct diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->pairs.n; i++)
		difference_free_members(&diff->pairs.items[i].difference);
	for (size_t i = 0; i < diff->remarks.n; i++)
		free(diff->remarks.items[i]);
	free(diff->pairs.items);
	free(diff->remarks.items);
	side_free_members(&diff->base);
	side_free_members(&diff->other);
	*diff = (struct diff){0};
}

static void diff_build_pair(struct report *report, const struct diff_pair *pair, size_t max_rows)
{
	char *base = group_name(pair->base), *other = group_name(pair->other);

	if (strcmp(base, other) != 0)
		report_add_heading(report, "diff · %s · %s against %s", pair->other_workload, other,
				   base);
	else
		report_add_heading(report, "diff · %s · %s · %s against %s", pair->other_workload,
				   other, pair->other_name, pair->base_name);
	free(base);
	free(other);
	if (!difference_tell(report, &pair->difference, pair->base_name, pair->other_name, true,
			     max_rows))
		report_add_note(report, NOTE_TEXT, "Neither woke, nor ran.");
	else
		chart_waterfall_build(report, &pair->difference, pair->base_name, pair->other_name,
				      true);
}

void diff_build(struct report *ret_report, const struct diff *diff, size_t max_rows)
{
	struct report report = {0};

	doubts_build(&report, diff->base.result);
	doubts_build(&report, diff->other.result);
	for (size_t i = 0; i < diff->pairs.n; i++)
		diff_build_pair(&report, &diff->pairs.items[i], max_rows);
	for (size_t i = 0; i < diff->remarks.n; i++)
		report_add_note(&report, NOTE_TEXT, "%s.", diff->remarks.items[i]);
	*ret_report = report;
}
