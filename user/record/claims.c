/* Claims: figures that others have published, from a JSON file. */
#include "record/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "model/metric.h"
#include "record/bounds.h"
#include "record/json_file.h"

#define CLAIMS_SCHEMA	   "wakewhy-claims/1"
#define CLAIMS_BYTES_MAX   (1 << 20)
#define CLAIMS_TEXT_MAX	   1000 /* bytes of a text */
#define CLAIMS_VALUE_MAX   1e15 /* what a recording takes */
#define CLAIMS_SECONDS_MAX 604800 /* as the longest -d */

enum claims_kind { CLAIMS_TEXT, CLAIMS_REAL, CLAIMS_SECONDS };

/* Where a claim may have a member. */
enum claims_place {
	CLAIMS_ALWAYS,	    /* it must be there */
	CLAIMS_IN_SCOPE,    /* it must where the claim is measured here, and must not where it is not */
	CLAIMS_MAY_IN_SCOPE,
	CLAIMS_MAY,
};

struct claims_member {
	const char *name;
	size_t offset; /* in struct claim */
	enum claims_kind kind;
	enum claims_place place;
};
#define MEMBER(name, member, kind, place)                                                          \
	{                                                                                          \
		name, offsetof(struct claim, member), kind, place                                  \
	}

static const struct claims_member claims_members[] = {
	MEMBER("source", source, CLAIMS_TEXT, CLAIMS_ALWAYS),
	MEMBER("what", what, CLAIMS_TEXT, CLAIMS_ALWAYS),
	MEMBER("text", text, CLAIMS_TEXT, CLAIMS_ALWAYS),
	MEMBER("label", label, CLAIMS_TEXT, CLAIMS_ALWAYS),
	MEMBER("workload", workload, CLAIMS_TEXT, CLAIMS_IN_SCOPE),
	MEMBER("metric", metric, CLAIMS_TEXT, CLAIMS_IN_SCOPE),
	MEMBER("value", value, CLAIMS_REAL, CLAIMS_IN_SCOPE),
	MEMBER("base", base, CLAIMS_TEXT, CLAIMS_MAY),
	MEMBER("variant", variant, CLAIMS_TEXT, CLAIMS_MAY_IN_SCOPE),
	MEMBER("low", low, CLAIMS_REAL, CLAIMS_MAY_IN_SCOPE),
	MEMBER("high", high, CLAIMS_REAL, CLAIMS_MAY_IN_SCOPE),
	MEMBER("window_s", window_ns, CLAIMS_SECONDS, CLAIMS_MAY_IN_SCOPE),
	{NULL},
};

/* What study measures. */
static const char *const claims_workloads[] = {"startup", "idle", "serve", "hash", NULL};

/* Where we are: the file and the number of the claim. */
struct claims_reader {
	const char *name;
	size_t at;
	struct diag *diag;
};

__attribute__((format(printf, 3, 4))) static int
claims_refuse(const struct claims_reader *reader, const char *member, const char *fmt, ...)
{
	struct strbuf text = {0};
	va_list args;
	char *safe; /* what is in the file may hold line breaks */

	va_start(args, fmt);
	strbuf_printf(&text, "claims[%zu]%s%s: ", reader->at, *member ? "." : "", member);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	safe = text_safe(strbuf_text(&text));
	diag_set(reader->diag, -EINVAL, "%s: %s", reader->name, safe);
	free(safe);
	strbuf_free_members(&text);
	return -EINVAL;
}

/* ---- one member ------------------------------------------------------------------------------ */

static int claims_take_text(const struct claims_reader *reader, const char *name,
			    const json_t *json, char **ret_text)
{
	size_t n = json_string_length(json);

	if (!json_is_string(json))
		return claims_refuse(reader, name, "it is no text");
	if (!n || n > CLAIMS_TEXT_MAX)
		return claims_refuse(reader, name, "it is %s, 1 to %d bytes are possible",
				     n ? "too long" : "empty", CLAIMS_TEXT_MAX);
	*ret_text = mem_strdup(json_string_value(json));
	return 0;
}

static int claims_take_real(const struct claims_reader *reader, const char *name,
			    const json_t *json, double max, double *ret_value)
{
	double value = json_number_value(json);

	if (!json_is_number(json))
		return claims_refuse(reader, name, "it is no number");
	if (!(value >= 0 && value <= max))
		return claims_refuse(reader, name, "%g is out of range, from 0 to %g is possible",
				     value, max);
	*ret_value = value;
	return 0;
}

static int claims_take_seconds(const struct claims_reader *reader, const char *name,
			       const json_t *json, uint64_t *ret_ns)
{
	double seconds;
	int err = claims_take_real(reader, name, json, CLAIMS_SECONDS_MAX, &seconds);

	if (!err && seconds < 0.001)
		err = claims_refuse(reader, name, "a window has a length");
	if (!err)
		*ret_ns = (uint64_t)llround(seconds * 1e9);
	return err;
}

static int claims_take(const struct claims_reader *reader, const struct claims_member *member,
		       const json_t *json, struct claim *claim)
{
	char *at = (char *)claim + member->offset;

	switch (member->kind) {
	case CLAIMS_TEXT:
		return claims_take_text(reader, member->name, json, (char **)(void *)at);
	case CLAIMS_REAL:
		return claims_take_real(reader, member->name, json, CLAIMS_VALUE_MAX,
					(double *)(void *)at);
	case CLAIMS_SECONDS:
		break;
	}
	return claims_take_seconds(reader, member->name, json, (uint64_t *)(void *)at);
}

