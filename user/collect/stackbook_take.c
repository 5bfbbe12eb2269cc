/* The stacks of a capture: those that its causes and samples name, with names, each once. */
#include <stdlib.h>
#include <string.h>

#include "collect/jit_names.h"
#include "collect/kernel_names.h"
#include "collect/stackbook_internal.h"
#include "sym/elf.h"

/* ---- names of places --------------------------------------------------------------------------- */

static const char *kernel_symbol(struct stackbook *book, uint64_t address, uint64_t *ret_into)
{
	if (!book->kallsyms) {
		FILE *in = fopen("/proc/kallsyms", "re");

		if (!in)
			return NULL;
		book->kallsyms = kallsyms_read(in);
		fclose(in);
	}
	return kallsyms_find(book->kallsyms, address, ret_into);
}

static const char *jit_symbol(struct stackbook *book, uint32_t place, uint64_t address,
			      uint64_t *ret_into)
{
	struct jit_owner *owner = &book->jit_owners.items[place];
	size_t bytes = 0;

	if (!owner->read) {
		owner->read = true;
		owner->map = jit_names_read(owner->pid, owner->time_ns, owner->since_ns, &owner->who,
					    JIT_MAP_MAX_BYTES - book->jit_bytes, &bytes);
		book->jit_bytes += bytes;
	}
	return owner->map ? perf_map_find(owner->map, address, ret_into) : NULL;
}

static const char *file_symbol(struct stackbook *book, struct chain_place *place)
{
	const struct chain_place_key *key = &place->key;

	place->address = module_files_address(book->files, key->owner, key->offset);
	return module_files_symbol(book->files, key->owner, key->offset, &place->into);
}

void stackbook_name(struct stackbook *book, uint32_t number)
{
	struct chain_place *place = &book->chains.places.items[number];
	const struct chain_place_key *key = &place->key;
	const char *name;

	if (place->named)
		return;
	place->named = true;
	if (key->kind == FRAME_KERNEL)
		name = kernel_symbol(book, key->offset, &place->into);
	else if (key->kind == FRAME_JIT)
		name = jit_symbol(book, key->owner, key->offset, &place->into);
	else
		name = file_symbol(book, place);
	if (!name || !name[0])
		place->into = 0;
	else
		place->name = key->kind == FRAME_FILE ? symbol_demangle(name) : mem_strdup(name);
}

/* ---- what a capture holds of it ----------------------------------------------------------------- */

/* While one capture is filled. */
struct taking {
	struct stackbook *book;
	struct capture *capture;
	struct place_index by_module, by_frame, by_stack;
	uint32_t *frame_of; /* place → its frame in the capture; PLACE_NONE: not there yet */
	/* Chain → its stack in the capture: as a wake's, and as a sample's, which the probe's frames are
	 * not taken from. */
	uint32_t *stack_of[2];
	VEC(uint32_t) causes, serials; /* of the capture, rising */
};

#define NOT_TAKEN (STACK_NONE - 1) /* in stack_of */

static bool same_module(const void *array, uint32_t place, const void *wanted)
{
	const struct capture_module *a = (const struct capture_module *)array + place, *b = wanted;

	return !strcmp(a->path, b->path) && !strcmp(a->build_id, b->build_id);
}

static uint32_t module_of(struct taking *taking, uint32_t file)
{
	struct stackbook *book = taking->book;
	const char *path = module_files_path(book->files, file);
	const char *build_id = module_files_build_id(book->files, file);
	const struct capture_module wanted = {(char *)path, (char *)build_id};
	uint64_t words[2] = {place_hash(&taking->by_module, path, strlen(path)),
			     place_hash(&taking->by_module, build_id, strlen(build_id))};
	uint64_t hash = place_hash(&taking->by_module, words, sizeof(words));
	uint32_t place = place_index_find(&taking->by_module, hash, same_module,
					  taking->capture->modules.items, &wanted);
	struct capture_module *module;

	if (place != PLACE_NONE)
		return place;
	place = (uint32_t)taking->capture->modules.n;
	module = vec_push(&taking->capture->modules);
	module->path = mem_strdup(path);
	module->build_id = mem_strdup(build_id);
	place_index_add(&taking->by_module, hash, place);
	return place;
}

static bool same_frame(const void *array, uint32_t place, const void *wanted)
{
	const struct capture_frame *a = (const struct capture_frame *)array + place, *b = wanted;

	return a->kind == b->kind && a->module == b->module && a->offset == b->offset &&
	       a->into == b->into && !strcmp(a->name, b->name);
}

