/* Causes of threads that have died, taken out while the window is open.
 *
 * A thread that died is a row of the report all the same, with its causes; but the kernel side has room for so many, and a
 * build brings forth thousands of processes. Here they find theirs: what they left is read, and its room is given back. A
 * cause that began a chain is still named as a root by others, so its number is never given again: the next cause in the
 * same place has that number plus the places that numbers can tell apart. When the books are closed, all are numbered anew.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"

#include "wakewhy.skel.h"

/* Of a place whose cause was taken out: no thread has that serial. */
#define NO_SERIAL UINT32_MAX

/* Is a place about to be filled by a thread that just took it? Each cause has a call or a context. */
static bool is_blank(const struct wk_cause *cause)
{
	return cause->key.serial == NO_SERIAL || (!cause->key.context && !cause->key.wake_call);
}

/* A read of everything is dear: it waits until half of the room is used, and so many have died that a fair part of it
 * comes back. */
static bool is_worth_it(const struct collector *c)
{
	return (c->skel->data->next_cause >= c->cfg.causes / 2 || c->skel->data->next_charge >= c->cfg.causes) &&
	       c->threads.n - c->dead.threads >= c->cfg.causes / 24;
}

/* The threads that have been harvested, by serial. */
static bool *dead_serials(const struct collector *c, uint32_t *ret_n)
{
	uint32_t n = c->skel->bss->next_serial;
	bool *dead = mem_calloc(n, sizeof(*dead));

	for (size_t i = 0; i < c->threads.n; i++)
		if (c->threads.items[i].t.serial < n)
			dead[c->threads.items[i].t.serial] = true;
	*ret_n = n;
	return dead;
}

static void intervals_take(const struct collector *c, struct capture_cause *cause)
{
	struct wk_hist hist;

	/* One wake has no interval. */
	if (cause->c.wakeups < 2)
		return;
	if (!bpf_map_lookup_and_delete_elem(bpf_map__fd(c->skel->maps.hists), &cause->number, &hist))
		collect_intervals(cause, &hist);
}

/* Empties so many places of an array, each of which becomes a copy of `blank`, and takes as many keys out of the index
 * that leads there. A call of the kernel for all of them: one for each would be most of the time. */
static void places_empty(const struct bpf_map *array, const uint32_t *places, const void *blank,
			 const struct bpf_map *index, const char *keys, uint32_t n)
{
	size_t bytes = bpf_map__value_size(array);
	char *blanks = mem_calloc(n, bytes);
	uint32_t done;

	for (uint32_t i = 0; i < n; i++)
		memcpy(blanks + i * bytes, blank, bytes);
	/* A batch ends at a key that is not there. */
	for (uint32_t i = 0; i < n; i += done + 1) {
		done = n - i;
		if (!bpf_map_delete_batch(bpf_map__fd(index), keys + i * bpf_map__key_size(index), &done, NULL))
			break;
	}
	done = n;
	bpf_map_update_batch(bpf_map__fd(array), places, blanks, &done, NULL);
	free(blanks);
}

/* Its place gets the next number, unless there is none left: numbers with the highest bit are samples. */
static void cause_give_back(struct collector *c, uint32_t place)
{
	uint32_t next = c->dead.numbers[place] + c->cfg.cause_mask + 1;

	c->dead.numbers[place] = 0;
	if (next & WK_STACK_SAMPLE)
		return;
	c->dead.numbers[place] = next;
	bpf_map_update_elem(bpf_map__fd(c->skel->maps.free_causes), NULL, &next, BPF_ANY);
}

/* Returns the numbers of what was taken out, by place; the caller frees them. */
static uint32_t *causes_take(struct collector *c)
{
	uint32_t n = collect_used(c->skel->data->next_cause, c->cfg.causes), n_serials;
	static const struct wk_cause blank = {.key = {.serial = NO_SERIAL}};
	uint32_t *taken = mem_calloc(c->cfg.causes, sizeof(*taken));
	VEC(uint32_t) places = {};
	VEC(struct wk_cause_key) keys = {};
	struct wk_cause *all = mem_calloc(n, sizeof(*all));
	bool *dead = dead_serials(c, &n_serials);

	collect_array_read(c->skel->maps.causes, n, all);
	for (uint32_t place = 1; place < n; place++) {
		const struct wk_cause *cause = &all[place];
		struct capture_cause *kept;

		if (is_blank(cause) || cause->key.serial >= n_serials || !dead[cause->key.serial])
			continue;
		taken[place] = c->dead.numbers[place];
		kept = vec_push(&c->dead.causes);
		kept->number = taken[place];
		kept->c = *cause;
		intervals_take(c, kept);
		*vec_push(&places) = place;
		*vec_push(&keys) = cause->key;
	}
	places_empty(c->skel->maps.causes, places.items, &blank, c->skel->maps.cause_numbers, (const char *)keys.items,
		     (uint32_t)places.n);
	for (size_t i = 0; i < places.n; i++)
		cause_give_back(c, places.items[i]);
	free(places.items);
	free(keys.items);
	free(all);
	free(dead);
	return taken;
}

