/* Pieces of the JSON renderers. */
#ifndef WAKEWHY_RENDER_JSON_H
#define WAKEWHY_RENDER_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/stacks.h"

/* All return a new reference, and make NULL, NaN and unknown values null. */
json_t *json_of_text(const char *text); /* broken UTF-8 becomes U+FFFD */
json_t *json_of_bytes(const char *bytes, size_t n);
json_t *json_of_comm(const char comm[WK_COMM_BYTES]);
/* JSON integers are signed here; what no clock or counter reaches is held at the largest. */
json_t *json_of_u64(uint64_t number);
/* null for the 0 that stands for "not known" or "did not happen". */
json_t *json_of_u64_or_null(uint64_t number);
json_t *json_of_real(double number);
/* Takes the reference to value. */
void json_set(json_t *object, const char *name, json_t *value);

/* Writes a document with a newline behind it, as jansson's JSON_… flags say. Characters that control, hide or
 * reorder text are escapes: who reads the values gets them, who looks at the text is not led astray. Whether it
 * could be written the stream tells. */
void json_write(json_t *root, FILE *out, size_t flags);

/* A document as it is put together: an item is gone when it is written, so that a result of ten thousand threads is
 * never whole in memory. What is put goes into the object or list that is open, with a name into an object,
 * with NULL into a list. All zero but `out` is an empty one. */
struct json_out {
	FILE *out;
	unsigned int depth; /* of what is open */
	bool filled;	    /* what is open has something in it */
};
void json_open(struct json_out *to, const char *name, char bracket); /* { or [ */
/* Takes the reference to value. */
void json_put(struct json_out *to, const char *name, json_t *value);
void json_close(struct json_out *to, char bracket); /* } or ]; the last one ends the document */

/* Puts what is known about why the threads of a run woke: "causes", "roots", "edges", "loops",
 * "herds", "spins" and what tells how far they reach. */
void json_put_why(struct json_out *to, const struct why *why, const struct capture *capture);

/* Puts "stacks" of a run; null where none were taken. */
void json_put_stacks(struct json_out *to, const struct stacks *stacks, const struct why *why,
		     const struct capture *capture);
/* "begins" of the thread at this place in the run. */
json_t *json_of_begin(const struct stacks *stacks, size_t thread);

#endif
