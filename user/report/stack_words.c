/* Stacks in a few words, and how often threads were there. */
#include "report/stack_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturated.h"

/* Frames beyond these say little about a sleep. */
#define WORDS_FRAMES 3

const char *stack_look_name(enum stack_look look)
{
	static const char *const names[] = {
		[STACK_PROGRAM] = "program",
		[STACK_LIBRARY] = "library",
		[STACK_KERNEL] = "kernel",
		[STACK_JIT] = "made at run time",
		[STACK_OTHER] = "thread or cause",
	};

	return names[look];
}

static bool file_is_library(const char *file)
{
	const char *so = strstr(file, ".so");

	return (so && (!so[3] || so[3] == '.')) || !strcmp(file, "[vdso]");
}

enum stack_look stack_look(const struct stacks *stacks, const struct capture *capture,
			   uint32_t frame)
{
	const struct stacks_frame *words = &stacks->frames.items[frame];

	switch (capture->frames.items[frame].kind) {
	case FRAME_KERNEL:
		return STACK_KERNEL;
	case FRAME_JIT:
		return STACK_JIT;
	default: /* libc's functions inside of a static program are no less libc's */
		return words->plumbing || file_is_library(words->file) ? STACK_LIBRARY
								       : STACK_PROGRAM;
	}
}

/* Where the list of arguments at the end of a C++ name begins: "f(int) const"; its length: there is none. */
static size_t arguments_at(const char *text)
{
	size_t n = strlen(text), end = n, depth = 0;

	if (n > 6 && !strcmp(text + n - 6, " const"))
		end = n - 6;
	if (!end || text[end - 1] != ')')
		return n;
	for (size_t i = end; i-- > 0;) {
		depth += text[i] == ')';
		if (text[i] != '(' || --depth)
			continue;
		/* Not operator(), (anonymous namespace). */
		return i && text[i - 1] != ' ' && text[i - 1] != ':' &&
				       !(i >= 8 && !strncmp(text + i - 8, "operator", 8))
			       ? i
			       : n;
	}
	return n;
}

/* "void std::vector<std::pair<int, int> >::grow" with its template arguments as "<…>"; NULL where angle
 * brackets are something else. The caller frees. */
static char *without_templates(const char *name)
{
	struct strbuf text = {0};
	size_t depth = 0;

	for (const char *p = name; *p; p++) {
		if (*p == '<' && !depth++)
			strbuf_add(&text, "<…");
		if (*p == '>' && (!depth || (p > name && p[-1] == '-')))
			goto fail;
		depth -= *p == '>';
		if (!depth)
			strbuf_add_char(&text, *p);
	}
	if (!depth)
		return strbuf_take(&text);
fail:
	strbuf_free_members(&text);
	return NULL;
}

/* What stands before the name of a function made from a template: "void ". */
static size_t return_type(const char *name)
{
	const char *space = strrchr(name, ' ');

	return space && !strstr(name, "operator") && !strchr(name, '(') ? (size_t)(space + 1 - name)
									 : 0;
}

char *stack_frame_words(const char *text, size_t bytes)
{
	size_t n = arguments_at(text);
	char *name = mem_strndup(text, n), *words;
	char *plain = text[n] && n > bytes ? without_templates(name) : NULL;

	words = plain ? part_shorten(plain + return_type(plain), bytes) : part_shorten(name, bytes);
	free(plain);
	free(name);
	return words;
}

void stack_add_words(struct strbuf *text, const struct stacks *stacks,
		     const struct capture *capture, uint32_t stack)
{
	uint32_t frames[WORDS_FRAMES + 1], call = stacks_call(stacks, capture, stack);
	size_t n = 0, begun = text->n;

	if (call != STACK_NONE)
		frames[n++] = call;
	n += stacks_matter(stacks, capture, stack, frames + n, WORDS_FRAMES);
	for (size_t i = 0; i < n; i++) {
		char *words = stack_frame_words(stacks_short_text(stacks, capture, frames[i]),
						STACK_FRAME_BYTES);
		/* The call and who made it, whatever their length. */
		bool fits = i < 2 || text->n - begun + strlen(words) <= STACK_WORDS_BYTES;

		if (fits)
			strbuf_printf(text, "%s%s", i ? " ← " : "", words);
		free(words);
		if (!fits)
			break;
	}
}

/* ---- ways ------------------------------------------------------------------------------------ */

static int way_same(const struct stack_way *x, const struct stack_way *y)
{
	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	if (x->waker != y->waker)
		return x->waker ? 1 : -1;
	return x->words == y->words ? 0 : strcmp(x->words, y->words);
}

