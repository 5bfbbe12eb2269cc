/* How a struct is spelt in a recording: one table for each, used by the writer and the reader. */
#ifndef WAKEWHY_RECORD_FIELDS_H
#define WAKEWHY_RECORD_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum field_kind {
	FIELD_UNSIGNED, /* of 1, 2, 4 or 8 bytes */
	FIELD_SIGNED,	/* of 4 or 8 bytes */
	FIELD_BOOL,
	FIELD_REAL,	/* double; what is not finite is null */
	FIELD_STRING,	/* owned char *; NULL is written as "" */
	FIELD_OPTIONAL, /* owned char *; NULL is null */
	FIELD_COMM,	/* char array that holds at most WK_COMM_BYTES - 1 bytes and NUL */
	FIELD_NAME,	/* char array that holds as many bytes as it has room for, and NUL */
};

struct field {
	const char *name; /* never changed, never used for something else */
	size_t offset;
	size_t size; /* of the member */
	enum field_kind kind;
};

#define FIELD(type, name, member, kind)                                                            \
	{                                                                                          \
		name, offsetof(type, member), sizeof(((type *)0)->member), kind                    \
	}

/* Tables, each ended by a row whose name is NULL. */
extern const struct field thread_fields[];  /* struct wk_thread */
extern const struct field second_fields[];  /* struct wk_second */
extern const struct field cause_fields[];   /* what struct capture_cause holds directly */
extern const struct field charge_fields[];  /* struct wk_charge */
extern const struct field wake_fields[];    /* struct wk_wake_event */
extern const struct field module_fields[];  /* struct capture_module */
extern const struct field frame_fields[];   /* struct capture_frame */
extern const struct field stack_fields[];   /* struct capture_stack, but for its frames */
extern const struct field wake_stack_fields[]; /* struct capture_wake_stack */
extern const struct field sample_fields[];  /* struct capture_sample */
extern const struct field capture_fields[]; /* what struct capture holds directly */
extern const struct field runtime_fields[];
extern const struct field startup_fields[];
extern const struct field image_fields[];
extern const struct field probe_fields[];
extern const struct field noise_fields[];
extern const struct field tool_fields[];
extern const struct field failure_fields[];
extern const struct field remark_fields[]; /* struct capture_remark */
extern const struct field bare_fields[];    /* struct capture_bare */
extern const struct field claim_fields[];   /* struct claim */

/* Where a reading error is: the file, and what in it. */
struct field_reader {
	const char *file;
	const char *kind; /* what it is to be; NULL: a recording */
	struct diag *diag;
};

/* Writes "FILE is not a valid recording: …" (or another kind) and returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int field_refuse(const struct field_reader *reader,
						       const char *fmt, ...);

/* An object of a struct's members. */
json_t *fields_encode(const struct field *fields, const void *from);
/* Members that are missing stay as they are in `to` (strings become ""), unknown ones are skipped;
 * `what` names the object in errors. -EINVAL. Strings already set are the caller's to free. */
int fields_decode(const struct field_reader *reader, const struct field *fields, const json_t *from,
		  const char *what, void *to);

/* One member alone, for tables of rows. */
json_t *field_encode(const struct field *field, const void *from);
int field_decode(const struct field_reader *reader, const struct field *field, const json_t *from,
		 const char *what, void *to);

/* Numbers up to 2^64 - 1: an integer, or beyond 2^63 - 1 a string of digits. */
json_t *number_encode(uint64_t value);
/* False where json is not one, or is larger than max. */
bool number_decode(const json_t *json, uint64_t max, uint64_t *ret_value);

/* Any bytes as a string whose code points U+0000 to U+00FF are these bytes. */
json_t *bytes_encode(const char *bytes, size_t n);
/* With a NUL after the n bytes. NULL where json is no string or has other code points. Caller
 * frees. */
char *bytes_decode(const json_t *json, size_t *ret_n);

#endif
