/* Single values as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/json.h"

json_t *json_of_text(const char *text)
{
	char *utf8;
	json_t *value;

	if (!text)
		return json_null();
	utf8 = text_utf8(text);
	value = json_string(utf8);
	free(utf8);
	return value;
}

json_t *json_of_bytes(const char *bytes, size_t n)
{
	char *utf8 = text_utf8_bytes(bytes, n);
	json_t *value = json_string(utf8);

	free(utf8);
	return value;
}

json_t *json_of_comm(const char comm[WK_COMM_BYTES])
{
	return json_of_bytes(comm, strnlen(comm, WK_COMM_BYTES));
}

json_t *json_of_u64(uint64_t number)
{
	return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
}

json_t *json_of_u64_or_null(uint64_t number)
{
	return number ? json_of_u64(number) : json_null();
}

json_t *json_of_real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

void json_set(json_t *object, const char *name, json_t *value)
{
	json_object_set_new(object, name, value);
}