/* Those of one place side by side, the stack that came most often first. */
static int way_order(const void *a, const void *b)
{
	const struct stack_way *x = a, *y = b;
	int order = way_same(x, y);

	if (order)
		return order;
	if (x->stack_wakeups != y->stack_wakeups)
		return x->stack_wakeups > y->stack_wakeups ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static int way_order_shown(const void *a, const void *b)
{
	const struct stack_way *x = a, *y = b;

	if (x->sum != y->sum || x->waker != y->waker || x->wakeups == y->wakeups)
		return way_same(x, y);
	return x->wakeups > y->wakeups ? -1 : 1;
}

/* The words of the stacks of one run, made when they are asked for. */
struct run_words {
	struct stack_ways *ways;
	const struct stacks *stacks;
	const struct capture *capture;
	const char **of; /* by stack */
};

static const char *words_of(struct run_words *words, uint32_t stack)
{
	struct strbuf text = {0};

	if (!words->of[stack]) {
		stack_add_words(&text, words->stacks, words->capture, stack);
		words->of[stack] = *vec_push(&words->ways->owned) = strbuf_take(&text);
	}
	return words->of[stack];
}

static void ways_add(struct run_words *words, const struct stack_way *way)
{
	struct stack_way *to;

	if (way->stack >= words->capture->stacks.n || !*words_of(words, way->stack))
		return;
	to = vec_push(&words->ways->all);
	*to = *way;
	to->words = words_of(words, way->stack);
}

static void ways_add_run(struct stack_ways *ways, const struct group *group,
			 const struct cause_sums *sums, size_t run)
{
	const struct stacks *stacks = group->stacks.items[run];
	const struct capture *capture = group->runs.items[run]->capture;
	struct run_words words = {ways, stacks, capture,
				  mem_calloc(capture->stacks.n + 1, sizeof(*words.of))};

	for (size_t i = 0; i < stacks->wakes.n; i++) {
		const struct stacks_wake *wake = &stacks->wakes.items[i];
		struct stack_way way = {.sum = sums->sum_of.items[run][wake->cause],
					.wakeups = wake->wakeups,
					.run = run,
					.stack = wake->sleeper,
					.stack_wakeups = wake->wakeups};

		if (way.sum == SIZE_MAX)
			continue;
		ways_add(&words, &way);
		way.waker = true;
		way.stack = wake->waker;
		ways_add(&words, &way);
	}
	free(words.of);
}

static void ways_join(struct stack_ways *ways)
{
	size_t kept = 0;

	if (!ways->all.n)
		return;
	qsort(ways->all.items, ways->all.n, sizeof(*ways->all.items), way_order);
	for (size_t i = 0; i < ways->all.n; i++) {
		struct stack_way *to = kept ? &ways->all.items[kept - 1] : NULL;

		if (to && !way_same(to, &ways->all.items[i]))
			to->wakeups = add_saturated(to->wakeups, ways->all.items[i].wakeups);
		else
			ways->all.items[kept++] = ways->all.items[i];
	}
	ways->all.n = kept;
	qsort(ways->all.items, kept, sizeof(*ways->all.items), way_order_shown);
}

void stack_ways_init(struct stack_ways *ret_ways, const struct group *group,
		     const struct cause_sums *sums)
{
	struct stack_ways ways = {0};

	for (size_t i = 0; i < group->stacks.n; i++)
		if (group->stacks.items[i] && sums->sum_of.items[i])
			ways_add_run(&ways, group, sums, i);
	ways_join(&ways);
	*ret_ways = ways;
}

void stack_ways_free_members(struct stack_ways *ways)
{
	for (size_t i = 0; i < ways->owned.n; i++)
		free(ways->owned.items[i]);
	free(ways->owned.items);
	free(ways->all.items);
	*ways = (struct stack_ways){0};
}

const struct stack_way *stack_ways_find(const struct stack_ways *ways, size_t sum, bool waker,
					size_t *ret_n)
{
	size_t low = 0, high = ways->all.n, n = 0;

	while (low < high) { /* the first one that does not stand before them */
		size_t middle = low + (high - low) / 2;
		const struct stack_way *way = &ways->all.items[middle];

		if (way->sum < sum || (way->sum == sum && way->waker < waker))
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < ways->all.n && ways->all.items[low + n].sum == sum &&
	       ways->all.items[low + n].waker == waker)
		n++;
	*ret_n = n;
	return n ? &ways->all.items[low] : NULL;
}
