/* The files that processes map, and what is in them. */
#include "collect/module_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/clock.h"
#include "collect/debug_files.h"
#include "base/place_index.h"
#include "collect/plain_file.h"
#include "collect/process_look.h"
#include "collect/vdso.h"
#include "sym/elf.h"

#define MAX_FILES 65536
#define MAX_OPEN  256
#define MAX_TRIES 8 /* processes that one file is looked for in */
#define DELETED	  " (deleted)"

enum special { PLAIN, NAMELESS /* memfd and its like */, OUR_VDSO, OTHER_VDSO };

struct module_file {
	uint32_t device_major, device_minor;
	uint64_t inode;
	char *path;
	enum special special;
	int fd;			  /* -1: not open */
	struct module_view tried; /* where it was looked for last */
	unsigned tries;
	bool data;
	uint32_t content; /* PLACE_NONE: not read yet */
};

/* What is in a file; the same for all its names and mounts. */
struct content_key {
	uint64_t device, inode, size;
	int64_t mtime_s, mtime_ns;
};

struct content {
	struct content_key key;
	struct elf_file *elf;	   /* NULL: it is none */
	struct debug_files *debug; /* elf asks it, later */
};

struct module_files {
	VEC(struct module_file) files;
	VEC(struct content) contents;
	struct place_index by_key, by_content;
	size_t max_open, open;
	size_t next_closed;  /* where the search for one to close goes on */
	uint64_t vdso_bytes; /* of our own */
	uint64_t left_out;
};

struct module_files *module_files_new(void)
{
	struct module_files *files = mem_zalloc(sizeof(*files));
	struct rlimit limit;

	files->vdso_bytes = vdso_bytes();
	files->max_open = MAX_OPEN;
	/* The rest of the program needs descriptors too. */
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 8 < MAX_OPEN)
		files->max_open = limit.rlim_cur / 8;
	return files;
}

static void close_file(struct module_files *files, struct module_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		files->open--;
	}
	file->fd = -1;
}

void module_files_free(struct module_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.n; i++) {
		close_file(files, &files->files.items[i]);
		free(files->files.items[i].path);
	}
	for (size_t i = 0; i < files->contents.n; i++) {
		elf_file_free(files->contents.items[i].elf);
		free(files->contents.items[i].debug);
	}
	free(files->files.items);
	free(files->contents.items);
	place_index_clear(&files->by_key);
	place_index_clear(&files->by_content);
	free(files);
}

/* ---- noting ------------------------------------------------------------------------------------ */

/* Names that the kernel gives to memory of no file: "//anon", "[heap]", "[anon:…]", shared memory. */
static bool is_anonymous(const char *path)
{
	static const char *const names[] = {"[",	 "//",	  "/anon_hugepage",
					    "/dev/zero", "/SYSV", "anon_inode:"};

	if (!path[0])
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_begins(path, names[i]))
			return true;
	return false;
}

static bool same_file(const void *array, uint32_t place, const void *wanted)
{
	const struct module_file *a = (const struct module_file *)array + place, *b = wanted;

	return a->device_major == b->device_major && a->device_minor == b->device_minor &&
	       a->inode == b->inode && a->special == b->special && !strcmp(a->path, b->path);
}

static uint64_t hash_file(struct module_files *files, const struct module_file *file)
{
	uint64_t words[3] = {(uint64_t)file->device_major << 32 | file->device_minor, file->inode,
			     place_hash(&files->by_key, file->path, strlen(file->path))};

	return place_hash(&files->by_key, words, sizeof(words));
}

static uint32_t intern_file(struct module_files *files, const struct module_file *wanted)
{
	uint64_t hash = hash_file(files, wanted);
	uint32_t place =
		place_index_find(&files->by_key, hash, same_file, files->files.items, wanted);

	if (place != PLACE_NONE)
		return place;
	if (files->files.n >= MAX_FILES) {
		files->left_out++;
		return MODULE_ANONYMOUS;
	}
	place = (uint32_t)files->files.n;
	*vec_push(&files->files) = *wanted;
	files->files.items[place].path = mem_strdup(wanted->path);
	place_index_add(&files->by_key, hash, place);
	return place;
}

