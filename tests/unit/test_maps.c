/* The text of /proc/PID/maps. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/maps.h"

static void read_text(struct maps *maps, const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(in);
	maps_read(maps, in);
	fclose(in);
}

static void rows_are_read(void **state)
{
	const struct maps_row *row;
	struct maps maps;

	(void)state;
	read_text(&maps,
		  "00400000-0041f000 r--p 00000000 fe:01 1234     /usr/bin/python3.11\n"
		  "0041f000-006d2000 r-xp 0001f000 103:0a 18446744073709551615 /srv/a b\\012c\\134d (deleted)\n"
		  "006d2000-006d3000 rwxs 00000000 00:00 0 \n"
		  "006d3000-006d4000 ---p 00000000 00:00 0\n"
		  "7fff0000-7fff1000 r-xp 00000000 00:00 0                    [vdso]\n"
		  "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n");
	assert_int_equal(maps.rows.n, 6);
	row = maps.rows.items;
	assert_int_equal(row->start, 0x400000);
	assert_int_equal(row->end, 0x41f000);
	assert_false(row->executable || row->deleted);
	assert_int_equal(row->device_major, 0xfe);
	assert_int_equal(row->device_minor, 1);
	assert_int_equal(row->inode, 1234);
	assert_string_equal(row->path, "/usr/bin/python3.11");
	row++;
	assert_int_equal(row->offset, 0x1f000);
	assert_true(row->executable && row->deleted);
	assert_int_equal(row->device_major, 0x103);
	assert_true(row->inode == UINT64_MAX);
	/* A newline is all that the kernel escapes. */
	assert_string_equal(row->path, "/srv/a b\nc\\134d");
	row++;
	assert_true(row->executable);
	assert_string_equal(row->path, "");
	assert_string_equal((++row)->path, "");
	assert_string_equal((++row)->path, "[vdso]");
	assert_true((++row)->start == 0xffffffffff600000);
	maps_free_members(&maps);
}

static void what_cannot_be_is_left_out(void **state)
{
	struct maps maps;

	(void)state;
	read_text(&maps, "\n"
			 "1000-2000 r-xp 0 0:0\n"
			 "1000-1000 r-xp 0 0:0 0 /empty\n"
			 "2000-1000 r-xp 0 0:0 0 /backwards\n"
			 "1000-2000 rzxp 0 0:0 0 /permissions\n"
			 "1000-2000 r-x 0 0:0 0 /short\n"
			 "1000 2000 r-xp 0 0:0 0 /no dash\n"
			 "1000-11112222333344445 r-xp 0 0:0 0 /too large\n"
			 "1000-2000 r-xp 0 111112222:0 0 /device\n"
			 "1000-2000 r-xp 0 0:0 12x /inode\n"
			 "5000-6000 r-xp 0 0:0 0 /good\n"
			 "5800-6800 r-xp 0 0:0 0 /overlaps\n"
			 "4000-4800 r-xp 0 0:0 0 /falls\n"
			 "6000-7000 r-xp 0 0:0 0 (deleted)\n"
			 "7000-8000 r-xp 0 0:0 0 /last (deleted)");
	assert_int_equal(maps.rows.n, 3);
	assert_string_equal(maps.rows.items[0].path, "/good");
	assert_string_equal(maps.rows.items[1].path, "(deleted)");
	assert_false(maps.rows.items[1].deleted);
	assert_string_equal(maps.rows.items[2].path, "/last");
	assert_true(maps.rows.items[2].deleted);
	maps_free_members(&maps);
}

static const struct maps_row *row_of(const struct maps *maps, const void *address)
{
	for (size_t i = 0; i < maps->rows.n; i++)
		if ((uintptr_t)address >= maps->rows.items[i].start &&
		    (uintptr_t)address < maps->rows.items[i].end)
			return &maps->rows.items[i];
	return NULL;
}

/* Our own mappings, beside what the system calls say of them. */
static void our_own_are_right(void **state)
{
	char path[] = "/tmp/wakewhy maps\n\\012-XXXXXX";
	int fd = mkstemp(path);
	long page = sysconf(_SC_PAGESIZE);
	const struct maps_row *row;
	struct maps maps;
	struct stat st;
	void *mapped;
	FILE *in;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 3 * page), 0);
	assert_int_equal(fstat(fd, &st), 0);
	mapped = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 2 * page);
	assert_true(mapped != MAP_FAILED);
	assert_int_equal(unlink(path), 0);
	in = fopen("/proc/self/maps", "re");
	maps_read(&maps, in);
	fclose(in);
	row = row_of(&maps, mapped);
	assert_non_null(row);
	assert_int_equal(row->start, (uintptr_t)mapped);
	assert_int_equal(row->end - row->start, page);
	assert_int_equal(row->offset, 2 * page);
	assert_true(row->executable && row->deleted);
	assert_int_equal(row->inode, st.st_ino);
	/* "\012" in the name and a newline look the same in the kernel's text. */
	assert_memory_equal(row->path, "/tmp/wakewhy maps\n\n-", 20);
	row = row_of(&maps, (const void *)&getppid);
	assert_true(row && row->executable && strstr(row->path, "/libc"));
	row = row_of(&maps, &row);
	assert_true(row && !strcmp(row->path, "[stack]"));
	munmap(mapped, (size_t)page);
	close(fd);
	maps_free_members(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(what_cannot_be_is_left_out),
		cmocka_unit_test(our_own_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