static void charges_take(struct collector *c, const uint32_t *taken)
{
	static const struct wk_charge blank;
	uint32_t n = collect_used(c->skel->data->next_charge, 2 * c->cfg.causes);
	struct wk_charge *all = mem_calloc(n, sizeof(*all));
	VEC(uint32_t) places = {};
	VEC(struct wk_charge_key) keys = {};

	collect_array_read(c->skel->maps.charges, n, all);
	for (uint32_t i = 1; i < n; i++) {
		const struct wk_charge *charge = &all[i];
		uint32_t place = charge->cause & c->cfg.cause_mask;

		if (!charge->cause || place >= c->cfg.causes || taken[place] != charge->cause)
			continue;
		*vec_push(&c->dead.charges) = *charge;
		*vec_push(&places) = i;
		*vec_push(&keys) = (struct wk_charge_key){charge->cause, charge->root};
	}
	places_empty(c->skel->maps.charges, places.items, &blank, c->skel->maps.charge_numbers, (const char *)keys.items,
		     (uint32_t)places.n);
	for (size_t i = 0; i < places.n; i++)
		bpf_map_update_elem(bpf_map__fd(c->skel->maps.free_charges), NULL, &places.items[i], BPF_ANY);
	free(places.items);
	free(keys.items);
	free(all);
}

void collect_dead_causes_take(struct collector *c)
{
	uint32_t *taken;

	if (!is_worth_it(c))
		return;
	if (!c->dead.numbers) {
		c->dead.numbers = mem_calloc(c->cfg.causes, sizeof(*c->dead.numbers));
		for (uint32_t place = 0; place < c->cfg.causes; place++)
			c->dead.numbers[place] = place;
	}
	taken = causes_take(c);
	charges_take(c, taken);
	free(taken);
	c->dead.threads = c->threads.n;
}

uint32_t collect_cause_number(const struct collector *c, uint32_t place, const struct wk_cause *cause)
{
	if (!c->dead.numbers)
		return place;
	return is_blank(cause) ? 0 : c->dead.numbers[place];
}

static int by_from(const void *a, const void *b)
{
	const struct collect_renumbered *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

void collect_causes_renumber(struct collector *c)
{
	if (!c->dead.numbers)
		return; /* they are numbered so */
	for (size_t i = 0; i < c->dead.causes.n; i++)
		*vec_push(&c->causes) = c->dead.causes.items[i];
	c->dead.causes.n = 0; /* moved */
	for (size_t i = 0; i < c->causes.n; i++) {
		*vec_push(&c->dead.renumbered) = (struct collect_renumbered){c->causes.items[i].number, i + 1};
		c->causes.items[i].number = i + 1;
	}
	if (c->dead.renumbered.n)
		qsort(c->dead.renumbered.items, c->dead.renumbered.n, sizeof(struct collect_renumbered), by_from);
}

uint32_t collect_cause_renumbered(const struct collector *c, uint32_t number)
{
	struct collect_renumbered key = {.from = number}, *found;

	if (!c->dead.numbers)
		return number <= c->causes.n ? number : 0;
	found = c->dead.renumbered.n ? bsearch(&key, c->dead.renumbered.items, c->dead.renumbered.n,
					       sizeof(key), by_from)
				     : NULL;
	return found ? found->to : 0;
}

void collect_dead_forget(struct collector *c)
{
	for (size_t i = 0; i < c->dead.causes.n; i++)
		free(c->dead.causes.items[i].intervals.items);
	free(c->dead.causes.items);
	free(c->dead.charges.items);
	free(c->dead.numbers);
	free(c->dead.renumbered.items);
	memset(&c->dead, 0, sizeof(c->dead));
}
