/* A recording as JSON, written piece by piece. */
#include "record/encode.h"

#include <string.h>

#include "record/fields.h"

static json_t *encode_array(void)
{
	json_t *array = json_array();

	if (!array)
		mem_out();
	return array;
}

static void add(json_t *array, json_t *item)
{
	if (json_array_append_new(array, item))
		mem_out();
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, value))
		mem_out();
}

/* ---- pieces of text -------------------------------------------------------------------------- */

static int emit_chunk(const char *text, size_t n, void *packer)
{
	packer_add(packer, text, n);
	return 0;
}

static void emit_text(struct packer *packer, const char *text)
{
	packer_add(packer, text, strlen(text));
}

/* Flags: JSON_EMBED leaves the outer brackets out. */
static void emit_json(struct packer *packer, json_t *json, size_t flags)
{
	flags |= JSON_COMPACT | JSON_REAL_PRECISION(17);
	if (json_dump_callback(json, emit_chunk, packer, flags))
		mem_out();
	json_decref(json);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* "KEY": {"columns": [names], "rows": [[values] …]}; item i lies item_bytes × i behind the first.
 * Row by row: thousands of threads as one tree would take tens of megabytes. */
static void emit_table(struct packer *packer, const char *key, const struct field *fields,
		       const void *items, size_t n, size_t item_bytes)
{
	json_t *columns = encode_array();

	for (const struct field *field = fields; field->name; field++)
		add(columns, bytes_encode(field->name, strlen(field->name)));
	emit_text(packer, ",\n\"");
	emit_text(packer, key);
	emit_text(packer, "\":{\"columns\":");
	emit_json(packer, columns, 0);
	emit_text(packer, ",\"rows\":[");
	for (size_t i = 0; i < n; i++) {
		json_t *row = encode_array();

		for (const struct field *field = fields; field->name; field++)
			add(row, field_encode(field, (const char *)items + i * item_bytes));
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, row, 0);
	}
	emit_text(packer, "]}");
}

/* For each thread, in the order of the table: number, count, number, count … */
static void emit_syscalls(struct packer *packer, const struct capture *capture)
{
	emit_text(packer, ",\n\"syscalls\":[");
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct capture_thread *thread = &capture->threads.items[i];
		json_t *pairs = encode_array();

		for (size_t j = 0; j < thread->syscalls.n; j++) {
			add(pairs, number_encode(thread->syscalls.items[j].nr));
			add(pairs, number_encode(thread->syscalls.items[j].count));
		}
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, pairs, 0);
	}
	emit_text(packer, "]");
}

/* For each cause, in the order of the table: bucket, count, bucket, count … */
static void emit_intervals(struct packer *packer, const struct capture *capture)
{
	emit_text(packer, ",\n\"intervals\":[");
	for (size_t i = 0; i < capture->causes.n; i++) {
		const struct capture_cause *cause = &capture->causes.items[i];
		json_t *pairs = encode_array();

		for (size_t j = 0; j < cause->intervals.n; j++) {
			add(pairs, number_encode(cause->intervals.items[j].bucket));
			add(pairs, number_encode(cause->intervals.items[j].count));
		}
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, pairs, 0);
	}
	emit_text(packer, "]");
}

static void emit_why(struct packer *packer, const struct capture *capture)
{
	emit_table(packer, "causes", cause_fields, capture->causes.items, capture->causes.n,
		   sizeof(*capture->causes.items));
	emit_intervals(packer, capture);
	emit_table(packer, "charges", charge_fields, capture->charges.items, capture->charges.n,
		   sizeof(*capture->charges.items));
	emit_table(packer, "timeline", wake_fields, capture->timeline.items, capture->timeline.n,
		   sizeof(*capture->timeline.items));
}

/* For each stack, in the order of the table: places of its frames, innermost first. */
static void emit_stack_frames(struct packer *packer, const struct capture *capture)
{
	emit_text(packer, ",\n\"stack_frames\":[");
	for (size_t i = 0; i < capture->stacks.n; i++) {
		const struct capture_stack *stack = &capture->stacks.items[i];
		json_t *places = encode_array();

		for (size_t j = 0; j < stack->frames.n; j++)
			add(places, number_encode(stack->frames.items[j]));
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, places, 0);
	}
	emit_text(packer, "]");
}

