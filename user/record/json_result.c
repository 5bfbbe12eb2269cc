/* Results in JSON, schema wakewhy/1, read back. */
#include "record/json_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/metric.h"
#include "record/bounds.h"
#include "record/json_result_why.h"
#include "record/shape.h"

#define SCHEMA_FAMILY "wakewhy/"
#define SCHEMA	      SCHEMA_FAMILY "1"

#define FILE_BYTES_MAX (1ULL << 30)
/* Of threads, seconds, reasons: the number of all values is bounded by shape_check. */
#define LIST_MAX (16u << 20)

/* ---- threads and seconds --------------------------------------------------------------------- */

static int read_counters(const struct field_reader *reader, const json_t *json,
			 struct wk_counters *counters)
{
	int err = 0;

	for (const struct counter_field *field = counter_fields; !err && field->id; field++)
		err = take_whole(reader, json, field->id, UINT64_MAX,
				 (uint64_t *)((char *)counters + field->offset));
	return err;
}

static int read_thread(const struct field_reader *reader, const json_t *json,
		       struct capture_thread *seen, struct run_thread *thread)
{
	char *comm = NULL;
	int err = take_whole32(reader, json, "pid", &seen->t.pid);

	if (!err)
		err = take_whole32(reader, json, "tid", &seen->t.tid);
	if (!err)
		err = take_whole(reader, json, "start_ns", UINT64_MAX, (uint64_t *)&seen->t.start_ns);
	if (!err)
		err = take_whole(reader, json, "exit_ns", UINT64_MAX, (uint64_t *)&seen->t.exit_ns);
	if (!err)
		err = need_text(reader, json, "comm", &comm);
	if (!err)
		err = need_text(reader, json, "label", &thread->label);
	if (!err)
		err = read_counters(reader, json, &seen->t.count);
	if (!err)
		comm_from_text(seen->t.comm, comm);
	free(comm);
	return err;
}

static int read_threads(const struct field_reader *reader, const json_t *json,
			struct capture *capture, struct run *run)
{
	const json_t *threads;
	int err = take_list(reader, json, "threads", LIST_MAX, &threads);

	/* All of them first: they move while there come more. */
	for (size_t i = 0; i < json_array_size(threads); i++)
		vec_push(&capture->threads);
	for (size_t i = 0; !err && i < json_array_size(threads); i++) {
		struct run_thread *thread = vec_push(&run->threads);

		thread->seen = &capture->threads.items[i];
		err = read_thread(reader, json_array_get(threads, i), &capture->threads.items[i],
				  thread);
	}
	return err;
}

static int read_series(const struct field_reader *reader, const json_t *json, struct run *run)
{
	const json_t *series, *oncpu_ns = NULL, *wakeups = NULL;
	int err = take_object(reader, json, "series", &series);

	if (!err)
		err = take_list(reader, series, "oncpu_ns", LIST_MAX, &oncpu_ns);
	if (!err)
		err = take_list(reader, series, "wakeups", LIST_MAX, &wakeups);
	if (!err && json_array_size(oncpu_ns) != json_array_size(wakeups))
		err = field_refuse(reader, "its series differ in length");
	for (size_t i = 0; !err && i < json_array_size(oncpu_ns); i++) {
		const json_t *ns = json_array_get(oncpu_ns, i), *n = json_array_get(wakeups, i);

		if (!json_is_integer(ns) || json_integer_value(ns) < 0 || !json_is_integer(n) ||
		    json_integer_value(n) < 0)
			return field_refuse(reader, "its series hold what is no count");
		*vec_push(&run->series) = (struct run_interval){(uint64_t)json_integer_value(ns),
								(uint64_t)json_integer_value(n)};
	}
	return err;
}

/* ---- the rest of a run ----------------------------------------------------------------------- */

static int read_runtime(const struct field_reader *reader, const json_t *json,
			struct capture_runtime *runtime)
{
	const json_t *object;
	int err = take_object(reader, json, "runtime", &object);

	runtime->present = object;
	if (err || !object)
		return err;
	err = take_text(reader, object, "family", &runtime->family);
	if (!err)
		err = take_text(reader, object, "version", &runtime->version);
	if (!err)
		err = take_text(reader, object, "path", &runtime->path);
	if (!err)
		err = take_whole(reader, object, "size_bytes", UINT64_MAX, &runtime->size_bytes);
	return err;
}

/* Whole numbers of an object: names, ended by NULL, and where each goes. */
struct whole {
	const char *name;
	uint64_t *to;
};

static int read_wholes(const struct field_reader *reader, const json_t *json, const char *name,
		       const struct whole *wholes, bool *ret_present)
{
	const json_t *object;
	int err = take_object(reader, json, name, &object);

	*ret_present = object;
	for (; !err && object && wholes->name; wholes++)
		err = take_whole(reader, object, wholes->name, UINT64_MAX, wholes->to);
	return err;
}

