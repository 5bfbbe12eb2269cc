/* Entries of the kernel side's maps, many for each call of the kernel: one costs as much as dozens of entries. */
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"

#define BATCH 1024

/* What a batch is read into, or written from. */
struct batch {
	int fd;
	size_t key_bytes, value_bytes;
	char *keys, *values;
};

static struct batch batch_of(const struct bpf_map *map)
{
	struct batch batch = {
		.fd = bpf_map__fd(map),
		.key_bytes = bpf_map__key_size(map),
		.value_bytes = bpf_map__value_size(map),
	};

	batch.keys = mem_calloc(BATCH, batch.key_bytes);
	batch.values = mem_calloc(BATCH, batch.value_bytes);
	return batch;
}

static void batch_free(struct batch *batch)
{
	free(batch->keys);
	free(batch->values);
}

int collect_hash_read(struct collector *c, const struct bpf_map *map, collect_entries_reader *reader)
{
	struct batch batch = batch_of(map);
	uint32_t at, n;
	int err = 0;

	for (void *from = NULL; !err; from = &at) {
		n = BATCH;
		err = bpf_map_lookup_batch(batch.fd, from, &at, batch.keys, batch.values, &n, NULL);
		if (!err || err == -ENOENT) /* which comes with the last ones */
			reader(c, batch.keys, batch.values, n);
	}
	batch_free(&batch);
	return err == -ENOENT ? 0 : err;
}

void collect_hash_empty(const struct bpf_map *map)
{
	struct batch batch = batch_of(map);
	uint32_t at, n;
	int err = 0;

	for (void *from = NULL; !err; from = &at) {
		n = BATCH;
		err = bpf_map_lookup_and_delete_batch(batch.fd, from, &at, batch.keys, batch.values, &n, NULL);
	}
	batch_free(&batch);
}

uint32_t collect_used(uint32_t next, uint32_t entries)
{
	return next < entries ? next : entries;
}

void collect_array_read(const struct bpf_map *map, uint32_t n, void *items)
{
	uint32_t at, first = 0, got;
	struct batch batch = batch_of(map);

	/* In their order, so straight to where they belong. */
	for (void *from = NULL; first < n; from = &at, first += got) {
		got = n - first < BATCH ? n - first : BATCH;
		if (bpf_map_lookup_batch(batch.fd, from, &at, batch.keys,
					 (char *)items + first * batch.value_bytes, &got, NULL) || !got)
			break;
	}
	batch_free(&batch);
}

void collect_array_clear(const struct bpf_map *map, uint32_t n)
{
	struct batch batch = batch_of(map);
	uint32_t *places = (uint32_t *)batch.keys, done;

	for (uint32_t first = 0; first < n; first += done) {
		done = n - first < BATCH ? n - first : BATCH;
		for (uint32_t i = 0; i < done; i++)
			places[i] = first + i;
		if (bpf_map_update_batch(batch.fd, places, batch.values, &done, NULL) || !done)
			break;
	}
	batch_free(&batch);
}

void collect_queue_drain(const struct bpf_map *map)
{
	int fd = bpf_map__fd(map);
	uint32_t value;

	while (!bpf_map_lookup_and_delete_elem(fd, NULL, &value))
		;
}
