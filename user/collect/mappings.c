/* What every process of the machine has mapped, over time. */
#include "collect/mappings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/perf_records.h"
#include "base/place_index.h"
#include "sym/maps.h"

/* What is kept at most; beyond it the dead are forgotten first. */
#define MAX_PROCESSES	   65536
#define MAX_IMAGES	   64 /* of one process, one exec after another */
#define MAX_SPACE_MAPPINGS 65536
#define MAX_MAPPINGS	   1000000
#define ASK_AGAIN_NS	   1000000000ULL

struct process {
	uint32_t pid;
	uint32_t images;
	uint64_t exited_ns; /* 0: alive, as far as is known */
	struct image *newest;
};

struct mappings {
	struct module_files *files;
	struct perf_records *records; /* NULL: none come */
	VEC(struct process) processes;
	struct place_index by_pid;
	uint64_t served_ns; /* what happened until then is in */
	/* Rises when records were lost: an image whose `asked` is another one may have gaps. */
	uint64_t round;
	uint32_t next_serial;
	size_t kept; /* mappings, roughly: those of a space that is shared count for each */
	uint64_t left_out;
};

struct mappings *mappings_new(struct module_files *files)
{
	struct mappings *mappings = mem_zalloc(sizeof(*mappings));

	mappings->files = files;
	mappings->round = 1;
	return mappings;
}

int mappings_watch(struct mappings *mappings, struct diag *diag)
{
	return perf_records_open(&mappings->records, diag);
}

int mappings_fd(const struct mappings *mappings)
{
	return mappings->records ? perf_records_fd(mappings->records) : -1;
}

uint64_t mappings_lost(const struct mappings *mappings)
{
	return mappings->left_out + module_files_left_out(mappings->files) +
	       (mappings->records ? perf_records_lost(mappings->records) : 0);
}

/* ---- processes and images ------------------------------------------------------------------------ */

static struct image *image_free(struct mappings *mappings, struct image *image)
{
	struct image *older = image->older;

	mappings->kept -=
		image->space->log.n < mappings->kept ? image->space->log.n : mappings->kept;
	address_space_drop(image->space);
	free(image);
	return older;
}

static void process_free(struct mappings *mappings, struct process *process)
{
	for (struct image *image = process->newest; image;)
		image = image_free(mappings, image);
}

void mappings_free(struct mappings *mappings)
{
	if (!mappings)
		return;
	for (size_t i = 0; i < mappings->processes.n; i++)
		process_free(mappings, &mappings->processes.items[i]);
	free(mappings->processes.items);
	place_index_clear(&mappings->by_pid);
	perf_records_free(mappings->records);
	free(mappings);
}

static bool same_pid(const void *array, uint32_t place, const void *wanted)
{
	return ((const struct process *)array)[place].pid == *(const uint32_t *)wanted;
}

static struct process *find_process(struct mappings *mappings, uint32_t pid)
{
	uint64_t hash = place_hash(&mappings->by_pid, &pid, sizeof(pid));
	uint32_t place = place_index_find(&mappings->by_pid, hash, same_pid,
					  mappings->processes.items, &pid);

	return place == PLACE_NONE ? NULL : &mappings->processes.items[place];
}

static int by_exit(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->exited_ns < y->exited_ns ? -1 : x->exited_ns > y->exited_ns;
}

/* Forgets the `n` that ended first; the living, with exit 0, are sorted to the front and stay. */
static void forget_processes(struct mappings *mappings, size_t n)
{
	struct process *items = mappings->processes.items;
	size_t alive = 0, kept;

	if (!items)
		return;
	qsort(items, mappings->processes.n, sizeof(*items), by_exit);
	while (alive < mappings->processes.n && !items[alive].exited_ns)
		alive++;
	if (n > mappings->processes.n - alive)
		n = mappings->processes.n - alive;
	for (size_t i = 0; i < n; i++)
		process_free(mappings, &items[alive + i]);
	kept = mappings->processes.n - n;
	memmove(items + alive, items + alive + n, (kept - alive) * sizeof(*items));
	mappings->processes.n = kept;
	place_index_clear(&mappings->by_pid);
	for (size_t i = 0; i < kept; i++)
		place_index_add(&mappings->by_pid,
				place_hash(&mappings->by_pid, &items[i].pid, sizeof(items[i].pid)),
				(uint32_t)i);
}

static struct process *add_process(struct mappings *mappings, uint32_t pid)
{
	struct process *process = find_process(mappings, pid);

	if (process)
		return process;
	if (mappings->processes.n >= MAX_PROCESSES)
		forget_processes(mappings, MAX_PROCESSES / 4);
	if (mappings->processes.n >= MAX_PROCESSES) {
		mappings->left_out++;
		return NULL;
	}
	process = vec_push(&mappings->processes);
	process->pid = pid;
	place_index_add(&mappings->by_pid, place_hash(&mappings->by_pid, &pid, sizeof(pid)),
			(uint32_t)(mappings->processes.n - 1));
	return process;
}

