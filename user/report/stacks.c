/* Where in the code: rows under causes, what was taken, what the threads ran.
 *
 *	why zig wakes                                                    wakeups/s  share   CPU ms/s
 *	  bun#2         its own 100.1 ms futex timeout (±0.2 ms)              9.95    82 %      0.458
 *	    in          pthread_cond_timedwait ← bun+0x5c7bc86
 *	  libuv-worker  futex wake by node                                    1.05     9 %      0.022
 *	    in          92 %: uv_cond_wait ← worker (3 ways)
 *	    from        uv_async_send ← worker
 *
 *	what zig runs: 1,204 samples     in           self   total
 *	  memcpy                         libc.so.6    31 %    31 %
 */
#include "report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturated.h"
#include "report/number.h"

/* ---- under a cause --------------------------------------------------------------------------- */

static uint64_t ways_wakeups(const struct stack_way *ways, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, ways[i].wakeups, &sum))
			return UINT64_MAX;
	return sum;
}

/* "92 %": how many of the wakes the first of several ways has; "" where it is the only one. */
static const char *ways_share(char buf[NUMBER_BYTES], const struct stack_way *ways, size_t n)
{
	double all = (double)ways_wakeups(ways, n);

	if (n < 2 || !(all > 0))
		return "";
	return number_share(buf, (double)ways->wakeups / all);
}

/* "92 %: uv_cond_wait ← worker (3 ways)": the share first, for the end may be cut. */
static void ways_add(struct strbuf *text, const struct stack_way *ways, size_t n)
{
	char share[NUMBER_BYTES];

	if (n > 1)
		strbuf_printf(text, "%s: %s (%zu ways)", ways_share(share, ways, n), ways->words, n);
	else
		strbuf_add(text, ways->words);
}

static struct row *stack_row(struct table *table, int depth, const char *name, const char *text)
{
	struct row *row = table_add_row(table);

	row->depth = depth;
	row_add_text(row, name);
	row_add_text(row, text);
	return row;
}

/* "futex_wait_queue (kernel)", "bun+0x5c7bc86": what names its file already needs no other word. */
static void frame_add(struct strbuf *text, const struct stacks *stacks, uint32_t frame)
{
	const struct stacks_frame *words = &stacks->frames.items[frame];
	size_t n = strlen(words->file);

	strbuf_add(text, words->text);
	if (n && (strncmp(words->text, words->file, n) != 0 || words->text[n] != '+') &&
	    words->text[0] != '[')
		strbuf_printf(text, " (%s)", words->file);
}

static void stack_rows_add_frames(struct table *table, const struct group *group,
				  const struct stack_way *ways, size_t n, int depth)
{
	const struct stacks *stacks = group->stacks.items[ways->run];
	const struct capture_stack *stack =
		&group->runs.items[ways->run]->capture->stacks.items[ways->stack];
	const char *name = ways->waker ? "from" : "in";
	char share[NUMBER_BYTES];

	for (size_t i = 0; i < stack->frames.n; i++) {
		struct strbuf text = {0};

		frame_add(&text, stacks, stack->frames.items[i]);
		if (!i && n > 1)
			strbuf_printf(&text, ", %s (%zu ways)", ways_share(share, ways, n), n);
		stack_row(table, depth, i ? "" : name, strbuf_text(&text));
		strbuf_free_members(&text);
	}
	if (stack->truncated)
		stack_row(table, depth, "", "… it goes on, but could not be followed");
}

void stack_rows_add(struct table *table, const struct group *group, const struct stack_ways *ways,
		    size_t sum, int depth, bool all_frames)
{
	for (int waker = 0; waker < 2; waker++) {
		size_t n;
		const struct stack_way *way = stack_ways_find(ways, sum, waker, &n);
		struct strbuf text = {0};

		if (!way)
			continue;
		if (all_frames) {
			stack_rows_add_frames(table, group, way, n, depth);
			continue;
		}
		ways_add(&text, way, n);
		stack_row(table, depth, waker ? "from" : "in", strbuf_text(&text));
		strbuf_free_members(&text);
	}
}

/* ---- what was taken -------------------------------------------------------------------------- */

/* What is known of how many wakes have stacks, over all runs of a part. */
struct stack_notes {
	uint64_t wakeups, with;
	uint64_t early; /* threads that were found, and may have been asleep then: that sleep has no stack */
	uint64_t lost, uncopied;
};

static uint64_t found_early(const struct run *run)
{
	uint64_t n = 0;

	for (size_t i = 0; i < run->threads.n; i++) {
		const struct wk_thread *t = &run->threads.items[i].seen->t;

		n += (t->flags & WK_FLAG_SEEDED) && t->count.wakeups;
	}
	return n;
}

