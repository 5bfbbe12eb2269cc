/* Unwinding a copied user stack: mappings, the walk, and steps by frame pointers. */
#include "sym/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/cfi_file.h"
#include "sym/cfi_rule.h"
#include "sym/unwind_arch.h"
#include "sym/unwind_memo.h"

#define MAPPINGS_MAX 65536 /* the kernel's default limit for a process is 65530 */
#define RULES	     512   /* kept at a time, by the address they are for */

/* A file that is mapped, by its name. */
struct file {
	char *name;
	size_t users; /* mappings */
	struct cfi_file *cfi;
};

struct mapping {
	uint64_t start, end, file_offset;
	struct file *file; /* NULL: none */
};

/* Found and taken apart for one address. */
struct known_rule {
	uint64_t at;
	bool set;
	struct cfi_rule *rule; /* NULL: no call frame information there */
};

struct unwinder {
	VEC(struct mapping) mappings; /* by start, apart from each other */
	VEC(struct file *) files;     /* by name */
	struct known_rule rules[RULES];
	struct unwind_memo *memo;
	struct unwind_chain chain; /* scratch */
};

struct unwinder *unwinder_new(void)
{
	struct unwinder *unwinder = mem_zalloc(sizeof(*unwinder));

	unwinder->memo = unwind_memo_new();
	return unwinder;
}