static void drop_oldest(struct mappings *mappings, struct process *process)
{
	struct image **link = &process->newest;

	if (!*link)
		return;
	while ((*link)->older)
		link = &(*link)->older;
	image_free(mappings, *link);
	*link = NULL;
	process->images--;
}

/* space becomes the image's; the rest is as in the image before. */
static struct image *add_image(struct mappings *mappings, struct process *process,
			       uint64_t since_ns, struct address_space *space)
{
	struct image *image = mem_zalloc(sizeof(*image));

	if (process->images >= MAX_IMAGES)
		drop_oldest(mappings, process);
	image->pid = process->pid;
	image->serial = mappings->next_serial++;
	image->since_ns = since_ns;
	image->space = space;
	image->older = process->newest;
	if (process->newest)
		image->who = process->newest->who;
	mappings->kept += space->log.n;
	process->newest = image;
	process->images++;
	return image;
}

/* The newest image; one that has been there for ever where none is known. */
static struct image *newest_image(struct mappings *mappings, uint32_t pid)
{
	struct process *process = add_process(mappings, pid);

	if (!process)
		return NULL;
	if (!process->newest)
		add_image(mappings, process, 0, address_space_new(pid));
	return process->newest;
}

static void add_mapping(struct mappings *mappings, struct image *image,
			const struct mapping *mapping)
{
	if (image->space->log.n >= MAX_SPACE_MAPPINGS || mappings->kept >= MAX_MAPPINGS) {
		mappings->left_out++;
		return;
	}
	address_space_own(&image->space, image->pid);
	if (address_space_add(image->space, mapping))
		mappings->kept++;
}

static uint32_t note_file(struct mappings *mappings, const struct module_key *key,
			  const struct mapping *mapping)
{
	return module_files_note(mappings->files, key, mapping->end - mapping->start,
				 mapping->end <= 1ULL << 32);
}

/* ---- records ----------------------------------------------------------------------------------- */

static void take_map(struct mappings *mappings, const struct perf_record *record)
{
	struct image *image = newest_image(mappings, record->pid);
	struct module_key key = {record->device_major, record->device_minor, record->inode,
				 record->path};
	struct mapping mapping = {.start = record->start,
				  .end = record->end,
				  .file_offset = record->file_offset,
				  .since_ns = record->time_ns};

	if (!image)
		return;
	mapping.file = note_file(mappings, &key, &mapping);
	add_mapping(mappings, image, &mapping);
}

static void take_exec(struct mappings *mappings, const struct perf_record *record)
{
	struct process *process = add_process(mappings, record->pid);

	/* All that it maps from here on comes as records. */
	if (process)
		add_image(mappings, process, record->time_ns, address_space_new(record->pid))
			->asked = mappings->round;
}

/* A child of a process in our own pid namespace is there too, under the same id. */
static void inherit(struct image *child, const struct image *parent)
{
	child->asked = parent->asked;
	child->who = parent->who;
	child->who.inner_pid = parent->who.inner_pid == parent->pid ? child->pid : 0;
}

static void take_fork(struct mappings *mappings, const struct perf_record *record)
{
	struct process *process, *parent;
	struct image *image;

	/* First, for it may move the other one. */
	process = add_process(mappings, record->pid);
	parent = find_process(mappings, record->ppid);
	if (!process)
		return;
	process->exited_ns = 0;
	if (parent && parent->newest) {
		parent->newest->space->refs++;
		image = add_image(mappings, process, record->time_ns, parent->newest->space);
		inherit(image, parent->newest);
	} else {
		image = add_image(mappings, process, record->time_ns,
				  address_space_new(record->pid));
		image->who = (struct process_look){0};
	}
}

static void take_exit(struct mappings *mappings, const struct perf_record *record)
{
	struct process *process = find_process(mappings, record->pid);

	if (process)
		process->exited_ns = record->time_ns;
}

static void take_record(void *context, const struct perf_record *record)
{
	struct mappings *mappings = context;

	if (record->kind == PERF_RECORD_IS_LOST) {
		mappings->round++;
		return;
	}
	/* Those that our pid namespace does not show have 0, or -1 when they are on their way out. */
	if (!record->pid || record->pid > INT32_MAX)
		return;
	if (record->kind == PERF_RECORD_IS_MAP)
		take_map(mappings, record);
	else if (record->kind == PERF_RECORD_IS_EXEC)
		take_exec(mappings, record);
	else if (record->kind == PERF_RECORD_IS_FORK)
		take_fork(mappings, record);
	else if (record->kind == PERF_RECORD_IS_EXIT)
		take_exit(mappings, record);
}

