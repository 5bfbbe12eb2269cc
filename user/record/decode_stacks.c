/* Modules, frames, stacks, and who was in them, of a run in a recording, nothing in them believed. */
#include "record/decode_stacks.h"

#include <string.h>

#include "record/bounds.h"
#include "record/decode_why.h"
#include "record/table.h"

/* Far above what is taken: 127 frames of the kernel's and 256 of the program's. */
#define STACK_FRAMES_MAX 1024

static void set_if_null(char **text)
{
	if (!*text)
		*text = mem_strdup("");
}

static int decode_modules(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, module_fields, json, "modules");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct capture_module *module = vec_push(&capture->modules);

		err = table_row(&table, i, module);
		set_if_null(&module->path);
		set_if_null(&module->build_id);
		if (!err && module->build_id[strspn(module->build_id, "0123456789abcdef")])
			err = field_refuse(reader, "a build id is not made of hex digits");
	}
	table_close(&table);
	return err;
}

/* A kind that is not known stays as it is: it is shown as such. */
static int decode_frames(const struct field_reader *reader, const json_t *json,
			 struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, frame_fields, json, "frames");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct capture_frame *frame = vec_push(&capture->frames);

		err = table_row(&table, i, frame);
		set_if_null(&frame->name);
		if (!err && frame->kind == FRAME_FILE && frame->module >= capture->modules.n)
			err = field_refuse(reader, "a frame is in file %u, which is not there",
					   frame->module);
	}
	table_close(&table);
	return err;
}

static int decode_stacks(const struct field_reader *reader, const json_t *json,
			 struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, stack_fields, json, "stacks");

	for (size_t i = 0; !err && i < table_rows(&table); i++)
		err = table_row(&table, i, vec_push(&capture->stacks));
	table_close(&table);
	return err;
}

static int decode_places(const struct field_reader *reader, const json_t *places,
			 const struct capture *capture, struct capture_stack *stack)
{
	size_t n = json_array_size(places);

	if (!json_is_array(places) || n > STACK_FRAMES_MAX)
		return field_refuse(reader, "the frames of a stack are no list of at most %d",
				    STACK_FRAMES_MAX);
	if (stack->kernel > n)
		return field_refuse(reader, "%u frames of a stack are the kernel's, it has %zu",
				    stack->kernel, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t place;

		if (!number_decode(json_array_get(places, i), UINT32_MAX, &place) ||
		    place >= capture->frames.n)
			return field_refuse(reader, "a stack has a frame that is not there");
		*vec_push(&stack->frames) = (uint32_t)place;
	}
	return 0;
}

/* For each row of the table a list. */
static int decode_stack_frames(const struct field_reader *reader, const json_t *all,
			       struct capture *capture)
{
	int err = 0;

	if (json_array_size(all) != capture->stacks.n || (all && !json_is_array(all)))
		return field_refuse(reader, "frames are not listed for each stack");
	for (size_t i = 0; !err && i < capture->stacks.n; i++)
		err = decode_places(reader, json_array_get(all, i), capture,
				    &capture->stacks.items[i]);
	return err;
}

static bool has_stack(const struct capture *capture, uint32_t stack)
{
	return stack < capture->stacks.n || stack == STACK_NONE;
}

/* What is added up by readers must not overflow. */
static bool adds_up(uint64_t *sum, uint64_t more)
{
	return !__builtin_add_overflow(*sum, more, sum);
}

static int decode_wake_stacks(const struct field_reader *reader, const json_t *json,
			      struct capture *capture)
{
	struct table_reader table;
	uint64_t wakeups = 0, sleep_ns = 0;
	uint32_t before = 0;
	int err = table_open(&table, reader, wake_stack_fields, json, "wake_stacks");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct capture_wake_stack *wake = vec_push(&capture->wake_stacks);

		*wake = (struct capture_wake_stack){.sleeper = STACK_NONE, .waker = STACK_NONE};
		err = table_row(&table, i, wake);
		if (err)
			break;
		if (!why_has_cause(capture, wake->cause))
			err = field_refuse(reader, "stacks are of cause %u, which is not there",
					   wake->cause);
		else if (wake->cause < before)
			err = field_refuse(reader, "the causes of stacks are not in order");
		else if (!has_stack(capture, wake->sleeper) || !has_stack(capture, wake->waker))
			err = field_refuse(reader, "a wake has a stack that is not there");
		else if (!adds_up(&wakeups, wake->wakeups) || !adds_up(&sleep_ns, wake->sleep_ns))
			err = field_refuse(reader, "wakes with stacks add up to more than 2^64");
		before = wake->cause;
	}
	table_close(&table);
	return err;
}

static int decode_samples(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	struct table_reader table;
	uint64_t count = 0;
	uint32_t before = 0;
	int err = table_open(&table, reader, sample_fields, json, "samples");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct capture_sample *sample = vec_push(&capture->samples);

		sample->stack = STACK_NONE;
		err = table_row(&table, i, sample);
		if (err)
			break;
		if (sample->serial > NUMBER_MAX || sample->serial < before)
			err = field_refuse(reader, "the serials of samples do not rise to at most %u",
					   NUMBER_MAX);
		else if (!has_stack(capture, sample->stack))
			err = field_refuse(reader, "a sample has a stack that is not there");
		else if (!adds_up(&count, sample->count))
			err = field_refuse(reader, "samples add up to more than 2^64");
		before = sample->serial;
	}
	table_close(&table);
	return err;
}

int stacks_decode(const struct field_reader *reader, const json_t *run, struct capture *capture)
{
	int err = decode_modules(reader, json_object_get(run, "modules"), capture);

	if (!err)
		err = decode_frames(reader, json_object_get(run, "frames"), capture);
	if (!err)
		err = decode_stacks(reader, json_object_get(run, "stacks"), capture);
	if (!err)
		err = decode_stack_frames(reader, json_object_get(run, "stack_frames"), capture);
	if (!err)
		err = decode_wake_stacks(reader, json_object_get(run, "wake_stacks"), capture);
	if (!err)
		err = decode_samples(reader, json_object_get(run, "samples"), capture);
	return err;
}