static void notes_add_run(struct stack_notes *notes, const struct run *run,
			  const struct stacks *stacks)
{
	notes->lost = add_saturated(notes->lost, stacks->lost);
	notes->uncopied = add_saturated(notes->uncopied, stacks->uncopied);
	if (!run->capture->stacks_mode)
		return;
	notes->wakeups = add_saturated(notes->wakeups, stacks->wakeups);
	notes->with = add_saturated(notes->with, stacks->wakeups_with);
	notes->early += found_early(run);
}

/* Why the others have none; "" where all have one, or the losses say it. */
static char *notes_reason(const struct stack_notes *notes)
{
	uint64_t without = notes->wakeups - notes->with;
	char share[NUMBER_BYTES];

	if (without > add_saturated(notes->early, notes->lost))
		return mem_printf(", %s: a thread takes only so many in a second (--stack-limit)",
				  number_share(share, (double)notes->with / (double)notes->wakeups));
	if (without > notes->lost)
		return mem_strdup("; the others ended sleeps that had begun before wakewhy came");
	return mem_strdup("");
}

void stack_notes_build(struct report *report, const struct part *part)
{
	struct stack_notes notes = {0};
	char a[NUMBER_BYTES], b[NUMBER_BYTES];
	char *reason;

	for (size_t i = 0; i < part->groups.n; i++) {
		const struct group *group = &part->groups.items[i];

		for (size_t j = 0; j < group->stacks.n; j++)
			if (group->stacks.items[j])
				notes_add_run(&notes, group->runs.items[j], group->stacks.items[j]);
	}
	reason = notes_reason(&notes);
	if (notes.wakeups)
		report_add_note(report, NOTE_TEXT, "Stacks were taken at %s of %s wakeups%s.",
				number_real(a, (double)notes.with, 0),
				number_real(b, (double)notes.wakeups, 0), reason);
	free(reason);
	if (notes.lost)
		report_add_note(report, NOTE_TEXT,
				"%s stack%s lost: there was no room for %s. No other figure suffers.",
				number_real(a, (double)notes.lost, 0),
				notes.lost == 1 ? " was" : "s were", notes.lost == 1 ? "it" : "them");
	if (notes.uncopied)
		report_add_note(report, NOTE_TEXT,
				"%s stack%s taken by frame pointers alone, which end in libc: there was "
				"no room for %s.",
				number_real(a, (double)notes.uncopied, 0),
				notes.uncopied == 1 ? " was" : "s were",
				notes.uncopied == 1 ? "its copy" : "their copies");
}

/* ---- what the threads ran -------------------------------------------------------------------- */

/* Rows beyond which functions are only counted, where max_rows says nothing of it. */
#define SAMPLES_ROWS 12
#define SAMPLES_MOST 200

/* A frame of a run, and the function that it is in. */
struct spot {
	const char *text, *file;
	size_t run, frame;
};

struct function {
	const char *text, *file;
	uint64_t self, total;
};

struct functions {
	VEC(struct function) all;
	VEC(size_t *) of; /* of each run: of each frame the place in all; NULL: nothing known */
	uint64_t samples, without; /* all; of these, those without a stack */
};

static int spot_same(const struct spot *x, const struct spot *y)
{
	int order = strcmp(x->text, y->text);

	return order ? order : strcmp(x->file, y->file);
}

static int spot_order(const void *a, const void *b)
{
	return spot_same(a, b);
}

/* Frames with the same words are one function, in whichever run. */
static void functions_name(struct functions *functions, const struct group *group)
{
	VEC(struct spot) spots = {0};

	for (size_t r = 0; r < group->stacks.n; r++) {
		const struct stacks *stacks = group->stacks.items[r];

		*vec_push(&functions->of) =
			stacks ? mem_calloc(stacks->frames.n + 1, sizeof(size_t)) : NULL;
		for (size_t i = 0; stacks && stacks->rows.n && i < stacks->frames.n; i++)
			*vec_push(&spots) = (struct spot){stacks->frames.items[i].text,
							  stacks->frames.items[i].file, r, i};
	}
	if (spots.n)
		qsort(spots.items, spots.n, sizeof(*spots.items), spot_order);
	for (size_t i = 0; i < spots.n; i++) {
		const struct spot *spot = &spots.items[i];

		if (!i || spot_same(spot - 1, spot))
			*vec_push(&functions->all) =
				(struct function){.text = spot->text, .file = spot->file};
		functions->of.items[spot->run][spot->frame] = functions->all.n - 1;
	}
	free(spots.items);
}

