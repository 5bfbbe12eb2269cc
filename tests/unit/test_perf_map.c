/* Names of code made at run time. */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/perf_map.h"

#define ROUNDS 300
#define LINES  40
#define SPAN   200

static struct perf_map *read_text(const char *text, size_t max)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct perf_map *map;

	assert_non_null(in);
	map = perf_map_read(in, max);
	fclose(in);
	return map;
}

/* name NULL: none. */
static void check(const struct perf_map *map, uint64_t address, const char *name, uint64_t into)
{
	uint64_t got = 0;
	const char *found = perf_map_find(map, address, &got);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(got, into);
}

static void names_are_found(void **state)
{
	struct perf_map *map = read_text("7f0010 20 LazyCompile:~add /srv/my app.js:3:12\n"
					 "0x7f0100 0x10 with a prefix\r\n"
					 "7F0200 A upper\n"
					 "7f0300\t8\ttabs\n",
					 4096);

	(void)state;
	check(map, 0x7f0010, "LazyCompile:~add /srv/my app.js:3:12", 0);
	check(map, 0x7f002f, "LazyCompile:~add /srv/my app.js:3:12", 0x1f);
	check(map, 0x7f0030, NULL, 0);
	check(map, 0x7f000f, NULL, 0);
	check(map, 0x7f0108, "with a prefix", 8);
	check(map, 0x7f0209, "upper", 9);
	check(map, 0x7f020a, NULL, 0);
	check(map, 0x7f0300, "tabs", 0);
	perf_map_free(map);
	perf_map_free(NULL);
}

static void malformed_lines_are_left_out(void **state)
{
	struct perf_map *map = read_text("\n"
					 "10\n"
					 "10 10\n"
					 "10 10 \n"
					 "10 zz name\n"
					 "zz 10 name\n"
					 "-10 10 name\n"
					 "0x 10 name\n"
					 "10 0 no size\n"
					 "11112222333344445 10 too large\n"
					 "ffffffffffffff00 200 beyond the last address\n"
					 "ffffffffffffff00 ff just below\n"
					 "100 10 good\n"
					 "200 10 still being writ",
					 4096);

	(void)state;
	check(map, 0x10, NULL, 0);
	check(map, 0x105, "good", 5);
	check(map, 0x205, NULL, 0);
	check(map, 0xffffffffffffff80, "just below", 0x80);
	check(map, UINT64_MAX, NULL, 0);
	perf_map_free(map);
}

/* A part of a map could name code by what was there before. */
static void a_map_that_takes_more_than_it_may_has_no_names(void **state)
{
	static const char text[] = "10 10 first\n20 10 second\n";
	struct perf_map *map = read_text(text, 4096);
	size_t bytes = perf_map_bytes(map);

	(void)state;
	assert_in_range(bytes, strlen(text), 4096);
	perf_map_free(map);
	for (size_t max = 0; max <= bytes; max++) {
		map = read_text(text, max);
		check(map, 0x10, max < bytes ? NULL : "first", 0);
		check(map, 0x20, max < bytes ? NULL : "second", 0);
		assert_int_equal(perf_map_bytes(map), max < bytes ? 0 : bytes);
		perf_map_free(map);
	}
}

static void a_later_line_holds(void **state)
{
	struct perf_map *map = read_text("100 100 old\n"
					 "140 40 inner\n"
					 "1f0 20 behind\n"
					 "150 4 innermost\n",
					 4096);

	(void)state;
	check(map, 0x13f, "old", 0x3f);
	check(map, 0x140, "inner", 0);
	check(map, 0x152, "innermost", 2);
	check(map, 0x154, "inner", 0x14);
	check(map, 0x180, "old", 0x80);
	check(map, 0x1f0, "behind", 0);
	check(map, 0x20f, "behind", 0x1f);
	perf_map_free(map);
}

/* Beside the definition: of all lines that hold an address, the last. */
static void overlaps_are_as_defined(void **state)
{
	uint64_t start[LINES], size[LINES];

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		char text[LINES * 32], name[16];
		struct perf_map *map;
		size_t n = 0;

		for (int i = 0; i < LINES; i++) {
			start[i] = (uint64_t)(rand() % SPAN);
			size[i] = (uint64_t)(rand() % (round % 2 ? 60 : 8));
			n += (size_t)sprintf(text + n, "%" PRIx64 " %" PRIx64 " f%d\n", start[i],
					     size[i], i);
		}
		map = read_text(text, 1 << 16);
		for (uint64_t at = 0; at < SPAN + 80; at++) {
			int last = LINES;

			while (last-- && !(at >= start[last] && at - start[last] < size[last]))
				;
			snprintf(name, sizeof(name), "f%d", last);
			check(map, at, last < 0 ? NULL : name, last < 0 ? 0 : at - start[last]);
		}
		perf_map_free(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(malformed_lines_are_left_out),
		cmocka_unit_test(a_map_that_takes_more_than_it_may_has_no_names),
		cmocka_unit_test(a_later_line_holds),
		cmocka_unit_test(overlaps_are_as_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