static int read_workload(const struct field_reader *reader, const json_t *json,
			 struct capture *capture)
{
	struct capture_startup *s = &capture->startup;
	const struct whole startup[] = {
		{"exec_to_first_output_ns", &s->exec_to_first_output_ns},
		{"exec_to_exit_ns", &s->exec_to_exit_ns},
		{"minor_faults", &s->minor_faults},
		{"major_faults", &s->major_faults},
		{"max_rss_bytes", &s->max_rss_bytes},
		{NULL},
	};
	const struct whole result[] = {
		{"operations", &capture->operations}, {"errors", &capture->errors}, {NULL}};
	const struct whole memory[] = {
		{"rss_bytes", &capture->rss_bytes},
		{"pss_bytes", &capture->pss_bytes},
		{"rss_start_bytes", &capture->rss_start_bytes},
		{"pss_start_bytes", &capture->pss_start_bytes},
		{NULL},
	};
	int err = read_wholes(reader, json, "startup", startup, &s->present);

	if (!err)
		err = read_wholes(reader, json, "result", result, &capture->has_result);
	if (!err)
		err = read_wholes(reader, json, "memory", memory, &capture->has_memory);
	return err;
}

static int read_trust(const struct field_reader *reader, const json_t *json,
		      struct run_trust *trust)
{
	const json_t *object, *reasons = NULL;
	int err = take_object(reader, json, "trust", &object);

	if (!err)
		err = take_bool(reader, object, "ok", &trust->ok);
	if (!err)
		err = take_list(reader, object, "reasons", LIST_MAX, &reasons);
	for (size_t i = 0; !err && i < json_array_size(reasons); i++) {
		const char *reason = json_string_value(json_array_get(reasons, i));

		if (!reason)
			return field_refuse(reader, "a reason not to trust it is no text");
		*vec_push(&trust->reasons) = mem_strdup(reason);
	}
	return err;
}

static int read_identity(const struct field_reader *reader, const json_t *json,
			 struct capture *capture)
{
	const struct {
		const char *name;
		uint64_t *to;
	} times[] = {
		{"start_ns", &capture->start_ns},
		{"settle_ns", &capture->settle_ns},
		{"outer_ns", &capture->outer_ns},
		{"step_ns", &capture->step_ns},
		{"unseen_ends", &capture->unseen_ends},
	};
	const struct {
		const char *name;
		bool *to;
	} flags[] = {
		{"replaced", &capture->replaced},
		{"settled", &capture->settled},
		{"partial", &capture->partial},
		{"syscalls_counted", &capture->syscalls_counted},
		{"causes_counted", &capture->causes_counted},
	};
	int err = need_text(reader, json, "label", &capture->label);

	if (!err)
		err = need_text(reader, json, "workload", &capture->workload);
	if (!err && (!*capture->label || !*capture->workload))
		err = field_refuse(reader, "a run has no label or no workload");
	if (!err)
		err = take_text(reader, json, "variant", &capture->variant);
	if (!err)
		err = take_whole32(reader, json, "repeat", &capture->repeat);
	for (size_t i = 0; !err && i < sizeof(times) / sizeof(*times); i++)
		err = take_whole(reader, json, times[i].name, UINT64_MAX, times[i].to);
	for (size_t i = 0; !err && i < sizeof(flags) / sizeof(*flags); i++)
		err = take_bool(reader, json, flags[i].name, flags[i].to);
	if (!err)
		err = take_text(reader, json, "disturbed", &capture->disturbed);
	if (!err)
		err = take_text(reader, json, "not_comparable", &capture->not_comparable);
	return err;
}

static int read_run(const struct field_reader *reader, const json_t *json, struct capture *capture,
		    struct run *run)
{
	const json_t *totals;
	int err = read_identity(reader, json, capture);

	run->capture = capture;
	capture->exit_status = -1;
	capture->noise.governor = mem_strdup("");
	if (!err)
		err = take_whole(reader, json, "window_ns", UINT64_MAX, &run->window_ns);
	/* Each is below 2^63. */
	capture->end_ns = capture->start_ns + run->window_ns;
	if (!err)
		err = take_object(reader, json, "totals", &totals);
	if (!err && !totals)
		err = field_refuse(reader, "a run has no totals");
	if (!err)
		err = read_counters(reader, totals, &run->totals);
	if (!err)
		err = read_runtime(reader, json, &capture->runtime);
	if (!err)
		err = read_workload(reader, json, capture);
	if (!err)
		err = read_trust(reader, json, &run->trust);
	if (!err)
		err = read_series(reader, json, run);
	if (!err)
		err = read_threads(reader, json, capture, run);
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int read_runs(const struct field_reader *reader, const json_t *root,
		     struct json_result *result)
{
	const json_t *runs;
	int err = take_list(reader, root, "runs", RUNS_MAX, &runs);
	size_t n = json_array_size(runs);

