/* A folder with made-up files, in place of /sys, /proc and others. */
#include "tests/unit/folder.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void folder_make(struct folder *ret_folder)
{
	struct folder *folder = ret_folder;

	strcpy(folder->root, "/tmp/wakewhy-folder-XXXXXX");
	assert_non_null(mkdtemp(folder->root));
	snprintf(folder->sys, sizeof(folder->sys), "%s/sys", folder->root);
	snprintf(folder->proc, sizeof(folder->proc), "%s/proc", folder->root);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void folder_remove(const struct folder *folder)
{
	assert_int_equal(nftw(folder->root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void folder_put(const struct folder *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder->root, name);
	for (char *at = path + strlen(folder->root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}