/* Adds a stack's samples to its functions, to each once however often it called itself. last: the number of
 * the last stack that each function was in. */
static void functions_add_stack(struct functions *functions, const size_t *of,
				const struct capture_stack *stack, uint64_t count, size_t *last,
				size_t number)
{
	for (size_t i = 0; i < stack->frames.n; i++) {
		size_t at = of[stack->frames.items[i]];
		struct function *function = &functions->all.items[at];

		if (!i)
			function->self = add_saturated(function->self, count);
		if (last[at] == number)
			continue;
		last[at] = number;
		function->total = add_saturated(function->total, count);
	}
}

static void functions_add_samples(struct functions *functions, const struct group *group)
{
	size_t *last = mem_calloc(functions->all.n + 1, sizeof(*last)), number = 0;

	for (size_t r = 0; r < group->stacks.n; r++) {
		const struct stacks *stacks = group->stacks.items[r];
		const struct capture *capture = group->runs.items[r]->capture;

		for (size_t i = 0; stacks && i < stacks->rows.n; i++) {
			const struct stacks_sample *sample = &stacks->rows.items[i];

			functions->samples = add_saturated(functions->samples, sample->count);
			if (sample->stack >= capture->stacks.n)
				functions->without = add_saturated(functions->without, sample->count);
			else
				functions_add_stack(functions, functions->of.items[r],
						    &capture->stacks.items[sample->stack],
						    sample->count, last, ++number);
		}
	}
	free(last);
}

static int function_order(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	order = strcmp(x->text, y->text);
	return order ? order : strcmp(x->file, y->file);
}

static void functions_free_members(struct functions *functions)
{
	for (size_t i = 0; i < functions->of.n; i++)
		free(functions->of.items[i]);
	free(functions->of.items);
	free(functions->all.items);
}

static void samples_add_row(struct table *table, const struct functions *functions,
			    const struct function *function)
{
	char *words = stack_frame_words(function->text, STACK_FRAME_BYTES);
	char *file = part_shorten(function->file, STACK_FRAME_BYTES / 2);
	struct row *row = table_add_row(table);
	double all = (double)functions->samples;

	row_add_text(row, words);
	row_add_text(row, file);
	row_add_number(row, CELL_SHARE, (double)function->self / all, 0);
	row_add_number(row, CELL_SHARE, (double)function->total / all, 0);
	free(words);
	free(file);
}

/* With the rows above all the samples. */
static void samples_add_rest(struct table *table, const struct functions *functions, size_t from,
			     size_t until)
{
	struct function rest = {"", "", 0, 0};
	struct function without = {"(no stack)", "", functions->without, functions->without};
	double all = (double)functions->samples;
	struct row *row;
	char *text;

	for (size_t i = from; i < until; i++)
		rest.self = add_saturated(rest.self, functions->all.items[i].self);
	if (from < until) {
		text = mem_printf("… and %zu more", until - from);
		row = table_add_row(table);
		row_add_text(row, text);
		row_add_empty(row);
		row_add_number(row, CELL_SHARE, (double)rest.self / all, 0);
		free(text);
	}
	if (functions->without)
		samples_add_row(table, functions, &without);
}

static void samples_add_table(struct report *report, const struct group *group,
			      const struct functions *functions, size_t max_rows)
{
	size_t most = max_rows ? SAMPLES_ROWS : SAMPLES_MOST, own = 0;
	char number[NUMBER_BYTES], *name = group_name(group), *title;
	struct table *table;

	title = mem_printf("what %s runs: %s samples", name,
			   number_real(number, (double)functions->samples, 0));
	table = report_add_table(report, title);
	table_add_column(table, "", true);
	table_add_column(table, "in", true);
	table_add_column(table, "self", false);
	table_add_column(table, "total", false);
	while (own < functions->all.n && functions->all.items[own].self)
		own++;
	for (size_t i = 0; i < own && i < most; i++)
		samples_add_row(table, functions, &functions->all.items[i]);
	samples_add_rest(table, functions, own < most ? own : most, own);
	free(title);
	free(name);
}

void stack_samples_build(struct report *report, const struct group *group, size_t max_rows)
{
	struct functions functions = {0};

	functions_name(&functions, group);
	functions_add_samples(&functions, group);
	if (functions.all.n)
		qsort(functions.all.items, functions.all.n, sizeof(*functions.all.items),
		      function_order);
	if (functions.all.n && functions.all.items[0].self)
		samples_add_table(report, group, &functions, max_rows);
	functions_free_members(&functions);
}