static void emit_stacks(struct packer *packer, const struct capture *capture)
{
	/* Without causes there is nothing that they could be of. */
	size_t n_wakes = capture->causes_counted ? capture->wake_stacks.n : 0;

	emit_table(packer, "modules", module_fields, capture->modules.items, capture->modules.n,
		   sizeof(*capture->modules.items));
	emit_table(packer, "frames", frame_fields, capture->frames.items, capture->frames.n,
		   sizeof(*capture->frames.items));
	emit_table(packer, "stacks", stack_fields, capture->stacks.items, capture->stacks.n,
		   sizeof(*capture->stacks.items));
	emit_stack_frames(packer, capture);
	emit_table(packer, "wake_stacks", wake_stack_fields, capture->wake_stacks.items, n_wakes,
		   sizeof(*capture->wake_stacks.items));
	emit_table(packer, "samples", sample_fields, capture->samples.items, capture->samples.n,
		   sizeof(*capture->samples.items));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static json_t *encode_argv(const struct capture_image *image)
{
	return image->argv ? bytes_encode(image->argv, image->argv_bytes) : json_null();
}

static json_t *encode_images(const struct capture *capture)
{
	json_t *images = encode_array();

	for (size_t i = 0; i < capture->images.n; i++) {
		json_t *image = fields_encode(image_fields, &capture->images.items[i]);

		put(image, "argv", encode_argv(&capture->images.items[i]));
		add(images, image);
	}
	return images;
}

/* Both kinds of buckets: number, count, number, count … */
static json_t *encode_buckets(const __u64 *counts)
{
	json_t *pairs = encode_array();

	for (uint32_t i = 0; i < WK_SPAN_BUCKETS; i++) {
		if (!counts[i])
			continue;
		add(pairs, number_encode(i));
		add(pairs, number_encode(counts[i]));
	}
	return pairs;
}

static json_t *encode_lost(const struct capture *capture)
{
	json_t *lost = json_object();

	if (!lost)
		mem_out();
	for (enum wk_lost i = 0; i < WK_LOST_MAX; i++)
		put(lost, capture_lost_name(i), number_encode(capture->lost[i]));
	return lost;
}

static json_t *encode_probes(const struct capture *capture)
{
	json_t *probes = encode_array();

	for (size_t i = 0; i < capture->probes.n; i++)
		add(probes, fields_encode(probe_fields, &capture->probes.items[i]));
	return probes;
}

static void emit_capture(struct packer *packer, const struct capture *capture)
{
	json_t *run = fields_encode(capture_fields, capture);

	put(run, "runtime",
	    capture->runtime.present ? fields_encode(runtime_fields, &capture->runtime)
				     : json_null());
	put(run, "startup",
	    capture->startup.present ? fields_encode(startup_fields, &capture->startup)
				     : json_null());
	put(run, "noise", fields_encode(noise_fields, &capture->noise));
	if (capture->has_spans) {
		put(run, "oncpu_spans", encode_buckets(capture->spans.oncpu));
		put(run, "runq_spans", encode_buckets(capture->spans.runq));
	}
	put(run, "lost", encode_lost(capture));
	put(run, "probes", encode_probes(capture));
	put(run, "images", encode_images(capture));
	emit_text(packer, "{");
	emit_json(packer, run, JSON_EMBED);
	/* struct capture_thread begins with the struct wk_thread that the table describes. */
	emit_table(packer, "threads", thread_fields, capture->threads.items, capture->threads.n,
		   sizeof(*capture->threads.items));
	emit_syscalls(packer, capture);
	emit_table(packer, "seconds", second_fields, capture->seconds.items, capture->seconds.n,
		   sizeof(*capture->seconds.items));
	if (capture->causes_counted)
		emit_why(packer, capture);
	if (capture->stacks_mode || capture->sample_hz)
		emit_stacks(packer, capture);
	emit_text(packer, "}");
}

_Static_assert(offsetof(struct capture_thread, t) == 0, "thread_fields are offsets into it");

/* ---- the whole ------------------------------------------------------------------------------- */

static json_t *encode_tool(const struct capture_tool *tool)
{
	json_t *json = fields_encode(tool_fields, tool), *command = encode_array();

	for (size_t i = 0; i < tool->command.n; i++)
		add(command, bytes_encode(tool->command.items[i], strlen(tool->command.items[i])));
	put(json, "command", command);
	return json;
}

/* "KEY": [objects]; item i lies item_bytes × i behind the first. */
static void emit_objects(struct packer *packer, const char *key, const struct field *fields,
			 const void *items, size_t n, size_t item_bytes)
{
	emit_text(packer, ",\n\"");
	emit_text(packer, key);
	emit_text(packer, "\":[");
	for (size_t i = 0; i < n; i++) {
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, fields_encode(fields, (const char *)items + i * item_bytes), 0);
	}
	emit_text(packer, "]");
}

void recording_encode(const struct recording *recording, struct packer *packer)
{
	emit_text(packer, "{\"tool\":");
	emit_json(packer, encode_tool(&recording->tool), 0);
	emit_text(packer, ",\n\"seed\":");
	emit_json(packer, number_encode(recording->seed), JSON_ENCODE_ANY);
	emit_objects(packer, "failures", failure_fields, recording->failures.items,
		     recording->failures.n, sizeof(*recording->failures.items));
	emit_objects(packer, "remarks", remark_fields, recording->remarks.items,
		     recording->remarks.n, sizeof(*recording->remarks.items));
	emit_objects(packer, "bare", bare_fields, recording->bare.items, recording->bare.n,
		     sizeof(*recording->bare.items));
	emit_objects(packer, "claims", claim_fields, recording->claims.items, recording->claims.n,
		     sizeof(*recording->claims.items));
	emit_text(packer, ",\n\"runs\":[");
	for (size_t i = 0; i < recording->runs.n; i++) {
		emit_text(packer, i ? ",\n" : "\n");
		emit_capture(packer, &recording->runs.items[i]);
	}
	emit_text(packer, "]}\n");
}
