/* Members of JSON objects, as results in JSON spell them (docs/json.md): nothing in them believed.
 *
 * Each takes one member of `object` where it is there and not null, and leaves *ret as it is else.
 * -EINVAL with the reason in the diag of reader where it is of another kind, or beyond its range. */
#ifndef WAKEWHY_RECORD_JSON_TAKE_H
#define WAKEWHY_RECORD_JSON_TAKE_H

#include "record/fields.h"

int take_whole(const struct field_reader *reader, const json_t *object, const char *name,
	       uint64_t max, uint64_t *ret);
int take_whole32(const struct field_reader *reader, const json_t *object, const char *name,
		 uint32_t *ret);
int take_real(const struct field_reader *reader, const json_t *object, const char *name,
	      double *ret);
int take_bool(const struct field_reader *reader, const json_t *object, const char *name, bool *ret);
/* A copy in *ret, which was NULL. */
int take_text(const struct field_reader *reader, const json_t *object, const char *name,
	      char **ret);
/* The same, but it must be there. */
int need_text(const struct field_reader *reader, const json_t *object, const char *name,
	      char **ret);
/* The list of that name, at most max long; *ret is NULL where there is none. Borrowed. */
int take_list(const struct field_reader *reader, const json_t *object, const char *name, size_t max,
	      const json_t **ret);
/* The object of that name, *ret NULL where there is none. Borrowed. */
int take_object(const struct field_reader *reader, const json_t *object, const char *name,
		const json_t **ret);

#endif