uint32_t module_files_note(struct module_files *files, const struct module_key *key, uint64_t bytes,
			   bool low)
{
	struct module_file file = {.device_major = key->device_major,
				   .device_minor = key->device_minor,
				   .inode = key->inode,
				   .fd = -1,
				   .content = PLACE_NONE};
	size_t n = strlen(key->path), deleted = strlen(DELETED);
	uint32_t place;

	if (!strcmp(key->path, "[vdso]"))
		file.special = !low && bytes == files->vdso_bytes ? OUR_VDSO : OTHER_VDSO;
	else if (is_anonymous(key->path))
		return MODULE_ANONYMOUS;
	else if (text_begins(key->path, "/memfd:"))
		file.special = NAMELESS;
	if (n > deleted && !strcmp(key->path + n - deleted, DELETED))
		n -= deleted;
	file.path = mem_strndup(key->path, n);
	place = intern_file(files, &file);
	free(file.path);
	return place;
}

uint64_t module_files_left_out(const struct module_files *files)
{
	return files->left_out;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* By its path alone a file is believed only if it is the one that was mapped, and nobody has changed it,
 * or given its inode to another, since. */
struct wanted {
	const struct module_file *file;
	uint64_t mapped_ns; /* 0: not known */
	bool any_inode;
};

static bool is_same(const struct module_file *file, const struct stat *st)
{
	return major(st->st_dev) == file->device_major && minor(st->st_dev) == file->device_minor &&
	       st->st_ino == file->inode;
}

static bool is_wanted(void *context, const struct stat *st)
{
	const struct wanted *wanted = context;
	int64_t changed_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
	int64_t mapped_ns =
		(int64_t)(wanted->mapped_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));

	return is_same(wanted->file, st) && (!wanted->mapped_ns || changed_ns <= mapped_ns);
}

/* btrfs and overlayfs show another inode to stat() than to whoever asks for mappings. The link of the
 * very mapping is then proof enough, as long as it is the same program's and the name is the same. */
static bool is_linked(void *context, const struct stat *st)
{
	const struct wanted *wanted = context;

	return wanted->any_inode || is_same(wanted->file, st);
}

/* The directories may be spelt differently from another root. */
static bool same_name(int process_fd, const char *link, const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX];
	ssize_t n = readlinkat(process_fd, link, target, sizeof(target) - 1);
	size_t name;

	path = slash ? slash : path;
	name = strlen(path);
	if (n < 0)
		return false;
	target[n] = '\0';
	if ((size_t)n > strlen(DELETED) && !strcmp(target + n - strlen(DELETED), DELETED))
		target[(size_t)n - strlen(DELETED)] = '\0';
	return strlen(target) >= name && !strcmp(target + strlen(target) - name, path);
}

static int open_linked(int process_fd, const struct module_file *file,
		       const struct module_view *view, struct stat *ret_st)
{
	struct wanted wanted = {file, 0, false};
	char link[80];

	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, view->start, view->end);
	wanted.any_inode = view->current && same_name(process_fd, link, file->path);
	return plain_file_open(process_fd, process_fd, link, PLAIN_FILE_MAGIC, is_linked, &wanted, ret_st);
}

static int open_below(int process_fd, int root_fd, const struct module_file *file,
		      const struct module_view *view, struct stat *ret_st)
{
	struct wanted wanted = {file, view->mapped_ns, false};

	return plain_file_open(process_fd, root_fd, file->path, 0, is_wanted, &wanted, ret_st);
}