void mappings_service(struct mappings *mappings, uint64_t until_ns)
{
	if (!mappings->records || until_ns < mappings->served_ns)
		return;
	mappings->served_ns = perf_records_read(mappings->records, take_record, mappings);
	if (mappings->kept >= MAX_MAPPINGS / 8 * 7 && mappings->processes.n)
		forget_processes(mappings, mappings->processes.n / 4 + 1);
}

/* ---- /proc ------------------------------------------------------------------------------------- */

static void add_row(struct mappings *mappings, struct image *image, const struct maps_row *row)
{
	struct module_key key = {row->device_major, row->device_minor, row->inode, row->path};
	struct mapping mapping = {.start = row->start, .end = row->end, .file_offset = row->offset};

	if (!row->executable)
		return;
	mapping.file = note_file(mappings, &key, &mapping);
	add_mapping(mappings, image, &mapping);
}

static void read_maps(struct mappings *mappings, struct image *image, int process_fd)
{
	int fd = openat(process_fd, "maps", O_RDONLY | O_CLOEXEC);
	FILE *in = fd >= 0 ? fdopen(fd, "re") : NULL;
	struct maps maps;

	if (!in) {
		if (fd >= 0)
			close(fd);
		return;
	}
	maps_read(&maps, in);
	fclose(in);
	for (size_t i = 0; i < maps.rows.n; i++)
		add_row(mappings, image, &maps.rows.items[i]);
	maps_free_members(&maps);
}

/* Tells whether the process still lives. */
static bool ask(struct mappings *mappings, struct image *image, uint64_t time_ns, bool maps)
{
	int fd = process_open((pid_t)image->pid, time_ns);

	if (fd < 0)
		return false;
	if (maps)
		read_maps(mappings, image, fd);
	process_look(fd, &image->who);
	image->looked = true;
	close(fd);
	return true;
}

/* Once for each image, and again after records were lost. */
static void ask_if_needed(struct mappings *mappings, struct process *process, struct image *image,
			  uint64_t time_ns)
{
	bool maps = image->asked != mappings->round;

	if (image != process->newest || (!maps && image->looked))
		return;
	image->asked = mappings->round;
	image->looked = true;
	image->asked_ns = time_ns;
	if (!process->exited_ns)
		ask(mappings, image, time_ns, maps);
}

void mappings_seed(struct mappings *mappings, uint32_t pid)
{
	struct process *process;
	struct image *image;

	mappings_service(mappings, UINT64_MAX);
	image = newest_image(mappings, pid);
	process = find_process(mappings, pid);
	if (!image)
		return;
	process->exited_ns = 0;
	ask(mappings, image, UINT64_MAX, true);
	image->asked = mappings->round;
}

struct image *mappings_image(struct mappings *mappings, uint32_t pid, uint64_t time_ns)
{
	struct image *image;

	if (!newest_image(mappings, pid))
		return NULL;
	image = find_process(mappings, pid)->newest;
	while (image && image->since_ns > time_ns)
		image = image->older;
	if (image)
		ask_if_needed(mappings, find_process(mappings, pid), image, time_ns);
	return image;
}

bool mappings_is_current(const struct mappings *mappings, const struct image *image)
{
	/* Finding changes nothing but the seed of an index that is there already. */
	const struct process *process = find_process((struct mappings *)mappings, image->pid);

	return mappings->records && process && process->newest == image && !process->exited_ns;
}

const struct mapping *mappings_find(struct mappings *mappings, struct image *image,
				    uint64_t address, uint64_t time_ns)
{
	const struct mapping *mapping = address_space_find(image->space, address, time_ns);

	if (mapping || mappings->records || time_ns < image->asked_ns + ASK_AGAIN_NS)
		return mapping;
	image->asked_ns = time_ns;
	ask(mappings, image, time_ns, true);
	return address_space_find(image->space, address, time_ns);
}

/* ---- unwinders --------------------------------------------------------------------------------- */

/* The space with the unwinder that has not been used for the longest time; *ret_files is what all hold,
 * those that are shared counted for each. */
static struct address_space *oldest_unwinder(const struct mappings *mappings,
					     const struct address_space *keep, size_t *ret_files)
{
	struct address_space *oldest = NULL;

	*ret_files = 0;
	for (size_t i = 0; i < mappings->processes.n; i++)
		for (struct image *image = mappings->processes.items[i].newest; image;
		     image = image->older) {
			struct address_space *space = image->space;

			if (!space->unwinder)
				continue;
			*ret_files += space->unwinder_files;
			if (space != keep &&
			    (!oldest || space->unwinder_used < oldest->unwinder_used))
				oldest = space;
		}
	return oldest;
}

void mappings_trim_unwinders(struct mappings *mappings, size_t max_files,
			     const struct address_space *keep)
{
	struct address_space *oldest;
	size_t files;

	while ((oldest = oldest_unwinder(mappings, keep, &files)) && files > max_files) {
		unwinder_free(oldest->unwinder);
		oldest->unwinder = NULL;
		oldest->unwinder_fed = oldest->unwinder_files = 0;
	}
}
