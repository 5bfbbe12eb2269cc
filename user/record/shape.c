/* What a JSON text would become, before any of it is made. */
#include "record/shape.h"

#include "base/mem.h"

/* Far above what is written; below, memory for the tree stays within a few times the text. */
#define VALUES_MAX (32u << 20)
#define DEPTH_MAX  12

/* Counts what would become values before any is made. */
int shape_check(const struct field_reader *reader, const char *text, size_t n)
{
	size_t values = 0, depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			in_string = c != '"';
			continue;
		}
		in_string = c == '"';
		if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && depth > 0)
			depth--;
		values += c == '[' || c == '{' || c == ',';
		if (depth > DEPTH_MAX)
			return field_refuse(reader, "it is nested deeper than %d levels",
					    DEPTH_MAX);
		if (values > VALUES_MAX)
			return field_refuse(reader, "it has more than %u values", VALUES_MAX);
	}
	return 0;
}

json_t *shape_load(const struct field_reader *reader, const char *text, size_t n, size_t flags)
{
	json_error_t error;
	json_t *root;

	if (shape_check(reader, text, n))
		return NULL;
	root = json_loadb(text, n, flags | JSON_REJECT_DUPLICATES, &error);
	if (root)
		return root;
	if (json_error_code(&error) == json_error_out_of_memory)
		mem_out();
	field_refuse(reader, "%s, at byte %d", error.text, error.position);
	return NULL;
}
