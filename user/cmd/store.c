/* The directory that keeps a study: its plan, a recording of each bout, and all of them in one. */
#include "cmd/store.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/checked.h"
#include "record/record.h"
#include "runtime/identity.h"

#define PLAN_NAME	"study.json"
#define WHOLE_NAME	"study.wkw"
#define UNFINISHED_NAME ".unfinished"
/* Bytes of a label in a file's name: the rest is in the file. */
#define LABEL_BYTES 40

/* What one file keeps. */
struct kept {
	char *name;
	struct recording recording; /* without runs once has() has handed them over */
	bool handed_over;
};

struct store {
	char *path; /* for messages */
	int fd;
	bool made; /* by us, just now */
	struct identity owner;
	struct plan plan; /* that is kept in it */
	bool has_plan;
	VEC(struct kept) kept; /* by name, once all are read */
	struct experiment *experiment;
};

static int store_failed(const struct store *store, const char *name, int err, struct diag *diag)
{
	return diag_set(diag, err, "'%s%s%s': %s", store->path, *name ? "/" : "", name, strerror(-err));
}

/* ---- the directory --------------------------------------------------------------------------- */

/* Without slashes at the end: open() would follow a link that has one. */
static char *store_clean_path(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return mem_strndup(path, n);
}

static int store_check_directory(const struct store *store, struct diag *diag)
{
	struct stat st;

	if (fstat(store->fd, &st))
		return store_failed(store, "", -errno, diag);
	if (st.st_uid != geteuid() && st.st_uid != store->owner.uid)
		return diag_set(diag, -EPERM, "'%s' belongs to another user", store->path);
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		diag_set(diag, -EPERM, "others may write into '%s'", store->path);
		return diag_hint(diag, -EPERM, "chmod 700 '%s', or name another directory",
				 store->path);
	}
	if (flock(store->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? diag_set(diag, -EBUSY, "another study is using '%s'", store->path)
			       : store_failed(store, "", -errno, diag);
	return 0;
}

static int store_open_directory(struct store *store, struct diag *diag)
{
	store->made = !mkdir(store->path, 0700);
	if (!store->made && errno != EEXIST)
		return store_failed(store, "", -errno, diag);
	store->fd = open(store->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (store->fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return diag_set(diag, -ENOTDIR, "'%s' is a link or a file, and not a directory",
				store->path);
	if (store->fd < 0)
		return store_failed(store, "", -errno, diag);
	/* A file system that knows no owners is no reason to fail: the check below decides. */
	if (store->made && store->owner.uid != geteuid() &&
	    fchown(store->fd, store->owner.uid, store->owner.gid))
		errno = 0;
	return store_check_directory(store, diag);
}

/* Calls see for each name in the directory until one returns an error. */
static int store_each(struct store *store, int (*see)(struct store *, const char *, struct diag *),
		      struct diag *diag)
{
	int fd = openat(store->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		err = store_failed(store, "", -errno, diag);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = see(store, entry->d_name, diag);
	if (!err && errno)
		err = store_failed(store, "", -errno, diag);
	closedir(directory);
	return err;
}

static int store_see_foreign(struct store *store, const char *name, struct diag *diag)
{
	if (!strcmp(name, UNFINISHED_NAME)) /* of a study that was killed before it had a plan */
		return 0;
	diag_set(diag, -EEXIST, "'%s' holds '%s' and no study", store->path, name);
	return diag_hint(diag, -EEXIST, "name a directory that is empty or not there yet");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Never a link, a pipe or a device, whatever lies there. -ENOENT without a diag. */
static int store_open_file(const struct store *store, const char *name, FILE **ret_file,
			   struct diag *diag)
{
	int fd = openat(store->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : store_failed(store, name, -errno, diag);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return diag_set(diag, -EINVAL, "'%s/%s' is no file", store->path, name);
	}
	*ret_file = fdopen(fd, "re");
	if (*ret_file)
		return 0;
	close(fd);
	return store_failed(store, name, -ENOMEM, diag);
}

static int store_read_plan(struct store *store, struct diag *diag)
{
	char *name = mem_printf("%s/" PLAN_NAME, store->path);
	FILE *in;
	int err = store_open_file(store, PLAN_NAME, &in, diag);

	if (!err) {
		err = plan_read(in, name, &store->plan, diag);
		store->has_plan = !err;
		fclose(in);
	} else if (err == -ENOENT) {
		err = store_each(store, store_see_foreign, diag);
	}
	free(name);
	return err;
}

int store_open(struct store **ret_store, const char *path, struct diag *diag)
{
	struct store *store = mem_zalloc(sizeof(*store));
	int err;

	store->fd = -1;
	store->path = store_clean_path(path);
	err = identity_resolve(&store->owner, NULL, diag);
	if (!err)
		err = store_open_directory(store, diag);
	if (!err)
		err = store_read_plan(store, diag);
	if (err)
		store_free(store);
	else
		*ret_store = store;
	return err;
}

const struct plan *store_plan(const struct store *store)
{
	return store->has_plan ? &store->plan : NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A label as part of a file's name: letters, digits and a few signs, the rest "_". It need not be told
 * apart from others by that: its number does. */
static void add_label(struct strbuf *name, const char *label)
{
	for (size_t i = 0; i < LABEL_BYTES && label[i]; i++) {
		unsigned char c = (unsigned char)label[i];
		bool plain = c < 0x80 && (isalnum(c) || strchr("._+", c));

		strbuf_add_char(name, plain ? (char)c : '_');
	}
}

/* What a file is called that keeps this; the caller frees. */
static char *file_name(size_t runtime, const char *workload, const char *label, const char *variant,
		       uint32_t repeat, bool bare)
{
	struct strbuf name = {};

	strbuf_printf(&name, "%s-%zu-", workload, runtime);
	add_label(&name, label);
	strbuf_printf(&name, "%s%s-%" PRIu32 "%s.wkw", variant ? "-" : "", variant ? variant : "",
		      repeat, bare ? "-bare" : "");
	return strbuf_take(&name);
}

/* Its place in the plan; the number of runtimes: it has none. */
static size_t runtime_of(const struct store *store, const char *label)
{
	size_t i = 0;

	while (i < store->plan.runtimes.n && strcmp(store->plan.runtimes.items[i].label, label))
		i++;
	return i;
}

static char *bout_name(const struct store *store, const struct bout *bout)
{
	const char *label = bout->contestant->runtime.label;

	return file_name(runtime_of(store, label), workload_name(store->experiment->workload), label,
			 bout->variant, bout->repeat, bout->bare);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_bout(const struct capture *a, const struct capture *b)
{
	return same_text(a->label, b->label) && same_text(a->workload, b->workload) &&
	       same_text(a->variant, b->variant) && a->repeat == b->repeat;
}

/* Captures of one bout, the last of which counts, or one bare run; NULL: something else. Else the name
 * that its file has; the caller frees. */
static char *name_of_kept(const struct store *store, const struct recording *recording)
{
	const struct capture *runs = recording->runs.items;
	const struct capture_bare *bare = recording->bare.items;
	size_t last = recording->runs.n - 1;

	if (!recording->runs.n && recording->bare.n == 1)
		return file_name(runtime_of(store, bare->label), bare->workload, bare->label,
				 bare->variant, bare->repeat, true);
	if (!recording->runs.n || recording->bare.n || runs[last].replaced || runs[last].partial)
		return NULL;
	for (size_t i = 0; i < last; i++)
		if (!runs[i].replaced || !same_bout(&runs[i], &runs[last]))
			return NULL;
	return file_name(runtime_of(store, runs->label), runs->workload, runs->label, runs->variant,
			 runs->repeat, false);
}

static bool is_planned(const struct store *store, const struct recording *recording)
{
	const char *label = recording->runs.n ? recording->runs.items[0].label
					      : recording->bare.items[0].label;

	return runtime_of(store, label) < store->plan.runtimes.n;
}

static int check_kept(const struct store *store, const char *name, const struct recording *recording,
		      struct diag *diag)
{
	const struct capture_tool *tool = &recording->tool;
	char *proper = name_of_kept(store, recording);
	bool good = proper && !strcmp(proper, name) && is_planned(store, recording) &&
		    !strcmp(tool->version, store->plan.tool) &&
		    !strcmp(tool->kernel, store->plan.kernel) &&
		    !strcmp(tool->arch, store->plan.arch);

	free(proper);
	if (good)
		return 0;
	return diag_set(diag, -EINVAL, "'%s/%s' is not a measurement of this study", store->path, name);
}

static int store_see_kept(struct store *store, const char *name, struct diag *diag)
{
	size_t n = strlen(name);
	struct recording recording;
	char *path;
	FILE *in = NULL;
	int err;

	if (!strcmp(name, WHOLE_NAME) || n < 4 || strcmp(name + n - 4, ".wkw"))
		return 0;
	err = store_open_file(store, name, &in, diag);
	if (err)
		return err == -ENOENT ? store_failed(store, name, err, diag) : err;
	path = mem_printf("%s/%s", store->path, name);
	err = record_read(in, path, &recording, diag);
	fclose(in);
	if (!err) {
		struct kept *kept = vec_push(&store->kept);

		kept->name = mem_strdup(name);
		kept->recording = recording;
		err = check_kept(store, name, &recording, diag);
	}
	if (err)
		diag_hint(diag, err, "remove that file and it will be measured again");
	free(path);
	return err;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef int store_fill(FILE *out, const void *what, struct diag *diag);

/* Fills a file and sees it to the disk. */
static int store_fill_file(const struct store *store, int fd, store_fill *fill, const void *what,
			   struct diag *diag)
{
	int error = 0, err;
	FILE *out = checked_open(fd, &error);

	if (!out)
		return -errno;
	err = fill(out, what, diag);
	if (fclose(out) && !err)
		err = -errno;
	if (error)
		err = -error;
	if (!err && store->owner.uid != geteuid() && fchown(fd, store->owner.uid, store->owner.gid))
		errno = 0; /* as with the directory */
	return !err && fsync(fd) ? -errno : err;
}

/* Under its name when it is whole and on the disk, or not at all. */
static int store_write(const struct store *store, const char *name, store_fill *fill,
		       const void *what, struct diag *diag)
{
	int fd, err = 0;

	unlinkat(store->fd, UNFINISHED_NAME, 0); /* of one that was killed: nobody else is here */
	fd = openat(store->fd, UNFINISHED_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return store_failed(store, name, -errno, diag);
	err = store_fill_file(store, fd, fill, what, diag);
	close(fd);
	if (!err && (renameat(store->fd, UNFINISHED_NAME, store->fd, name) || fsync(store->fd)))
		err = -errno;
	if (!err)
		return 0;
	unlinkat(store->fd, UNFINISHED_NAME, 0);
	return store_failed(store, name, err, diag);
}

static int fill_plan(FILE *out, const void *what, struct diag *diag)
{
	return plan_write(out, what, diag);
}

static int fill_recording(FILE *out, const void *what, struct diag *diag)
{
	return record_write(out, what, diag);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

static int store_see_all(struct store *store, struct diag *diag)
{
	int err = store_each(store, store_see_kept, diag);

	/* Each bout of the study is going to be looked for. */
	if (!err && store->kept.n)
		qsort(store->kept.items, store->kept.n, sizeof(struct kept), by_name);
	return err;
}

int store_begin(struct store *store, const struct plan *plan, struct diag *diag)
{
	int err;

	if (!store->has_plan) {
		/* Read back, so that the copy is what the next study will find. */
		err = store_write(store, PLAN_NAME, fill_plan, plan, diag);
		return err ? err : store_read_plan(store, diag);
	}
	err = plan_compare(&store->plan, plan, diag);
	if (!err)
		return store_see_all(store, diag);
	return diag_hint(diag, err, "'%s' keeps another study: name another directory", store->path);
}

size_t store_kept(const struct store *store)
{
	return store->kept.n;
}

int store_finish(struct store *store, const struct recording *recording, struct diag *diag)
{
	return store_write(store, WHOLE_NAME, fill_recording, recording, diag);
}

/* ---- the keeper ------------------------------------------------------------------------------ */

/* Moves the runs of a file into the study's recording. */
static void hand_over(struct kept *kept, struct recording *to)
{
	for (size_t i = 0; i < kept->recording.runs.n; i++)
		*vec_push(&to->runs) = kept->recording.runs.items[i];
	for (size_t i = 0; i < kept->recording.bare.n; i++)
		*vec_push(&to->bare) = kept->recording.bare.items[i];
	kept->recording.runs.n = kept->recording.bare.n = 0;
	kept->handed_over = true;
}

static bool store_has(void *context, const struct bout *bout)
{
	struct store *store = context;
	struct kept wanted = {.name = bout_name(store, bout)};
	struct kept *found = store->kept.n ? bsearch(&wanted, store->kept.items, store->kept.n,
						     sizeof(wanted), by_name)
					   : NULL;

	free(wanted.name);
	if (!found || found->handed_over)
		return false;
	hand_over(found, &store->experiment->session.recording);
	return true;
}

static int store_keep(void *context, const struct bout *bout, size_t first_run, size_t first_bare,
		      struct diag *diag)
{
	struct store *store = context;
	const struct recording *all = &store->experiment->session.recording;
	char *name = bout_name(store, bout);
	/* Borrowed, every bit of it. */
	struct recording part = {.tool = all->tool, .seed = all->seed};
	int err;

	part.runs.items = all->runs.items + first_run;
	part.runs.n = all->runs.n - first_run;
	part.bare.items = all->bare.items + first_bare;
	part.bare.n = all->bare.n - first_bare;
	err = store_write(store, name, fill_recording, &part, diag);
	free(name);
	return err;
}

struct keeper store_keeper(struct store *store, struct experiment *experiment)
{
	store->experiment = experiment;
	return (struct keeper){.context = store, .has = store_has, .keep = store_keep};
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->kept.n; i++) {
		free(store->kept.items[i].name);
		recording_free_members(&store->kept.items[i].recording);
	}
	free(store->kept.items);
	plan_free_members(&store->plan);
	identity_free_members(&store->owner);
	if (store->fd >= 0)
		close(store->fd);
	/* What never got a plan is of no use to anybody. It fails where something is in it. */
	if (store->made && !store->has_plan)
		rmdir(store->path);
	free(store->path);
	free(store);
}
