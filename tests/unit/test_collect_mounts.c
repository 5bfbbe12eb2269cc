/* Mounts, and which of them another user's program serves. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "collect/mounts.h"

#define US 1000

static void parse(struct mounts *ret_mounts, const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(in);
	mounts_parse(ret_mounts, in, US);
	fclose(in);
}

static bool is_foreign(const char *line)
{
	struct mounts mounts;
	bool foreign;

	parse(&mounts, line);
	assert_int_equal(mounts.items.n, 1);
	foreign = mounts_any_foreign(&mounts);
	mounts_free_members(&mounts);
	return foreign;
}

static void those_of_other_users_are_foreign(void **state)
{
	(void)state;
	assert_true(is_foreign("5 1 0:44 / /m rw - fuse x rw,user_id=12,group_id=12,allow_other\n"));
	assert_true(is_foreign("5 1 0:44 / /m rw shared:1 master:2 - fuse.sshfs a@b rw,user_id=12,group_id=0\n"));
	assert_true(is_foreign("5 1 8:1 / /m rw - fuseblk /dev/sdb rw,user_id=12\n"));
	assert_false(is_foreign("5 1 0:44 / /m rw - fuse x rw,user_id=0,group_id=0,allow_other\n"));
	assert_false(is_foreign("5 1 0:44 / /m rw - fuse x rw,user_id=1000,group_id=0\n"));
	assert_false(is_foreign("5 1 0:44 / /m rw - fusectl fusectl rw\n"));
	assert_false(is_foreign("5 1 0:44 / /m rw - tmpfs user_id=12 rw,user_id\n"));
	assert_false(is_foreign("5 1 8:1 / / rw - ext4 /dev/sda1 rw\n"));
}

static void what_is_no_mount_is_left_out(void **state)
{
	static const char *const lines[] = {"", "\n", "5 1 0:44 / /m rw\n", " - fuse", "5 - fuse x user_id=12\n"};
	struct mounts mounts;

	(void)state;
	for (size_t i = 1; i < sizeof(lines) / sizeof(*lines); i++) {
		parse(&mounts, lines[i]);
		assert_int_equal(mounts.items.n, 0);
		assert_false(mounts_lead_into_foreign(&mounts, "/x/../y"));
		mounts_free_members(&mounts);
	}
}

static void ways_into_foreign_ones_are_known(void **state)
{
	struct mounts mounts;

	(void)state;
	parse(&mounts, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
		       "7 1 0:44 / /home/a\\040b/m\\134 rw - fuse x rw,user_id=12\n");
	assert_string_equal(mounts_find(&mounts, 7)->point, "/home/a b/m\\");
	assert_null(mounts_find(&mounts, 2));
	assert_true(mounts_lead_into_foreign(&mounts, "/home/a b/m\\"));
	assert_true(mounts_lead_into_foreign(&mounts, "/home/a b/m\\/usr/bin/x"));
	assert_false(mounts_lead_into_foreign(&mounts, "/home/a b/m\\x"));
	assert_false(mounts_lead_into_foreign(&mounts, "/home/a b"));
	assert_true(mounts_lead_into_foreign(&mounts, "/usr/../home"));
	mounts_free_members(&mounts);
	parse(&mounts, "1 0 0:9 / / rw - fuse x rw,user_id=12\n");
	assert_true(mounts_lead_into_foreign(&mounts, "/bin/x"));
	mounts_free_members(&mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_other_users_are_foreign),
		cmocka_unit_test(what_is_no_mount_is_left_out),
		cmocka_unit_test(ways_into_foreign_ones_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
