/* What a group's threads ran, and where they slept, as nested boxes: a box for each function, as wide as its
 * share, what it called below it.
 *
 *	|                  all                   |
 *	|      bun        |      HeapHelper      |
 *	|  main  | worker |      start_thread    |
 */
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/number.h"
#include "report/stacks.h"

#define FLAME_DEPTH 60
#define FLAME_BOXES 2000
/* Of all charts of a report: a recording may have thousands of labels, and say little of each. */
#define FLAME_BOXES_ALL 100000
/* What is narrower than this cannot be seen: neighbours of that kind are one box. */
#define FLAME_LEAST 0.001
/* Of more boxes than can be drawn the narrow ones go first, up to this width, then the inner ones. */
#define FLAME_NARROW 0.008
#define FLAME_ROWS  20
#define FLAME_BYTES 120 /* of a name */

/* One thing on the way from the whole to the innermost frame. */
struct flame_step {
	const char *text;
	enum stack_look look;
};

struct flame_path {
	size_t first, n; /* in flame.steps */
	double count;
	/* For the table. */
	const char *thread;
	const char *words; /* owned by flame.owned */
};

struct flame {
	VEC(struct flame_step) steps;
	VEC(struct flame_path) paths;
	VEC(char *) owned;
	double total;
	struct chart *chart;
	double least; /* width of the narrowest box */
	size_t depth; /* of the innermost ones, and one more */
	bool full;
};

/* ---- paths ----------------------------------------------------------------------------------- */

static void flame_step(struct flame *flame, const char *text, enum stack_look look)
{
	*vec_push(&flame->steps) = (struct flame_step){text, look};
}

static const char *flame_own(struct flame *flame, char *text)
{
	return *vec_push(&flame->owned) = text;
}

/* Threads of one name go together: their stacks tell them apart. */
static const char *flame_thread(struct flame *flame, const struct run_thread *thread)
{
	const char *comm = thread->seen->t.comm;
	size_t n = strnlen(comm, WK_COMM_BYTES);

	if (!n)
		return thread->label;
	return flame_own(flame, mem_strndup(comm, n));
}

static void flame_frames(struct flame *flame, const struct stacks *stacks,
			 const struct capture *capture, const struct capture_stack *stack)
{
	if (stack->truncated)
		flame_step(flame, "(not followed further)", STACK_OTHER);
	/* What is deeper than boxes go is never looked at. */
	for (size_t i = stack->frames.n, n = 0; i-- > 0 && n < FLAME_DEPTH; n++)
		flame_step(flame, stacks->frames.items[stack->frames.items[i]].text,
			   stack_look(stacks, capture, stack->frames.items[i]));
}

/* cause may be NULL. */
static void flame_add(struct flame *flame, const struct stacks *stacks,
		      const struct capture *capture, const struct run_thread *thread,
		      const char *cause, uint32_t stack, uint64_t count)
{
	struct flame_path path = {.first = flame->steps.n, .count = (double)count};
	struct strbuf words = {0};

	if (stack >= capture->stacks.n || !count)
		return;
	path.thread = flame_thread(flame, thread);
	flame_step(flame, path.thread, STACK_OTHER);
	flame_frames(flame, stacks, capture, &capture->stacks.items[stack]);
	if (cause)
		flame_step(flame, cause, STACK_OTHER);
	path.n = flame->steps.n - path.first;
	stack_add_words(&words, stacks, capture, stack);
	path.words = flame_own(flame, strbuf_take(&words));
	flame->total += path.count;
	*vec_push(&flame->paths) = path;
}

static void flame_add_wakes(struct flame *flame, const struct group *group)
{
	for (size_t r = 0; r < group->stacks.n; r++) {
		const struct stacks *stacks = group->stacks.items[r];

		for (size_t i = 0; stacks && i < stacks->wakes.n; i++) {
			const struct stacks_wake *wake = &stacks->wakes.items[i];
			const struct why_cause *cause =
				&group->whys.items[r]->causes.items[wake->cause];

			flame_add(flame, stacks, group->runs.items[r]->capture, cause->thread,
				  cause->text, wake->sleeper, wake->wakeups);
		}
	}
}