static void forget_rules(struct unwinder *unwinder)
{
	for (size_t i = 0; i < RULES; i++) {
		cfi_rule_free(unwinder->rules[i].rule);
		unwinder->rules[i] = (struct known_rule){};
	}
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	forget_rules(unwinder);
	for (size_t i = 0; i < unwinder->files.n; i++) {
		cfi_file_free(unwinder->files.items[i]->cfi);
		free(unwinder->files.items[i]->name);
		free(unwinder->files.items[i]);
	}
	free(unwinder->files.items);
	free(unwinder->mappings.items);
	free(unwinder->chain.words.items);
	unwind_memo_free(unwinder->memo);
	free(unwinder);
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Where a file of that name is, or would be. */
static size_t file_place(const struct unwinder *unwinder, const char *name)
{
	size_t low = 0, high = unwinder->files.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(unwinder->files.items[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: there is none, or no descriptor is left for it. */
static struct file *file_use(struct unwinder *unwinder, const char *name, int fd)
{
	size_t place = file_place(unwinder, name);
	struct file *file, **items;
	struct cfi_file *cfi;

	if (place < unwinder->files.n && !strcmp(unwinder->files.items[place]->name, name)) {
		unwinder->files.items[place]->users++;
		return unwinder->files.items[place];
	}
	cfi = fd >= 0 ? cfi_file_new(fd) : NULL;
	if (!cfi)
		return NULL;
	file = mem_zalloc(sizeof(*file));
	*file = (struct file){.name = mem_strdup(name), .users = 1, .cfi = cfi};
	vec_push(&unwinder->files);
	items = unwinder->files.items;
	memmove(items + place + 1, items + place,
		(unwinder->files.n - 1 - place) * sizeof(*items));
	items[place] = file;
	return file;
}

static void file_leave(struct unwinder *unwinder, struct file *file)
{
	struct file **items = unwinder->files.items;
	size_t place;

	if (!file || --file->users)
		return;
	place = file_place(unwinder, file->name);
	memmove(items + place, items + place + 1,
		(--unwinder->files.n - place) * sizeof(*items));
	cfi_file_free(file->cfi);
	free(file->name);
	free(file);
}

/* ---- mappings ---------------------------------------------------------------------------------- */

/* The first mapping that ends behind the address. */
static size_t mapping_place(const struct unwinder *unwinder, uint64_t address)
{
	size_t low = 0, high = unwinder->mappings.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unwinder->mappings.items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct mapping *mapping_at(const struct unwinder *unwinder, uint64_t address)
{
	size_t place = mapping_place(unwinder, address);
	const struct mapping *mapping = &unwinder->mappings.items[place];

	return place < unwinder->mappings.n && mapping->start <= address ? mapping : NULL;
}

static void mapping_insert(struct unwinder *unwinder, size_t place, const struct mapping *mapping)
{
	struct mapping *items;

	vec_push(&unwinder->mappings);
	items = unwinder->mappings.items;
	memmove(items + place + 1, items + place,
		(unwinder->mappings.n - 1 - place) * sizeof(*items));
	items[place] = *mapping;
}

static void mapping_remove(struct unwinder *unwinder, size_t place)
{
	struct mapping *items = unwinder->mappings.items;

	file_leave(unwinder, items[place].file);
	memmove(items + place, items + place + 1,
		(--unwinder->mappings.n - place) * sizeof(*items));
}

/* Takes [start, end) out of the mapping at `place`, which overlaps it. Returns where the next one is. */
static size_t mapping_cut(struct unwinder *unwinder, size_t place, uint64_t start, uint64_t end)
{
	struct mapping *mapping = &unwinder->mappings.items[place], right = *mapping;

	right.file_offset += end - right.start;
	right.start = end;
	if (mapping->start < start) {
		mapping->end = start;
		if (right.start < right.end) {
			if (right.file)
				right.file->users++;
			mapping_insert(unwinder, place + 1, &right);
		}
		return place + 1;
	}
	if (right.start < right.end) {
		*mapping = right;
		return place + 1;
	}
	mapping_remove(unwinder, place);
	return place;
}

void unwinder_add(struct unwinder *unwinder, const struct unwind_mapping *mapping)
{
	struct mapping new = {
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
	};
	size_t place;

	if (new.start >= new.end || unwinder->mappings.n >= MAPPINGS_MAX)
		return;
	new.file = file_use(unwinder, mapping->name, mapping->fd);
	unwind_memo_clear(unwinder->memo);
	place = mapping_place(unwinder, new.start);
	if (place < unwinder->mappings.n && unwinder->mappings.items[place].start < new.end)
		forget_rules(unwinder);
	while (place < unwinder->mappings.n && unwinder->mappings.items[place].start < new.end)
		place = mapping_cut(unwinder, place, new.start, new.end);
	mapping_insert(unwinder, mapping_place(unwinder, new.start), &new);
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* What a step reads from. */
struct source {
	const struct unwind_state *state;
	struct unwind_chain *chain;
};

/* Notes what was read: the chain holds as long as that stays the same. */
static bool read_word(void *context, uint64_t address, uint64_t *ret_word)
{
	const struct source *source = context;
	const struct unwind_state *state = source->state;
	struct unwind_chain *chain = source->chain;
	uint64_t offset = address - state->regs[UNWIND_SP];

	if (state->bytes < 8 || offset > state->bytes - 8 || chain->words.n == UNWIND_READS) {
		chain->beyond = true;
		return false;
	}
	memcpy(ret_word, state->memory + offset, sizeof(*ret_word));
	*vec_push(&chain->words) = (struct unwind_word){.offset = offset, .value = *ret_word};
	return true;
}

/* A frame that begins with the caller's frame pointer and the return address, as code without call frame
 * information has it: made at run time, or compiled so. */
static enum unwind_step step_by_pointer(struct unwind_frame *frame, struct source *source)
{
	struct unwind_frame next = {.known = UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP) |
					     UNWIND_BIT(UNWIND_PC)};
	uint64_t fp = frame->regs[UNWIND_FP];

	if (!(frame->known & UNWIND_BIT(UNWIND_FP)))
		return UNWIND_LOST;
	if (!fp)
		return UNWIND_OUTERMOST;
	if (fp % 8 || !read_word(source, fp, &next.regs[UNWIND_FP]) ||
	    !read_word(source, fp + 8, &next.pc))
		return UNWIND_LOST;
	next.pc &= UNWIND_PC_MASK;
	next.regs[UNWIND_SP] = fp + 16;
	next.regs[UNWIND_PC] = next.pc;
	*frame = next;
	return next.pc ? UNWIND_MOVED : UNWIND_OUTERMOST;
}

static struct cfi_rule *make_rule(const struct mapping *mapping, uint64_t at)
{
	struct cfi_rule *rule = NULL;
	struct cfi_found found;
	uint64_t address;

	if (!mapping->file ||
	    !cfi_file_address(mapping->file->cfi, mapping->file_offset + (at - mapping->start),
			      &address))
		return NULL;
	if (cfi_file_find(mapping->file->cfi, address, &found))
		rule = cfi_rule_new(&found.entry, at - address);
	cfi_found_free(&found);
	return rule;
}

static struct cfi_rule *rule_at(struct unwinder *unwinder, const struct mapping *mapping,
				uint64_t at)
{
	struct known_rule *known = &unwinder->rules[(at * 0x9e3779b97f4a7c15) >> 55];

	_Static_assert(RULES == 1 << (64 - 55), "the hash's bits");
	if (known->set && known->at == at)
		return known->rule;
	cfi_rule_free(known->rule);
	*known = (struct known_rule){.at = at, .set = true, .rule = make_rule(mapping, at)};
	return known->rule;
}

/* A chain rises, or it would not end. A leaf of arm64 may have used no stack. */
static bool has_risen(const struct unwind_frame *before, const struct unwind_frame *after)
{
	uint64_t old = before->regs[UNWIND_SP], new = after->regs[UNWIND_SP];

	if (!(after->known & UNWIND_BIT(UNWIND_SP)))
		return false;
	return new > old || (UNWIND_RETURN != UNWIND_PC && new == old && before->exact);
}

static enum unwind_step step(struct cfi_rule *rule, struct unwind_frame *frame,
			     struct source *source)
{
	struct unwind_frame before = *frame;
	enum unwind_step step;

	if (rule) {
		source->chain->sources |= cfi_rule_sources(rule);
		step = cfi_rule_step(rule, frame, read_word, source);
	} else {
		step = step_by_pointer(frame, source);
	}
	return step == UNWIND_MOVED && !has_risen(&before, frame) ? UNWIND_LOST : step;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static void walk(struct unwinder *unwinder, const struct unwind_state *state)
{
	struct unwind_chain *chain = &unwinder->chain;
	struct source source = {.state = state, .chain = chain};
	struct unwind_frame frame = {
		.known = UNWIND_BIT(UNWIND_USED) - 1,
		.pc = state->regs[UNWIND_PC],
		.exact = true,
	};
	enum unwind_step last = UNWIND_MOVED;

	memcpy(frame.regs, state->regs, UNWIND_USED * sizeof(frame.regs[0]));
	while (last == UNWIND_MOVED && chain->n < UNWIND_FRAMES) {
		uint64_t at = unwind_frame_at(&frame);
		const struct mapping *mapping = mapping_at(unwinder, at);
		struct cfi_rule *rule;

		if (!mapping)
			break;
		rule = rule_at(unwinder, mapping, at);
		/* Nobody called a trampoline: the handler returns to its first instruction, and the byte
		 * before belongs to another function. */
		chain->frames[chain->n++] = rule && cfi_rule_is_trampoline(rule) ? frame.pc : at;
		last = step(rule, &frame, &source);
	}
	chain->truncated = last != UNWIND_OUTERMOST;
}

size_t unwinder_run(struct unwinder *unwinder, const struct unwind_state *state, uint64_t *ret_frames,
		    size_t max, bool *ret_truncated)
{
	struct unwind_chain *chain = &unwinder->chain;
	size_t n;

	if (unwind_memo_find(unwinder->memo, state, ret_frames, max, &n, ret_truncated))
		return n;
	chain->n = chain->words.n = 0;
	chain->beyond = false;
	chain->sources = UNWIND_KEPT;
	walk(unwinder, state);
	unwind_memo_keep(unwinder->memo, state, chain);
	n = chain->n < max ? chain->n : max;
	if (n)
		memcpy(ret_frames, chain->frames, n * sizeof(*ret_frames));
	*ret_truncated = chain->truncated || chain->n > max;
	return n;
}