/* Two processes may have made code of one name at one address: then that is one frame. */
static uint32_t frame_of(struct taking *taking, uint32_t number)
{
	struct chain_place *place = &taking->book->chains.places.items[number];
	struct capture_frame frame = {.kind = place->key.kind, .offset = place->key.offset};
	uint64_t words[4], hash;
	uint32_t at;

	if (taking->frame_of[number] != PLACE_NONE)
		return taking->frame_of[number];
	stackbook_name(taking->book, number);
	if (frame.kind == FRAME_FILE)
		frame.module = module_of(taking, place->key.owner);
	frame.name = place->name ? place->name : (char *)"";
	frame.into = place->into;
	frame.address = place->address;
	words[0] = (uint64_t)frame.kind << 32 | frame.module;
	words[1] = frame.offset;
	words[2] = frame.into;
	words[3] = place_hash(&taking->by_frame, frame.name, strlen(frame.name));
	hash = place_hash(&taking->by_frame, words, sizeof(words));
	at = place_index_find(&taking->by_frame, hash, same_frame, taking->capture->frames.items,
			      &frame);
	if (at == PLACE_NONE) {
		at = (uint32_t)taking->capture->frames.n;
		frame.name = mem_strdup(frame.name);
		*vec_push(&taking->capture->frames) = frame;
		place_index_add(&taking->by_frame, hash, at);
	}
	taking->frame_of[number] = at;
	return at;
}

static bool same_stack(const void *array, uint32_t place, const void *wanted)
{
	const struct capture_stack *a = (const struct capture_stack *)array + place, *b = wanted;

	return a->pid == b->pid && a->truncated == b->truncated && a->kernel == b->kernel &&
	       a->frames.n == b->frames.n &&
	       !memcmp(a->frames.items, b->frames.items, a->frames.n * sizeof(*a->frames.items));
}

/* The stack becomes the capture's, or is freed where there is an equal one. One without frames says
 * nothing. */
static uint32_t intern_stack(struct taking *taking, struct capture_stack *stack)
{
	uint64_t words[2] = {(uint64_t)stack->pid << 32 | stack->kernel << 1 | stack->truncated, 0},
		 hash;
	uint32_t place = STACK_NONE;

	if (!stack->frames.n)
		goto out;
	words[1] = place_hash(&taking->by_stack, stack->frames.items,
			      stack->frames.n * sizeof(*stack->frames.items));
	hash = place_hash(&taking->by_stack, words, sizeof(words));
	place = place_index_find(&taking->by_stack, hash, same_stack, taking->capture->stacks.items,
				 stack);
	if (place != PLACE_NONE)
		goto out;
	place = (uint32_t)taking->capture->stacks.n;
	*vec_push(&taking->capture->stacks) = *stack;
	place_index_add(&taking->by_stack, hash, place);
	return place;
out:
	free(stack->frames.items);
	return place;
}

/* How many of its first frames took the stack, and have no part in what it shows. */
static size_t probe_frames(struct stackbook *book, const struct chain *chain)
{
	const char *names[WK_STACK_FRAMES];
	size_t n = chain->kernel < WK_STACK_FRAMES ? chain->kernel : WK_STACK_FRAMES;

	for (size_t i = 0; i < n; i++) {
		uint32_t place = book->chains.frames.items[chain->first + i];

		stackbook_name(book, place);
		names[i] = book->chains.places.items[place].name;
		names[i] = names[i] ? names[i] : "";
	}
	return kernel_names_probe_frames(names, n);
}

static uint32_t make_stack(struct taking *taking, uint32_t number, bool sample)
{
	struct stackbook *book = taking->book;
	const struct chain *chain = &book->chains.chains.items[number];
	size_t skip = sample ? 0 : probe_frames(book, chain);
	struct capture_stack stack = {.pid = chain->pid,
				      .truncated = chain->truncated,
				      .kernel = chain->kernel - (uint32_t)skip};

	for (size_t i = skip; i < chain->n; i++)
		*vec_push(&stack.frames) =
			frame_of(taking, book->chains.frames.items[chain->first + i]);
	return intern_stack(taking, &stack);
}