static void flame_add_samples(struct flame *flame, const struct group *group)
{
	for (size_t r = 0; r < group->stacks.n; r++) {
		const struct stacks *stacks = group->stacks.items[r];

		for (size_t i = 0; stacks && i < stacks->rows.n; i++)
			flame_add(flame, stacks, group->runs.items[r]->capture,
				  stacks->rows.items[i].thread, NULL, stacks->rows.items[i].stack,
				  stacks->rows.items[i].count);
	}
}

static int step_order(const struct flame_step *x, const struct flame_step *y)
{
	int order = x->text == y->text ? 0 : strcmp(x->text, y->text);

	return order ? order : (x->look > y->look) - (x->look < y->look);
}

static int path_order(const void *a, const void *b, void *steps)
{
	const struct flame_path *x = a, *y = b;
	const struct flame_step *s = steps;

	for (size_t i = 0; i < x->n && i < y->n; i++) {
		int order = step_order(&s[x->first + i], &s[y->first + i]);

		if (order)
			return order;
	}
	return (x->n > y->n) - (x->n < y->n);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Sorted paths that share all steps above `depth`. */
struct flame_range {
	size_t from, until, depth;
	double begin;
};

static void flame_box(struct flame *flame, size_t depth, double begin, double width,
		      const char *text, enum stack_look look)
{
	struct chart_box *box;

	if (flame->chart->boxes.n >= FLAME_BOXES) {
		flame->full = true;
		return;
	}
	box = vec_push(&flame->chart->boxes);
	*box = (struct chart_box){.depth = depth, .begin = begin, .width = width};
	box->name = part_shorten(text, FLAME_BYTES);
	box->series = look;
}

static const struct flame_step *path_step(const struct flame *flame, size_t path, size_t depth)
{
	const struct flame_path *p = &flame->paths.items[path];

	return depth < p->n ? &flame->steps.items[p->first + depth] : NULL;
}

/* The end of the paths from `from` on that have one step at the range's depth; their sum. */
static size_t flame_sibling(const struct flame *flame, const struct flame_range *range, size_t from,
			    double *ret_sum)
{
	const struct flame_step *step = path_step(flame, from, range->depth), *other;
	size_t until = from;

	*ret_sum = 0;
	while (until < range->until && (other = path_step(flame, until, range->depth)) &&
	       !step_order(step, other))
		*ret_sum += flame->paths.items[until++].count;
	return until;
}

/* Boxes of one depth and of all below: at most FLAME_DEPTH calls within one another. */
static void flame_fill(struct flame *flame, struct flame_range range)
{
	double rest = 0;

	/* What ends here has no box below; such paths are sorted before the others. */
	while (range.from < range.until && !path_step(flame, range.from, range.depth))
		range.from++;
	while (range.from < range.until && !flame->full) {
		const struct flame_step *step = path_step(flame, range.from, range.depth);
		struct flame_range below = {.from = range.from, .depth = range.depth + 1,
					    .begin = range.begin};
		double sum;

		below.until = flame_sibling(flame, &range, range.from, &sum);
		range.from = below.until;
		if (sum < flame->least || range.depth + 2 >= flame->depth) {
			rest += sum;
			continue;
		}
		flame_box(flame, range.depth + 1, range.begin, sum, step->text, step->look);
		flame_fill(flame, below);
		range.begin += sum;
	}
	if (rest >= flame->least)
		flame_box(flame, range.depth + 1, range.begin, rest, "…", STACK_OTHER);
}

/* Boxes are joined until there are no more than can be drawn. */
static void flame_build(struct flame *flame, const char *name)
{
	struct flame_range all = {.until = flame->paths.n};

	flame->least = FLAME_LEAST * flame->total;
	flame->depth = FLAME_DEPTH;
	qsort_r(flame->paths.items, flame->paths.n, sizeof(*flame->paths.items), path_order,
		flame->steps.items);
	for (;;) {
		flame->full = false;
		flame_box(flame, 0, 0, flame->total, name, STACK_OTHER);
		flame_fill(flame, all);
		if (!flame->full)
			break;
		while (flame->chart->boxes.n)
			free(flame->chart->boxes.items[--flame->chart->boxes.n].name);
		if (flame->least < FLAME_NARROW * flame->total)
			flame->least *= 2;
		else
			flame->depth -= flame->depth / 4;
	}
}

/* ---- table ----------------------------------------------------------------------------------- */

static int words_same(const struct flame_path *x, const struct flame_path *y)
{
	int order = strcmp(x->thread, y->thread);

	return order ? order : strcmp(x->words, y->words);
}

static int words_order(const void *a, const void *b)
{
	return words_same(a, b);
}

static int count_order(const void *a, const void *b)
{
	const struct flame_path *x = a, *y = b;

	if (x->count < y->count || x->count > y->count)
		return x->count > y->count ? -1 : 1;
	return words_same(x, y);
}

/* The stacks that came most often, in words. Reorders the paths. */
static void flame_table(struct flame *flame, const char *unit)
{
	struct flame_path *paths = flame->paths.items;
	struct table *table = &flame->chart->table;
	size_t n = 0;

	qsort(paths, flame->paths.n, sizeof(*paths), words_order);
	for (size_t i = 0; i < flame->paths.n; i++) {
		if (n && !words_same(&paths[n - 1], &paths[i]))
			paths[n - 1].count += paths[i].count;
		else
			paths[n++] = paths[i];
	}
	qsort(paths, n, sizeof(*paths), count_order);
	table_add_column(table, "", true);
	table_add_column(table, "where", true);
	table_add_column(table, unit, false);
	table_add_column(table, "share", false);
	for (size_t i = 0; i < n && i < FLAME_ROWS; i++) {
		struct row *row = table_add_row(table);

		row_add_text(row, paths[i].thread);
		row_add_text(row, paths[i].words);
		row_add_number(row, CELL_COUNT, paths[i].count, 0);
		row_add_number(row, CELL_SHARE, paths[i].count / flame->total, 0);
	}
	if (n > FLAME_ROWS) {
		char *rest = mem_printf("… and %zu more", n - FLAME_ROWS);

		row_add_text(table_add_row(table), rest);
		free(rest);
	}
}

static void flame_finish(struct report *report, struct flame *flame, const char *name,
			 const char *title, const char *unit)
{
	if (flame->total > 0) {
		flame->chart = report_add_chart(report, CHART_FLAME, title);
		chart_axis_set(&flame->chart->x, "", CELL_TEXT, 0);
		chart_axis_set(&flame->chart->y, unit, CELL_COUNT, 0);
		for (size_t i = 0; i < STACK_LOOKS; i++)
			chart_add_series(flame->chart, stack_look_name((enum stack_look)i));
		flame->chart->series.items[STACK_OTHER].look = SIZE_MAX;
		flame_build(flame, name);
		flame_table(flame, unit);
	}
	for (size_t i = 0; i < flame->owned.n; i++)
		free(flame->owned.items[i]);
	free(flame->owned.items);
	free(flame->steps.items);
	free(flame->paths.items);
}

static bool flame_has_room(const struct report *report)
{
	size_t boxes = 0;

	for (size_t i = 0; i < report->blocks.n; i++)
		if (report->blocks.items[i].chart)
			boxes += report->blocks.items[i].chart->boxes.n;
	return boxes < FLAME_BOXES_ALL;
}

static bool group_has_stacks(const struct group *group)
{
	for (size_t i = 0; i < group->stacks.n; i++)
		if (group->stacks.items[i])
			return true;
	return false;
}

void chart_flame_build(struct report *report, const struct group *group)
{
	struct flame slept = {0}, ran = {0};
	char number[NUMBER_BYTES], *name, *title;

	if (!group_has_stacks(group))
		return;
	name = chart_group_name(group);
	if (!flame_has_room(report)) {
		report_add_note(report, NOTE_TEXT,
				"The stacks of %s are not drawn: those before it fill the page.", name);
		free(name);
		return;
	}

	flame_add_wakes(&slept, group);
	title = mem_printf("Where in its code %s sleeps: %s wakeups by stack", name,
			   number_real(number, slept.total, 0));
	flame_finish(report, &slept, name, title, "wakeups");
	free(title);
	flame_add_samples(&ran, group);
	title = mem_printf("What %s runs: %s samples by stack", name,
			   number_real(number, ran.total, 0));
	flame_finish(report, &ran, name, title, "samples");
	free(title);
	free(name);
}
