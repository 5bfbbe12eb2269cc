/* What is mapped where and when: against a plain list, over random mappings. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "collect/address_space.h"
#include "collect/module_files.h"
#include "base/place_index.h"

static struct mapping map(uint64_t start, uint64_t end, uint32_t file, uint64_t since_ns)
{
	return (struct mapping){
		.start = start, .end = end, .file = file, .file_offset = start, .since_ns = since_ns};
}

static uint32_t file_at(const struct address_space *space, uint64_t address, uint64_t time_ns)
{
	const struct mapping *mapping = address_space_find(space, address, time_ns);

	return mapping ? mapping->file : 0;
}

static void add(struct address_space *space, uint64_t start, uint64_t end, uint32_t file, uint64_t since_ns)
{
	struct mapping mapping = map(start, end, file, since_ns);

	assert_true(address_space_add(space, &mapping));
}

static void the_newer_one_takes_the_place(void **state)
{
	struct address_space *space = address_space_new(1);

	(void)state;
	add(space, 100, 200, 1, 10);
	add(space, 140, 150, 2, 20);
	add(space, 190, 250, 3, 30);
	assert_int_equal(file_at(space, 99, 50), 0);
	assert_int_equal(file_at(space, 100, 50), 1);
	assert_int_equal(file_at(space, 139, 50), 1);
	assert_int_equal(file_at(space, 140, 50), 2);
	assert_int_equal(file_at(space, 150, 50), 1);
	assert_int_equal(file_at(space, 190, 50), 3);
	assert_int_equal(file_at(space, 250, 50), 0);
	/* Before it was there. */
	assert_int_equal(file_at(space, 140, 19), 1);
	assert_int_equal(file_at(space, 240, 29), 0);
	assert_int_equal(file_at(space, 140, 9), 0);
	address_space_drop(space);
}

static void what_is_known_is_not_kept_twice(void **state)
{
	struct address_space *space = address_space_new(1);
	struct mapping mapping;

	(void)state;
	add(space, 100, 200, 1, 10);
	add(space, 300, 400, MODULE_ANONYMOUS, 10);
	mapping = map(120, 180, 1, 20);
	assert_false(address_space_add(space, &mapping));
	mapping.file_offset++; /* other bytes of the file */
	assert_true(address_space_add(space, &mapping));
	mapping = map(310, 320, MODULE_ANONYMOUS, 20);
	mapping.file_offset = 0;
	assert_false(address_space_add(space, &mapping));
	mapping = map(400, 400, 2, 20);
	assert_false(address_space_add(space, &mapping));
	assert_int_equal(space->log.n, 3);
	address_space_drop(space);
}

static void a_copy_is_apart(void **state)
{
	struct address_space *one = address_space_new(1), *two = one;

	(void)state;
	add(one, 100, 200, 1, 10);
	one->refs++;
	address_space_own(&two, 2);
	assert_ptr_not_equal(one, two);
	add(two, 100, 200, 2, 20);
	assert_int_equal(file_at(one, 100, 50), 1);
	assert_int_equal(file_at(two, 100, 50), 2);
	assert_int_equal(file_at(two, 100, 15), 1);
	address_space_drop(one);
	address_space_drop(two);
}

static void random_ones_are_found(void **state)
{
	struct address_space *space = address_space_new(1);
	unsigned seed = 7;

	(void)state;
	for (uint64_t time_ns = 1; time_ns <= 300; time_ns++) {
		uint64_t start = (uint64_t)rand_r(&seed) % 500;
		struct mapping mapping = map(start, start + 1 + (uint64_t)rand_r(&seed) % 60,
					     1 + (uint32_t)rand_r(&seed) % 4, time_ns);

		address_space_add(space, &mapping);
	}
	for (uint64_t time_ns = 0; time_ns <= 300; time_ns += 20)
		for (uint64_t address = 0; address < 600; address++) {
			uint32_t wanted = 0;

			for (size_t i = 0; i < space->log.n; i++)
				if (space->log.items[i].since_ns <= time_ns &&
				    space->log.items[i].start <= address &&
				    address < space->log.items[i].end)
					wanted = space->log.items[i].file;
			assert_int_equal(file_at(space, address, time_ns), wanted);
		}
	for (size_t i = 1; i < space->segments.n; i++)
		assert_true(space->segments.items[i - 1].end <= space->segments.items[i].start);
	address_space_drop(space);
}

/* ---- the index --------------------------------------------------------------------------------- */

static bool same_number(const void *array, uint32_t place, const void *wanted)
{
	return ((const uint64_t *)array)[place] == *(const uint64_t *)wanted;
}

static uint32_t place_of(struct place_index *index, const uint64_t *numbers, uint64_t wanted)
{
	return place_index_find(index, place_hash(index, &wanted, sizeof(wanted)), same_number, numbers,
				&wanted);
}

static void all_that_was_added_is_found_and_nothing_else(void **state)
{
	struct place_index index = {0};
	static uint64_t numbers[5000];

	(void)state;
	assert_int_equal(place_of(&index, numbers, 3), PLACE_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		numbers[i] = (uint64_t)i * 3;
		place_index_add(&index, place_hash(&index, &numbers[i], sizeof(numbers[i])), i);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(place_of(&index, numbers, (uint64_t)i * 3), i);
		assert_int_equal(place_of(&index, numbers, (uint64_t)i * 3 + 1), PLACE_NONE);
	}
	place_index_clear(&index);
	assert_int_equal(place_of(&index, numbers, 3), PLACE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newer_one_takes_the_place),
		cmocka_unit_test(what_is_known_is_not_kept_twice),
		cmocka_unit_test(a_copy_is_apart),
		cmocka_unit_test(random_ones_are_found),
		cmocka_unit_test(all_that_was_added_is_found_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
