/* JSON as a recording, nothing in it believed. */
#include "record/decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/bounds.h"
#include "record/decode_stacks.h"
#include "record/decode_why.h"
#include "record/shape.h"
#include "record/table.h"

#define ARGV_BYTES_MAX (1 << 20)

/* ---- tables ---------------------------------------------------------------------------------- */

static int decode_threads(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, thread_fields, json, "threads");

	for (size_t i = 0; !err && i < table_rows(&table); i++)
		err = table_row(&table, i, &vec_push(&capture->threads)->t);
	table_close(&table);
	return err;
}

static int decode_seconds(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, second_fields, json, "seconds");

	for (size_t i = 0; !err && i < table_rows(&table); i++)
		err = table_row(&table, i, vec_push(&capture->seconds));
	table_close(&table);
	return err;
}

static void take_syscall(void *to, uint64_t nr, uint64_t count)
{
	struct capture_thread *thread = to;
	struct capture_syscall *call = vec_push(&thread->syscalls);

	call->nr = (uint32_t)nr;
	call->count = count;
}

static int decode_syscalls(const struct field_reader *reader, const json_t *all,
			   struct capture *capture)
{
	int err = 0;

	if (!all)
		return 0;
	if (!json_is_array(all) || json_array_size(all) != capture->threads.n)
		return field_refuse(reader, "system calls are not listed for each thread");
	for (size_t i = 0; !err && i < capture->threads.n; i++)
		err = pairs_decode(reader, json_array_get(all, i), "system calls of a thread",
				   UINT32_MAX, UINT64_MAX, take_syscall,
				   &capture->threads.items[i]);
	return err;
}

/* ---- the rest of a run ----------------------------------------------------------------------- */

/* Arguments, each ended by NUL: readers walk them with strlen. */
static int decode_argv(const struct field_reader *reader, const json_t *json,
		       struct capture_image *image)
{
	if (!json || json_is_null(json))
		return 0;
	image->argv = bytes_decode(json, &image->argv_bytes);
	if (!image->argv || image->argv_bytes > ARGV_BYTES_MAX ||
	    (image->argv_bytes && image->argv[image->argv_bytes - 1]))
		return field_refuse(reader, "the arguments of process %u are no list", image->pid);
	return 0;
}

static int decode_images(const struct field_reader *reader, const json_t *images,
			 struct capture *capture)
{
	int err = 0;

	if (images && !json_is_array(images))
		return field_refuse(reader, "images are no list");
	for (size_t i = 0; !err && i < json_array_size(images); i++) {
		const json_t *json = json_array_get(images, i);
		struct capture_image *image = vec_push(&capture->images);

		err = fields_decode(reader, image_fields, json, "an image", image);
		if (!err)
			err = decode_argv(reader, json_object_get(json, "argv"), image);
	}
	return err;
}

static int decode_probes(const struct field_reader *reader, const json_t *probes,
			 struct capture *capture)
{
	int err = 0;

	if (probes && !json_is_array(probes))
		return field_refuse(reader, "probes are no list");
	for (size_t i = 0; !err && i < json_array_size(probes); i++)
		err = fields_decode(reader, probe_fields, json_array_get(probes, i), "a probe",
				    vec_push(&capture->probes));
	return err;
}

static void take_bucket(void *to, uint64_t number, uint64_t count)
{
	((__u64 *)to)[number] = count;
}

static int decode_spans(const struct field_reader *reader, const json_t *json,
			struct capture *capture)
{
	int err;

	if (!capture->has_spans)
		return 0;
	err = pairs_decode(reader, json_object_get(json, "oncpu_spans"), "stretches on a CPU",
			   WK_SPAN_BUCKETS - 1, UINT64_MAX, take_bucket, capture->spans.oncpu);
	if (err)
		return err;
	return pairs_decode(reader, json_object_get(json, "runq_spans"), "waits to run",
			    WK_SPAN_BUCKETS - 1, UINT64_MAX, take_bucket, capture->spans.runq);
}

static bool decode_loss(struct capture *capture, const char *name, const json_t *value)
{
	for (enum wk_lost i = 0; i < WK_LOST_MAX; i++)
		if (strcmp(name, capture_lost_name(i)) == 0)
			return number_decode(value, UINT64_MAX, &capture->lost[i]);
	return false;
}

/* A loss that has no name here cannot be skipped: the run would look trustworthy. */
static int decode_lost(const struct field_reader *reader, json_t *lost, struct capture *capture)
{
	const char *name;
	json_t *value;

	if (lost && !json_is_object(lost))
		return field_refuse(reader, "losses are no object");
	json_object_foreach(lost, name, value) if (
		!decode_loss(capture, name,
			     value)) return field_refuse(reader,
							 "the loss '%s' is not one that is known",
							 name);
	return 0;
}

/* Objects that may be null or missing. */
static int decode_optional(const struct field_reader *reader, const struct field *fields,
			   const json_t *json, const char *what, void *to, bool *ret_present)
{
	*ret_present = json && !json_is_null(json);
	return *ret_present ? fields_decode(reader, fields, json, what, to) : 0;
}