/* id 0, or one that has not come: none. */
static uint32_t stack_of(struct taking *taking, uint32_t id, bool sample)
{
	struct stackbook *book = taking->book;
	uint32_t chain = stackbook_chain(book, id);
	uint32_t *known;

	if (chain == PLACE_NONE)
		return STACK_NONE;
	known = &taking->stack_of[sample][chain];
	if (*known == NOT_TAKEN)
		*known = make_stack(taking, chain, sample);
	return *known;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool belongs(const struct taking *taking, const struct stack_counted *counted)
{
	uint32_t number = counted->key.what & ~WK_STACK_SAMPLE;

	if (counted->key.what & WK_STACK_SAMPLE)
		return taking->serials.n && bsearch(&number, taking->serials.items,
						    taking->serials.n, sizeof(number), by_number);
	return taking->causes.n &&
	       bsearch(&number, taking->causes.items, taking->causes.n, sizeof(number), by_number);
}

static int by_key(const void *a, const void *b)
{
	const struct wk_stack_key *x = &((const struct stack_counted *)a)->key;
	const struct wk_stack_key *y = &((const struct stack_counted *)b)->key;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->sleeper != y->sleeper)
		return x->sleeper < y->sleeper ? -1 : 1;
	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

static int by_wake(const void *a, const void *b)
{
	const struct capture_wake_stack *x = a, *y = b;

	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	if (x->sleeper != y->sleeper)
		return x->sleeper < y->sleeper ? -1 : 1;
	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

static int by_sample(const void *a, const void *b)
{
	const struct capture_sample *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void merge_wakes(struct capture *capture)
{
	struct capture_wake_stack *rows = capture->wake_stacks.items;
	size_t n = 0;

	if (!capture->wake_stacks.n)
		return;
	qsort(rows, capture->wake_stacks.n, sizeof(*rows), by_wake);
	for (size_t i = 1; i < capture->wake_stacks.n; i++) {
		if (by_wake(&rows[n], &rows[i])) {
			rows[++n] = rows[i];
			continue;
		}
		rows[n].wakeups += rows[i].wakeups;
		rows[n].sleep_ns += rows[i].sleep_ns;
	}
	capture->wake_stacks.n = n + 1;
}

static void merge_samples(struct capture *capture)
{
	struct capture_sample *rows = capture->samples.items;
	size_t n = 0;

	if (!capture->samples.n)
		return;
	qsort(rows, capture->samples.n, sizeof(*rows), by_sample);
	for (size_t i = 1; i < capture->samples.n; i++) {
		if (by_sample(&rows[n], &rows[i]))
			rows[++n] = rows[i];
		else
			rows[n].count += rows[i].count;
	}
	capture->samples.n = n + 1;
}

static void push_row(struct taking *taking, const struct stack_counted *counted)
{
	struct capture *capture = taking->capture;

	if (counted->key.what & WK_STACK_SAMPLE) {
		struct capture_sample sample = {.serial = counted->key.what & ~WK_STACK_SAMPLE,
						.count = counted->count.count};

		sample.stack = stack_of(taking, counted->key.sleeper, true);
		*vec_push(&capture->samples) = sample;
	} else {
		struct capture_wake_stack wake = {.cause = counted->key.what,
						  .wakeups = counted->count.count,
						  .sleep_ns = counted->count.sleep_ns};

		wake.sleeper = stack_of(taking, counted->key.sleeper, false);
		wake.waker = stack_of(taking, counted->key.waker, false);
		*vec_push(&capture->wake_stacks) = wake;
	}
}

static uint32_t *places(size_t n, uint32_t value)
{
	uint32_t *made = mem_calloc(n, sizeof(*made));

	for (size_t i = 0; i < n; i++)
		made[i] = value;
	return made;
}

static void taking_begin(struct taking *taking)
{
	struct chains *chains = &taking->book->chains;
	struct capture *capture = taking->capture;

	taking->frame_of = places(chains->places.n, PLACE_NONE);
	taking->stack_of[0] = places(chains->chains.n, NOT_TAKEN);
	taking->stack_of[1] = places(chains->chains.n, NOT_TAKEN);
	for (size_t i = 0; i < capture->causes.n; i++)
		*vec_push(&taking->causes) = capture->causes.items[i].number;
	for (size_t i = 0; i < capture->threads.n; i++)
		*vec_push(&taking->serials) = capture->threads.items[i].t.serial;
	if (taking->causes.n)
		qsort(taking->causes.items, taking->causes.n, sizeof(uint32_t), by_number);
	if (taking->serials.n)
		qsort(taking->serials.items, taking->serials.n, sizeof(uint32_t), by_number);
}

static void taking_end(struct taking *taking)
{
	free(taking->frame_of);
	free(taking->stack_of[0]);
	free(taking->stack_of[1]);
	free(taking->causes.items);
	free(taking->serials.items);
	place_index_clear(&taking->by_module);
	place_index_clear(&taking->by_frame);
	place_index_clear(&taking->by_stack);
}

void stackbook_take(struct stackbook *book, const struct stack_counted *counted, size_t n,
		    struct capture *capture)
{
	struct taking taking = {.book = book, .capture = capture};
	VEC(struct stack_counted) own = {0};

	taking_begin(&taking);
	for (size_t i = 0; i < n; i++)
		if (belongs(&taking, &counted[i]))
			*vec_push(&own) = counted[i];
	/* The kernel's map has no order of its own: the same stacks make the same capture. */
	if (own.n)
		qsort(own.items, own.n, sizeof(*own.items), by_key);
	for (size_t i = 0; i < own.n; i++)
		push_row(&taking, &own.items[i]);
	merge_wakes(capture);
	merge_samples(capture);
	capture->lost[WK_LOST_STACKS] += book->left_out;
	free(own.items);
	taking_end(&taking);
}
