/* Where a program's file is: the search along PATH. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/program.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* 0, or why exec would refuse it. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

static int explain(const char *name, int err, struct diag *diag)
{
	struct stat st;

	diag_set(diag, err, "cannot run '%s': %s", name, strerror(-err));
	if (!strchr(name, '/') && err == -ENOENT)
		return diag_hint(diag, err, "there is no such program on PATH");
	if (err == -EACCES && !stat(name, &st) && S_ISDIR(st.st_mode))
		return diag_hint(diag, err, "it is a directory; name a program in it");
	if (err == -EACCES && !stat(name, &st) && S_ISREG(st.st_mode))
		return diag_hint(diag, err, "it is not executable: chmod +x makes it so");
	return err;
}

int program_find(const char *name, char **ret_path, struct diag *diag)
{
	const char *at = getenv("PATH");
	int err, result = -ENOENT;

	if (!*name)
		return explain(name, -ENOENT, diag);
	if (strchr(name, '/')) {
		err = check_file(name);
		if (err)
			return explain(name, err, diag);
		*ret_path = mem_strdup(name);
		return 0;
	}
	if (!at)
		at = DEFAULT_PATH;
	for (;;) {
		size_t n = strcspn(at, ":");
		/* An empty element is the working directory. */
		char *path = n ? mem_printf("%.*s/%s", (int)n, at, name) : mem_printf("./%s", name);

		err = check_file(path);
		if (!err) {
			*ret_path = path;
			return 0;
		}
		free(path);
		if (err == -EACCES) /* goes on, as a shell does, but remembers */
			result = -EACCES;
		if (!at[n])
			return explain(name, result, diag);
		at += n + 1;
	}
}
