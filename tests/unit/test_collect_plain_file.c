/* Opening files that others have named: what is no plain file is never opened. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/plain_file.h"
#include "tests/unit/folder.h"

static int open_below(const char *root, const char *path, unsigned flags)
{
	int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct stat st;

	assert_true(root_fd >= 0);
	fd = plain_file_open(-1, root_fd, path, flags, NULL, NULL, &st);
	close(root_fd);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void put_link(const struct folder *folder, const char *name, const char *target)
{
	char *path = mem_printf("%s/%s", folder->root, name);

	assert_int_equal(symlink(target, path), 0);
	free(path);
}

static void links_stay_below_the_root(void **state)
{
	struct folder folder;

	(void)state;
	folder_make(&folder);
	folder_put(&folder, "plain", "x");
	put_link(&folder, "near", "/plain");
	put_link(&folder, "far", "/../../etc/passwd");
	assert_int_equal(open_below(folder.root, "/plain", 0), 0);
	assert_int_equal(open_below(folder.root, "/near", 0), 0);
	assert_int_equal(open_below(folder.root, "/near", PLAIN_FILE_NO_LINK), -EINVAL);
	assert_int_equal(open_below(folder.root, "/far", 0), -ENOENT);
	assert_int_equal(open_below(folder.root, "/../etc/passwd", 0), -ENOENT);
	folder_remove(&folder);
}

/* A pipe without a writer would be waited for. */
static void what_is_no_file_is_not_opened(void **state)
{
	struct folder folder;
	char *path;

	(void)state;
	folder_make(&folder);
	path = mem_printf("%s/pipe", folder.root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(open_below(folder.root, "/pipe", 0), -EINVAL);
	assert_int_equal(open_below(folder.root, "/", 0), -EINVAL);
	assert_int_equal(open_below("/", "/dev/null", 0), -EINVAL);
	free(path);
	folder_remove(&folder);
}

/* They say that they are regular. */
static void files_that_the_kernel_makes_up_are_not_opened(void **state)
{
	struct folder folder;
	char *path;

	(void)state;
	folder_make(&folder);
	path = mem_printf("%s/debug", folder.root);
	assert_int_equal(symlink("/proc/version", path), 0);
	assert_int_equal(open_below("/", path, 0), -EINVAL);
	assert_int_equal(open_below("/", "/proc/version", 0), -EINVAL);
	if (!access("/sys/kernel/notes", F_OK))
		assert_int_equal(open_below("/", "/sys/kernel/notes", 0), -EINVAL);
	free(path);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_stay_below_the_root),
		cmocka_unit_test(what_is_no_file_is_not_opened),
		cmocka_unit_test(files_that_the_kernel_makes_up_are_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
