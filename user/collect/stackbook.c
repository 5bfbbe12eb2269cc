/* Stacks as they come: addresses become places in files, copies are unwound, equal ones are one. */
#include "collect/stackbook_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_IDS	  (1U << 24) /* more than the kernel side ever gives */
#define MAX_FILES 1024 /* open for unwinding, of all processes, each with its own */

/* The rest of the program needs descriptors too. */
static size_t max_unwinder_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 4 > MAX_FILES)
		return MAX_FILES;
	return limit.rlim_cur / 4;
}

int stackbook_open(struct stackbook **ret_book, struct diag *diag)
{
	struct stackbook *book = mem_zalloc(sizeof(*book));

	book->files = module_files_new();
	book->max_unwinder_files = max_unwinder_files();
	book->mappings = mappings_new(book->files);
	*ret_book = book;
	return mappings_watch(book->mappings, diag);
}

void stackbook_free(struct stackbook *book)
{
	if (!book)
		return;
	stackbook_reset(book);
	mappings_free(book->mappings);
	module_files_free(book->files);
	if (book->kallsyms)
		kallsyms_free(book->kallsyms);
	free(book->draft.frames.items);
	free(book);
}

int stackbook_fd(const struct stackbook *book)
{
	return mappings_fd(book->mappings);
}

void stackbook_service(struct stackbook *book)
{
	mappings_service(book->mappings, UINT64_MAX);
}

void stackbook_seed(struct stackbook *book, pid_t pid)
{
	if (pid > 0)
		mappings_seed(book->mappings, (uint32_t)pid);
}

void stackbook_reset(struct stackbook *book)
{
	chains_clear(&book->chains);
	for (size_t i = 0; i < 2; i++)
		free(book->chain_of_id[i].items);
	memset(book->chain_of_id, 0, sizeof(book->chain_of_id));
	for (size_t i = 0; i < book->jit_owners.n; i++)
		if (book->jit_owners.items[i].map)
			perf_map_free(book->jit_owners.items[i].map);
	free(book->jit_owners.items);
	memset(&book->jit_owners, 0, sizeof(book->jit_owners));
	book->jit_bytes = 0;
	book->left_out = 0;
}

/* ---- addresses become places ------------------------------------------------------------------- */

static uint32_t jit_owner_of(struct stackbook *book, const struct image *image, uint64_t time_ns)
{
	struct jit_owner *owner;

	/* Few processes make code, and the last one is the likeliest. */
	for (size_t i = book->jit_owners.n; i-- > 0;)
		if (book->jit_owners.items[i].serial == image->serial)
			return (uint32_t)i;
	owner = vec_push(&book->jit_owners);
	owner->pid = image->pid;
	owner->serial = image->serial;
	owner->since_ns = image->since_ns;
	owner->time_ns = time_ns;
	owner->who = image->who;
	return (uint32_t)(book->jit_owners.n - 1);
}

static void open_file(struct stackbook *book, const struct image *image,
		      const struct mapping *mapping, uint64_t time_ns)
{
	struct module_view view = {.pid = (pid_t)image->pid,
				   .start = mapping->start,
				   .end = mapping->end,
				   .mapped_ns = mapping->since_ns,
				   .time_ns = time_ns};

	if (module_files_fd(book->files, mapping->file) >= 0)
		return;
	view.current = mappings_is_current(book->mappings, image);
	module_files_open(book->files, mapping->file, &view);
}

static void push_place(struct stackbook *book, const struct chain_place_key *key)
{
	uint32_t place = chains_place(&book->chains, key);

	if (place == PLACE_NONE)
		book->draft.truncated = true;
	else
		*vec_push(&book->draft.frames) = place;
}

static void push_address(struct stackbook *book, struct image *image, uint64_t address,
			 uint64_t time_ns)
{
	const struct mapping *mapping = mappings_find(book->mappings, image, address, time_ns);
	struct chain_place_key key = {FRAME_FILE, 0, address};

	if (!mapping) {
		book->draft.truncated = true;
		return;
	}
	if (mapping->file != MODULE_ANONYMOUS)
		open_file(book, image, mapping, time_ns);
	if (mapping->file == MODULE_ANONYMOUS || module_files_is_data(book->files, mapping->file)) {
		key.kind = FRAME_JIT;
		key.owner = jit_owner_of(book, image, time_ns);
	} else {
		key.owner = mapping->file;
		key.offset = address - mapping->start + mapping->file_offset;
	}
	push_place(book, &key);
}

/* ---- user stacks ------------------------------------------------------------------------------- */

static void feed_mapping(struct stackbook *book, const struct image *image,
			 const struct mapping *mapping, uint64_t time_ns)
{
	struct address_space *space = image->space;
	struct unwind_mapping unwind = {mapping->start, mapping->end, mapping->file_offset, NULL,
					-1};
	char name[32] = "anonymous";

	if (mapping->file != MODULE_ANONYMOUS) {
		open_file(book, image, mapping, time_ns);
		snprintf(name, sizeof(name), "%u", mapping->file);
		if (space->unwinder_files < book->max_unwinder_files)
			unwind.fd = module_files_fd(book->files, mapping->file);
		space->unwinder_files += unwind.fd >= 0;
	}
	unwind.name = name;
	unwinder_add(space->unwinder, &unwind);
}

