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

/* {"columns": [names], "rows": [[values] …]}; item i lies item_bytes × i behind the first. */
static json_t *encode_table(const struct field *fields, const void *items, size_t n,
			    size_t item_bytes)
{
	json_t *table = json_object(), *columns = encode_array(), *rows = encode_array();

	if (!table)
		mem_out();
	for (const struct field *field = fields; field->name; field++)
		add(columns, bytes_encode(field->name, strlen(field->name)));
	for (size_t i = 0; i < n; i++) {
		json_t *row = encode_array();

		for (const struct field *field = fields; field->name; field++)
			add(row, field_encode(field, (const char *)items + i * item_bytes));
		add(rows, row);
	}
	put(table, "columns", columns);
	put(table, "rows", rows);
	return table;
}

/* For each thread, in the order of the table: number, count, number, count … */
static json_t *encode_syscalls(const struct capture *capture)
{
	json_t *all = encode_array();

	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct capture_thread *thread = &capture->threads.items[i];
		json_t *pairs = encode_array();

		for (size_t j = 0; j < thread->syscalls.n; j++) {
			add(pairs, number_encode(thread->syscalls.items[j].nr));
			add(pairs, number_encode(thread->syscalls.items[j].count));
		}
		add(all, pairs);
	}
	return all;
}

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

static json_t *encode_capture(const struct capture *capture)
{
	json_t *run = fields_encode(capture_fields, capture);

	put(run, "runtime",
	    capture->runtime.present ? fields_encode(runtime_fields, &capture->runtime)
				     : json_null());
	put(run, "startup",
	    capture->startup.present ? fields_encode(startup_fields, &capture->startup)
				     : json_null());
	put(run, "noise", fields_encode(noise_fields, &capture->noise));
	put(run, "lost", encode_lost(capture));
	put(run, "probes", encode_probes(capture));
	put(run, "images", encode_images(capture));
	/* struct capture_thread begins with the struct wk_thread that the table describes. */
	put(run, "threads",
	    encode_table(thread_fields, capture->threads.items, capture->threads.n,
			 sizeof(*capture->threads.items)));
	put(run, "syscalls", encode_syscalls(capture));
	put(run, "seconds",
	    encode_table(second_fields, capture->seconds.items, capture->seconds.n,
			 sizeof(*capture->seconds.items)));
	return run;
}

_Static_assert(offsetof(struct capture_thread, t) == 0, "thread_fields are offsets into it");

static json_t *encode_tool(const struct capture_tool *tool)
{
	json_t *json = fields_encode(tool_fields, tool), *command = encode_array();

	for (size_t i = 0; i < tool->command.n; i++)
		add(command, bytes_encode(tool->command.items[i], strlen(tool->command.items[i])));
	put(json, "command", command);
	return json;
}

static int encode_chunk(const char *text, size_t n, void *packer)
{
	packer_add(packer, text, n);
	return 0;
}

static void emit_text(struct packer *packer, const char *text)
{
	packer_add(packer, text, strlen(text));
}

static void emit_json(struct packer *packer, json_t *json)
{
	if (json_dump_callback(json, encode_chunk, packer, JSON_COMPACT | JSON_REAL_PRECISION(17)))
		mem_out();
	json_decref(json);
}

void recording_encode(const struct recording *recording, struct packer *packer)
{
	emit_text(packer, "{\"tool\":");
	emit_json(packer, encode_tool(&recording->tool));
	emit_text(packer, ",\n\"failures\":[");
	for (size_t i = 0; i < recording->failures.n; i++) {
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, fields_encode(failure_fields, &recording->failures.items[i]));
	}
	emit_text(packer, "],\n\"runs\":[");
	for (size_t i = 0; i < recording->runs.n; i++) {
		emit_text(packer, i ? ",\n" : "\n");
		emit_json(packer, encode_capture(&recording->runs.items[i]));
	}
	emit_text(packer, "]}\n");
}
