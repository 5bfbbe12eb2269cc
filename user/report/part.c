/* One workload of a result, its runs grouped by what is to be compared. */
#include "report/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *part_text(const char *text)
{
	return text ? text : "";
}

static bool part_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct group *part_group(struct part *part, const struct capture *capture)
{
	struct group *group;

	for (size_t i = 0; i < part->groups.n; i++) {
		group = &part->groups.items[i];
		if (!strcmp(group->label, part_text(capture->label)) &&
		    part_same(group->variant, capture->variant))
			return group;
	}
	group = vec_push(&part->groups);
	group->label = part_text(capture->label);
	group->variant = capture->variant;
	group->look = result_find_look(part->result, group->label);
	return group;
}

void part_init(struct part *ret_part, const struct result *result, const char *workload)
{
	struct part part = {.result = result, .workload = workload};

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct run *run = &result->runs.items[i];
		struct group *group;

		if (strcmp(part_text(run->capture->workload), workload) != 0 ||
		    run->capture->replaced)
			continue;
		group = part_group(&part, run->capture);
		*vec_push(&group->runs) = run;
		*vec_push(&group->whys) = &result->whys.items[i];
		*vec_push(&group->stacks) =
			i < result->stacks.n && result->stacks.items[i].known ? &result->stacks.items[i] : NULL;
	}
	*ret_part = part;
}

void part_free_members(struct part *part)
{
	if (!part)
		return;
	for (size_t i = 0; i < part->groups.n; i++) {
		free(part->groups.items[i].runs.items);
		free(part->groups.items[i].whys.items);
		free(part->groups.items[i].stacks.items);
	}
	free(part->groups.items);
	*part = (struct part){0};
}

bool part_is(const struct part *part, const char *workload)
{
	return !strcmp(part->workload, workload);
}

bool part_counts_operations(const struct part *part)
{
	return metric_applies(metric_find("operations_per_s"), part->workload);
}

bool part_comparable(const struct part *part)
{
	for (size_t i = 0; i < part->groups.n; i++)
		if (group_not_comparable(&part->groups.items[i]))
			return false;
	return true;
}

bool part_repeats(const struct part *part)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		if (part->groups.items[i].runs.n > 1)
			return true;
	}
	return false;
}

bool part_compares(const struct part *part)
{
	for (size_t i = 1; i < part->groups.n; i++) {
		if (strcmp(part->groups.items[0].label, part->groups.items[i].label))
			return true;
	}
	return false;
}

char *group_name(const struct group *group)
{
	if (!group->variant)
		return mem_strdup(group->label);
	return mem_printf("%s %s", group->label, group->variant);
}

double group_window_ns(const struct group *group)
{
	double sum_ns = 0;

	for (size_t i = 0; i < group->runs.n; i++)
		sum_ns += (double)group->runs.items[i]->window_ns;
	return sum_ns;
}

const char *group_not_comparable(const struct group *group)
{
	for (size_t i = 0; i < group->runs.n; i++)
		if (group->runs.items[i]->capture->not_comparable)
			return group->runs.items[i]->capture->not_comparable;
	return NULL;
}

double group_operations(const struct group *group)
{
	double sum = 0;

	for (size_t i = 0; i < group->runs.n; i++) {
		if (group->runs.items[i]->capture->has_result)
			sum += (double)group->runs.items[i]->capture->operations;
	}
	return sum;
}

char *part_shorten(const char *text, size_t bytes)
{
	return text_shorten(text, bytes);
}

void part_add_command(struct strbuf *text, const struct capture_image *image)
{
	size_t at = 0;

	while (image->argv && at < image->argv_bytes) {
		size_t n = strnlen(image->argv + at, image->argv_bytes - at);

		strbuf_add(text, at ? " " : "");
		strbuf_add_bytes(text, image->argv + at, n);
		at += n + 1;
	}
	if (image->argv_cut)
		strbuf_add(text, " …");
}