/* Tells the unwinder what has been mapped since it was asked last, up to the time of the stack. */
static void feed_unwinder(struct stackbook *book, const struct image *image, uint64_t time_ns)
{
	struct address_space *space = image->space;
	size_t files = space->unwinder_files;

	space->unwinder_used = ++book->unwound;
	if (!space->unwinder)
		space->unwinder = unwinder_new();
	for (; space->unwinder_fed < space->log.n; space->unwinder_fed++) {
		const struct mapping *mapping = &space->log.items[space->unwinder_fed];

		if (mapping->since_ns > time_ns)
			break;
		feed_mapping(book, image, mapping, time_ns);
	}
	if (space->unwinder_files != files)
		mappings_trim_unwinders(book->mappings, book->max_unwinder_files, space);
}

static bool push_copied(struct stackbook *book, struct image *image,
			const struct stack_taken *taken)
{
	struct unwind_state state = {taken->regs, taken->memory, taken->memory_bytes};
	uint64_t frames[UNWIND_FRAMES];
	bool truncated = false;
	size_t n;

	feed_unwinder(book, image, taken->time_ns);
	n = unwinder_run(image->space->unwinder, &state, frames, UNWIND_FRAMES, &truncated);
	for (size_t i = 0; i < n; i++)
		push_address(book, image, frames[i], taken->time_ns);
	book->draft.truncated |= truncated;
	return n > 0;
}

/* By frame pointers: of callers the kernel gives the return address. */
static void push_followed(struct stackbook *book, struct image *image,
			  const struct stack_taken *taken)
{
	for (size_t i = 0; i < taken->n_user; i++)
		push_address(book, image, taken->user[i] - (i > 0), taken->time_ns);
	book->draft.truncated |= taken->n_user >= WK_STACK_FRAMES;
}

static void push_user(struct stackbook *book, const struct stack_taken *taken)
{
	struct image *image;

	if (!taken->pid || (!taken->regs && !taken->n_user))
		return;
	image = mappings_image(book->mappings, taken->pid, taken->time_ns);
	if (!image)
		book->draft.truncated = true;
	else if (!taken->regs || !push_copied(book, image, taken))
		push_followed(book, image, taken);
	/* Not even the address of the instruction that runs lay in a mapping. */
	book->draft.truncated |= book->draft.frames.n == book->draft.kernel;
}

static void push_kernel(struct stackbook *book, const struct stack_taken *taken)
{
	for (size_t i = 0; i < taken->n_kernel; i++) {
		struct chain_place_key key = {FRAME_KERNEL, 0, taken->kernel[i] - (i > 0)};

		push_place(book, &key);
	}
	book->draft.kernel = (uint32_t)book->draft.frames.n;
	book->draft.truncated |= taken->n_kernel >= WK_STACK_FRAMES;
}

/* What is kept has this in its id, and the number of its chain: chains are never so many. */
#define KEPT (1U << 30)

/* Place of an id in its part of chain_of_id. */
static uint32_t id_place(uint32_t id)
{
	return id & ~WK_STACK_COPIED;
}

static void note_chain(struct stackbook *book, uint32_t id, uint32_t chain)
{
	bool copied = id & WK_STACK_COPIED;

	while (book->chain_of_id[copied].n <= id_place(id))
		*vec_push(&book->chain_of_id[copied]) = PLACE_NONE;
	book->chain_of_id[copied].items[id_place(id)] = chain;
}

void stackbook_add(struct stackbook *book, const struct stack_taken *taken)
{
	uint32_t chain;

	if (!taken->id || id_place(taken->id) >= MAX_IDS) {
		book->left_out++;
		return;
	}
	mappings_service(book->mappings, taken->time_ns);
	book->draft.pid = taken->pid;
	book->draft.truncated = false;
	book->draft.frames.n = 0;
	push_kernel(book, taken);
	push_user(book, taken);
	chain = chains_intern(&book->chains, &book->draft);
	note_chain(book, taken->id, chain);
	book->left_out += chain == PLACE_NONE;
}

uint32_t stackbook_chain(const struct stackbook *book, uint32_t id)
{
	bool copied = id & WK_STACK_COPIED;

	if (!copied && id & KEPT)
		return (id & ~KEPT) < book->chains.chains.n ? id & ~KEPT : PLACE_NONE;
	if (!id || id_place(id) >= book->chain_of_id[copied].n)
		return PLACE_NONE;
	return book->chain_of_id[copied].items[id_place(id)];
}

uint32_t stackbook_keep(const struct stackbook *book, uint32_t id)
{
	uint32_t chain = stackbook_chain(book, id);

	return chain == PLACE_NONE ? 0 : KEPT | chain;
}
