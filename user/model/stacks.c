/* Where in the code threads slept, were woken from, ran and began. */
#include "model/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturated.h"
#include "base/text.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static const char *frame_file(const struct capture *capture, const struct capture_frame *frame)
{
	const char *path = "", *slash;

	if (frame->kind == FRAME_FILE && frame->module < capture->modules.n)
		path = capture->modules.items[frame->module].path;
	path = path ? path : "";
	slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static char *frame_file_text(const struct capture_frame *frame, const char *file)
{
	if (frame->kind == FRAME_KERNEL)
		return mem_strdup("kernel");
	if (frame->kind == FRAME_JIT)
		return mem_strdup("jit");
	return text_shorten(file, STACKS_FILE_BYTES);
}

/* User frames that have called another one, of every frame of the capture: of these an address is that of
 * the last byte of the call. The caller frees. */
static bool *callers_of(const struct capture *capture)
{
	bool *callers = mem_calloc(capture->frames.n + 1, sizeof(*callers));

	for (size_t i = 0; i < capture->stacks.n; i++) {
		const struct capture_stack *stack = &capture->stacks.items[i];

		for (size_t j = (size_t)stack->kernel + 1; j < stack->frames.n; j++)
			if (stack->frames.items[j] < capture->frames.n)
				callers[stack->frames.items[j]] = true;
	}
	return callers;
}

/* A caller without a name is told by the address that it returns to, as gdb and eu-stack tell it. */
static char *frame_text(const struct capture_frame *frame, const char *file, bool caller)
{
	if (frame->name && *frame->name)
		return text_shorten(frame->name, STACKS_TEXT_BYTES);
	if (frame->kind == FRAME_KERNEL)
		return mem_printf("[kernel] 0x%" PRIx64, frame->offset);
	if (frame->kind == FRAME_JIT)
		return mem_printf("[jit] 0x%" PRIx64, frame->offset + caller);
	file = *file ? file : "[unknown]";
	if (frame->address)
		return mem_printf("%s+0x%" PRIx64, file, frame->address + caller);
	return mem_printf("%s@0x%" PRIx64, file, frame->offset + caller);
}

static bool is_libc_start(const struct capture *capture, uint32_t at)
{
	static const char begin[] = "__libc_start_main";
	const struct capture_frame *frame = at < capture->frames.n ? &capture->frames.items[at] : NULL;

	return frame && frame->kind == FRAME_FILE && frame->name &&
	       !strncmp(frame->name, begin, sizeof(begin) - 1);
}

/* A stripped program's own _start has no name, but it calls libc's, which has: it would be taken for the
 * beginning of the program's main thread. */
static void frames_find_start(struct stacks *stacks, const struct capture *capture)
{
	for (size_t i = 0; i < capture->stacks.n; i++) {
		const struct capture_stack *stack = &capture->stacks.items[i];
		size_t n = stack->frames.n;
		uint32_t outermost = n ? stack->frames.items[n - 1] : STACK_NONE;

		if (n < 2 || outermost >= stacks->frames.n ||
		    !is_libc_start(capture, stack->frames.items[n - 2]))
			continue;
		stacks->frames.items[outermost].plumbing = true;
		stacks->frames.items[outermost].start = true;
	}
}

static void frames_init(struct stacks *stacks, const struct capture *capture)
{
	bool *callers = callers_of(capture);

	for (size_t i = 0; i < capture->frames.n; i++) {
		const struct capture_frame *frame = &capture->frames.items[i];
		const char *file = frame_file(capture, frame);
		enum plumbing plumbing = plumbing_of(frame, file);
		struct stacks_frame *to = vec_push(&stacks->frames);

		to->file = frame_file_text(frame, file);
		to->text = frame_text(frame, to->file, callers[i]);
		to->plumbing = plumbing != PLUMBING_NONE;
		to->start = plumbing == PLUMBING_START;
	}
	free(callers);
	frames_find_start(stacks, capture);
}

/* ---- wakes ----------------------------------------------------------------------------------- */

static int wake_order(const void *a, const void *b)
{
	const struct stacks_wake *x = a, *y = b;
	int order = compare_u64(x->cause, y->cause);

	if (!order)
		order = compare_u64(x->sleeper, y->sleeper);
	return order ? order : compare_u64(x->waker, y->waker);
}

static int wake_order_shown(const void *a, const void *b)
{
	const struct stacks_wake *x = a, *y = b;
	int order = compare_u64(x->cause, y->cause);

	if (!order)
		order = compare_u64(y->wakeups, x->wakeups);
	return order ? order : wake_order(x, y);
}

/* A place that is not there is none. */
static uint32_t stack_of(const struct capture *capture, uint32_t stack)
{
	return stack < capture->stacks.n ? stack : STACK_NONE;
}

/* Several causes of the kernel side may be one row: so may their wakes. */
static void wakes_join(struct stacks *stacks)
{
	size_t kept = 0;

	if (!stacks->wakes.n)
		return;
	qsort(stacks->wakes.items, stacks->wakes.n, sizeof(*stacks->wakes.items), wake_order);
	for (size_t i = 0; i < stacks->wakes.n; i++) {
		const struct stacks_wake *from = &stacks->wakes.items[i];
		struct stacks_wake *to = kept ? &stacks->wakes.items[kept - 1] : NULL;

		if (to && !wake_order(to, from)) {
			to->wakeups = add_saturated(to->wakeups, from->wakeups);
			to->sleep_ns = add_saturated(to->sleep_ns, from->sleep_ns);
		} else {
			stacks->wakes.items[kept++] = *from;
		}
	}
	stacks->wakes.n = kept;
	qsort(stacks->wakes.items, kept, sizeof(*stacks->wakes.items), wake_order_shown);
}

static void wakes_init(struct stacks *stacks, const struct why *why, const struct capture *capture)
{
	for (size_t i = 0; i < capture->wake_stacks.n; i++) {
		const struct capture_wake_stack *from = &capture->wake_stacks.items[i];
		size_t row = why_row_of(why, from->cause);

		if (row == SIZE_MAX || !from->wakeups)
			continue;
		*vec_push(&stacks->wakes) =
			(struct stacks_wake){.cause = row,
					     .sleeper = stack_of(capture, from->sleeper),
					     .waker = stack_of(capture, from->waker),
					     .wakeups = from->wakeups,
					     .sleep_ns = from->sleep_ns};
		if (stack_of(capture, from->sleeper) != STACK_NONE)
			stacks->wakeups_with = add_saturated(stacks->wakeups_with, from->wakeups);
	}
	wakes_join(stacks);
	for (size_t i = 0; i < why->causes.n; i++)
		stacks->wakeups = add_saturated(stacks->wakeups, why->causes.items[i].wakeups);
	/* At the window's edges one side may have counted a wake that the other has not. */
	if (stacks->wakeups_with > stacks->wakeups)
		stacks->wakeups_with = stacks->wakeups;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Threads by serial, for search by halving: serials are somebody else's choice, an array might be huge. */
struct by_serial {
	uint32_t serial;
	const struct run_thread *thread;
};

static int serial_order(const void *a, const void *b)
{
	const struct by_serial *x = a, *y = b;
	int order = compare_u64(x->serial, y->serial);

	return order ? order : compare_u64((uintptr_t)x->thread, (uintptr_t)y->thread);
}

static const struct run_thread *thread_of(const struct by_serial *all, size_t n, uint32_t serial)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && all[low].serial == serial ? all[low].thread : NULL;
}

static int sample_order(const void *a, const void *b)
{
	const struct stacks_sample *x = a, *y = b;
	int order = compare_u64((uintptr_t)x->thread, (uintptr_t)y->thread);

	return order ? order : compare_u64(x->stack, y->stack);
}

static int sample_order_shown(const void *a, const void *b)
{
	const struct stacks_sample *x = a, *y = b;
	int order = compare_u64((uintptr_t)x->thread, (uintptr_t)y->thread);

	if (!order)
		order = compare_u64(y->count, x->count);
	return order ? order : sample_order(x, y);
}

static void samples_join(struct stacks *stacks)
{
	size_t kept = 0;

	if (!stacks->rows.n)
		return;
	qsort(stacks->rows.items, stacks->rows.n, sizeof(*stacks->rows.items), sample_order);
	for (size_t i = 0; i < stacks->rows.n; i++) {
		const struct stacks_sample *from = &stacks->rows.items[i];
		struct stacks_sample *to = kept ? &stacks->rows.items[kept - 1] : NULL;

		if (to && !sample_order(to, from))
			to->count = add_saturated(to->count, from->count);
		else
			stacks->rows.items[kept++] = *from;
	}
	stacks->rows.n = kept;
	qsort(stacks->rows.items, kept, sizeof(*stacks->rows.items), sample_order_shown);
}

static void samples_init(struct stacks *stacks, const struct run *run)
{
	const struct capture *capture = run->capture;
	struct by_serial *all = mem_calloc(run->threads.n + 1, sizeof(*all));
	size_t n = 0;

	/* 0 is the serial of threads in recordings older than causes. */
	for (size_t i = 0; i < run->threads.n; i++)
		if (run->threads.items[i].seen->t.serial)
			all[n++] = (struct by_serial){run->threads.items[i].seen->t.serial,
						      &run->threads.items[i]};
	qsort(all, n, sizeof(*all), serial_order);
	for (size_t i = 0; i < capture->samples.n; i++) {
		const struct capture_sample *from = &capture->samples.items[i];
		const struct run_thread *thread = thread_of(all, n, from->serial);

		if (!thread || !from->count)
			continue;
		*vec_push(&stacks->rows) = (struct stacks_sample){
			thread, stack_of(capture, from->stack), from->count};
		stacks->samples = add_saturated(stacks->samples, from->count);
	}
	free(all);
	samples_join(stacks);
}

/* ---- where threads begin --------------------------------------------------------------------- */

/* Place in capture.frames of the first function of the stack's thread; STACK_NONE: not known. Code made
 * at run time lies elsewhere each time: without a name it says nothing. */
static uint32_t begin_of(const struct stacks *stacks, const struct capture *capture,
			 const struct capture_stack *stack)
{
	if (stack->truncated)
		return STACK_NONE;
	for (size_t i = stack->frames.n; i-- > 0;) {
		uint32_t at = stack->frames.items[i];
		const struct capture_frame *frame;

		if (at >= capture->frames.n || stacks->frames.items[at].plumbing)
			continue;
		frame = &capture->frames.items[at];
		if (frame->kind == FRAME_JIT && !(frame->name && *frame->name))
			return STACK_NONE;
		return at;
	}
	return STACK_NONE;
}

/* One for each stack: first where it begins, then the same with one number for frames of one text. */
struct begins {
	uint32_t *frame; /* STACK_NONE: not known */
	VEC(struct begin { const char *text; uint32_t frame; }) all;
};

static int begin_order(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : compare_u64(x->frame, y->frame);
}

/* Texts are compared here, once for each frame; from here on frames of one text are the first of them.
 * They would be compared again and again below, and may be long. */
static void begins_join(struct begins *begins, size_t n_frames, size_t n_stacks)
{
	uint32_t *first = mem_calloc(n_frames + 1, sizeof(*first));

	if (begins->all.n)
		qsort(begins->all.items, begins->all.n, sizeof(*begins->all.items), begin_order);
	for (size_t i = 0; i < begins->all.n; i++) {
		const struct begin *begin = &begins->all.items[i];
		bool same = i && !strcmp(begin[-1].text, begin->text);

		first[begin->frame] = same ? first[begin[-1].frame] : begin->frame;
	}
	for (size_t i = 0; i < n_stacks; i++)
		if (begins->frame[i] != STACK_NONE)
			begins->frame[i] = first[begins->frame[i]];
	free(first);
}

static void begins_init(struct begins *ret_begins, const struct stacks *stacks,
			const struct capture *capture)
{
	struct begins begins = {.frame = mem_calloc(capture->stacks.n + 1, sizeof(uint32_t))};
	bool *seen = mem_calloc(capture->frames.n + 1, sizeof(*seen));

	for (size_t i = 0; i < capture->stacks.n; i++) {
		uint32_t at = begin_of(stacks, capture, &capture->stacks.items[i]);

		begins.frame[i] = at;
		if (at == STACK_NONE || seen[at])
			continue;
		seen[at] = true;
		*vec_push(&begins.all) = (struct begin){stacks->frames.items[at].text, at};
	}
	free(seen);
	begins_join(&begins, capture->frames.n, capture->stacks.n);
	*ret_begins = begins;
}

/* What a stack says about the beginning of its thread. */
struct vote {
	size_t thread; /* place in run->threads */
	bool sample;   /* of no weight where there are wakes */
	uint32_t frame;
	uint64_t weight;
};

static int vote_order(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;
	int order = compare_u64(x->thread, y->thread);

	if (!order)
		order = (int)x->sample - (int)y->sample;
	return order ? order : compare_u64(x->frame, y->frame);
}

/* The frame that has more than half of the votes first..end-1, which are those of one thread. */
static uint32_t votes_count(const struct vote *votes, size_t first, size_t end)
{
	uint64_t all = 0, most = 0, same = 0;
	uint32_t winner = STACK_NONE;

	for (size_t i = first; i < end && votes[i].sample == votes[first].sample; i++) {
		same = i > first && votes[i].frame == votes[i - 1].frame ? same : 0;
		same = add_saturated(same, votes[i].weight);
		all = add_saturated(all, votes[i].weight);
		if (same > most) {
			most = same;
			winner = votes[i].frame;
		}
	}
	return most > all / 2 ? winner : STACK_NONE;
}

typedef VEC(struct vote) vote_vec;

static void votes_collect(vote_vec *votes, const struct stacks *stacks, const struct begins *begins,
			  const struct why *why, const struct run *run)
{
	for (size_t i = 0; i < stacks->wakes.n; i++) {
		const struct stacks_wake *wake = &stacks->wakes.items[i];
		const struct run_thread *thread = why->causes.items[wake->cause].thread;

		if (wake->sleeper != STACK_NONE && begins->frame[wake->sleeper] != STACK_NONE)
			*vec_push(votes) = (struct vote){(size_t)(thread - run->threads.items),
							 false, begins->frame[wake->sleeper],
							 wake->wakeups};
	}
	for (size_t i = 0; i < stacks->rows.n; i++) {
		const struct stacks_sample *row = &stacks->rows.items[i];

		if (row->stack != STACK_NONE && begins->frame[row->stack] != STACK_NONE)
			*vec_push(votes) =
				(struct vote){(size_t)(row->thread - run->threads.items), true,
					      begins->frame[row->stack], row->count};
	}
	if (votes->n)
		qsort(votes->items, votes->n, sizeof(*votes->items), vote_order);
}

static void threads_begin(struct stacks *stacks, const struct why *why, const struct run *run)
{
	struct begins begins;
	vote_vec votes = {};
	size_t at = 0;

	begins_init(&begins, stacks, run->capture);
	votes_collect(&votes, stacks, &begins, why, run);
	for (size_t i = 0; i < run->threads.n; i++) {
		size_t first = at;
		uint32_t frame = STACK_NONE;

		while (at < votes.n && votes.items[at].thread == i)
			at++;
		if (at > first)
			frame = votes_count(votes.items, first, at);
		*vec_push(&stacks->begins) = mem_strdup(
			frame == STACK_NONE ? "" : stacks->frames.items[frame].text);
	}
	free(votes.items);
	free(begins.frame);
	free(begins.all.items);
}

/* ---- the few frames that matter -------------------------------------------------------------- */

/* The frame at place i of a stack; NULL: there is none. */
static const struct stacks_frame *frame_at(const struct stacks *stacks,
					   const struct capture_stack *stack, size_t i)
{
	uint32_t at = stack->frames.items[i];

	return at < stacks->frames.n ? &stacks->frames.items[at] : NULL;
}

static bool names_call(const struct stacks *stacks, const struct capture *capture,
		       const struct capture_stack *stack, size_t i)
{
	const struct stacks_frame *frame = frame_at(stacks, stack, i);
	const char *name = frame ? capture->frames.items[stack->frames.items[i]].name : NULL;

	return frame && frame->plumbing && !frame->start && name && *name;
}

/* The outermost named plumbing inside of place `end`: libc's, or the kernel's where libc's has no name. */
static uint32_t call_inside(const struct stacks *stacks, const struct capture *capture,
			    const struct capture_stack *stack, size_t end)
{
	for (size_t i = end; i-- > 0;)
		if (names_call(stacks, capture, stack, i))
			return stack->frames.items[i];
	return STACK_NONE;
}

/* Place in the stack of the innermost frame that is not plumbing; its length: there is none. */
static size_t first_own(const struct stacks *stacks, const struct capture_stack *stack)
{
	for (size_t i = 0; i < stack->frames.n; i++) {
		const struct stacks_frame *frame = frame_at(stacks, stack, i);

		if (frame && !frame->plumbing)
			return i;
	}
	return stack->frames.n;
}

/* What stands for a stack of plumbing alone. */
static uint32_t plumbing_shown(const struct stacks *stacks, const struct capture *capture,
			       const struct capture_stack *stack)
{
	uint32_t call = call_inside(stacks, capture, stack, stack->frames.n);

	for (size_t i = 0; i < stack->frames.n && call == STACK_NONE; i++)
		if (frame_at(stacks, stack, i))
			call = stack->frames.items[i];
	return call;
}

size_t stacks_matter(const struct stacks *stacks, const struct capture *capture, uint32_t stack,
		     uint32_t *ret_frames, size_t max)
{
	const struct capture_stack *from;
	size_t n = 0;

	if (stack >= capture->stacks.n || !max)
		return 0;
	from = &capture->stacks.items[stack];
	for (size_t i = first_own(stacks, from); i < from->frames.n && n < max; i++) {
		const struct stacks_frame *frame = frame_at(stacks, from, i);

		if (frame && !frame->plumbing)
			ret_frames[n++] = from->frames.items[i];
	}
	if (!n) {
		ret_frames[0] = plumbing_shown(stacks, capture, from);
		n = ret_frames[0] != STACK_NONE;
	}
	return n;
}

uint32_t stacks_call(const struct stacks *stacks, const struct capture *capture, uint32_t stack)
{
	const struct capture_stack *from;
	size_t own;

	if (stack >= capture->stacks.n)
		return STACK_NONE;
	from = &capture->stacks.items[stack];
	own = first_own(stacks, from);
	return own < from->frames.n ? call_inside(stacks, capture, from, own) : STACK_NONE;
}

const char *stacks_short_text(const struct stacks *stacks, const struct capture *capture, uint32_t frame)
{
	static const char *const entries[] = {"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_",
					      "__do_sys_"};
	const char *text = stacks->frames.items[frame].text;

	if (capture->frames.items[frame].kind != FRAME_KERNEL)
		return text;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		size_t n = strlen(entries[i]);

		if (!strncmp(text, entries[i], n) && text[n])
			return text + n;
	}
	return text;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void stacks_init(struct stacks *ret_stacks, const struct why *why, const struct run *run)
{
	const struct capture *capture = run->capture;
	struct stacks stacks = {.known = capture->stacks_mode || capture->sample_hz};

	if (stacks.known) {
		stacks.lost = capture->lost[WK_LOST_STACKS];
		stacks.uncopied = capture->lost[WK_LOST_COPIES];
		frames_init(&stacks, capture);
		wakes_init(&stacks, why, capture);
		samples_init(&stacks, run);
		threads_begin(&stacks, why, run);
	}
	*ret_stacks = stacks;
}

void stacks_free_members(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->frames.n; i++) {
		free(stacks->frames.items[i].text);
		free(stacks->frames.items[i].file);
	}
	free(stacks->frames.items);
	free(stacks->wakes.items);
	free(stacks->rows.items);
	for (size_t i = 0; i < stacks->begins.n; i++)
		free(stacks->begins.items[i]);
	free(stacks->begins.items);
	memset(stacks, 0, sizeof(*stacks));
}