	if (!err && !runs)
		err = field_refuse(reader, "it has no list of runs");
	if (err)
		return err;
	result->runs = mem_calloc(n + 1, sizeof(*result->runs));
	result->whys = mem_calloc(n + 1, sizeof(*result->whys));
	for (size_t i = 0; i < n; i++)
		vec_push(&result->recording.runs);
	for (size_t i = 0; !err && i < n; i++) {
		const json_t *json = json_array_get(runs, i);

		err = read_run(reader, json, &result->recording.runs.items[i], &result->runs[i]);
		if (!err)
			err = json_result_why(reader, json, result, &result->runs[i],
					      &result->whys[i]);
	}
	return err;
}

static int read_tool(const struct field_reader *reader, const json_t *root,
		     struct capture_tool *tool)
{
	const json_t *object;
	int err = take_object(reader, root, "tool", &object);

	if (!err && !object)
		err = field_refuse(reader, "it does not say what measured");
	if (!err)
		err = need_text(reader, object, "version", &tool->version);
	if (!err)
		err = need_text(reader, object, "kernel", &tool->kernel);
	if (!err)
		err = need_text(reader, object, "arch", &tool->arch);
	if (!err)
		err = need_text(reader, object, "started", &tool->started);
	if (!err)
		err = take_whole32(reader, object, "cpus", &tool->cpus);
	return err;
}

static int read_bare(const struct field_reader *reader, const json_t *root,
		     struct recording *recording)
{
	const json_t *all;
	int err = take_list(reader, root, "bare", RUNS_MAX, &all);

	for (size_t i = 0; !err && i < json_array_size(all); i++) {
		const json_t *json = json_array_get(all, i);
		struct capture_bare *bare = vec_push(&recording->bare);

		err = need_text(reader, json, "label", &bare->label);
		if (!err)
			err = need_text(reader, json, "workload", &bare->workload);
		if (!err)
			err = take_text(reader, json, "variant", &bare->variant);
		if (!err)
			err = take_whole32(reader, json, "repeat", &bare->repeat);
		if (!err)
			err = take_whole(reader, json, "outer_ns", UINT64_MAX, &bare->outer_ns);
		if (!err)
			err = take_whole(reader, json, "operations", UINT64_MAX, &bare->operations);
	}
	return err;
}

static int check_schema(const struct field_reader *reader, const json_t *root)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));

	if (!schema)
		return field_refuse(reader, "it names no schema");
	if (!strcmp(schema, SCHEMA))
		return 0;
	if (!strncmp(schema, SCHEMA_FAMILY, strlen(SCHEMA_FAMILY)))
		return diag_set(reader->diag, -ENOTSUP,
				"%s is of schema '%.40s', which this wakewhy cannot read",
				reader->file, schema);
	return field_refuse(reader, "its schema is '%.40s', not " SCHEMA, schema);
}

static int read_root(const struct field_reader *reader, const json_t *root,
		     struct json_result *result)
{
	int err = check_schema(reader, root);

	if (!err)
		err = read_tool(reader, root, &result->recording.tool);
	if (!err)
		err = take_whole(reader, root, "seed", UINT64_MAX, &result->recording.seed);
	if (!err)
		err = read_bare(reader, root, &result->recording);
	if (!err)
		err = read_runs(reader, root, result);
	return err ? err : bounds_check(reader, &result->recording);
}

static int read_all(FILE *in, const struct field_reader *reader, struct strbuf *ret_text)
{
	char chunk[65536];
	size_t n;

	errno = 0;
	while ((n = fread(chunk, 1, sizeof(chunk), in))) {
		strbuf_add_bytes(ret_text, chunk, n);
		if (ret_text->n > FILE_BYTES_MAX)
			return field_refuse(reader, "it is longer than 1 GiB");
	}
	if (ferror(in))
		return diag_set(reader->diag, -EIO, "%s: %s", reader->file,
				strerror(errno ? errno : EIO));
	return 0;
}

int json_result_read(FILE *in, const char *name, struct json_result *ret_result, struct diag *diag)
{
	const struct field_reader reader = {.file = name, .diag = diag, .kind = "result"};
	struct json_result result = {};
	struct strbuf text = {};
	json_t *root = NULL;
	int err = read_all(in, &reader, &text);

	if (!err) {
		root = shape_load(&reader, strbuf_text(&text), text.n, 0);
		err = root ? read_root(&reader, root, &result) : -EINVAL;
	}
	json_decref(root);
	strbuf_free_members(&text);
	if (err)
		json_result_free_members(&result);
	else
		*ret_result = result;
	return err;
}

void json_result_free_members(struct json_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; result->runs && i < result->recording.runs.n; i++) {
		run_free_members(&result->runs[i]);
		why_free_members(&result->whys[i]);
	}
	for (size_t i = 0; i < result->names.n; i++)
		free(result->names.items[i]);
	free(result->runs);
	free(result->whys);
	free(result->names.items);
	recording_free_members(&result->recording);
	*result = (struct json_result){0};
}
