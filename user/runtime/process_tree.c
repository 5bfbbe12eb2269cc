/* A process and its descendants, as /proc tells. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/process_tree.h"

#define PROCESSES_MAX 16384 /* a tree that forks faster than it is read has no end */

struct pids {
	VEC(pid_t) list;
};

static bool has(const struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->list.n; i++)
		if (pids->list.items[i] == pid)
			return true;
	return false;
}

/* The children of one thread: numbers with spaces between. */
static void add_children(struct pids *pids, pid_t pid, const char *tid)
{
	char *path = mem_printf("/proc/%d/task/%s/children", pid, tid);
	FILE *file = fopen(path, "re");
	int child;

	while (file && fscanf(file, "%d", &child) == 1)
		if (child > 0 && pids->list.n < PROCESSES_MAX && !has(pids, child))
			*vec_push(&pids->list) = child;
	if (file)
		fclose(file);
	free(path);
}

static void add_descendants(struct pids *pids, pid_t pid)
{
	*vec_push(&pids->list) = pid;
	for (size_t i = 0; i < pids->list.n; i++) {
		char *path = mem_printf("/proc/%d/task", pids->list.items[i]);
		DIR *tasks = opendir(path);
		struct dirent *entry;

		while (tasks && (entry = readdir(tasks)))
			if (entry->d_name[0] != '.')
				add_children(pids, pids->list.items[i], entry->d_name);
		if (tasks)
			closedir(tasks);
		free(path);
	}
}

/* Adds what a smaps_rollup says. -ESRCH, told at the first read: the process has ended. */
static int read_memory(FILE *file, uint64_t *rss_bytes, uint64_t *pss_bytes)
{
	char line[256];
	unsigned long long kib;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Rss: %llu kB", &kib) == 1)
			*rss_bytes += kib * 1024;
		else if (sscanf(line, "Pss: %llu kB", &kib) == 1)
			*pss_bytes += kib * 1024;
	}
	return ferror(file) ? -ESRCH : 0;
}

static int add_memory(pid_t pid, uint64_t *rss_bytes, uint64_t *pss_bytes)
{
	char *path = mem_printf("/proc/%d/smaps_rollup", pid);
	FILE *file = fopen(path, "re");
	int err = file ? read_memory(file, rss_bytes, pss_bytes) : errno == ENOENT ? -ESRCH : -errno;

	free(path);
	if (file)
		fclose(file);
	return err;
}

int process_tree_memory(pid_t pid, uint64_t *ret_rss_bytes, uint64_t *ret_pss_bytes)
{
	struct pids pids = {0};
	uint64_t rss_bytes = 0, pss_bytes = 0;
	int err;

	add_descendants(&pids, pid);
	err = add_memory(pid, &rss_bytes, &pss_bytes);
	if (!err && !rss_bytes)
		err = -ESRCH; /* ended, not reaped */
	for (size_t i = 1; !err && i < pids.list.n; i++)
		add_memory(pids.list.items[i], &rss_bytes, &pss_bytes);
	free(pids.list.items);
	if (err)
		return err;
	*ret_rss_bytes = rss_bytes;
	*ret_pss_bytes = pss_bytes;
	return 0;
}