/* ---- one claim ------------------------------------------------------------------------------- */

static const struct claims_member *claims_member(const char *name)
{
	for (const struct claims_member *member = claims_members; member->name; member++)
		if (!strcmp(member->name, name))
			return member;
	return NULL;
}

/* A member that is null is one that is not there. */
static const json_t *claims_get(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json, name);

	return json_is_null(value) ? NULL : value;
}

static int claims_check_names(const struct claims_reader *reader, const json_t *json)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)json, name, value) {
		if (!claims_member(name))
			return claims_refuse(reader, name, "no claim has such a member");
	}
	return 0;
}

static int claims_check_workload(const struct claims_reader *reader, const struct claim *claim)
{
	const struct metric *metric = metric_find(claim->metric);
	size_t i = 0;

	while (claims_workloads[i] && strcmp(claims_workloads[i], claim->workload))
		i++;
	if (!claims_workloads[i])
		return claims_refuse(reader, "workload",
				     "'%s' is none of startup, idle, serve and hash",
				     claim->workload);
	if (!metric)
		return claims_refuse(reader, "metric",
				     "there is no '%s'; 'wakewhy list metrics' lists them",
				     claim->metric);
	if (!metric_applies(metric, claim->workload))
		return claims_refuse(reader, "metric", "%s is not measured by %s", claim->metric,
				     claim->workload);
	return 0;
}

static int claims_check_range(const struct claims_reader *reader, const struct claim *claim)
{
	if (isnan(claim->low) != isnan(claim->high))
		return claims_refuse(reader, isnan(claim->low) ? "high" : "low",
				     "a range has both ends");
	if (!isnan(claim->low) && !(claim->low <= claim->value && claim->value <= claim->high))
		return claims_refuse(reader, "value", "%g is not within low and high",
				     claim->value);
	if (claim->base && !(claim->value > 0))
		return claims_refuse(reader, "value", "no ratio is 0");
	return 0;
}

/* Fills a claim that is empty; the caller frees it, whatever comes out. */
static int claims_fill(const struct claims_reader *reader, const json_t *json, struct claim *claim)
{
	bool in_scope = claims_get(json, "workload");
	int err;

	if (!json_is_object(json))
		return claims_refuse(reader, "", "it is no object");
	err = claims_check_names(reader, json);
	claim->value = claim->low = claim->high = NAN;
	for (const struct claims_member *m = claims_members; !err && m->name; m++) {
		const json_t *value = claims_get(json, m->name);

		if (value && !in_scope && (m->place == CLAIMS_IN_SCOPE || m->place == CLAIMS_MAY_IN_SCOPE))
			err = claims_refuse(reader, m->name,
					    "it says nothing without a workload that measures it");
		else if (value)
			err = claims_take(reader, m, value, claim);
		else if (m->place == CLAIMS_ALWAYS || (m->place == CLAIMS_IN_SCOPE && in_scope))
			err = claims_refuse(reader, m->name, "it is missing");
	}
	if (!err && claim->base && !strcmp(claim->base, claim->label))
		err = claims_refuse(reader, "base", "'%s' is the label itself", claim->base);
	if (!err && in_scope)
		err = claims_check_workload(reader, claim);
	if (!err && in_scope)
		err = claims_check_range(reader, claim);
	if (!err && !in_scope) {
		claim->workload = mem_strdup("");
		claim->metric = mem_strdup("");
	}
	return err;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int claims_fill_all(const char *name, const json_t *root, struct recording *recording,
			   struct diag *diag)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *all = json_object_get(root, "claims");
	struct claims_reader reader = {.name = name, .diag = diag};
	int err = 0;

	if (!schema || strcmp(schema, CLAIMS_SCHEMA)) {
		diag_set(diag, -EINVAL, "%s: it is no file of claims", name);
		return diag_hint(diag, -EINVAL, "its \"schema\" has to be \"%s\"", CLAIMS_SCHEMA);
	}
	if (!json_is_array(all) || json_array_size(all) > CLAIMS_MAX)
		return diag_set(diag, -EINVAL, "%s: claims: it is no list of at most %d", name,
				CLAIMS_MAX);
	if (json_object_size(root) != 2)
		return diag_set(diag, -EINVAL, "%s: there is more in it than schema and claims",
				name);
	for (reader.at = 0; !err && reader.at < json_array_size(all); reader.at++)
		err = claims_fill(&reader, json_array_get(all, reader.at),
				  vec_push(&recording->claims));
	return err;
}

int claims_read(FILE *in, const char *name, struct recording *recording, struct diag *diag)
{
	struct recording filled = {0};
	json_t *root;
	int err = json_file_read(in, name, CLAIMS_BYTES_MAX, &root, diag);

	if (err)
		return err;
	err = claims_fill_all(name, root, &filled, diag);
	json_decref(root);
	if (err) {
		recording_free_members(&filled);
		return err;
	}
	/* The vector moves: nothing else is in it. */
	recording->claims.items = filled.claims.items;
	recording->claims.n = filled.claims.n;
	recording->claims.cap = filled.claims.cap;
	return 0;
}
