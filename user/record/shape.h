/* What a JSON text would become, before any of it is made. */
#ifndef WAKEWHY_RECORD_SHAPE_H
#define WAKEWHY_RECORD_SHAPE_H

#include "record/fields.h"

/* A small text can ask for a large tree: -EINVAL with the reason in the diag of reader where it is
 * nested deeper, or has more values, than anything that is written. */
int shape_check(const struct field_reader *reader, const char *text, size_t n);
/* The tree of a text that passes, a new reference; NULL with the reason in the diag of reader. flags are
 * jansson's. */
json_t *shape_load(const struct field_reader *reader, const char *text, size_t n, size_t flags);

#endif
