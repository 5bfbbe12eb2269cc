/* The plan of a study that is kept in a directory: what is measured, where and how. study.json. */
#include "record/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "record/fields.h"
#include "record/json_file.h"

#define PLAN_SCHEMA	  "wakewhy-study/1"
#define PLAN_BYTES_MAX	  (1 << 20)
#define PLAN_RUNTIMES_MAX 1000

#define PLAN(member, kind)    FIELD(struct plan, #member, member, kind)
#define RUNTIME(member, kind) FIELD(struct plan_runtime, #member, member, kind)

static const struct field plan_fields[] = {
	PLAN(tool, FIELD_STRING),    PLAN(kernel, FIELD_STRING), PLAN(arch, FIELD_STRING),
	PLAN(started, FIELD_STRING), PLAN(size, FIELD_STRING),	 PLAN(seed, FIELD_UNSIGNED),
	{NULL},
};

static const struct field plan_runtime_fields[] = {
	RUNTIME(label, FIELD_STRING),	RUNTIME(family, FIELD_STRING),
	RUNTIME(version, FIELD_STRING), RUNTIME(path, FIELD_STRING),
	RUNTIME(size_bytes, FIELD_UNSIGNED), {NULL},
};

void plan_free_members(struct plan *plan)
{
	if (!plan)
		return;
	free(plan->tool);
	free(plan->kernel);
	free(plan->arch);
	free(plan->started);
	free(plan->size);
	for (size_t i = 0; i < plan->runtimes.n; i++) {
		free(plan->runtimes.items[i].label);
		free(plan->runtimes.items[i].family);
		free(plan->runtimes.items[i].version);
		free(plan->runtimes.items[i].path);
	}
	free(plan->runtimes.items);
	memset(plan, 0, sizeof(*plan));
}

/* ---- writing --------------------------------------------------------------------------------- */

static void plan_set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		mem_out();
}

int plan_write(FILE *out, const struct plan *plan, struct diag *diag)
{
	json_t *root = fields_encode(plan_fields, plan), *runtimes = json_array();
	int failed, err;

	for (size_t i = 0; i < plan->runtimes.n; i++)
		if (json_array_append_new(runtimes, fields_encode(plan_runtime_fields,
								  &plan->runtimes.items[i])))
			mem_out();
	plan_set(root, "schema", json_string(PLAN_SCHEMA));
	plan_set(root, "runtimes", runtimes);
	failed = json_dumpf(root, out, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(root);
	fputc('\n', out);
	err = stream_finish(out);
	if (failed || err)
		return diag_set(diag, -EIO, "cannot write the plan of the study: %s",
				strerror(err ? -err : EIO));
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int plan_decode(const struct field_reader *reader, const json_t *root, struct plan *plan)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *runtimes = json_object_get(root, "runtimes");
	int err;

	if (!schema || strcmp(schema, PLAN_SCHEMA))
		return field_refuse(reader, "its schema is not %s", PLAN_SCHEMA);
	if (!json_is_array(runtimes) || json_array_size(runtimes) > PLAN_RUNTIMES_MAX)
		return field_refuse(reader, "it has no list of at most %d runtimes",
				    PLAN_RUNTIMES_MAX);
	err = fields_decode(reader, plan_fields, root, "the study", plan);
	for (size_t i = 0; !err && i < json_array_size(runtimes); i++)
		err = fields_decode(reader, plan_runtime_fields, json_array_get(runtimes, i),
				    "a runtime", vec_push(&plan->runtimes));
	if (!err && !plan->seed)
		err = field_refuse(reader, "it has no seed");
	return err;
}

int plan_read(FILE *in, const char *name, struct plan *ret_plan, struct diag *diag)
{
	const struct field_reader reader = {.file = name, .kind = "plan of a study", .diag = diag};
	struct plan plan = {0};
	json_t *root;
	int err = json_file_read(in, name, PLAN_BYTES_MAX, &root, diag);

	if (err)
		return err;
	err = plan_decode(&reader, root, &plan);
	json_decref(root);
	if (err)
		plan_free_members(&plan);
	else
		*ret_plan = plan;
	return err;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int plan_differs(struct diag *diag, const char *what, const char *kept, const char *now)
{
	if (!strcmp(kept, now))
		return 0;
	return diag_set(diag, -EINVAL, "it was begun with %s '%s', this is '%s'", what, kept, now);
}

static int plan_compare_runtime(const struct plan_runtime *kept, const struct plan_runtime *now,
				struct diag *diag)
{
	int err = plan_differs(diag, "a runtime", kept->label, now->label);

	if (!err)
		err = plan_differs(diag, "a runtime of the family", kept->family, now->family);
	if (!err)
		err = plan_differs(diag, "a runtime at", kept->path, now->path);
	if (!err)
		err = plan_differs(diag, "a runtime of version", kept->version, now->version);
	if (!err && kept->size_bytes != now->size_bytes)
		err = diag_set(diag, -EINVAL, "'%s' had %llu bytes when it was begun, now %llu",
			       kept->label, (unsigned long long)kept->size_bytes,
			       (unsigned long long)now->size_bytes);
	return err;
}

int plan_compare(const struct plan *kept, const struct plan *now, struct diag *diag)
{
	int err = plan_differs(diag, "wakewhy", kept->tool, now->tool);

	if (!err)
		err = plan_differs(diag, "the kernel", kept->kernel, now->kernel);
	if (!err)
		err = plan_differs(diag, "the architecture", kept->arch, now->arch);
	if (!err)
		err = plan_differs(diag, "the sizes and options", kept->size, now->size);
	if (!err && now->seed && kept->seed != now->seed)
		err = diag_set(diag, -EINVAL, "it was begun with the seed %llu, this is %llu",
			       (unsigned long long)kept->seed, (unsigned long long)now->seed);
	if (!err && kept->runtimes.n != now->runtimes.n)
		err = diag_set(diag, -EINVAL, "it was begun with %zu runtimes, these are %zu",
			       kept->runtimes.n, now->runtimes.n);
	for (size_t i = 0; !err && i < kept->runtimes.n; i++)
		err = plan_compare_runtime(&kept->runtimes.items[i], &now->runtimes.items[i], diag);
	return err;
}