static int open_root(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* First what the mapping itself leads to, deleted or not; then by name, in the process's root and in
 * ours. */
static int open_anywhere(const struct module_file *file, const struct module_view *view,
			 struct stat *ret_st)
{
	int process_fd = process_open(view->pid, view->time_ns), root_fd, fd = -ENOENT;

	if (process_fd >= 0) {
		fd = open_linked(process_fd, file, view, ret_st);
		root_fd = fd < 0 ? open_root(process_fd, "root") : -1;
		if (root_fd >= 0) {
			fd = open_below(process_fd, root_fd, file, view, ret_st);
			close(root_fd);
		}
		close(process_fd);
	}
	if (fd < 0 && file->special == PLAIN && (root_fd = open_root(AT_FDCWD, "/")) >= 0) {
		fd = open_below(-1, root_fd, file, view, ret_st);
		close(root_fd);
	}
	return fd;
}

static bool holds_program(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* One after the other is closed: it is opened anew where it is wanted again, if it still can be. */
static bool make_room(struct module_files *files)
{
	for (size_t i = 0; i < files->files.n && files->open >= files->max_open; i++) {
		files->next_closed = (files->next_closed + 1) % files->files.n;
		close_file(files, &files->files.items[files->next_closed]);
	}
	return files->open < files->max_open;
}

static void open_file(struct module_files *files, struct module_file *file)
{
	struct stat st;
	int fd = file->special == OUR_VDSO ? vdso_open() : open_anywhere(file, &file->tried, &st);

	file->fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return;
	files->open++;
	file->tries = 0;
	file->data = file->special == NAMELESS && !holds_program(fd);
}

void module_files_open(struct module_files *files, uint32_t place, const struct module_view *view)
{
	struct module_file *file = &files->files.items[place];

	if (file->fd >= 0 || file->special == OTHER_VDSO || file->tries >= MAX_TRIES ||
	    (file->tries && file->tried.pid == view->pid) || !make_room(files))
		return;
	file->tried = *view;
	file->tries++;
	open_file(files, file);
}

int module_files_fd(const struct module_files *files, uint32_t place)
{
	return files->files.items[place].fd;
}

bool module_files_is_data(const struct module_files *files, uint32_t place)
{
	return files->files.items[place].data;
}

const char *module_files_path(const struct module_files *files, uint32_t place)
{
	return files->files.items[place].path;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool same_content(const void *array, uint32_t place, const void *wanted)
{
	return !memcmp(&((const struct content *)array)[place].key, wanted,
		       sizeof(struct content_key));
}

static void add_content(struct module_files *files, const struct module_file *file,
			const struct content_key *key)
{
	struct content *content = vec_push(&files->contents);

	content->key = *key;
	content->debug = mem_zalloc(sizeof(*content->debug));
	content->debug->path = file->path;
	content->debug->pid = file->tried.pid;
	if (elf_file_open(&content->elf, file->fd, debug_files_open, content->debug, NULL))
		content->elf = NULL;
}

static uint32_t read_content(struct module_files *files, struct module_file *file)
{
	struct content_key key;
	struct stat st;
	uint32_t place;
	uint64_t hash;

	if (file->fd < 0 && file->tried.pid && make_room(files))
		open_file(files, file);
	if (file->fd < 0 || fstat(file->fd, &st))
		return PLACE_NONE;
	key = (struct content_key){.device = st.st_dev,
				   .inode = st.st_ino,
				   .size = (uint64_t)st.st_size,
				   .mtime_s = st.st_mtim.tv_sec,
				   .mtime_ns = st.st_mtim.tv_nsec};
	hash = place_hash(&files->by_content, &key, sizeof(key));
	place = place_index_find(&files->by_content, hash, same_content, files->contents.items,
				 &key);
	if (place == PLACE_NONE) {
		place = (uint32_t)files->contents.n;
		add_content(files, file, &key);
		place_index_add(&files->by_content, hash, place);
	}
	return place;
}

static struct elf_file *elf_of(struct module_files *files, uint32_t place)
{
	struct module_file *file = &files->files.items[place];

	if (file->content == PLACE_NONE)
		file->content = read_content(files, file);
	return file->content == PLACE_NONE ? NULL : files->contents.items[file->content].elf;
}

const char *module_files_build_id(struct module_files *files, uint32_t place)
{
	struct elf_file *elf = elf_of(files, place);

	return elf ? elf_file_build_id(elf) : "";
}

uint64_t module_files_address(struct module_files *files, uint32_t place, uint64_t offset)
{
	struct elf_file *elf = elf_of(files, place);
	uint64_t address = 0;

	return elf && elf_file_address(elf, offset, &address) ? address : 0;
}

const char *module_files_symbol(struct module_files *files, uint32_t place, uint64_t offset,
				uint64_t *ret_into)
{
	struct elf_file *elf = elf_of(files, place);

	return elf ? elf_file_symbol(elf, offset, ret_into) : NULL;
}
