/* Changes JSON into other JSON, for libFuzzer: bytes changed blindly are hardly ever JSON any more, and the
 * code behind the parser would see none of them. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

static json_t *number_at_an_edge(uint32_t *random)
{
	static const json_int_t edges[] = {0,	 1,	-1,	    2,		255,	    65535,
					   1000, 99999, 4294967295, 2147483647, 4294967296, 1000000000,
					   INT64_MAX, INT64_MIN, INT64_MAX - 1};

	switch (next_random(random) % 4) {
	case 0:
		return json_integer(edges[next_random(random) % (sizeof(edges) / sizeof(*edges))]);
	case 1:
		return json_integer(next_random(random) >> next_random(random) % 32);
	case 2:
		return json_string("18446744073709551615");
	}
	return json_real((next_random(random) % 2 ? 1e308 : 1e-308) * (next_random(random) % 3 - 1.0));
}

static json_t *hostile_text(const char *before, uint32_t *random)
{
	static const char *const texts[] = {
		"",	"<script>alert(1)</script>",	"\x1b[31m",	"\xc3\xbf\xc2\x80",
		"\"'&", "| a | b |\n|--|--|",		"=1+1",		"\xe2\x80\xae",
		"a\nb", "https://x.y/ www.x.y @me #1", "](x)![y](z)", "floor",
		"hash", "startup",			"idle",		"serve"};
	const char *text = texts[next_random(random) % (sizeof(texts) / sizeof(*texts))];

	return next_random(random) % 2 ? json_string(text) : json_sprintf("%s%s", before, text);
}

/* What a value becomes; a new reference. */
static json_t *changed(const json_t *value, uint32_t *random)
{
	uint32_t way = next_random(random) % 8;

	if (json_is_number(value) && way)
		return number_at_an_edge(random);
	if (json_is_string(value) && way)
		return hostile_text(json_string_value(value), random);
	if (json_is_boolean(value) && way)
		return json_boolean(!json_is_true(value));
	if (json_is_array(value) && way > 2)
		return json_deep_copy(value);
	return way % 2 ? json_null() : json_array();
}

static size_t count(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i, n = 1;

	if (json_is_object(value))
		json_object_foreach ((json_t *)value, key, item)
			n += count(item);
	else
		json_array_foreach (value, i, item)
			n += count(item);
	return n;
}

static void change_item(json_t *array, size_t i, uint32_t *random)
{
	json_t *item = json_array_get(array, i);
	size_t n = json_array_size(array);

	switch (next_random(random) % 6) {
	case 0:
		json_array_remove(array, i);
		break;
	case 1:
		json_array_insert_new(array, next_random(random) % (n + 1), json_deep_copy(item));
		break;
	case 2: /* the rest of the list is gone */
		while (json_array_size(array) > i + 1)
			json_array_remove(array, json_array_size(array) - 1);
		break;
	default:
		json_array_set_new(array, i, changed(item, random));
	}
}

/* Changes the value that *at counts down to; true when that is done. */
static bool change(json_t *value, size_t *at, uint32_t *random)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach (value, key, item) {
			if ((*at)--)  {
				if (change(item, at, random))
					return true;
				continue;
			}
			if (next_random(random) % 8)
				json_object_set_new(value, key, changed(item, random));
			else
				json_object_del(value, key);
			return true;
		}
		return false;
	}
	json_array_foreach (value, i, item) {
		if (!(*at)--) {
			change_item(value, i, random);
			return true;
		}
		if (change(item, at, random))
			return true;
	}
	return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
	uint32_t random = seed * 2654435761U | 1;
	json_t *root = next_random(&random) % 8 ? json_loadb((char *)bytes, n, JSON_ALLOW_NUL, NULL) : NULL;
	size_t written = 0, values;

	if (!root)
		return LLVMFuzzerMutate(bytes, n, max);
	values = count(root) - 1;
	for (uint32_t times = next_random(&random) % 4 + 1; values && times; times--) {
		size_t at = next_random(&random) % values;

		change(root, &at, &random);
		values = count(root) - 1;
	}
	written = json_dumpb(root, (char *)bytes, max, JSON_COMPACT);
	json_decref(root);
	/* It did not fit: what has been written of it is damaged JSON, which is an input too. */
	return written <= max ? written : max;
}