static int decode_capture(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	bool has_noise;
	int err = fields_decode(reader, capture_fields, json, "a run", capture);

	if (!err)
		err = decode_optional(reader, runtime_fields, json_object_get(json, "runtime"),
				      "a runtime", &capture->runtime, &capture->runtime.present);
	if (!err)
		err = decode_optional(reader, startup_fields, json_object_get(json, "startup"),
				      "a start-up", &capture->startup, &capture->startup.present);
	if (!err)
		err = decode_optional(reader, noise_fields, json_object_get(json, "noise"), "noise",
				      &capture->noise, &has_noise);
	if (!err && !has_noise)
		capture->noise.governor = mem_strdup("");
	if (!err)
		err = decode_spans(reader, json, capture);
	if (!err)
		err = decode_lost(reader, json_object_get(json, "lost"), capture);
	if (!err)
		err = decode_probes(reader, json_object_get(json, "probes"), capture);
	if (!err)
		err = decode_images(reader, json_object_get(json, "images"), capture);
	if (!err)
		err = decode_threads(reader, json_object_get(json, "threads"), capture);
	if (!err)
		err = decode_syscalls(reader, json_object_get(json, "syscalls"), capture);
	if (!err)
		err = decode_seconds(reader, json_object_get(json, "seconds"), capture);
	if (!err)
		err = why_decode(reader, json, capture);
	if (!err)
		err = stacks_decode(reader, json, capture);
	if (!err && (!capture->label[0] || !capture->workload[0]))
		err = field_refuse(reader, "a run has no label or no workload");
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int decode_tool(const struct field_reader *reader, const json_t *json,
		       struct capture_tool *tool)
{
	const json_t *command = json_object_get(json, "command");
	int err = fields_decode(reader, tool_fields, json, "tool", tool);

	if (!err && command && !json_is_array(command))
		err = field_refuse(reader, "the command is no list");
	for (size_t i = 0; !err && i < json_array_size(command); i++) {
		size_t n;
		char *argument = bytes_decode(json_array_get(command, i), &n);

		if (!argument || memchr(argument, '\0', n)) {
			free(argument);
			return field_refuse(reader, "an argument of the command is no text");
		}
		*vec_push(&tool->command) = argument;
	}
	return err;
}

static int decode_seed(const struct field_reader *reader, const json_t *json, uint64_t *ret_seed)
{
	if (!json || number_decode(json, UINT64_MAX, ret_seed))
		return 0;
	return field_refuse(reader, "the seed is no number");
}

static int decode_remarks(const struct field_reader *reader, const json_t *all,
			  struct recording *recording)
{
	int err = 0;

	if (all && !json_is_array(all))
		return field_refuse(reader, "remarks are no list");
	for (size_t i = 0; !err && i < json_array_size(all); i++)
		err = fields_decode(reader, remark_fields, json_array_get(all, i), "a remark",
				    vec_push(&recording->remarks));
	return err;
}

static int decode_bare(const struct field_reader *reader, const json_t *all,
		       struct recording *recording)
{
	int err = 0;

	if (all && (!json_is_array(all) || json_array_size(all) > RUNS_MAX))
		return field_refuse(reader, "runs without probes are no list of at most %d", RUNS_MAX);
	for (size_t i = 0; !err && i < json_array_size(all); i++)
		err = fields_decode(reader, bare_fields, json_array_get(all, i),
				    "a run without probes", vec_push(&recording->bare));
	return err;
}

static int decode_claims(const struct field_reader *reader, const json_t *all,
			 struct recording *recording)
{
	int err = 0;

	if (all && (!json_is_array(all) || json_array_size(all) > CLAIMS_MAX))
		return field_refuse(reader, "claims are no list of at most %d", CLAIMS_MAX);
	for (size_t i = 0; !err && i < json_array_size(all); i++)
		err = fields_decode(reader, claim_fields, json_array_get(all, i), "a claim",
				    vec_push(&recording->claims));
	return err;
}

static int decode_root(const struct field_reader *reader, const json_t *root,
		       struct recording *recording)
{
	const json_t *failures = json_object_get(root, "failures");
	const json_t *runs = json_object_get(root, "runs");
	int err;

	if (!json_is_object(root) || !json_is_array(runs) || json_array_size(runs) > RUNS_MAX)
		return field_refuse(reader, "it has no list of at most %d runs", RUNS_MAX);
	if (failures && !json_is_array(failures))
		return field_refuse(reader, "failures are no list");
	err = decode_tool(reader, json_object_get(root, "tool"), &recording->tool);
	for (size_t i = 0; !err && i < json_array_size(failures); i++)
		err = fields_decode(reader, failure_fields, json_array_get(failures, i),
				    "a failure", vec_push(&recording->failures));
	if (!err)
		err = decode_seed(reader, json_object_get(root, "seed"), &recording->seed);
	if (!err)
		err = decode_remarks(reader, json_object_get(root, "remarks"), recording);
	if (!err)
		err = decode_bare(reader, json_object_get(root, "bare"), recording);
	if (!err)
		err = decode_claims(reader, json_object_get(root, "claims"), recording);
	for (size_t i = 0; !err && i < json_array_size(runs); i++)
		err = decode_capture(reader, json_array_get(runs, i), vec_push(&recording->runs));
	return err ? err : bounds_check(reader, recording);
}

int recording_decode(const char *text, size_t n, const char *name, struct recording *ret_recording,
		     struct diag *diag)
{
	const struct field_reader reader = {.file = name, .diag = diag};
	struct recording recording = {};
	json_t *root = shape_load(&reader, text, n, JSON_ALLOW_NUL);
	int err;

	if (!root)
		return -EINVAL;
	err = decode_root(&reader, root, &recording);
	json_decref(root);
	if (err)
		recording_free_members(&recording);
	else
		*ret_recording = recording;
	return err;
}
