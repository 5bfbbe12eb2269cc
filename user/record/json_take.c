/* Members of JSON objects, as results in JSON spell them. */
#include "record/json_take.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define TEXT_BYTES_MAX (1 << 20)
/* No time, rate or count that is measured comes near; and no text of 300 digits for whoever shows one. */
#define REAL_MAX 1e18

/* NULL where it is missing or null. */
static const json_t *member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

int take_whole(const struct field_reader *reader, const json_t *object, const char *name,
	       uint64_t max, uint64_t *ret)
{
	const json_t *value = member(object, name);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return field_refuse(reader, "%s is no whole number in its range", name);
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

int take_whole32(const struct field_reader *reader, const json_t *object, const char *name,
		 uint32_t *ret)
{
	uint64_t value = *ret;
	int err = take_whole(reader, object, name, UINT32_MAX, &value);

	*ret = (uint32_t)value;
	return err;
}

int take_real(const struct field_reader *reader, const json_t *object, const char *name,
	      double *ret)
{
	const json_t *value = member(object, name);

	if (!value)
		return 0;
	if (!json_is_number(value) || !(fabs(json_number_value(value)) <= REAL_MAX))
		return field_refuse(reader, "%s is no number in its range", name);
	*ret = json_number_value(value);
	return 0;
}

int take_bool(const struct field_reader *reader, const json_t *object, const char *name, bool *ret)
{
	const json_t *value = member(object, name);

	if (!value)
		return 0;
	if (!json_is_boolean(value))
		return field_refuse(reader, "%s is neither true nor false", name);
	*ret = json_is_true(value);
	return 0;
}

int take_text(const struct field_reader *reader, const json_t *object, const char *name, char **ret)
{
	const json_t *value = member(object, name);

	if (!value)
		return 0;
	if (!json_is_string(value) || json_string_length(value) > TEXT_BYTES_MAX)
		return field_refuse(reader, "%s is no text", name);
	*ret = mem_strdup(json_string_value(value));
	return 0;
}

int need_text(const struct field_reader *reader, const json_t *object, const char *name, char **ret)
{
	int err = take_text(reader, object, name, ret);

	return err || *ret ? err : field_refuse(reader, "%s is missing", name);
}

int take_list(const struct field_reader *reader, const json_t *object, const char *name, size_t max,
	      const json_t **ret)
{
	*ret = member(object, name);
	if (*ret && (!json_is_array(*ret) || json_array_size(*ret) > max))
		return field_refuse(reader, "%s is no list of at most %zu", name, max);
	return 0;
}

int take_object(const struct field_reader *reader, const json_t *object, const char *name,
		const json_t **ret)
{
	*ret = member(object, name);
	if (*ret && !json_is_object(*ret))
		return field_refuse(reader, "%s is no object", name);
	return 0;
}
